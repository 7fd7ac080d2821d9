"""Figures of two-level experiments: what each factor does to one response, and to all of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal

from tightlink.analysis.effects import STRONG, WEAK
from tightlink.errors import TightlinkError, closest, one_of
from tightlink.plots import labels, palette
from tightlink.plots.style import LEGEND, SIZE, axes

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from matplotlib.axes import Axes

#: How far from the middle of a factor its two levels stand.
_ASIDE: Final = 0.24
#: Of a factor or a response in a figure made for it, in inches.
_COLUMN: Final = 0.42
_ROW: Final = 0.26
_BESIDE: Final = 1.9
_ABOVE: Final = 1.3
_SMALL: Final = 7.5
#: More factors' numbers stand upright.
LYING: Final = 7
#: Width of a letter of a factor's name, with what must be left beside it, in inches.
_LETTER: Final = 0.085
#: Percentages from here on have no digit behind the point.
_WHOLE: Final = 10
#: Text on the two colours.
_ON: Final = {"**": "#ffffff", "*": "#1b1f24"}
_LIMITS: Final = (("**", STRONG), ("*", WEAK))
_MARKERS: Final = ("o", "s", "D", "^", "v", "P", "X", "*")


def main_effects(
    effects: pl.DataFrame,
    response: str,
    *,
    written: Literal["all", "significant"] = "all",
    names: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The mean of a response at the low and the high level of each factor, joined by a line, about the mean of all.

    Above each factor stand its effect, the effect as a share of the mean, and "**" or "*" where it is significant.

    Args:
        effects: What `tightlink.analysis.effects.main_effects` found, of one period or algorithm.
        response: Which response.
        written: Above which factors the numbers stand.
        names: What to call factors; without it, the ends of their names that tell them apart.
        ax: Where to draw; without it, in a new figure.

    Raises:
        TightlinkError: There is no such response, or there are several values of a factor's effect.
    """
    found = of_response(effects, response)
    factors = found["factor"].to_list()
    shown = names or labels.shortest(factors)
    ax = axes(ax, main_effects_size(found))
    ends = [abs(value) for name in ("mean_low", "mean_high") for value in found[name] if math.isfinite(value)]
    up = labels.axis(response, max(ends, default=None))
    for place, row in enumerate(found.iter_rows(named=True)):
        color = palette.SIGNIFICANT.get(row["mark"], palette.NEUTRAL)
        means = [row["mean_low"] * up.factor, row["mean_high"] * up.factor]
        ax.plot([place - _ASIDE, place + _ASIDE], means, color=color, marker="o", zorder=3)
        if written == "significant" and not row["mark"]:
            continue
        ax.annotate(
            _in_numbers(row, up.factor), (place, 1), (0, 3), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="center", va="bottom", fontsize=_SMALL,
            rotation=0 if len(factors) <= LYING else 90,
        )  # fmt: skip
    mean = found["mean"].drop_nans()
    if not mean.is_empty():
        ax.axhline(mean[0] * up.factor, color=palette.NEUTRAL, linestyle="--", linewidth=1)
    along(ax, [shown[factor] for factor in factors])
    ax.set_ylabel(f"mean {up.title}")
    return ax


