"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from tightlink import plots
from tightlink.analysis.sawtooth import utilization
from tightlink.studies.congestion_basics import paths, phases, responses

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from tightlink.run import Run


def draw(folder: Path, runs: Mapping[str, Run]) -> list[Path]:
    """Draw them all and return where they are."""
    written = _saved(plots.line(phases.window(runs["phases"]), x="time_s", y="cwnd_packets"), folder, "phases")
    sizes = [place / 100 for place in range(56)]
    used = paths.grid(runs).rename({"queue_bdp": "queue (BDP)"}).with_columns(
        of=pl.format("{} flows, {} ms", "flows", pl.col("rtt_ms").cast(pl.Int64))
    )  # fmt: skip
    curve = {"sawtooth of one flow": (sizes, [utilization(size) for size in sizes])}
    ax = plots.scatter_with_curves(used, x="queue (BDP)", y="utilization", by="of", curves=curve)
    written += _saved(ax, folder, "utilization-252")
    mean = responses.points(runs).group_by("control", "set", maintain_order=True).agg(
        pl.col("packets_per_rtt").mean().alias("packets per round trip"), pl.col("loss", "law").mean()
    )  # fmt: skip
    laws = {
        f"rules of {name}": (part["loss"].to_list(), part["law"].to_list())
        for (name,), part in mean.filter(~pl.col("control").str.contains("delayed")).group_by(
            "control", maintain_order=True
        )
    }
    ax = plots.scatter_with_curves(mean, x="loss", y="packets per round trip", by="control", curves=laws, log=True)
    return [*written, *_saved(ax, folder, "response-functions")]


def _saved(ax: Axes, folder: Path, name: str) -> list[Path]:
    figure: Any = ax.figure
    return plots.save(figure, folder, name)
