"""Capacity where it is needed: as much in all, shared by what links have to carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.studies.network_congestion.observe.measured import Measured
from tightlink.studies.network_congestion.setup import cases
from tightlink.studies.network_congestion.setup.network import CAPACITY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each graph."""
    rows = []
    for case in cases.balanced():
        one = Measured(case, runs)
        equal = case.routes.critical(CAPACITY).load
        rows.append(
            {
                "graph": f"{case.graph.family}, {case.graph.nodes} nodes",
                "equal capacities": equal,
                "by betweenness": one.critical[0],
                "theory": case.critical.load,
                "gain": one.critical[0] / equal,
                "η at 1.1 λc": float(one.mean.filter(pl.col("load") == 1.1)["order"].to_list()[0]),
                "normalised": one.critical[0] * case.routes.hops.sum() / (case.graph.nodes - 1) / case.capacity.sum(),
            }
        )
    return pl.DataFrame(rows)


def values(found: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name."""
    return {
        "balanced.off": float((found["normalised"] - 1).abs().to_numpy().max()),
        "balanced.gain_least": float(found["gain"].to_numpy().min()),
        "balanced.gain_most": float(found["gain"].to_numpy().max()),
    }
