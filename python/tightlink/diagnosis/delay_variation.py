"""Delay variation of datagrams: how much later than over an empty path they arrive (RFC 5481 §4.2), for jitter buffers.

Example:
    >>> scenario = tl.loads('''
    ... duration = "2 s"
    ... link.wire = { ends = ["a", "b"], rate = "1 Mbit/s", jitter = { kind = "uniform", most = "8 ms" } }
    ... traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B" }
    ... ''')
    >>> with_delay_variation(tl.simulate(scenario)).select(pl.col("delay_variation_p99_s").round(3)).item()
    0.008
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.diagnosis.path import Path
from tightlink.diagnosis.paths import paths_of
from tightlink.lazy import pl

if TYPE_CHECKING:
    from tightlink.run import Run

#: The percentiles of one-way delays, by those of what is added to the shortest.
COLUMNS: Final = {f"delay_variation_{share}_s": f"one_way_delay_{share}_s" for share in ("p95", "p99")}
#: Paths of more flows are not looked for.
_MOST_FLOWS: Final = 1000


def with_delay_variation(run: Run) -> pl.DataFrame:
    """The table ``flows``, with percentiles of the delay variation where there are datagrams of applications.

    They are none for TCP and for sources that saturate a link, which have no jitter buffer, and for datagrams of
    several sizes, of which each has a shortest delay.
    """
    flows = run.flows
    datagrams = flows.filter(transport="udp")["label"].to_list() if "scenario" in run.manifest else []
    # Runs that older versions stored have other columns.
    if not 0 < len(datagrams) <= _MOST_FLOWS or not set(COLUMNS.values()) <= set(flows.columns):
        return flows
    paths = paths_of(run)
    shortest = {label: path.shortest_one_way_s for label in datagrams if _has(path := paths.of(label))}
    base = pl.col("label").replace_strict(shortest, default=None, return_dtype=pl.Float64)
    added = {name: (pl.col(delay) - base).clip(lower_bound=0.0) for name, delay in COLUMNS.items()}
    return flows.with_columns(**added) if shortest else flows


def _has(path: Path) -> bool:
    spec = path.spec
    return spec["traffic"]["kind"] != "saturate" and not spec["transport"]["udp"]["sizes"]
