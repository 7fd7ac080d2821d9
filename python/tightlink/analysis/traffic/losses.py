"""Where flows lose packets, or have them marked: at the links of a run, or on the unknown way of captured flows.

A run with ``--trace`` tells each drop and each congestion mark with its link. A capture tells none: there, flows that
leave from one host or arrive at one are looked at together, and what is retransmitted stands for what was dropped,
about a round trip later.

Example:
    >>> packets = pl.DataFrame({"event": ["+", "+", "d"], "time_s": [0.0, 0.1, 0.1], "from": "a", "to": "b", "flow": 0})
    >>> [(place.name, place.offered.height, place.lost.height) for place in of_packets(packets)]
    [('a to b', 2, 1)]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from tightlink.errors import TightlinkError, one_of
from tightlink.lazy import pl
from tightlink.run import CAPTURE, TRACE, Run
from tightlink.scenario import Scenario

_NEEDED: Final = ("event", "time_s", "flow")
#: Only TCP's data: nobody answers the loss of an ACK, or of a datagram.
_DATA: Final = "tcp"
#: What bits do to a packet on the wire is no congestion.
_WIRE: Final = "wire"
_FOUND: Final = ("retransmission", "fast retransmission")
#: What a queue sets in place of a drop.
_MARK: Final = "CE"


@dataclass(frozen=True)
class Flows:
    """What is known of flows, by their number."""

    labels: Mapping[Any, str] = field(default_factory=dict)
    round_trips_s: Mapping[Any, float] = field(default_factory=dict)
    """Means."""
    usual_round_trip_s: float | None = None
    """The median of all that are known, those of groups too."""

    @classmethod
    def of(cls, run: Run) -> Flows:
        """Those of a run. Rows of its table of flows that are groups have other numbers than packets."""
        rows = run.flows.select("flow", "label", "rtt_mean_s").rows() if "flows" in run.tables else []
        trips = [trip for _, _, trip in rows if trip is not None]
        groups = set() if run.source in {CAPTURE, TRACE} else _groups(run.scenario)
        single = [row for row in rows if groups is not None and row[1] not in groups]
        return cls(
            {flow: label for flow, label, _ in single},
            {flow: trip for flow, _, trip in single if trip is not None},
            median(trips) if trips else None,
        )


def _groups(scenario: Scenario) -> set[str] | None:
    """Labels of rows of the table of flows that are groups; nothing where all are."""
    if scenario.observe is not None and scenario.observe.flows == "group":
        return None
    return {name for name, traffic in scenario.traffic.items() if traffic.kind == "transfers"}


@dataclass(frozen=True)
class Place:
    """A link, or what flows of a capture share, with the packets that came to it and those lost or marked there."""

    name: str
    offered: pl.DataFrame
    """``time_s``, ``flow``."""
    lost: pl.DataFrame
    """``time_s``, ``flow``, ``marked``: whether it was marked in place of being dropped."""
    known: Flows = Flows()
    untold: int = 0
    """Packets that its queue marked, where a trace does not tell whose they are."""
    retransmitted: bool = False
    """Whether what is lost is what was retransmitted, as of a capture."""

    def label(self, flow: object) -> str:
        """What a flow is called."""
        return self.known.labels.get(flow) or (flow if isinstance(flow, str) else f"flow {flow}")

    @property
    def round_trip_s(self) -> float | None:
        """The median of the mean round-trip times of its flows; where none of them is known, of all."""
        trips = self.known.round_trips_s
        there = [trips[flow] for flow in self.offered["flow"].unique().to_list() if flow in trips]
        return median(there) if there else self.known.usual_round_trip_s


def of_run(run: Run) -> list[Place]:
    """The places at which flows of a run meet: its links, or of a capture the hosts."""
    packets = run.packets
    flows = Flows.of(run)
    if run.source == CAPTURE:
        return _of_hosts(packets, run.table("findings"), flows)
    links = run.links
    ends = links.group_by("from", "to").agg(pl.col("link", "packets_marked")).rows()
    # A trace tells links by their ends, which two links may share.
    known = {
        (begin, end): (" and ".join(names), sum(number or 0 for number in marked)) for begin, end, names, marked in ends
    }
    return of_packets(packets, flows, known)


def of_packets(
    packets: pl.DataFrame, flows: Flows = Flows(), links: Mapping[tuple[Any, Any], tuple[str, int]] | None = None
) -> list[Place]:
    """The links of a table like ``packets`` of a run: ``event`` (+ and d), ``time_s``, ``flow``, and what tells links.

    Each pair of the columns ``from`` and ``to`` is a link; without them all is one. Where there are ``type`` and
    ``reason``, only data packets of TCP count that were not lost on a wire; where there are ``mark`` and ``uid``,
    packets count that were marked CE, at the link where they first are. ``flows`` is what is known of the flows,
    ``links`` has names of links, and how many packets each marked, by their ends.
    """
    lacking = [name for name in _NEEDED if name not in packets.columns]
    if lacking:
        raise TightlinkError(
            f"no column {lacking[0]}: expected event, time_s and flow, and has {one_of(packets.columns)}"
        )
    texts = [name for name in ("event", "type", "reason", "mark") if name in packets.columns]
    packets = packets.with_columns(pl.col("time_s").cast(pl.Float64, strict=False), pl.col(texts).cast(pl.String))
    if not packets["time_s"].is_finite().fill_null(value=False).all():
        raise TightlinkError("time_s: expected a number in each row")
    data = packets.filter(pl.col("type") == _DATA) if "type" in packets.columns else packets
    if "reason" in data.columns:
        data = data.filter((pl.col("event") != "d") | (pl.col("reason").fill_null("") != _WIRE))
    told = {"mark", "uid"} <= set(data.columns)
    carries = pl.when(pl.col("mark") == _MARK).then("uid")
    data = data.with_columns(marked=carries.is_not_null() & carries.is_first_distinct() if told else False)
    ends = [name for name in ("from", "to") if name in data.columns]
    places = []
    for key, part in data.group_by(ends, maintain_order=True) if ends else [((), data)]:
        name, marked = (links or {}).get((*key,), (" to ".join(map(str, key)) or "link", 0))
        offered = part.filter(pl.col("event") == "+").select("time_s", "flow")
        lost = part.filter((pl.col("event") == "d") | pl.col("marked")).select("time_s", "flow", "marked")
        places.append(Place(name, offered, lost, flows, untold=0 if told else marked))
    return places


def _of_hosts(packets: pl.DataFrame, findings: pl.DataFrame, known: Flows) -> list[Place]:
    """What leaves a host shares its uplink, and what arrives at it its downlink; the same flows are one place.

    Where no host has two flows, as between others, all flows may share a link.
    """
    data = packets.filter(pl.col("type") == _DATA)
    again = findings.filter(pl.col("finding").is_in(_FOUND)).select("uid").unique()
    lost = data.join(again, on="uid", how="semi")

    def place(name: str, *tables: pl.DataFrame) -> Place:
        sent, again = (table.select("time_s", "flow", marked=False) for table in tables)
        return Place(name, sent, again, known, retransmitted=True)

    places: dict[frozenset[Any], Place] = {}
    for column in ("from", "to"):
        for (host,), part in data.group_by(column, maintain_order=True):
            own = lost.filter(pl.col(column) == host)
            places.setdefault(frozenset(part["flow"].unique()), place(f"{column} {host}", part, own))
    shared = [each for flows, each in places.items() if len(flows) > 1]
    return shared or [place("all flows", data, lost)]
