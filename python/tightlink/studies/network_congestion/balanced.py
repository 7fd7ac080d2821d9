"""Capacity where it is needed: as much in all, shared by what links have to carry."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink.experiment.claims import Claim, holds_if, within
from tightlink.report import Section, Table, Text
from tightlink.studies.network_congestion import graphs
from tightlink.studies.network_congestion.document import THEORY, ZHAO
from tightlink.studies.network_congestion.measured import Measured
from tightlink.studies.network_congestion.network import CAPACITY, Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from tightlink.analysis.routes import Routes
    from tightlink.run import Run

_LOADS: Final = (0.9, 0.96, 1.0, 1.02, 1.04, 1.06, 1.1)
_STEP: Final = 0.02


def by_betweenness(routes: Routes) -> NDArray[np.float64]:
    """Shares of the capacity of all links, as what they carry; a link without paths has next to nothing."""
    asked = routes.betweenness.clip(min=1)
    return np.asarray(asked / asked.sum())


@cache
def cases() -> tuple[Case, ...]:
    """Four families."""
    chosen = (graphs.lattice(8), graphs.tree(5), graphs.random(64), graphs.scale_free(64))
    return tuple(Case(f"balanced/{graph.name}", graph, _LOADS, share=by_betweenness) for graph in chosen)


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each graph."""
    rows = []
    for case in cases():
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


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """What is said of capacities that follow betweenness."""
    found = table(runs)
    off = float((found["normalised"] - 1).abs().to_numpy().max())
    yield within(
        "balanced.independent", "With capacity by betweenness the congestion condition is the same on all graphs and "
        "sizes",
        ZHAO, 0.0, off, tolerance=_STEP,
        reason="Largest distance from 1 of λc n L / (capacity of all links), L the mean path length: all links are "
        "full at once, when what is sent, times its path, is all that there is. Tolerance: the distance of the "
        "loads.",
    )  # fmt: skip
    yield holds_if(
        "balanced.gain", "Capacity by betweenness raises the critical load of every graph", THEORY,
        f"× {float(found['gain'].to_numpy().min()):.2f} to {float(found['gain'].to_numpy().max()):.2f}",
        bool((found["gain"] > 1).all()), "Over the same capacity in all, equally shared.",
    )  # fmt: skip


def section(runs: Mapping[str, Run]) -> Section:
    """What to do about it."""
    found = table(runs)
    most = found.sort("gain").row(-1, named=True)
    finding = (
        "The same capacity in all, given to links as they are used, raises the critical load up to "
        f"{most['gain']:.1f} times ({most['graph']}); beyond it everything congests at once."
    )
    text = (
        "λc is set by one link, so capacity elsewhere is no help. Where each link has a share by its betweenness, all "
        "are full at the same load, λc = capacity of all / (n L): nothing of the graph but its mean path length L "
        "matters any more. The price is the other side of it: the order parameter rises several times as steeply."
    )
    formats: dict[str, Any] = {
        "equal capacities": ".1f", "by betweenness": ".1f", "theory": ".1f", "gain": "× {:.2f}", "η at 1.1 λc": ".3f",
    }  # fmt: skip
    shown = Table(found.drop("normalised"), "λc in packets/s from each node.", formats)
    return Section("Capacity where it is needed", finding, [Text(text), shown])
