"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink import plots
from tightlink.studies.congestion_basics.report.paths import sawtooth

if TYPE_CHECKING:
    from pathlib import Path

    from tightlink.studies.congestion_basics.observe import Observed


def draw(folder: Path, observed: Observed) -> list[Path]:
    """Draw them all and return where they are."""
    written = plots.save(plots.line(observed.phases.window, x="time_s", y="cwnd_packets"), folder, "phases")
    used = observed.paths.grid.rename({"queue_bdp": "queue (BDP)"}).with_columns(
        of=pl.format("{} flows, {} ms", "flows", pl.col("rtt_ms").cast(pl.Int64))
    )
    curve = {"sawtooth of one flow": sawtooth()}
    ax = plots.scatter_with_curves(used, x="queue (BDP)", y="utilization", by="of", curves=curve)
    written += plots.save(ax, folder, "utilization-252")
    mean = observed.responses.mean.rename({"packets_per_rtt": "packets per round trip"})
    laws = {
        f"rules of {name}": (part["loss"].to_list(), part["law"].to_list())
        for (name,), part in mean.filter(~pl.col("control").str.contains("delayed")).group_by(
            "control", maintain_order=True
        )
    }
    ax = plots.scatter_with_curves(mean, x="loss", y="packets per round trip", by="control", curves=laws, log=True)
    return [*written, *plots.save(ax, folder, "response-functions")]
