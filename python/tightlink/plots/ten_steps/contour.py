"""Step 10: the response over the two factors that matter most."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from tightlink.analysis.effects.ten_steps import Steps
from tightlink.lazy import Axes, np
from tightlink.plots import palette
from tightlink.plots.style import axes
from tightlink.plots.ten_steps import names as named

_DENSE: Final = 41
_BEYOND: Final = 1.35
_LINES: Final = 9
_STEP: Final = 0.3


def contour(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 10: lines of equal response over the two factors that matter most, through the means at the corners.

    The arrow leaves the highest corner in the direction in which the response rises fastest: where to look next for
    more (and away from the lowest corner for less). Between two levels that are words, lines mean nothing.
    """
    ax, shown, up = axes(ax, (4.2, 3.8)), named.chosen(found, names), named.axis(found)
    surface = found.surface
    ax.grid(visible=False)
    if surface is None:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "no runs at all four corners of two factors", ha="center", transform=ax.transAxes)
        return ax
    side = np.linspace(-_BEYOND, _BEYOND, _DENSE)
    x, y = np.meshgrid(side, side)
    lines = ax.contour(x, y, surface.at(x, y) * up.factor, levels=_LINES, cmap="viridis", linewidths=1)
    ax.clabel(lines, fontsize=7)
    ax.plot([-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1], color=palette.NEUTRAL, linewidth=0.8, linestyle=":")
    for across in (-1, 1):
        for along in (-1, 1):
            ax.plot(across, along, marker="o", color="#1b1f24", markersize=4)
            ax.annotate(f"{surface.at(across, along) * up.factor:.4g}", (across, along),
                        (-5 * across, -4 * along), textcoords="offset points", fontsize=8, fontweight="bold",
                        ha="right" if across > 0 else "left", va="top" if along > 0 else "bottom")  # fmt: skip
    (x0, y0), (dx, dy) = surface.highest, surface.uphill(*surface.highest)
    step = _STEP / (math.hypot(dx, dy) or 1.0)
    end = (x0 + step * dx, y0 + step * dy)
    ax.annotate("", end, (x0, y0), arrowprops={"arrowstyle": "->", "color": palette.SERIES[1], "linewidth": 1.6})
    ax.set_xticks([-1, 1], surface.across_levels)
    ax.set_yticks([-1, 1], surface.up_levels, rotation=90, va="center")
    ax.set(xlabel=shown[surface.across], ylabel=shown[surface.up], title=up.title)
    return ax
