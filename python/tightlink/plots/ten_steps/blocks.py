"""Step 5: whether a factor's effect is the same whatever the levels of the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tightlink.analysis.effects.ten_steps import Steps
from tightlink.lazy import Axes
from tightlink.plots import palette
from tightlink.plots.style import axes
from tightlink.plots.ten_steps import names as named

#: More factors cannot be read: those with the largest effects are shown.
_MOST: Final = 8
_GAP: Final = 0.8
_UP, _DOWN = palette.SERIES[0], palette.SERIES[1]


def blocks(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 5: for each factor a bar from its low to its high level within each combination of others.

    A factor whose bars all point the same way has its effect whatever the others do; below each stands in how many
    of its blocks the high level raises the response.
    """
    ax, shown, up = axes(ax), named.chosen(found, names), named.axis(found)
    ticks: dict[float, str] = {}
    place = 0.0
    for factor in named.largest(found, _MOST):
        rows = found.blocks.filter(found.blocks["factor"] == factor)
        first = place
        for row in rows.iter_rows(named=True):
            low, high = row["mean_low"] * up.factor, row["mean_high"] * up.factor
            color = _UP if high >= low else _DOWN
            ax.bar(place, high - low, bottom=low, width=_GAP, color=color, alpha=0.25, linewidth=0)
            ax.plot([place], [high], marker="+", color=color, markersize=5, markeredgewidth=1.2)
            ax.plot([place], [low], marker="_", color=color, markersize=5, markeredgewidth=1.2)
            place += 1
        raised = sum(effect > 0 for effect in rows["effect"])
        ticks[(first + place - 1) / 2] = f"{shown[factor]}\n{raised}/{rows.height} up"
        place += 1
    ax.set_xticks(list(ticks), list(ticks.values()), fontsize=8)
    ax.set(xlim=(-1, place - 1), ylabel=up.title)
    ax.tick_params(axis="x", length=0)
    ax.use_sticky_edges = False
    ax.margins(y=0.06)
    return ax
