"""Where controls that measure delay come to rest: packets of each flow that wait in the queue."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.studies.congestion_basics.setup import equilibria
from tightlink.studies.congestion_basics.setup.network import LINK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

_SETTLED_S: Final = 20


def waiting(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Packets of a flow that wait or are in transmission, the mean over time."""
    chosen = (pl.col("entity") == LINK) & (pl.col("metric") == "queue_packets") & (pl.col("time_s") > _SETTLED_S)
    rows = []
    for control in equilibria.CONTROLS:
        for flows in equilibria.FLOWS:
            queue = runs[equilibria.name(control, flows)].series.filter(chosen)["value"].to_list()
            rows.append((control, flows, (fmean(queue) + 1) / flows))
    return pl.DataFrame(rows, schema=["control", "flows", "per_flow_packets"], orient="row")


def values(found: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name, of packets that wait."""
    several = pl.col("flows") > 1
    listed: dict[str, object] = {
        "equilibria.flows": ", ".join(map(str, equilibria.FLOWS)),
        "equilibria.flows_most": max(equilibria.FLOWS),
        "vegas.alone_packets": found.filter((pl.col("control") == "vegas") & ~several)["per_flow_packets"][0],
    }
    for control in equilibria.CONTROLS:
        own = found.filter(pl.col("control") == control)
        packets = (own.filter(several) if control == "vegas" else own)["per_flow_packets"].to_list()
        listed |= {
            f"{control}.packets": fmean(packets),
            f"{control}.least_packets": min(packets),
            f"{control}.most_packets": max(packets),
        }
    return listed
