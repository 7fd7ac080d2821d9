"""The part of the report on the order parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.network_congestion.setup.network import CAPACITY

if TYPE_CHECKING:
    from tightlink.studies.network_congestion.observe.measured import Measured

_PERCENT: Final = 100
#: Graphs in the figures: as many as can be told apart.
SHOWN: Final = ("one link", "ring", "lattice", "random", "scale-free")
_FORMATS: Final[dict[str, Any]] = {
    "λc theory": ".1f", "η at 1.5 λc": ".3f", "fluid model": ".3f",
    "λc, equal paths sharing": ".1f",
}  # fmt: skip


def section(found: list[Measured]) -> Section:
    """The order parameter over the load."""
    points, lines = curves(found)
    far = max(abs(one.onset.critical.value - 1) for one in found)
    finding = (
        f"On all {len(found)} graphs packets pile up from the load on at which the busiest link is full, within "
        f"{_PERCENT * far:.1f} %; how many, is given by the paths and the capacities alone."
    )
    text = (
        "Every node sends packets at random times, λ a second in the mean, each to any other node. Every direction of "
        "every wire serves 1000 packets/s; queues are unlimited, so nothing is lost: what does not arrive piles up. "
        "The **order parameter** η is the share that does.\n\n"
        "A link through which B of the n (n − 1) paths lead is offered λ B / (n − 1), so the first is full at **λc = "
        "C (n − 1) / B** of the busiest. Beyond it the *fluid model* says how much piles up: a full link passes all "
        "that wants through in the same proportion, and what comes after it gets less. Nothing is fitted.\n\n"
        "Paths are the ones that the engine takes, one for each pair. Where equally short paths would share evenly, as "
        "betweenness is usually counted, λc would be that of the last column: on a torus, all of whose links could "
        "carry the same, one fixed choice among equals costs most of it."
    )
    return Section(
        "Where packets pile up",
        finding,
        [
            Text(text),
            Chart(
                charts.points(
                    points, "load", "order", by="graph", curves=lines, curve="model", x_title="load / λc of the theory",
                    y_title="order parameter η", height=380, x_domain=(0.7, 2.02),
                ),
                "Points: simulated, on five of the graphs. Lines: the fluid model.",
            ),
            Table(_table(found), "λc in packets/s from each node.", _FORMATS),
        ],
    )  # fmt: skip


def _table(found: list[Measured]) -> pl.DataFrame:
    """A row for each graph."""
    rows = []
    for one in found:
        value, low, high = one.critical
        even = CAPACITY * (one.case.graph.nodes - 1) / one.case.graph.invariants.link_betweenness_max
        rows.append(
            {
                "graph": f"{one.case.graph.family}, {one.case.graph.nodes} nodes",
                "λc theory": one.case.critical.load,
                "λc found": f"{value:.1f} ({low:.1f} to {high:.1f})",
                "from fluctuations": f"{one.rise.times(one.case.critical.load):.1f}",
                "full at once": one.case.critical.links,
                "η at 1.5 λc": float(one.mean.filter(pl.col("load") == 1.5)["order"].to_list()[0]),
                "fluid model": float(one.mean.filter(pl.col("load") == 1.5)["fluid"].to_list()[0]),
                "λc, equal paths sharing": even,
            }
        )
    return pl.DataFrame(rows)


def curves(found: list[Measured]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Points and the fluid model's curves of some graphs, over loads in critical ones."""
    found = [one for one in found if one.case.graph.family in SHOWN]
    points = pl.concat(one.mean.select("load", "order", "error", graph=pl.lit(one.case.graph.family)) for one in found)
    dense = np.unique(np.concatenate([np.linspace(0.7, 1.0, 4), np.linspace(1.0, 2.0, 26)]))
    lines = []
    for one in found:
        values = [one.case.routes.piled_up(one.case.capacity, load * one.case.critical.load) for load in dense]
        lines.append(pl.DataFrame({"load": dense, "order": values, "model": one.case.graph.family}))
    return points, pl.concat(lines)
