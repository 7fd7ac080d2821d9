"""Figures that compare algorithms: ranks, where each is an outlier, shares, and each beside standard TCP."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tightlink.analysis.compared import labels as numbered
from tightlink.analysis.outliers import effective
from tightlink.analysis.shares import ALTERNATIVE, STANDARD, fairness
from tightlink.plots import labels, palette
from tightlink.plots.style import LEGEND, STYLE, axes

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tightlink.analysis.ranks import Ranks

_PANEL: Final = (2.1, 2.1)
_MOST_ACROSS: Final = 4
_SMALL: Final = 6.5
_FEW: Final = 12


def rank_scatter(found: Ranks, *, ax: Axes | None = None) -> Axes:
    """Mean rank along, its standard deviation up: bottom left is good nearly everywhere.

    Args:
        found: The ranks.
        ax: Where to draw; without it, in a new figure.
    """
    ax = axes(ax)
    shades = palette.colors(found.summary["algorithm"])
    for row in found.summary.sort("algorithm").iter_rows(named=True):
        color = shades[row["algorithm"]]
        spread = row["rank_sd"] or 0.0
        ax.scatter([row["rank_mean"]], [spread], s=34, color=color, zorder=3)
        ax.annotate(row["algorithm"], (row["rank_mean"], spread), xytext=(5, 3), textcoords="offset points",
                    fontsize=8.5, color=color)  # fmt: skip
    ax.set(xlabel="mean rank (1 is the best)", ylabel="standard deviation of the rank")
    ax.margins(0.15)
    return ax


def outlier_grid(found: pl.DataFrame, *, least: float = 0.0, ax: Axes | None = None) -> Axes:
    """Which algorithm is an outlier under which condition in which response, and on which side.

    Args:
        found: What `outliers.outliers` returns.
        least: Relative effect below which outliers are left out.
        ax: Where to draw; without it, in a new figure.
    """
    from matplotlib.patches import Rectangle

    ax = axes(ax)
    conditions, responses = (found[name].unique(maintain_order=True).to_list() for name in ("condition", "response"))
    shown = effective(found, least)
    algorithms = sorted(found.filter("outlier")["algorithm"].unique().to_list())
    called, shades = numbered(algorithms), palette.colors(algorithms)
    for row in shown.iter_rows(named=True):
        across, down = conditions.index(row["condition"]), responses.index(row["response"])
        color = shades[row["algorithm"]]
        ax.add_patch(Rectangle((across - 0.5, down - 0.5), 1, 1, facecolor=color, edgecolor="white", linewidth=0.5))
        short = called[row["algorithm"]] if len(called[row["algorithm"]]) == 1 else ""
        ax.text(across, down, short + row["sign"], ha="center", va="center", color="white", fontsize=_SMALL)
    for name in algorithms:
        title = name if called[name] == name else f"{called[name]} {name}"
        ax.scatter([], [], marker="s", s=36, color=shades[name], label=title)
    small = 8.5 if max(len(conditions), len(responses)) <= _FEW else _SMALL
    ax.set_xticks(range(len(conditions)), conditions, rotation=90, fontsize=small)
    ax.set_yticks(range(len(responses)), list(labels.told_apart(responses).values()), fontsize=small)
    ax.tick_params(length=0)
    ax.set(xlim=(-0.5, len(conditions) - 0.5), ylim=(len(responses) - 0.5, -0.5))
    ax.grid(visible=False)
    filtered = "" if least == 0 else f" of {100 * least:.0f} % and more"
    ax.set_title(f"outliers{filtered}: {shown.height} of {found.height} cells", fontsize=9, fontweight="normal")
    if algorithms:
        ax.legend(**LEGEND, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def share_bars(found: pl.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The share of the available throughput: a bar for each algorithm, then one for the TCP beside each of them.

    Args:
        found: What `shares.shares` returns.
        ax: Where to draw; without it, in a new figure.
    """
    ax = axes(ax)
    algorithms = found["algorithm"].unique(maintain_order=True).to_list()
    gap = len(algorithms) + 1
    shades = palette.colors(algorithms)
    for place, name in enumerate(algorithms):
        color = shades[name]
        for start, flows, hatch in ((0, ALTERNATIVE, ""), (gap, STANDARD, "///")):
            share = found.filter(algorithm=name, flows=flows)["share"]
            if share.len():
                ax.bar(
                    [start + place], [100 * share.item()], color=color, hatch=hatch, edgecolor="white", linewidth=0.5
                )
    places = [*range(len(algorithms)), *(gap + place for place in range(len(algorithms)))]
    ax.set_xticks(places, [*algorithms, *algorithms], rotation=60, ha="right", rotation_mode="anchor")
    ax.tick_params(axis="x", length=0)
    ax.set(ylabel="share of the available throughput (%)")
    for start, text in ((0, "these flows"), (gap, "standard TCP beside them")):
        ax.text(
            start + (len(algorithms) - 1) / 2, 1.02, text, transform=ax.get_xaxis_transform(), ha="center", fontsize=8.5
        )
    return ax


def beside_standard(points: pl.DataFrame, *, figure: Figure | None = None) -> Figure:
    """Throughput biplots: a panel for each algorithm, a point for each condition; on the diagonal both get the same.

    Args:
        points: What `shares.beside` returns.
        figure: Where to draw; without it, in a new one that is large enough.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawing

    algorithms = points["algorithm"].unique(maintain_order=True).to_list()
    across = min(_MOST_ACROSS, len(algorithms))
    down = math.ceil(len(algorithms) / across)
    with mpl.rc_context({**STYLE, "font.size": 8}):
        if figure is None:
            figure = Drawing(figsize=(_PANEL[0] * across + 0.3, _PANEL[1] * down + 0.3), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        for place, ax in enumerate(grid.flat):
            if place < len(algorithms):
                _beside(points, algorithms[place], ax)
            else:
                ax.set_axis_off()
        unit = _unit(points)
        figure.supxlabel(f"throughput of the algorithm{unit}", fontsize=8)
        figure.supylabel(f"of standard TCP beside it{unit}", fontsize=8)
    return figure


def _beside(points: pl.DataFrame, algorithm: str, ax: Axes) -> None:
    """One panel; its title says by which factor the algorithm gets more, as the geometric mean."""
    scale = _scale(points)
    own, standard = points.columns[-2:]
    part = points.filter(algorithm=algorithm)
    ratio = fairness(part)["ratio"].item()
    end = 1.06 * _largest(points) * scale.factor
    ax.plot([0, end], [0, end], color=palette.NEUTRAL, linewidth=0.8, linestyle="--")
    ax.scatter((part[own] * scale.factor).to_list(), (part[standard] * scale.factor).to_list(), s=14, linewidths=0,
               color=palette.SERIES[0])  # fmt: skip
    ax.set(xlim=(0, end), ylim=(0, end), aspect="equal")
    ax.grid(visible=False)
    ax.set_title(f"{algorithm}: × {ratio:.2f}" if ratio is not None else algorithm, fontsize=8.5)


def _scale(points: pl.DataFrame) -> labels.Axis:
    return labels.axis(points.columns[-2], _largest(points))


def _largest(points: pl.DataFrame) -> float:
    from tightlink.reduce import largest

    return max((largest(points[name]) for name in points.columns[-2:]), default=1.0) or 1.0


def _unit(points: pl.DataFrame) -> str:
    title = _scale(points).title
    return " (" + title.rpartition("(")[2] if "(" in title else ""
