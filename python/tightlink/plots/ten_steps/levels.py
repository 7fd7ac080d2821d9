"""Steps 1 to 5: a response by the levels of factors: the data, their means, interactions, and blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tightlink.analysis.effects.ten_steps import Steps
from tightlink.lazy import Axes
from tightlink.numbers import grouped
from tightlink.plots import labels, palette
from tightlink.plots.style import axes
from tightlink.plots.ten_steps import names as named

#: Of one factor's row of settings, as a share of the height of the axes, and of all.
_ROW: Final = 0.08
_HIGHEST: Final = 0.8
_ASIDE: Final = 0.2
#: Of squares, in square points, and of text, in points: as large as there is room for.
_LARGEST: Final = 30.0
_ALL: Final = 1500.0
_STRIP: Final = 150.0
_FONT: Final = 9.0
#: Width of a letter of a factor's name, with what must be left beside it, in inches.
_LETTER: Final = 0.085
#: More factors' numbers stand upright.
LYING: Final = 7
#: Numbers of more factors run into each other in a part of a page.
_CROWDED: Final = 10
#: How far from the middle of a factor its two levels stand.
_APART: Final = 0.24
#: More factors make cells and blocks that cannot be read: those with the largest effects of their own are shown.
_MOST: Final = 8
#: Of a cell, what the lines are drawn in; above them stands the effect.
_LEFT, _RIGHT, _LOW, _HIGH = 0.2, 0.8, 0.1, 0.58
_GROUND: Final = "#e3edf6"
_EDGE: Final = "#dfe3e8"
_GAP: Final = 0.8
_UP, _DOWN = palette.SERIES[0], palette.SERIES[1]


def ordered(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 1: runs from the least response to the greatest, and below each the level of every factor.

    A factor that matters is low (hollow) at one end and high (full) at the other.
    """
    ax, shown, up = axes(ax), named.chosen(found, names), named.axis(found)
    factors = found.design.factors
    places = found.ordered["place"]
    ax.plot(places, found.ordered["value"] * up.factor, marker="o", markersize=3.5, linewidth=0.8)
    ax.axhline(found.mean * up.factor, color=palette.NEUTRAL, linestyle="--", linewidth=1)
    ax.set_ylabel(up.title)
    ax.set(xticks=[], xlim=(0.5, len(places) + 0.5))
    height = min(_ROW * len(factors), _HIGHEST)
    strip = ax.inset_axes((0, -height - 0.02, 1, height), sharex=ax)
    size = min(_LARGEST, _ALL / len(places), _STRIP * height / len(factors) * 2)
    for row, factor in enumerate(factors):
        for sign, face in (("−", "none"), ("+", palette.SERIES[0])):
            here = places.filter(found.ordered[factor] == sign)
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
        values = rows["value"] * up.factor
        ax.scatter(place + _ASIDE * rows["level"], values, s=14, color=palette.SERIES[0], alpha=0.5, linewidth=0)
    ax.axhline(found.mean * up.factor, color=palette.NEUTRAL, linestyle="--", linewidth=1)
    _along(ax, [shown[factor] for factor in factors])
    ax.set(xlabel="each factor low, high", ylabel=up.title)
    return ax


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
        ax.plot([place - _APART, place + _APART], ends, color=color, marker="o", zorder=3)
        if row["mark"] or not crowded:
            text = labels.effect(row["effect"], row["relative_effect"], row["mark"], up.factor)
            ax.annotate(text, (place, 1), (0, 3), xycoords=("data", "axes fraction"),
                        textcoords="offset points", ha="center", va="bottom", fontsize=7.5,
                        rotation=0 if len(factors) <= LYING else 90)  # fmt: skip
    ax.axhline(found.mean * up.factor, color=palette.NEUTRAL, linestyle="--", linewidth=1)
    _along(ax, [shown[factor] for factor in factors])
    ax.set_ylabel(f"mean {up.title}")
    return ax


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
    count, rest = len(factors), named.left_out(len(factors), len(found.design.factors), "factors")
    for set_ticks in (ax.set_xticks, ax.set_yticks):
        set_ticks([place + 0.5 for place in range(count)], [shown[factor] for factor in factors])
    ax.set(xlim=(-0.01, count + 0.01), ylim=(count + 0.01, -0.01), xlabel=up.title + rest)
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


def _along(ax: Axes, names: list[str]) -> None:
    """Factors along the axis, upright where they would run into each other."""
    width = ax.get_window_extent().width / ax.figure.dpi / len(names)
    crowded = max(map(len, names)) * _LETTER > width
    ax.set_xticks(range(len(names)), names, rotation=90 if crowded else 0)
    ax.set_xlim(-0.5, len(names) - 0.5)
