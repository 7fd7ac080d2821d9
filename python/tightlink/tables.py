"""The tables of a run: their columns, in order, with what each measures, as ``tables.toml`` lists them.

Simulated, measured and captured runs all have these tables. `goodput` counts payload, `throughput`
bytes on the wire; every `bytes_*` counts IP packets with their headers, without the link's framing.

Example:
    >>> [column.name for column in TABLES["series"]]
    ['time_s', 'entity', 'metric', 'value']
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, Literal
from warnings import warn

from tightlink.calls import CALLER
from tightlink.errors import TightlinkWarning
from tightlink.lazy import pl

Type = Literal["text", "integer", "number"]

#: What a table says of delays: end of the column's name, words, and the share that does not exceed it.
DELAY_STATISTICS: Final = {
    "mean": ("mean", None),
    "p50": ("median", 0.5),
    "p95": ("95th percentile", 0.95),
    "p99": ("99th percentile", 0.99),
    "max": ("largest", 1.0),
}
#: Columns with the name that they had before; the old one goes with the next release.
RENAMED: Final = {"latency_mean_s": "one_way_delay_mean_s", "latency_max_s": "one_way_delay_max_s"}


def as_now(name: str, known: Collection[str] | None = None) -> str:
    """Today's name of a column that was renamed, with a warning; any other name, and one that is ``known``, as it is.

    >>> as_now("goodput_bps")
    'goodput_bps'
    """
    place, dot, old = name.rpartition(".")
    now = f"{place}{dot}{RENAMED.get(old, old)}"
    if now == name or (known is not None and (name in known or now not in known)):
        return name
    said = f"{old} is called {RENAMED[old]} now; the next release has the new name alone"
    warn(f"warning: {said}", TightlinkWarning, stacklevel=CALLER)
    return now


@dataclass(frozen=True)
class Column:
    """A column: its name with the unit at the end, its type, and what it holds."""

    name: str
    type: Type
    help: str


#: What is shown of the totals of a run, by its header; without what the run's tables lack.
TOTALS: Final[dict[str, dict[str, str]]] = {
    "flows": {
        "completion": "completion_s",
        "goodput": "goodput_bps",
        "sent": "packets_sent",
        "dropped": "packets_dropped",
        "retransmitted": "packets_retransmitted",
        "one-way delay mean": "one_way_delay_mean_s",
        "one-way delay p95": "one_way_delay_p95_s",
        "jitter": "jitter_mean_s",
    },
    "links": {
        "utilization": "utilization",
        "packets": "packets_in",
        "dropped": "packets_dropped",
        "queue mean": "queue_mean_packets",
        "queue max": "queue_max_packets",
        "queueing delay mean": "queueing_delay_mean_s",
        "queueing delay p95": "queueing_delay_p95_s",
    },
    "nodes": {
        "load": "load_true",
        "reported": "load_reported",
        "served": "packets_served",
        "dropped at input ring": "dropped_input_ring",
        "at output ring": "dropped_output_ring",
    },
}


def _columns(table: Mapping[str, tuple[Type, str]]) -> Iterator[Column]:
    """The columns of a table; one with {} in its name is one for each statistic."""
    for name, (kind, text) in table.items():
        for key, (word, _) in DELAY_STATISTICS.items() if "{}" in name else [("", ("", None))]:
            yield Column(name.format(key), kind, text.format(word))


_TEXT: Final = (files("tightlink") / "tables.toml").read_text(encoding="utf-8")
TABLES: Final = {name: tuple(_columns(table)) for name, table in tomllib.loads(_TEXT).items()}

_OF_CAPTURES: Final = "only captures have it"
_NO_TRANSFERS: Final = 'its scenario has no traffic of kind "transfers", and no "bulk" with bytes'
_NO_USERS: Final = 'its scenario has no traffic of kind "users"'
#: How to get a table that a run does not have.
HOW_TO: Final = {
    "flows": 'set observe.flows to "each" or "group"; users and scatter have no flows',
    "nodes": "users and scatter pass their routers uncounted",
    **dict.fromkeys(("users", "user_paths", "transfers", "long_lived"), _NO_USERS),
    **dict.fromkeys(("completions", "completion_times"), _NO_TRANSFERS),
    "scatter": 'its scenario has no traffic of kind "scatter"',
    "series": 'set observe.interval, such as observe.interval = "100 ms"',
    "delays": "set observe.delays = true",
    "deliveries": "only an emulated link has it: tightlink emulate",
    "packets": "simulate with trace=True, or --trace; of a capture, packets=True, or --packets",
    **dict.fromkeys(("connections", "interfaces", "protocols", "packet_sizes"), _OF_CAPTURES),
    "quic": f"{_OF_CAPTURES}, where the handshake of a QUIC connection was captured",
    "tunnels": f"{_OF_CAPTURES}, where packets came through tunnels",
    "findings": f"{_OF_CAPTURES}, with packets=True, or --packets",
}

#: Tables that a capture and a trace may have, if they were read for them.
CAPTURED: Final = {"capture": frozenset({"packets", "findings"}), "trace": frozenset({"packets"})}

#: Columns of tables over time that say what is at the end of an interval, not what happened in it.
_STATES: Final = frozenset({"sources_transmitting", "sources_connecting", "sources_thinking", "packets_in_network"})
#: Columns that identify a row rather than measure something.
_IDENTITY: Final = frozenset({"flow", "label", "from", "to", "transport", "congestion", "link", "node", "time_s"})


def schema(table: str) -> dict[str, Any]:
    """The columns of a table, with the types that they have in polars frames.

    >>> schema("series")
    {'time_s': Float64, 'entity': String, 'metric': String, 'value': Float64}
    """
    types = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64}
    return {column.name: types[column.type] for column in TABLES[table]}


def counted(table: str) -> list[str]:
    """The columns of a table over time that add up over intervals.

    >>> counted("scatter")
    ['packets_sent', 'packets_delivered', 'packets_dropped']
    """
    return [column.name for column in TABLES[table] if column.type == "integer" and column.name not in _STATES]


def measured(table: str) -> list[str]:
    """The columns of a table over time that are means or states, of which a mean over time can be taken.

    >>> measured("scatter")
    ['packets_in_network', 'one_way_delay_mean_s', 'hops_mean']
    """
    names = {"time_s", *counted(table), *RENAMED}
    return [column.name for column in TABLES[table] if column.type != "text" and column.name not in names]


def metrics() -> list[tuple[str, str]]:
    """What can be compared between runs: TABLE.COLUMN with a line of help each.

    >>> ("flows.goodput_bps", "payload delivered in order / (stop, or its last arrival - start)") in metrics()
    True
    """
    return [
        (f"{table}.{column.name}", column.help)
        for table in ("flows", "links", "nodes", "users", "scatter")
        for column in TABLES[table]
        if column.name not in _IDENTITY and column.name not in RENAMED
    ]
