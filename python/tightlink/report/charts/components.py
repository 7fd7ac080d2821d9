"""Principal components: their shares, what they are made of, and the runs along two of them in groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tightlink.analysis.effects.factors import in_words
from tightlink.analysis.responses.pca import Components
from tightlink.lazy import alt, np, pl, stats
from tightlink.plots import labels, palette
from tightlink.reduce import largest
from tightlink.report.charts import ellipses
from tightlink.report.charts.marks import PERCENT
from tightlink.report.encoding import color, finished, painted, tip, tooltip, written

#: An arrow of correlation 1 ends this far out, as a share of the farthest run along the shorter axis.
_REACH: Final = 0.9
#: Of names, in pixels.
_LETTERS: Final = 11
_LINE: Final = 13
_BEYOND: Final = 1.15
_ARROW: Final[dict[str, Any]] = {"strokeWidth": 1.3, "color": palette.NEUTRAL}
#: Groups are told by their shapes as well as by colours.
SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right",
           "triangle-left")  # fmt: skip
_BAR: Final = 24
#: More components' names stand upright.
_FEW: Final = 8
#: Of the runs, and beside them, for names of responses, in pixels.
_HEIGHT: Final = 340
_ROOM: Final = 48
#: Share of a normal group that is in the ellipse around it.
_INSIDE: Final = 0.95


def scree(found: Components) -> alt.LayerChart:
    """The share of the variance that each component has, and that of all up to it."""
    kinds = {"each": palette.SERIES[0], "up to it": palette.SERIES[1], "a single response": palette.NEUTRAL}
    tint = painted("kind", kinds, alt.Legend(title=None))
    angle = 0 if found.variances.height <= _FEW else -90
    y = alt.Y("drawn", type="quantitative", scale=alt.Scale(domain=[0, 1]), title="share of the variance",
              axis=alt.Axis(labelExpr=PERCENT))  # fmt: skip
    x = alt.X("component", type="nominal", sort=None, title=None, axis=alt.Axis(labelOverlap=False, labelAngle=angle))
    place = {"x": x, "y": y, "color": tint}
    tips = [tip("component"), tip("variance", ".3~g"), tip("share", ".1%"), tip("cumulated", ".1%", "up to it")]
    each, up = (
        alt.Chart(found.variances.with_columns(drawn=column, kind=pl.lit(kind)))
        for column, kind in (("share", "each"), ("cumulated", "up to it"))
    )
    single = alt.Chart(pl.DataFrame({"drawn": [1 / len(found.responses)], "kind": ["a single response"]}))
    layers = [
        each.mark_bar().encode(**place, tooltip=tips),
        up.mark_line(strokeWidth=1.4).encode(**place, tooltip=tips),
        up.mark_point(filled=True, size=40, opacity=1).encode(**place, tooltip=tips),
        single.mark_rule(strokeDash=[4, 3]).encode(y=y, color=tint, tooltip=alt.TooltipValue(None)),
    ]
    return finished(alt.LayerChart(layer=layers))


def component_loadings(found: Components, *, components: int = 2) -> alt.LayerChart:
    """What the first components are made of: the correlation of each response with each of them.

    Args:
        found: The components.
        components: How many to draw.
    """
    kept = found.variances["component"].to_list()[:components]
    names = labels.told_apart(found.responses)
    shown = found.loadings.filter(pl.col("component").is_in(kept)).with_columns(pl.col("response").replace(names))
    y = alt.Y("response", type="nominal", sort=list(names.values()), title=None, axis=alt.Axis(labelOverlap=False))
    base = alt.Chart(shown)
    bars = base.mark_bar().encode(
        y=y, yOffset=alt.YOffset("component", type="nominal", sort=kept),
        x=alt.X("correlation", type="quantitative", scale=alt.Scale(domain=[-1, 1]),
                axis=alt.Axis(values=[-1, -0.5, 0, 0.5, 1]), title="correlation with the component"),
        color=alt.Color("component", type="nominal", scale=alt.Scale(domain=kept, range=palette.SERIES),
                        legend=alt.Legend(title=None)),
        tooltip=tooltip(shown, {}),
    )  # fmt: skip
    zero = alt.Chart(shown.head(1)).mark_rule(color=palette.NEUTRAL)
    zero = zero.encode(x=alt.XDatum(0), tooltip=alt.TooltipValue(None))
    return finished(alt.LayerChart(layer=[bars, zero]), _BAR * len(names))


def component_scores(  # noqa: PLR0913
    found: Components,
    *,
    x: str = "PC1",
    y: str = "PC2",
    by: str | None = None,
    tell: Sequence[str] = (),
    around: str | None = None,
    arrows: bool = False,
) -> alt.LayerChart:
    """The runs along two components; hovering a point shows its run.

    Args:
        found: The components.
        x: Component along.
        y: Component up.
        by: Column of the runs that tells groups apart.
        tell: Columns of the runs to show where the mouse is, besides ``by``.
        around: Column of the runs whose groups are circled: the ellipse in which 95 % of a normal group would be.
        arrows: Whether to draw where each response points, which makes it a biplot.

    Example:
        >>> from tightlink.analysis.responses.pca import components
        >>> runs = pl.DataFrame({"a": [1, 2, 4, 3], "b": [2, 1, 5, 3], "load": ["low", "low", "high", "high"]})
        >>> chart = component_scores(components(runs, ["a", "b"]), by="load", arrows=True)
        >>> [layer.mark.type for layer in chart.layer]
        ['rule', 'rule', 'point', 'rule', 'point', 'text', 'text']
    """
    # Groups are names, even those of numbers.
    scores = found.scores
    if by is not None:
        scores = scores.with_columns(pl.Series(by, map(in_words, scores[by]), dtype=pl.String))
    if around is not None:
        tell = [*tell, around]
    shown = scores.select(*dict.fromkeys([*([by] if by is not None else []), *tell, x, y]))
    beside = alt.Scale(padding=_ROOM if arrows else 0)
    place = {"x": _axis(alt.X, found, x).scale(beside), "y": _axis(alt.Y, found, y)}
    zero = alt.Chart(shown.head(1)).mark_rule(color=palette.NEUTRAL, strokeWidth=0.6)
    told = color(shown, by, title=labels.words(by or ""))
    dots = alt.Chart(shown).mark_point(filled=True, size=46, opacity=0.85)
    dots = dots.encode(**place, color=told, tooltip=tooltip(shown, {}))
    if by is not None:
        shapes = alt.Scale(domain=told["scale"]["domain"], range=SHAPES)
        dots = dots.encode(shape=alt.Shape(by, type="nominal", scale=shapes, legend=told["legend"]))
    layers: list[Any] = [
        zero.encode(x=alt.XDatum(0), tooltip=alt.TooltipValue(None)),
        zero.encode(y=alt.YDatum(0), tooltip=alt.TooltipValue(None)),
        dots,
    ]
    if around is not None:
        # Of two normal numbers.
        within = float(np.sqrt(stats.chi2.ppf(_INSIDE, 2)))
        circles = alt.Chart(ellipses.around(scores, around, x, y, within)).mark_line(
            color=palette.NEUTRAL, strokeWidth=1
        )
        group: dict[str, Any] = {"detail": alt.Detail(around), "tooltip": alt.Tooltip(around)}
        layers.append(circles.encode(**place, **group, order=alt.Order("step")))
    if arrows:
        layers += _arrows(found, x, y, place)
    return finished(alt.LayerChart(layer=layers), _HEIGHT)


def _arrows(found: Components, x: str, y: str, place: dict[str, Any]) -> list[Any]:
    """Lines to where each response points, and its name beside the end."""
    far = _REACH * min(largest(found.scores[name].abs()) for name in (x, y))
    along, up = (far * found.loadings.filter(component=name)["correlation"] for name in (x, y))
    names = list(labels.told_apart(found.responses).values())
    ends = pl.DataFrame({"response": names, x: along, y: up, "origin": [0.0] * len(names)})
    base, silent = alt.Chart(ends), {**place, "tooltip": alt.TooltipValue(None)}
    rules = base.mark_rule(**_ARROW).encode(**silent, x2=alt.X2("origin"), y2=alt.Y2("origin"))
    # As steep as the line is on the screen, whatever the scales: clockwise, from upright.
    steep = f"atan2(scale('x', datum['{x}']) - scale('x', 0), scale('y', 0) - scale('y', datum['{y}'])) * 180 / PI"
    heads = base.mark_point(
        filled=True, shape="triangle", size=50, opacity=1, color=palette.NEUTRAL, angle=alt.ExprRef(steep)
    )
    layers: list[Any] = [rules, heads.encode(**silent)]
    # The axis ends at round numbers, a little beyond.
    least = _LINE / _HEIGHT * _BEYOND * (largest(found.scores[y]) + largest(-found.scores[y]))
    for side, align, dx in ((pl.col(x) >= 0, "left", 4), (pl.col(x) < 0, "right", -4)):
        part = ends.filter(side)
        heights = labels.apart(dict(part.select("response", y).rows()), least)
        moved = part.with_columns(pl.col("response").replace_strict(heights, return_dtype=pl.Float64).alias(y))
        drawn: Any = alt.Chart(moved)
        text = drawn.mark_text(align=align, dx=dx, fontSize=_LETTERS, color="currentColor")
        layers.append(written(text, "response", **place))
    return layers


def _axis(make: Any, found: Components, component: str) -> Any:
    share = found.variances.filter(component=component)["share"].item()
    title = f"{component} ({100 * share:.0f} % of the variance)"
    return make(component, type="quantitative", title=title)
