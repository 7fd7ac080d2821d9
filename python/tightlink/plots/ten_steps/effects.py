"""Steps 6 to 10: effects by their means, ranked, beside noise, what they leave unexplained, and where to go."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from tightlink.analysis.effects.main import sign
from tightlink.analysis.effects.ten_steps import Steps
from tightlink.lazy import Axes, np
from tightlink.numbers import grouped
from tightlink.plots import labels, palette
from tightlink.plots.style import LEGEND, SIZE, axes
from tightlink.plots.ten_steps import names as named

#: The largest effects are shown, those that stand out and some of the others.
_MOST: Final = 20
_LARGE, _NOISE = palette.SERIES[0], palette.NEUTRAL
_ROW: Final = 0.17
_SMALL: Final = 7.5
#: So many of those that stand out are named where names might run into each other.
_NAMED: Final = 8
_IN_SIGHT: Final = 1.1
#: Points closer to each other than this share of the largest effect are named together.
_NEAR: Final = 0.06
#: About what a letter takes, as a share of the largest half-normal median, and a line of the largest effect.
_LETTER: Final = 0.019
_LINE: Final = 0.045
_WHITE: Final = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 0.4}
#: Of the surface: points along a side, how far beyond the levels, lines, and the length of the arrow.
_DENSE: Final = 41
_BEYOND: Final = 1.35
_STEP: Final = 0.3


def youden(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 6: the mean at the high level over the mean at the low one, for each effect.

    Effects that do nothing lie where the lines of the mean cross; those that stand out from noise are named.
    """
    ax, shown, up = axes(ax), named.chosen(found, names), named.axis(found)
    largest = set(found.half_normal.standing_out)
    for row in found.effects.iter_rows(named=True):
        here = row["mean_low"] * up.factor, row["mean_high"] * up.factor
        ax.plot(*here, marker="o", color=_LARGE if row["term"] in largest else _NOISE, markersize=4, linestyle="none")
    for texts, (low, high) in _together(found, shown):
        left = high < low
        ax.annotate(texts, (low * up.factor, high * up.factor), (-5 if left else 5, 4), textcoords="offset points",
                    ha="right" if left else "left", fontsize=_SMALL)  # fmt: skip
    for line in (ax.axhline, ax.axvline):
        line(found.mean * up.factor, color=palette.NEUTRAL, linestyle="--", linewidth=1)
    ax.margins(0.15)
    ax.set(xlabel=f"{up.title}, mean at low", ylabel="mean at high")
    return ax


