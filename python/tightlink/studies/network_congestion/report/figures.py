"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tightlink import plots
from tightlink.analysis.backlog import master
from tightlink.studies.network_congestion.observe.rounding import SHOWN
from tightlink.studies.network_congestion.report.order_parameter import curves
from tightlink.studies.network_congestion.setup.network import CAPACITY

if TYPE_CHECKING:
    from pathlib import Path

    from tightlink.studies.network_congestion.observe import Observed


def draw(folder: Path, observed: Observed) -> list[Path]:
    """Draw them all and return where they are."""
    structure, near = observed.invariants, observed.rounding
    points, lines = curves(observed.graphs)
    order = {"load": "load / λc", "order": "order parameter η"}
    fluid = {
        f"fluid model, {name}": (part["load"].to_list(), part["order"].to_list())
        for (name,), part in lines.group_by("model", maintain_order=True)
    }
    written = plots.save(
        plots.scatter_with_curves(points.rename(order), x=order["load"], y=order["order"], by="graph", curves=fluid),
        folder,
        "order",
    )
    law = np.geomspace(
        float(structure["betweenness"].to_numpy().min()), float(structure["betweenness"].to_numpy().max())
    )
    names = {"betweenness": "largest betweenness of a link", "critical": "critical load (packets/s)"}
    ax = plots.scatter_with_curves(
        structure.rename(names), x=names["betweenness"], y=names["critical"], by="family",
        curves={"C (n − 1) / B": (law, CAPACITY * 63 / law)}, log=True,
    )  # fmt: skip
    written += plots.save(ax, folder, "critical-load-over-betweenness")
    z = np.linspace(*SHOWN, 200)
    scaled = {"z": "(λ / λc − 1) √t", "g": "piled up / √t"}
    for case in near.in_time:
        own = near.master_curve(case).rename(scaled)
        ax = plots.scatter_with_curves(own, x=scaled["z"], y=scaled["g"], by="time", curves={"G": (z, master(z))})
        written += plots.save(ax, folder, f"scaling-in-time-{case.graph.name}")
    wandering = observed.limited.wandering.with_columns(queue=pl.format("{} packets", pl.col("size").cast(pl.Int64)))
    wandering = wandering.rename({"x": "load / λc", "y": "σ of the queue / limit"})
    ax = plots.line(wandering, x="load / λc", y="σ of the queue / limit", by="queue")
    return [*written, *plots.save(ax, folder, "fluctuations-limited-queues")]
