"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import plots
from tightlink.analysis.bulk_vary import FACTORS
from tightlink.plots.palette import SERIES
from tightlink.studies.bulk_throughput import company, one_property, pings
from tightlink.studies.bulk_throughput.grids import shown
from tightlink.studies.bulk_throughput.paths import PATHS, SITES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from tightlink.run import Run
    from tightlink.studies.bulk_throughput.paths import Place

_DOTS: Final[dict[str, Any]] = {"marker": "o", "markersize": 3}
_ACROSS: Final = 4
#: Of a panel, in inches.
_WIDE: Final = 3.6
_HIGH: Final = 3.0


def draw(folder: Path, grids: Mapping[str, pl.DataFrame], runs: Mapping[str, Run]) -> list[Path]:
    """Draw them all and return where they are."""
    return [
        *_panels(folder, "goodput", [(place.title, partial(_goodput, grids[place.name])) for place in PATHS]),
        *_panels(folder, "over-loss", [(place.title, partial(_loss, grids[place.name])) for place in PATHS]),
        *_panels(
            folder, "one-property",
            [(title, partial(_property, one_property.table(runs), name, title)) for name, title in FACTORS.items()],
        ),
        *_panels(folder, "ping-and-cross", [("Caltech", partial(_pings, runs)), ("Daresbury", partial(_cross, runs))]),
    ]  # fmt: skip


def measured(folder: Path, points: pl.DataFrame) -> list[Path]:
    """Observed over predicted, a panel for each path that was measured."""
    parts = [(place, points.filter(pl.col("path") == place.name)) for place in SITES]
    panels: list[tuple[str, Callable[[Axes], Axes]]] = [
        (place.title, partial(_agreement, place, part)) for place, part in parts if not part.is_empty()
    ]
    return _panels(folder, "measured", panels) if panels else []


def _panels(folder: Path, name: str, panels: list[tuple[str, Callable[[Axes], Axes]]]) -> list[Path]:
    """One figure of several panels, of which the first alone has a legend."""
    import matplotlib as mpl
    from cycler import cycler
    from matplotlib.figure import Figure

    rows = math.ceil(len(panels) / _ACROSS)
    with mpl.rc_context({**plots.STYLE, "axes.prop_cycle": cycler(color=SERIES)}):
        figure = Figure(figsize=(_WIDE * min(len(panels), _ACROSS), _HIGH * rows), layout="constrained")
        for place, (title, fill) in enumerate(panels, start=1):
            ax = fill(figure.add_subplot(rows, min(len(panels), _ACROSS), place))
            ax.set_title(title)
            legend = ax.get_legend()
            if len(panels) > _ACROSS and place > 1 and legend is not None:
                legend.remove()
    return plots.save(figure, folder, name)


def _goodput(grid: pl.DataFrame, ax: Axes) -> Axes:
    kept = shown(grid).rename({"window_kb": "window (kB)"})
    plots.line(kept, x="window (kB)", y="goodput_bps", by="line", ax=ax, **_DOTS).set_xscale("log", base=2)
    return ax


def _agreement(place: Place, part: pl.DataFrame, ax: Axes) -> Axes:
    ends = (0.0, place.path.bandwidth_bps)
    return plots.scatter_with_curves(
        part, x="predicted_bps", y="observed_bps", by="kind", curves={"o = s": (ends, ends)}, ax=ax
    )


def _loss(grid: pl.DataFrame, ax: Axes) -> Axes:
    kept = shown(grid).rename({"utilization": "goodput / bandwidth (%)"})
    return plots.line(kept, x="loss", y="goodput / bandwidth (%)", by="line", ax=ax, **_DOTS)


def _property(table: pl.DataFrame, name: str, title: str, ax: Axes) -> Axes:
    part = table.filter(pl.col("property") == name).rename({"value": title})
    plots.line(part, x=title, y="goodput_bps", by="base", ax=ax, **_DOTS).set_xscale("log")
    return ax


def _pings(runs: Mapping[str, Run], ax: Axes) -> Axes:
    return plots.line(pings.by_flows(runs), x="flows", y="loss", by="of", ax=ax, **_DOTS)


def _cross(runs: Mapping[str, Run], ax: Axes) -> Axes:
    widths = company.intervals(company.goodputs(runs)).with_columns(pl.col("share") * 100)
    x = "cross traffic (% of the bandwidth)"
    plots.line(widths.rename({"share": x}), x=x, y="mean_bps", by="setting", ax=ax, **_DOTS)
    for _, part in widths.group_by("setting", maintain_order=True):
        ax.fill_between(part["share"], part["low_bps"] / 1e6, part["high_bps"] / 1e6, alpha=0.15)
    return ax
