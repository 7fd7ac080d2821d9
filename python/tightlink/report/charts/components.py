"""Principal components: the runs along two of them in groups, and where each response points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tightlink.plots import labels, palette
from tightlink.reduce import largest
from tightlink.report.encoding import color, finished, tooltip

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from tightlink.analysis.components import Components
    from tightlink.report.encoding import Width

#: An arrow of correlation 1 ends this far out, as a share of the farthest run along the shorter axis.
_REACH: Final = 0.9
#: Of names, in pixels.
_LETTERS: Final = 11
_ARROW: Final[dict[str, Any]] = {"strokeWidth": 1.3, "color": palette.NEUTRAL}


def component_scores(  # noqa: PLR0913
    found: Components,
    *,
    x: str = "PC1",
    y: str = "PC2",
    by: str | None = None,
    tell: Sequence[str] = (),
    arrows: bool = False,
    title: str = "",
    height: int = 340,
    width: Width = "container",
) -> alt.LayerChart:
    """The runs along two components; hovering a point shows its run.

    Args:
        found: The components.
        x: Component along.
        y: Component up.
        by: Column of the runs that tells groups apart.
        tell: Columns of the runs to show where the mouse is, besides ``by``.
        arrows: Whether to draw where each response points, which makes it a biplot.
        title: Above the chart.
        height: In pixels.
        width: In pixels, or as wide as there is room.

    Example:
        >>> import polars as pl
        >>> from tightlink.analysis.components import components
        >>> runs = pl.DataFrame({"a": [1, 2, 4, 3], "b": [2, 1, 5, 3], "load": ["low", "low", "high", "high"]})
        >>> chart = component_scores(components(runs, ["a", "b"]), by="load", arrows=True)
        >>> [layer.mark.type for layer in chart.layer]
        ['point', 'rule', 'text', 'text']
    """
    import altair as alt

    shown = found.scores.select(*dict.fromkeys([*([by] if by is not None else []), *tell, x, y]))
    place = {"x": _axis(alt.X, found, x), "y": _axis(alt.Y, found, y)}
    dots = alt.Chart(shown).mark_point(filled=True, size=46, opacity=0.85).encode(
        **place, color=alt.value(palette.SERIES[0]) if by is None else color(shown, by), tooltip=tooltip(shown, {}),
    )  # fmt: skip
    layers: list[Any] = [dots]
    if arrows:
        layers += _arrows(found, x, y, place, height)
    return finished(alt.LayerChart(layer=layers), title, height, width, {})


def _arrows(found: Components, x: str, y: str, place: dict[str, Any], height: int) -> list[Any]:
    """Lines to where each response points, and its name beside the end."""
    import altair as alt
    import polars as pl

    far = _REACH * min(largest(found.scores[name].abs()) for name in (x, y))
    along, up = (far * found.loadings.filter(component=name)["correlation"] for name in (x, y))
    names = list(labels.told_apart(found.responses).values())
    ends = pl.DataFrame({"response": names, x: along, y: up, "origin": [0.0] * len(names)})
    rules = alt.Chart(ends).mark_rule(**_ARROW).encode(**place, x2="origin", y2="origin", tooltip=alt.value(None))
    layers: list[Any] = [rules]
    least = _LETTERS / height * 2 * largest(found.scores[y].abs())
    for side, style in ((pl.col(x) >= 0, alt.MarkDef("text", align="left", dx=4)),
                        (pl.col(x) < 0, alt.MarkDef("text", align="right", dx=-4))):  # fmt: skip
        part = ends.filter(side)
        heights = labels.apart(dict(part.select("response", y).rows()), least)
        moved = part.with_columns(pl.col("response").replace_strict(heights, return_dtype=pl.Float64).alias(y))
        style.fontSize, style.color = _LETTERS, "currentColor"
        names_ = alt.Chart(moved, mark=style)
        layers.append(names_.encode(**place, text=alt.Text("response", type="nominal"), tooltip=alt.value(None)))
    return layers


def _axis(make: Any, found: Components, component: str) -> Any:
    share = found.variances.filter(component=component)["share"].item()
    title = f"{component} ({100 * share:.0f} % of the variance)"
    return make(component, type="quantitative", title=title)
