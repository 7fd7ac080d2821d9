"""The figure of ``tightlink plan path``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tightlink import plots
from tightlink.commands.plan_path_output import Answer
from tightlink.lazy import Axes, pl

#: A figure's panels, in inches.
_PANEL: Final = (4.8, 3.6)
#: More lines than that nobody tells apart.
_LINES: Final = 8
_PERCENT: Final = 100


def draw(answer: Answer, file: Path) -> None:
    """A figure: goodput over windows, utilization over loss; with observations, these and their residuals."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    flows = answer.found.cells["flows"].unique().sort().to_list()
    shown = (
        flows if len(flows) <= _LINES else [flows[place * (len(flows) - 1) // (_LINES - 1)] for place in range(_LINES)]
    )
    cells = answer.found.cells.filter(pl.col("flows").is_in(shown)).sort("flows", "window_packets").with_columns(
        line=pl.col("flows").cast(pl.String) + " flows",
        share=pl.col("goodput_share") * _PERCENT,
    ).rename({"window_packets": "window (packets)", "share": "goodput / bandwidth (%)"})  # fmt: skip
    panels = 2 if answer.points is None else 4
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(_PANEL[0] * 2, _PANEL[1] * panels // 2), layout="constrained")
        axes = figure.subplots(panels // 2, 2, squeeze=False).ravel()
        plots.line(cells, x="window (packets)", y="goodput_bps", by="line", ax=axes[0], marker="o", markersize=3)
        axes[0].set_xscale("log")
        plots.line(cells, x="loss", y="goodput / bandwidth (%)", by="line", ax=axes[1], marker="o", markersize=3)
        if answer.points is not None:
            _draw_points(answer.points, axes[2], axes[3])
    plots.write(figure, file)


def _draw_points(points: pl.DataFrame, scatter: Axes, residuals: Axes) -> None:
    named = points.with_columns(line=pl.col("flows").cast(pl.String) + " flows")
    kept = named.rename({"predicted_bps": "predicted goodput_bps", "observed_bps": "observed goodput_bps"})
    plots.scatter_with_curves(
        kept,
        x="predicted goodput_bps",
        y="observed goodput_bps",
        by="line",
        curves={"equality": lambda s: s},
        ax=scatter,
    )
    wide = named.sort("flows", "window_packets").with_columns(pl.col("residual") * _PERCENT)
    wide = wide.rename({"window_packets": "window (packets)", "residual": "(o − s) / o (%)"})
    plots.line(wide, x="window (packets)", y="(o − s) / o (%)", by="line", ax=residuals, marker="o", markersize=3)
    residuals.set_xscale("log")
    residuals.axhline(0, linewidth=0.8, color="0.5")
