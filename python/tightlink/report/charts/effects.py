"""What each factor does to one response, and to all of them as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tightlink.analysis.effects import STRONG, WEAK
from tightlink.plots import labels, palette
from tightlink.plots.effects import of_response
from tightlink.report.encoding import finished, largest

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tightlink.report.encoding import Width

_CELL: Final = 26
_HEIGHT: Final = 240
#: Where marks stand, from the top, in pixels.
_ABOVE: Final = -3
#: Between the two levels of a factor, as a share of the room of each.
_INNER: Final = 0.2
_NAMES: Final = {"**": f"p < {STRONG}", "*": f"p < {WEAK}", "": "not significant"}
_COLORS: Final = {**{_NAMES[mark]: color for mark, color in palette.SIGNIFICANT.items()}, _NAMES[""]: "transparent"}
_SHOWN: Final = {
    "factor": "factor",
    "response": "response",
    "low": "low",
    "high": "high",
    "mean_low": "mean at low",
    "mean_high": "mean at high",
    "effect": "effect",
    "relative_effect": "relative effect",
    "p": "p",
}


def main_effects(
    effects: pl.DataFrame, response: str, *, title: str = "", width: Width = "container"
) -> alt.LayerChart:
    """The mean of a response at the low and the high level of each factor, joined by a line; hovering shows the effect.

    Above each factor stands its mark; lines have the colours of marks. The dashed line is the mean of all runs.

    Args:
        effects: What `tightlink.analysis.effects.main_effects` found, of one period or algorithm.
        response: Which response.
        title: Above the chart.
        width: In pixels, or as wide as there is room.

    Raises:
        TightlinkError: There is no such response, or there are several values of a factor's effect.

    Example:
        >>> import polars as pl
        >>> from tightlink.analysis import effects
        >>> runs = pl.DataFrame({"flows": [1, 4, 1, 4], "loss": [0.1, 0.4, 0.11, 0.42]})
        >>> len(main_effects(effects.main_effects(runs, ["flows"], ["loss"]), "loss").layer)
        4
    """
    import altair as alt
    import polars as pl

    found = of_response(effects, response)
    short = labels.shortest(found["factor"].to_list())
    up = labels.axis(response, largest(found, "mean_low"))
    rows = found.with_columns(
        pl.col("mean_low", "mean_high", "mean", "effect") * up.factor,
        across=pl.col("factor").replace_strict(short, return_dtype=pl.String),
        significance=pl.col("mark").replace_strict(_NAMES, return_dtype=pl.String),
        text=pl.col("sign") + pl.col("mark"),
    ).with_columns(pl.col(pl.Float64).fill_nan(None))
    points = pl.concat([rows.with_columns(side=pl.lit(side), value=pl.col(f"mean_{side}")) for side in ("low", "high")])
    factors = alt.X("across", type="nominal", sort=list(short.values()), title=None, axis=alt.Axis(labelAngle=-45))
    sides = alt.XOffset("side", type="nominal", sort=["low", "high"], scale=alt.Scale(paddingInner=_INNER))
    value = alt.Y("value", type="quantitative", title=f"mean {up.title}", scale=alt.Scale(zero=False))
    scale = alt.Scale(domain=list(_COLORS), range=[*palette.SIGNIFICANT.values(), palette.NEUTRAL])
    color = alt.Color("significance", type="nominal", scale=scale, legend=alt.Legend(title=None, orient="top"))
    base, tips = alt.Chart(points), _tips(rows)
    mean = alt.Chart(rows.head(1)).mark_rule(strokeDash=[4, 3], color=palette.NEUTRAL)
    texts = alt.Chart(rows.filter(pl.col("mark") != "")).mark_text(fontWeight="bold", fontSize=11, baseline="bottom")
    layers = [
        mean.encode(y=alt.Y("mean", type="quantitative"), tooltip=alt.value(None)),
        base.mark_line(strokeWidth=1.6).encode(x=factors, xOffset=sides, y=value, color=color, detail="factor",
                                               tooltip=tips),
        base.mark_point(filled=True, size=50, opacity=1).encode(x=factors, xOffset=sides, y=value, color=color,
                                                                tooltip=tips),
        texts.encode(x=factors, y=alt.value(_ABOVE), text=alt.Text("text", type="nominal"), color=color, tooltip=tips),
    ]  # fmt: skip
    return finished(alt.LayerChart(layer=layers), title, _HEIGHT, width, {})


def significance_map(effects: pl.DataFrame, *, title: str = "", width: Width = "container") -> alt.LayerChart:
    """Which factors move which responses; hovering a cell shows the means, the effect and p.

    Blue cells with "**" have p < 0.01, orange cells with "*" p < 0.05; "+" or "−" says whether the high level
    raises or lowers the response.

    Args:
        effects: What `tightlink.analysis.effects.main_effects` found, of one period or algorithm.
        title: Above the chart.
        width: In pixels, or as wide as there is room.

    Example:
        >>> import polars as pl
        >>> from tightlink.analysis.effects import main_effects
        >>> runs = pl.DataFrame({"flows": [1, 4, 1, 4], "loss": [0.1, 0.4, 0.11, 0.42]})
        >>> len(significance_map(main_effects(runs, ["flows"], ["loss"])).layer)
        2
    """
    import altair as alt
    import polars as pl

    factors = effects["factor"].unique(maintain_order=True).to_list()
    responses = effects["response"].unique(maintain_order=True).to_list()
    short, plain = labels.shortest(factors), labels.told_apart(responses)
    cells = effects.select(
        *_SHOWN,
        across=pl.col("factor").replace_strict(short, return_dtype=pl.String),
        up=pl.col("response").replace_strict(plain, return_dtype=pl.String),
        significance=pl.col("mark").replace_strict(_NAMES, return_dtype=pl.String),
        text=pl.when(pl.col("mark") != "").then(pl.col("sign") + pl.col("mark")).otherwise(pl.lit("")),
    ).with_columns(pl.col(pl.Float64).fill_nan(None))
    encoding: dict[str, Any] = {
        "x": alt.X("across", type="nominal", sort=list(short.values()), title=None,
                   axis=alt.Axis(labelAngle=-45, labelLimit=240)),
        "y": alt.Y("up", type="nominal", sort=list(plain.values()), title=None,
                   axis=alt.Axis(labelLimit=240)),
    }  # fmt: skip
    tips = _tips(cells)
    scale = alt.Scale(domain=list(_COLORS), range=list(_COLORS.values()))
    legend = alt.Legend(title=None, orient="top", values=[name for name in _COLORS if name != _NAMES[""]])
    base = alt.Chart(cells)
    squares = base.mark_rect(stroke=palette.NEUTRAL, strokeOpacity=0.25).encode(
        **encoding, color=alt.Color("significance", type="nominal", scale=scale, legend=legend), tooltip=tips
    )
    strong = alt.condition(alt.datum.significance == _NAMES["**"], alt.value("#ffffff"), alt.value("#1b1f24"))
    texts = base.mark_text(fontWeight="bold", fontSize=11).encode(
        **encoding, text=alt.Text("text", type="nominal"), color=strong, tooltip=tips
    )
    return finished(alt.LayerChart(layer=[squares, texts]), title, _CELL * max(len(responses), 1), width, {})


def _tips(rows: pl.DataFrame) -> list[Any]:
    """What is shown of an effect where the mouse is."""
    import altair as alt

    return [
        alt.Tooltip(name, type="quantitative", title=text, format=".1%" if name == "relative_effect" else ".3~g")
        if rows.schema[name].is_float()
        else alt.Tooltip(name, type="nominal", title=text)
        for name, text in _SHOWN.items()
    ]
