"""Steps 1 and 2: the data in their order, and by the levels of each factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tightlink.analysis.effects.ten_steps import Steps
from tightlink.lazy import Axes
from tightlink.plots import palette
from tightlink.plots.style import axes
from tightlink.plots.ten_steps import names as named

#: Of one factor's row of settings, as a share of the height of the axes, and of all.
_ROW: Final = 0.08
_MOST: Final = 0.8
_ASIDE: Final = 0.2
#: Of squares, in square points, and of text, in points: as large as there is room for.
_LARGEST: Final = 30.0
_ALL: Final = 1500.0
_STRIP: Final = 150.0
_FONT: Final = 9.0
_FAINT: Final = 0.5
#: Width of a letter of a factor's name, with what must be left beside it, in inches.
_LETTER: Final = 0.085


def ordered(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 1: runs from the least response to the greatest, and below each the level of every factor.

    A factor that matters is low (hollow) at one end and high (full) at the other.
    """
    ax, shown, up = axes(ax), named.chosen(found, names), named.axis(found)
    factors = found.design.factors
    places = found.ordered["place"].to_list()
    ax.plot(places, (found.ordered["value"] * up.factor).to_list(), marker="o", markersize=3.5, linewidth=0.8)
    ax.axhline(found.mean * up.factor, color=palette.NEUTRAL, linestyle="--", linewidth=1)
    ax.set_ylabel(up.title)
    ax.set(xticks=[], xlim=(0.5, len(places) + 0.5))
    height = min(_ROW * len(factors), _MOST)
    strip = ax.inset_axes((0, -height - 0.02, 1, height), sharex=ax)
    size = min(_LARGEST, _ALL / len(places), _STRIP * height / len(factors) * 2)
    for row, factor in enumerate(factors):
        for sign, face in (("−", "none"), ("+", palette.SERIES[0])):
            here = found.ordered.filter(found.ordered[factor] == sign)["place"].to_list()
            strip.scatter(here, [row] * len(here), s=size, marker="s", facecolor=face, edgecolor=palette.SERIES[0],
                          linewidth=0.6)  # fmt: skip
    font = min(_FONT, _STRIP * height / len(factors))
    strip.set_yticks(range(len(factors)), [shown[factor] for factor in factors], fontsize=font)
    strip.set_xlabel("runs in order: □ low, ■ high level", fontsize=_FONT)
    strip.set(ylim=(len(factors) - 0.5, -0.5), xticks=[])
    strip.grid(visible=False)
    strip.tick_params(length=0)
    strip.spines[:].set_visible(False)
    return ax


def scatter(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 2: every run at the low (left) and the high level of each factor, about the mean."""
    ax, shown, up = axes(ax), named.chosen(found, names), named.axis(found)
    factors = found.design.factors
    for place, factor in enumerate(factors):
        rows = found.scatter.filter(found.scatter["factor"] == factor)
        ax.scatter(
            (place + _ASIDE * rows["level"]).to_list(), (rows["value"] * up.factor).to_list(), s=14,
            color=palette.SERIES[0], alpha=_FAINT, linewidth=0,
        )  # fmt: skip
    ax.axhline(found.mean * up.factor, color=palette.NEUTRAL, linestyle="--", linewidth=1)
    along(ax, [shown[factor] for factor in factors])
    ax.set(xlabel="each factor low, high", ylabel=up.title)
    return ax


def along(ax: Axes, names: list[str]) -> None:
    """Factors along the axis, upright where they would run into each other."""
    width = ax.get_window_extent().width / ax.figure.dpi / len(names)
    crowded = max(map(len, names)) * _LETTER > width
    ax.set_xticks(range(len(names)), names, rotation=90 if crowded else 0)
    ax.set_xlim(-0.5, len(names) - 0.5)
