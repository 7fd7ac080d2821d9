"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import plots
from tightlink.analysis.bulk_vary import FACTORS
from tightlink.plots.palette import SERIES
from tightlink.studies.bulk_throughput.setup.linux import BYTES, PACKETS, SIZE
from tightlink.studies.bulk_throughput.setup.paths import KILOBYTES, PATHS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from tightlink.studies.bulk_throughput.observe import Observed

#: As many lines as there are colours, of the numbers of flows that all paths have.
SHOWN: Final = (1, 2, 4, 7, 10, 15, 20, 40)
_DOTS: Final[dict[str, Any]] = {"marker": "o", "markersize": 3}
_ACROSS: Final = 4
#: Of a panel, in inches.
_WIDE: Final = 3.6
_HIGH: Final = 3.0


def draw(folder: Path, observed: Observed) -> list[Path]:
    """Draw them all and return where they are."""
    grids, found = observed.grids, observed.one_property
    return [
        *panels(folder, "goodput", [(place.title, partial(_goodput, grids[place.name])) for place in PATHS]),
        *panels(folder, "over-loss", [(place.title, partial(_loss, grids[place.name])) for place in PATHS]),
        *panels(
            folder, "one-property", [(title, partial(_property, found, name, title)) for name, title in FACTORS.items()]
        ),
        *panels(
            folder, "ping-and-cross",
            [("Caltech", partial(_pings, observed.pings)), ("Daresbury", partial(_cross, observed.intervals))],
        ),
    ]  # fmt: skip


def panels(folder: Path, name: str, parts: list[tuple[str, Callable[[Axes], Axes]]]) -> list[Path]:
    """One figure of several panels, of which the first alone has a legend."""
    import matplotlib as mpl
    from cycler import cycler
    from matplotlib.figure import Figure

    rows = math.ceil(len(parts) / _ACROSS)
    with mpl.rc_context({**plots.STYLE, "axes.prop_cycle": cycler(color=SERIES)}):
        figure = Figure(figsize=(_WIDE * min(len(parts), _ACROSS), _HIGH * rows), layout="constrained")
        for place, (title, fill) in enumerate(parts, start=1):
            ax = fill(figure.add_subplot(rows, min(len(parts), _ACROSS), place))
            ax.set_title(title)
            legend = ax.get_legend()
            if len(parts) > _ACROSS and place > 1 and legend is not None:
                legend.remove()
    return plots.save(figure, folder, name)


def shown(grid: pl.DataFrame) -> pl.DataFrame:
    """The lines that are drawn, named."""
    kept = grid.filter(pl.col("flows").is_in(SHOWN)).sort("flows", "window_packets")
    return kept.with_columns(
        line=pl.col("flows").cast(pl.String),
        window_kb=pl.col("window_packets").replace_strict(KILOBYTES),
        utilization=pl.col("goodput_share") * 100,
    )  # fmt: skip


def _goodput(grid: pl.DataFrame, ax: Axes) -> Axes:
    kept = shown(grid).rename({"window_kb": "window (kB)"})
    plots.line(kept, x="window (kB)", y="goodput_bps", by="line", ax=ax, **_DOTS).set_xscale("log", base=2)
    return ax


def _loss(grid: pl.DataFrame, ax: Axes) -> Axes:
    kept = shown(grid).rename({"utilization": "goodput / bandwidth (%)"})
    return plots.line(kept, x="loss", y="goodput / bandwidth (%)", by="line", ax=ax, **_DOTS)


def _property(table: pl.DataFrame, name: str, title: str, ax: Axes) -> Axes:
    part = table.filter(pl.col("property") == name).rename({"value": title})
    plots.line(part, x=title, y="goodput_bps", by="base", ax=ax, **_DOTS).set_xscale("log")
    return ax


def _pings(losses: Mapping[str, pl.DataFrame], ax: Axes) -> Axes:
    return plots.line(by_flows(losses), x="flows", y="loss", by="of", ax=ax, **_DOTS)


def by_flows(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Mean losses over the windows: a row for each number of flows and kind of packet, ``of``."""
    names = {PACKETS: "queue of 80 packets", BYTES: f"queue of {SIZE}"}
    frames = [
        tables[queue]
        .group_by("flows", maintain_order=True)
        .agg(pl.col("tcp", "ping").mean())
        .unpivot(["tcp", "ping"], index="flows", variable_name="of", value_name="loss")
        .with_columns(pl.col("of").replace({"tcp": f"TCP, {words}", "ping": f"pings, {words}"}))
        for queue, words in names.items()
    ]
    return pl.concat(frames).sort("of", "flows")


def _cross(intervals: pl.DataFrame, ax: Axes) -> Axes:
    widths = intervals.with_columns(pl.col("share") * 100)
    x = "cross traffic (% of the bandwidth)"
    plots.line(widths.rename({"share": x}), x=x, y="mean_bps", by="setting", ax=ax, **_DOTS)
    for _, part in widths.group_by("setting", maintain_order=True):
        ax.fill_between(part["share"], part["low_bps"] / 1e6, part["high_bps"] / 1e6, alpha=0.15)
    return ax