def significance_map(effects: pl.DataFrame, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Which factors move which responses: a column for each factor, a row for each response.

    Blue cells with "**" have p < 0.01, orange cells with "*" p < 0.05; "+" or "−" says whether the high level
    raises or lowers the response.

    Args:
        effects: What `tightlink.analysis.effects.main_effects` found, of one period or algorithm.
        names: What to call factors; without it, the ends of their names that tell them apart.
        ax: Where to draw; without it, in a new figure as large as the map needs.

    Raises:
        TightlinkError: There are several values of a factor's effect on a response.
    """
    from matplotlib.patches import Patch, Rectangle

    found = _one_each(effects)
    factors = found["factor"].unique(maintain_order=True).to_list()
    responses = found["response"].unique(maintain_order=True).to_list()
    shown = names or labels.shortest(factors)
    ax = axes(ax, map_size(found))
    for row in found.filter(found["mark"] != "").iter_rows(named=True):
        x, y = factors.index(row["factor"]), responses.index(row["response"])
        color = palette.SIGNIFICANT[row["mark"]]
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=color, edgecolor="#ffffff"))
        text = f"{row['sign']}{row['mark']}"
        ax.text(x, y, text, color=_ON[row["mark"]], ha="center", va="center", fontsize=8, fontweight="bold")
    along(ax, [shown[factor] for factor in factors])
    ax.set_yticks(range(len(responses)), list(labels.told_apart(responses).values()))
    ax.set(ylim=(len(responses) - 0.5, -0.5))
    ax.grid(visible=False)
    ax.tick_params(length=0)
    for place in range(1, len(responses)):
        ax.axhline(place - 0.5, color="#dfe3e8", linewidth=0.7, zorder=0)
    for place in range(1, len(factors)):
        ax.axvline(place - 0.5, color="#dfe3e8", linewidth=0.7, zorder=0)
    keys = [Patch(color=palette.SIGNIFICANT[mark], label=f"{mark} p < {limit}") for mark, limit in _LIMITS]
    ax.legend(handles=keys, **LEGEND, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)
    return ax


def main_effects_size(effects: pl.DataFrame) -> tuple[float, float]:
    """Of a figure of main effects on one response, in inches."""
    return max(SIZE[0], _BESIDE / 2 + _COLUMN * effects["factor"].n_unique()), SIZE[1] + _ROW


def map_size(effects: pl.DataFrame) -> tuple[float, float]:
    """Of a significance map, in inches."""
    wide = max(SIZE[0] / 2, _BESIDE + _COLUMN * effects["factor"].n_unique())
    return wide, _ABOVE + _ROW * effects["response"].n_unique()


def influence(found: pl.DataFrame, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """The share of responses that each factor moves, the most influential factor first.

    Args:
        found: What `tightlink.analysis.influence.influence` found; a marker for each value of its first columns.
        names: What to call factors; without it, the ends of their names that tell them apart.
        ax: Where to draw; without it, in a new figure.
    """
    import polars as pl

    by = found.columns[: found.columns.index("factor")]
    means = found.group_by("factor", maintain_order=True).agg(pl.col("psi").mean())
    factors = means.sort("psi", descending=True, maintain_order=True)["factor"].to_list()
    shown = names or labels.shortest(factors)
    ax = axes(ax, (SIZE[0], max(SIZE[1], _ABOVE / 2 + _ROW * len(factors))))
    series = list(found.group_by(by, maintain_order=True)) if by else [((), found)]
    for place, (values, part) in enumerate(series):
        marker = _MARKERS[place % len(_MARKERS)]
        rows = [factors.index(factor) for factor in part["factor"]]
        ax.plot(100 * part["psi"], rows, linestyle="none", marker=marker, fillstyle="full" if not place else "none",
                color=palette.SERIES[place % len(palette.SERIES)], label=", ".join(map(str, values)))  # fmt: skip
    ax.set_yticks(range(len(factors)), [shown[factor] for factor in factors])
    ax.set(xlim=(-2, 102), ylim=(len(factors) - 0.5, -0.5), xlabel="influence Ψ (% of responses)")
    if by:
        ax.legend(**LEGEND, loc="lower right", title=", ".join(by), title_fontsize=LEGEND["fontsize"])
    return ax


def of_response(effects: pl.DataFrame, response: str) -> pl.DataFrame:
    """The effects on one response.

    Raises:
        TightlinkError: There is no such response, or there are several values of a factor's effect.
    """
    import polars as pl

    known = effects["response"].unique(maintain_order=True).to_list()
    if response not in known:
        meant = closest(response, known)
        ending = f"; did you mean {meant}?" if meant else ""
        raise TightlinkError(f"no effects on {response}: expected {one_of(known)}{ending}")
    return _one_each(effects.filter(pl.col("response") == response))


def _one_each(effects: pl.DataFrame) -> pl.DataFrame:
    if effects.select("factor", "response").is_duplicated().any():
        more = [name for name in effects.columns[: effects.columns.index("factor")] if effects[name].n_unique() > 1]
        raise TightlinkError(f"several effects of one factor on one response: choose a value of {', '.join(more)}")
    return effects


def _in_numbers(row: Mapping[str, Any], factor: float) -> str:
    if not math.isfinite(row["effect"]):
        return ""
    lines = [f"{row['effect'] * factor:+.3g} {row['mark']}".rstrip()]
    if math.isfinite(row["relative_effect"]):
        share = 100 * row["relative_effect"]
        lines.append(f"{share:+.{0 if abs(share) >= _WHOLE else 1}f} %")
    return "\n".join(lines).replace("-", "−")


def along(ax: Axes, names: list[str]) -> None:
    """Factors along the axis, upright where they would run into each other."""
    width = ax.get_window_extent().width / ax.figure.dpi / len(names)
    crowded = max(map(len, names)) * _LETTER > width
    ax.set_xticks(range(len(names)), names, rotation=90 if crowded else 0)
    ax.set_xlim(-0.5, len(names) - 0.5)
