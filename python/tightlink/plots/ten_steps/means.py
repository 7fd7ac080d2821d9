"""Step 3: the mean at each level of each factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tightlink.analysis.effects.ten_steps import Steps
from tightlink.lazy import Axes
from tightlink.plots import labels, palette
from tightlink.plots.style import axes
from tightlink.plots.ten_steps import names as named
from tightlink.plots.ten_steps.data import along

#: More factors' numbers stand upright.
LYING: Final = 7
#: Numbers of more factors run into each other in a part of a page.
_CROWDED: Final = 10
#: How far from the middle of a factor its two levels stand.
_ASIDE: Final = 0.24


def means(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 3: the mean at the low and the high level of each factor, joined by a line, about the mean of all runs.

    Above each factor stand its effect, the effect as a share of the mean, and "**" or "*" where it is significant.
    """
    factors = found.design.factors
    crowded = ax is not None and len(factors) > _CROWDED
    ax, shown = axes(ax), named.chosen(found, names)
    up = labels.axis(found.response, max(abs(value) for end in ("low", "high") for value in found.means[f"mean_{end}"]))
    for place, row in enumerate(found.means.iter_rows(named=True)):
        ends = [row["mean_low"] * up.factor, row["mean_high"] * up.factor]
        color = palette.SIGNIFICANT.get(row["mark"], palette.NEUTRAL)
        ax.plot([place - _ASIDE, place + _ASIDE], ends, color=color, marker="o", zorder=3)
        if row["mark"] or not crowded:
            text = labels.effect(row["effect"], row["relative_effect"], row["mark"], up.factor)
            ax.annotate(text, (place, 1), (0, 3), xycoords=("data", "axes fraction"),
                        textcoords="offset points", ha="center", va="bottom", fontsize=7.5,
                        rotation=0 if len(factors) <= LYING else 90)  # fmt: skip
    ax.axhline(found.mean * up.factor, color=palette.NEUTRAL, linestyle="--", linewidth=1)
    along(ax, [shown[factor] for factor in factors])
    ax.set_ylabel(f"mean {up.title}")
    return ax
