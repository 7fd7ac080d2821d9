"""Step 4: the effects of factors and of products of two, as a matrix of lines from low to high."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tightlink.analysis.effects.ten_steps import Steps
from tightlink.lazy import Axes
from tightlink.numbers import grouped
from tightlink.plots import palette
from tightlink.plots.style import axes
from tightlink.plots.ten_steps import names as named

#: More factors make cells that cannot be read: those with the largest effects of their own are shown.
_MOST: Final = 8
#: Of a cell, what the lines are drawn in; above them stands the effect.
_LEFT, _RIGHT, _LOW, _HIGH = 0.2, 0.8, 0.1, 0.58
_GROUND: Final = "#e3edf6"
_EDGE: Final = "#dfe3e8"


def interaction_matrix(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 4: on the diagonal the mean at both levels of a factor, off it where two differ and where they agree.

    All lines have one scale, and a steep one means a large effect. Cells on a ground of their own are of effects
    that stand out from noise, or cannot be told apart from one that does.
    """
    from matplotlib.patches import Rectangle

    ax, shown, up = axes(ax, (6, 5)), named.chosen(found, names), named.effect_axis(found)
    factors = named.largest(found, _MOST)
    cells = {(row["factor"],) * 2: row for row in found.means.iter_rows(named=True)}
    cells |= {(row["factor"], row["other"]): row for row in found.interactions.iter_rows(named=True)}
    means = [cells[pair][end] for pair in cells for end in ("mean_low", "mean_high")]
    low, high = min(means), max(means)
    standing_out = _standing_out(found)
    for row, one in enumerate(factors):
        for column, two in enumerate(factors[row:], row):
            cell = cells[one, two]
            ground = _GROUND if (one if one == two else f"{one} × {two}") in standing_out else "none"
            ax.add_patch(Rectangle((column, row), 1, 1, facecolor=ground, edgecolor=_EDGE, linewidth=0.7, zorder=0))
            ends = [row + 1 - _LOW - (_HIGH - _LOW) * (cell[end] - low) / ((high - low) or 1)
                    for end in ("mean_low", "mean_high")]  # fmt: skip
            color = palette.SERIES[0] if one == two else palette.SERIES[1]
            ax.plot([column + _LEFT, column + _RIGHT], ends, color=color, marker="o", markersize=2.5, linewidth=1.2)
            text = grouped(f"{cell['effect'] * up.factor:+.3g}")
            ax.text(column + 0.5, row + 0.05, text, ha="center", va="top", fontsize=7)
    count = len(factors)
    ax.set_xticks([place + 0.5 for place in range(count)], [shown[factor] for factor in factors])
    ax.set_yticks([place + 0.5 for place in range(count)], [shown[factor] for factor in factors])
    ax.set(
        xlim=(-0.01, count + 0.01),
        ylim=(count + 0.01, -0.01),
        xlabel=up.title + named.left_out(count, len(found.design.factors), "factors"),
    )
    ax.grid(visible=False)
    ax.tick_params(length=0)
    ax.xaxis.tick_top()
    ax.spines[:].set_visible(False)
    return ax


def _standing_out(found: Steps) -> set[str]:
    """Effects that stand out, and those of the matrix that cannot be told apart from them."""
    largest = set(found.half_normal.standing_out)
    rows = found.effects.filter(found.effects["term"].is_in(list(largest)))
    others = {part.removeprefix("−") for text in rows["aliases"] for part in text.split(", ") if part}
    return largest | others