def effects(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 7: |effects|, the largest first, with what each cannot be told apart from."""
    rows = found.effects.head(_MOST)
    ax = axes(ax, (SIZE[0], max(SIZE[1], 0.6 + _ROW * rows.height)))
    shown, up = named.chosen(found, names), named.effect_axis(found)
    largest = set(found.half_normal.standing_out)
    for place, row in enumerate(rows.iter_rows(named=True)):
        size = abs(row["effect"]) * up.factor
        color = _LARGE if row["term"] in largest else _NOISE
        ax.barh(place, size, height=0.62, color=color)
        text = sign(row["effect"])
        others = named.aliases(row["aliases"], shown)
        ax.annotate(f"{text}  or {others}" if others else text, (size, place), (3, 0), textcoords="offset points",
                    va="center", fontsize=_SMALL, bbox=_WHITE if text else None)  # fmt: skip
    ax.set_yticks(range(rows.height), [named.term(term, shown) for term in rows["term"]], fontsize=_SMALL)
    rest = named.left_out(rows.height, found.effects.height, "effects")
    ax.set(ylim=(rows.height - 0.4, -0.6), xlabel=f"|{up.title}|{rest}")
    ax.grid(visible=False, axis="y")
    ax.margins(x=0.25)
    _margins(ax.axvline, found, up)
    return ax


def half_normal(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 8: |effects| over half-normal medians, with the line of noise; those beyond the margin are named."""
    ax, shown, up = axes(ax), named.chosen(found, names), named.effect_axis(found)
    points, apart = found.half_normal.points, _named_apart(found, shown)
    end = points["quantile"][-1]
    for row in points.iter_rows(named=True):
        here = row["quantile"], row["size"] * up.factor
        ax.plot(*here, marker="o", color=_LARGE if row["stands_out"] else _NOISE, markersize=4, linestyle="none")
        if row["term"] in apart:
            ax.annotate(named.term(row["term"], shown), here, (-5, 1), textcoords="offset points", ha="right",
                        va="center", fontsize=_SMALL)  # fmt: skip
    if math.isfinite(found.half_normal.error):
        ax.plot([0, end], [0, end * found.half_normal.error * up.factor], color=_NOISE, linewidth=1)
    _margins(ax.axhline, found, up)
    ax.set(xlim=(0, end * 1.06), xlabel="half-normal median", ylabel=up.title)
    ax.set_ylim(bottom=0)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(**LEGEND, loc="upper left")
    return ax


def residual_sd(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 9: the residual standard deviation with the mean alone and with ever more effects, the largest first.

    Where the line bends, further effects are not worth keeping; those that stand out from noise are full dots.
    """
    ax, shown = axes(ax), named.chosen(found, names)
    rows = found.residual_sd.head(_MOST + 1)
    up = labels.axis(found.response, rows["residual_sd"][0])
    largest = {"mean", *found.half_normal.standing_out}
    left = (rows["residual_sd"] * up.factor).to_list()
    ax.plot(range(rows.height), left, color=_LARGE, linewidth=1)
    for place, (term, value) in enumerate(zip(rows["term"], left, strict=True)):
        ax.plot([place], [value], marker="o", color=_LARGE, fillstyle="full" if term in largest else "none")
    texts = ["mean", *(f"+ {named.term(term, shown)}" for term in rows["term"][1:])]
    ax.set_xticks(range(rows.height), texts, rotation=90, fontsize=_SMALL)
    rest = named.left_out(rows.height - 1, found.effects.height, "effects")
    ax.set(ylabel=f"residual sd, {up.title}", xlabel=rest.removeprefix("; "))
    ax.set_ylim(bottom=0)
    return ax


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
    lines = ax.contour(x, y, surface.at(x, y) * up.factor, levels=9, cmap="viridis", linewidths=1)
    ax.clabel(lines, fontsize=7)
    ax.plot([-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1], color=palette.NEUTRAL, linewidth=0.8, linestyle=":")
    for across in (-1, 1):
        for along in (-1, 1):
            ax.plot(across, along, marker="o", color="#1b1f24", markersize=4)
            ax.annotate(grouped(f"{surface.at(across, along) * up.factor:.4g}"), (across, along),
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


def _named_apart(found: Steps, shown: Mapping[str, str]) -> set[str]:
    """The largest effects that stand out, without those whose names would run into that of a larger one."""
    points = found.half_normal.points.reverse()
    end, top = points["quantile"][0], points["size"][0]
    taken: dict[str, tuple[float, float]] = {}
    for term, place, size in points.filter(stands_out=True).head(_NAMED).select("term", "quantile", "size").rows():
        if all(place <= left or above - size > _LINE * top for left, above in taken.values()):
            taken[term] = place - _LETTER * len(named.term(term, shown)) * end, size
    return set(taken)


def _together(found: Steps, shown: Mapping[str, str]) -> list[tuple[str, tuple[float, float]]]:
    """Names of the effects that stand out, in one text where their points are too close for texts of their own."""
    groups: list[list[tuple[str, float, float]]] = []
    near = _NEAR * float(found.half_normal.points["size"][-1])
    largest = found.effects["term"].is_in(found.half_normal.standing_out[:_NAMED])
    for row in found.effects.filter(largest).sort("effect").rows():
        each = (named.term(row[0], shown), *row[2:4])
        if groups and abs(each[2] - groups[-1][-1][2]) < near:
            groups[-1].append(each)
        else:
            groups.append([each])
    return [(", ".join(name for name, _, _ in group), group[len(group) // 2][1:]) for group in groups]


def _margins(line: Callable[..., Any], found: Steps, up: labels.Axis) -> None:
    """What noise stays within, at 95 %: one effect, and all of them; the second where it is in sight."""
    largest = float(found.half_normal.points["size"][-1])
    for margin, style, text in (
        (found.half_normal.margin, "--", "95 % margin of one effect"),
        (found.half_normal.margin_of_all, ":", "of all effects"),
    ):
        if 0 < margin <= _IN_SIGHT * largest:
            line(margin * up.factor, color=palette.SERIES[1], linestyle=style, linewidth=1, label=text)
