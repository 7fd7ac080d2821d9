"""What each factor does to one response, to all of them as a map, and how many of them it moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tightlink.analysis.effects.main import STRONG, WEAK
from tightlink.errors import TightlinkError, did_you_mean, one_of
from tightlink.lazy import alt, pl
from tightlink.numbers import percent
from tightlink.plots import labels, palette
from tightlink.plots.paper import WIDTH
from tightlink.report.charts.components import SHAPES
from tightlink.report.charts.marks import PERCENT
from tightlink.report.encoding import finished, fixed, legend_columns, marked_cells, painted, tip

_CELL: Final = 26
#: Where numbers stand above the chart, and what lying and upright ones take there, in pixels.
_ABOVE: Final = -4
_LYING: Final = 36
_UPRIGHT: Final = 68
#: More factors' numbers stand upright.
_MOST_LYING: Final = 7
_LETTERS: Final = 10
#: A column for a factor on paper, a letter below it, and a number in a cell, in pixels.
_COLUMN: Final = 28
_LETTER: Final = 6.6
_NUMBER: Final = 84
#: The lines below a factor: its name and its levels, which take two where one has no room.
_LINES: Final = "split(width < {} ? replace(datum.label, ' → ', '\\n→ ') : datum.label, '\\n')"
#: Factors up to which cells have room for a number, and the axis for levels.
_MOST_WIDE: Final = 8
#: Opacity of the smallest effect, and from which on white letters read better.
_PALEST: Final = 0.15
_DARK: Final = 0.7
#: Between the two levels of a factor, as a share of the room of each.
_INNER: Final = 0.2
_NAMES: Final = {"**": f"** p < {STRONG}", "*": f"* p < {WEAK}", "": "not significant"}
_COLORS: Final = {**{_NAMES[mark]: color for mark, color in palette.SIGNIFICANT.items()}, _NAMES[""]: "transparent"}
_SHOWN: Final = {name: name for name in ("factor", "response", "low", "high")} | {
    "mean_low": "mean at low", "mean_high": "mean at high", "effect": "effect", "relative_effect": "relative effect",
    "p": "p",
}  # fmt: skip
#: A row for a factor, in pixels.
_ROW: Final = 22


def main_effects(
    effects: pl.DataFrame, response: str, *, names: Mapping[str, str] | None = None, title: str = ""
) -> alt.LayerChart:
    """The mean of a response at the low and the high level of each factor, joined by a line; hovering shows p.

    Above each factor stand its effect, the effect as a share of the mean, and "**" or "*" where it is significant;
    lines have the colours of these marks. The dashed line is the mean of all runs.

    Args:
        effects: What `tightlink.analysis.effects.main.main_effects` found, of one period or algorithm.
        response: Which response.
        names: What to call factors; without it, the ends of their names that tell them apart.
        title: Above the chart.

    Raises:
        TightlinkError: There is no such response, or there are several values of a factor's effect.

    Example:
        >>> from tightlink.analysis.effects import main as effects
        >>> runs = pl.DataFrame({"flows": [1, 4, 1, 4], "loss": [0.1, 0.4, 0.11, 0.42]})
        >>> len(main_effects(effects.main_effects(runs, ["flows"], ["loss"]), "loss").layer)
        4
    """
    found = _of_response(effects, response)
    factors = found["factor"].to_list()
    short = {factor: (names or labels.shortest(factors))[factor] for factor in factors}
    up = labels.axis(response, max(labels.largest(found, f"mean_{end}") or 0.0 for end in ("low", "high")))
    told = found.select("effect", "relative_effect", "mark").rows()
    rows = found.with_columns(
        pl.col("mean_low", "mean_high", "mean", "effect") * up.factor,
        across=pl.col("factor").replace_strict(short, return_dtype=pl.String),
        significance=pl.col("mark").replace_strict(_NAMES, return_dtype=pl.String),
        text=pl.Series(
            [labels.effect(effect, share, mark, up.factor) for effect, share, mark in told], dtype=pl.String
        ),
    ).with_columns(pl.col(pl.Float64).fill_nan(None))
    points = pl.concat([rows.with_columns(side=pl.lit(side), value=pl.col(f"mean_{side}")) for side in ("low", "high")])
    lying = len(factors) <= _MOST_LYING
    angle = 0 if lying and _LETTER * max(map(len, short.values())) * len(factors) < WIDTH else -45
    below = alt.Axis(labelAngle=angle, labelOverlap=False)
    x = alt.X("across", type="nominal", sort=list(short.values()), title=None, axis=below)
    sides = alt.XOffset("side", type="nominal", sort=["low", "high"], scale=alt.Scale(paddingInner=_INNER))
    value = alt.Y("value", type="quantitative", title=f"mean {up.title}", scale=alt.Scale(zero=False))
    legend = alt.Legend(title=None, offset=_LYING if lying else _UPRIGHT)
    mark = painted("significance", _COLORS | {_NAMES[""]: palette.NEUTRAL}, legend)
    base, tips = alt.Chart(points), _tips(rows)
    mean = alt.Chart(rows.head(1)).mark_rule(strokeDash=[4, 3], color=palette.NEUTRAL)
    # The second line of an upright number is on the right of the first.
    stand: dict[str, Any] = (
        {"baseline": "bottom"} if lying else {"angle": 270, "align": "left", "baseline": "middle", "dy": -5}
    )
    texts = alt.Chart(rows).mark_text(**stand, fontSize=_LETTERS, lineBreak="\n", lineHeight=_LETTERS + 1)
    above = fixed(y=_ABOVE - (_LETTERS + 1 if lying else 0))
    layers = [
        mean.encode(y=alt.Y("mean", type="quantitative"), tooltip=alt.TooltipValue(None)),
        base.mark_line(strokeWidth=1.6).encode(
            x=x, xOffset=sides, y=value, color=mark, detail=alt.Detail("factor"), tooltip=tips
        ),
        base.mark_point(filled=True, size=50, opacity=1).encode(x=x, xOffset=sides, y=value, color=mark, tooltip=tips),
        texts.encode(x=x, **above, text=alt.Text("text", type="nominal"), color=mark, tooltip=tips),
    ]
    return finished(alt.LayerChart(layer=layers), title=title, paper=max(WIDTH, _COLUMN * len(factors)))


def significance_map(
    effects: pl.DataFrame, *, names: Mapping[str, str] | None = None, title: str = ""
) -> alt.LayerChart:
    """Which factors move which responses, and how far; hovering a cell shows the means, the effect and p.

    Blue cells with "**" have p < 0.01, orange cells with "*" p < 0.05. The stronger the colour, the larger the effect
    as a share of the response's mean, which stands in the cell: "+" where the high level raises the response. With many
    factors cells have the sign and the mark alone.

    Args:
        effects: What `tightlink.analysis.effects.main.main_effects` found, of one period or algorithm.
        names: What to call factors; without it, the ends of their names that tell them apart.
        title: Above the chart.

    Raises:
        TightlinkError: There are several values of a factor's effect on a response.

    Example:
        >>> from tightlink.analysis.effects.main import main_effects
        >>> runs = pl.DataFrame({"flows": [1, 4, 1, 4], "loss": [0.1, 0.4, 0.11, 0.42]})
        >>> len(significance_map(main_effects(runs, ["flows"], ["loss"])).layer)
        2
    """
    effects = _one_each(effects)
    responses = effects["response"].unique(maintain_order=True).to_list()
    factors = effects["factor"].unique(maintain_order=True).to_list()
    few = len(factors) <= _MOST_WIDE
    across = _with_levels(effects, names or labels.shortest(factors), few=few)
    plain = labels.told_apart(responses)
    size = pl.col("relative_effect").abs().fill_nan(1.0).clip(0.0, 1.0)
    share = pl.col("relative_effect").map_elements(
        lambda share: percent(abs(share), labels.decimals(share)), return_dtype=pl.String
    )
    cells = effects.select(
        *_SHOWN,
        across=pl.col("factor").replace_strict(across, return_dtype=pl.String),
        up=pl.col("response").replace_strict(plain, return_dtype=pl.String),
        significance=pl.col("mark").replace_strict(_NAMES, return_dtype=pl.String),
        strength=_PALEST + (1 - _PALEST) * size,
        text=pl.when(pl.col("mark") == "")
        .then(pl.lit(""))
        .otherwise(pl.col("sign") + (share.fill_null("") + " " if few else pl.lit("")) + pl.col("mark")),
    ).with_columns(pl.col(pl.Float64).fill_nan(None))
    legend = alt.Legend(title=None, values=[name for name in _COLORS if name != _NAMES[""]])
    longest = max(len(line) for text in across.values() for line in text.splitlines())
    paper = (max(_NUMBER, _LETTER * longest) if few else _COLUMN) * len(factors)
    drawn = marked_cells(
        cells,
        max(map(len, cells["text"]), default=0) * len(factors),
        x=alt.X("across", type="nominal", sort=list(across.values()), title=None,
                axis=alt.Axis(labelAngle=0 if few else -45, labelLimit=240, labelOverlap=False,
                              labelExpr=_LINES.format(paper))),
        y=alt.Y("up", type="nominal", sort=list(plain.values()), title=None, axis=alt.Axis(labelLimit=240)),
        color=painted("significance", _COLORS, legend),
        opacity=alt.Opacity("strength", type="quantitative", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
        dark=(alt.datum.significance == _NAMES["**"]) & (alt.datum.strength > _DARK),
        tips=_tips(cells),
    )  # fmt: skip
    return finished(drawn, _CELL * max(len(responses), 1), title=title, paper=paper)


def _of_response(effects: pl.DataFrame, response: str) -> pl.DataFrame:
    """The effects on one response."""
    known = effects["response"].unique(maintain_order=True).to_list()
    if response not in known:
        raise TightlinkError(f"no effects on {response}: expected {one_of(known)}{did_you_mean(response, known)}")
    return _one_each(effects.filter(pl.col("response") == response))


def _one_each(effects: pl.DataFrame) -> pl.DataFrame:
    """The effects, without those in numbers of responses that were taken by their logarithm: these are factors."""
    if effects.select("factor", "response").is_duplicated().any():
        more = [name for name in effects.columns[: effects.columns.index("factor")] if effects[name].n_unique() > 1]
        raise TightlinkError(f"several effects of one factor on one response: choose a value of {', '.join(more)}")
    if "scale" in effects.columns:
        return effects.with_columns(pl.when(pl.col("scale").ne_missing("log")).then("effect").alias("effect"))
    return effects


def _with_levels(effects: pl.DataFrame, short: Mapping[str, str], *, few: bool) -> dict[str, str]:
    """What stands below the factors: where there is room, their levels too."""
    levels = effects.select("factor", "low", "high").iter_rows()
    return {factor: f"{short[factor]}\n{low} → {high}" if few else short[factor] for factor, low, high in levels}


def _tips(rows: pl.DataFrame) -> list[Any]:
    """What is shown of an effect where the mouse is."""
    formats = {name: ".3~g" for name, dtype in rows.schema.items() if dtype.is_float()} | {"relative_effect": ".1%"}
    return [tip(name, formats.get(name), text) for name, text in _SHOWN.items()]


def influence(found: pl.DataFrame, *, names: Mapping[str, str] | None = None) -> alt.LayerChart:
    """The share of responses that each factor moves, the most influential factor first.

    Args:
        found: What `tightlink.analysis.effects.influence.influence` found; a mark for each value of its first columns.
        names: What to call factors; without it, the ends of their names that tell them apart.
    """
    by = found.columns[: found.columns.index("factor")]
    means = found.group_by("factor", maintain_order=True).agg(pl.col("psi").mean())
    factors = means.sort("psi", descending=True, maintain_order=True)["factor"].to_list()
    short = names or labels.shortest(factors)
    of = ", ".join(by)
    shown = found.select(
        "psi",
        factor=pl.col("factor").replace_strict(short, return_dtype=pl.String),
        by=pl.concat_str(by, separator=", ") if by else pl.lit(""),
    )
    kinds = shown["by"].unique(maintain_order=True).to_list()
    legend = alt.Legend(title=of, symbolFillColor="transparent", symbolStrokeWidth=1.6, columns=legend_columns(kinds))
    told: dict[str, Any] = {"type": "nominal", "legend": legend if by else None}
    marks = alt.Chart(shown).mark_point(size=60, strokeWidth=1.6, opacity=1).encode(
        x=alt.X("psi", type="quantitative", scale=alt.Scale(domain=[0, 1], padding=8), axis=alt.Axis(labelExpr=PERCENT),
                title="influence Ψ: share of responses"),
        y=alt.Y("factor", type="nominal", sort=[short[factor] for factor in factors], title=None,
                axis=alt.Axis(grid=True, labelOverlap=False, labelLimit=260)),
        color=alt.Color("by", scale=alt.Scale(domain=kinds, range=palette.SERIES), **told),
        shape=alt.Shape("by", scale=alt.Scale(domain=kinds, range=SHAPES), **told),
        tooltip=[tip("factor"), *([tip("by", title=of)] if by else []), tip("psi", ".1%", "Ψ")],
    )  # fmt: skip
    return finished(alt.LayerChart(layer=[marks]), _ROW * len(factors))
