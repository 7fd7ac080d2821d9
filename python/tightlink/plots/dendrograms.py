"""Dendrograms: one condition, or all of them on one page."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Final

from tightlink.analysis.compared import labels as numbered
from tightlink.plots import palette
from tightlink.plots.style import STYLE, axes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tightlink.analysis.clusters import Dendrogram

#: Of a panel on a page, in inches.
_PANEL: Final = (1.55, 1.55)
_MOST_ACROSS: Final = 8
_ROOM: Final = 1.08
#: Letters in a line of a panel's title.
_TITLE: Final = 22
#: Joins at or above the cut.
_PLAIN: Final = "#59616b"


def dendrogram(
    found: Dendrogram, *, names: Mapping[str, str] | None = None, top: float | None = None, ax: Axes | None = None
) -> Axes:
    """The joins of the algorithms under one condition; a coloured cluster is joined below the cut, a dashed line.

    Args:
        found: The dendrogram.
        names: What to call the algorithms; without it, by their numbers in document 003 where all are of its eight.
        top: Where the axis ends; without it, above the highest join.
        ax: Where to draw; without it, in a new figure.
    """
    ax = axes(ax)
    called = numbered(found.order) if names is None else names
    for join in found.joins:
        color = _PLAIN if join.cluster is None else palette.SERIES[(join.cluster - 1) % len(palette.SERIES)]
        ax.plot([join.left, join.left, join.right, join.right],
                [join.left_height, join.height, join.height, join.right_height],
                color=color, linewidth=1.2, solid_joinstyle="miter")  # fmt: skip
    ax.axhline(found.cut, color=palette.NEUTRAL, linestyle="--", linewidth=0.6, zorder=1)
    shown = [called[name] for name in found.order]
    long = any(len(name) > 1 for name in shown)
    ax.set_xticks(range(len(shown)), shown, rotation=90 if long else 0)
    ax.tick_params(axis="x", length=0)
    ax.set(xlim=(-0.6, len(shown) - 0.4), ylim=(0, _ROOM * (found.height if top is None else top) or 1.0),
           ylabel="distance")  # fmt: skip
    ax.grid(visible=False)
    return ax


def dendrograms(found: Sequence[Dendrogram], *, same: bool = False, figure: Figure | None = None) -> Figure:
    """The dendrograms of all conditions on one page.

    Args:
        found: The dendrograms, of which each is a panel.
        same: Whether all have the same axis, for distances that can be compared (`clusters` with spread "all").
        figure: Where to draw; without it, in a new one that is large enough.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawing

    across = min(_MOST_ACROSS, math.ceil(math.sqrt(2 * len(found))))
    down = math.ceil(len(found) / across)
    algorithms = {name: None for each in found for name in each.order}
    called = numbered(algorithms)
    highest = max(each.height for each in found)
    with mpl.rc_context({**STYLE, "font.size": 7, "axes.titlesize": 7, "axes.labelsize": 7}):
        if figure is None:
            size = (max(_PANEL[0], 0.22 * len(algorithms)) * across + 0.4, _PANEL[1] * down + 0.4)
            figure = Drawing(figsize=size, layout="constrained")
        grid = figure.subplots(down, across, squeeze=False, sharey=same)
        for place, ax in enumerate(grid.flat):
            if place >= len(found):
                ax.set_axis_off()
                continue
            dendrogram(found[place], names=called, top=highest if same else None, ax=ax)
            ax.set_title(textwrap.fill(found[place].condition, _TITLE), loc="center", fontweight="normal")
            ax.set_ylabel("distance" if place % across == 0 else "")
        figure.supxlabel(_legend(called), fontsize=7)
    return figure


def _legend(called: Mapping[str, str]) -> str:
    """Which number is which algorithm."""
    if all(name == label for name, label in called.items()):
        return ""
    return "   ".join(f"{label} {name}" for name, label in sorted(called.items(), key=lambda item: item[1]))
