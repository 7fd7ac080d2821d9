"""Points over curves, and stacked bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tightlink.lazy import alt, pl
from tightlink.plots import labels, palette
from tightlink.report.encoding import (
    Domain,
    Kind,
    Width,
    axis_of,
    channel,
    color,
    finished,
    legend_columns,
    outside,
    painted,
    scaled,
    tip,
    tooltip,
    with_told,
)

_BAR: Final = 24
_THIN_BAR: Final = 15
_MOST_THICK: Final = 12
PERCENT: Final = "format(datum.value * 100, '.3~g') + ' %'"
_DASHES: Final[dict[str, Any]] = {
    "title": None,
    "symbolType": "stroke",
    "symbolStrokeWidth": 1.6,
    "symbolStrokeColor": palette.NEUTRAL,
}
#: How opaque a curve is that has the colour of its points.
_PALE: Final = 0.6
_PREFIX: Final = "limited_by_"


def points(  # noqa: PLR0913
    frame: pl.DataFrame,
    x: str,
    y: str,
    *,
    by: str | None = None,
    among: Iterable[str] | None = None,
    curves: pl.DataFrame | None = None,
    curve: str | None = None,
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    height: int = 300,
    width: Width = "container",
    x_domain: Domain | None = None,
    y_domain: Domain | None = None,
    x_scale: Kind = "linear",
    y_scale: Kind = "linear",
) -> alt.LayerChart:
    """A point for each row, over curves such as those of a theory; hovering a point shows its row.

    Args:
        frame: One row a point; all its columns are shown where the mouse is.
        x: Column along.
        y: Column up.
        by: Column that tells kinds of points apart.
        among: All kinds that share their colours, such as those of other charts beside this one.
        curves: Frame with the same x and y, one row a point of a curve.
        curve: Column of ``curves`` that names them; those called like points have their colours.
        title: Above the chart.
        x_title: Below the axis; without it, from the column's name.
        y_title: Beside the axis; without it, from the column's name.
        height: In pixels.
        width: In pixels, or as wide as there is room.
        x_domain: Ends of the axis, in the unit of the column.
        y_domain: Ends of the axis, in the unit of the column.
        x_scale: Kind of axis.
        y_scale: Kind of axis.
    """
    both = [frame] if curves is None else [frame, curves]
    cut = any(outside(part, x, x_domain) or outside(part, y, y_domain) for part in both)
    axes = {
        x: axis_of(max(both, key=lambda part: labels.largest(part, x) or 0), x, x_title, x_domain),
        y: axis_of(max(both, key=lambda part: labels.largest(part, y) or 0), y, y_title, y_domain),
    }
    shown, titles = with_told(frame, axes, by)
    encoding: dict[str, Any] = {
        "x": channel(alt.X, shown, x, axes[x], kind=x_scale, domain=x_domain),
        "y": channel(alt.Y, shown, y, axes[y], kind=y_scale, domain=y_domain),
    }
    dots = alt.Chart(shown).mark_point(filled=True, size=46, opacity=0.85, clip=cut)
    layers = [dots.encode(**encoding, color=color(shown, by, among), tooltip=tooltip(shown, titles))]
    if curves is not None:
        lines = alt.Chart(scaled(curves, axes)).mark_line(color=palette.NEUTRAL, strokeWidth=1.4, clip=cut)
        lines = lines.encode(**encoding, tooltip=tooltip(curves.select(curve), {}) if curve else alt.TooltipValue(None))
        if curve is not None and by is not None and set(curves[curve]) <= set(frame[by]):
            paint = color(shown, by, among)
            paint.shorthand = curve
            lines = lines.encode(color=paint, opacity=alt.OpacityValue(_PALE))
        elif curve is not None:
            names = curves[curve].unique(maintain_order=True).to_list()
            legend = alt.Legend(**_DASHES, columns=legend_columns(names))
            lines = lines.encode(strokeDash=alt.StrokeDash(curve, type="nominal", legend=legend))
        layers.insert(0, lines)
    return finished(alt.LayerChart(layer=layers), height, title=title, width=width)


def bars_stacked(
    frame: pl.DataFrame,
    label: str,
    *,
    columns: Sequence[str] | None = None,
    title: str = "",
    x_title: str = "share of the time",
) -> alt.Chart:
    """A horizontal bar for each row, made of the shares in its columns.

    Args:
        frame: One row a bar.
        label: Column that names the bars.
        columns: The shares that are stacked; without them, all ``limited_by_*``.
        title: Above the chart.
        x_title: Below the axis.
    """
    parts = columns if columns is not None else [f"{_PREFIX}{name}" for name in palette.LIMITS]
    drawn = [
        (name, *_part(name, place))
        for place, name in enumerate(part for part in parts if part in frame.columns)
        if (frame[name].fill_null(0) > 0).any()
    ]
    none = frame.select(label, part=pl.lit(""), share=pl.lit(0.0), order=-1)
    listed = [
        frame.select(label, part=pl.lit(name), share=part, order=order) for order, (part, name, _) in enumerate(drawn)
    ]
    long = pl.concat([none, *listed]).filter(pl.col("share") > 0)
    shades = {name: shade for _, name, shade in drawn}
    legend = alt.Legend(title=None, columns=legend_columns(list(shades)))
    what = "part" if columns is not None else "limited by"
    beside = alt.Axis(ticks=False, domain=False, labelLimit=220)
    below, whole = alt.Axis(labelExpr=PERCENT, tickCount=5), alt.Scale(domain=[0, 1])
    chart: alt.Chart = (
        alt.Chart(long)
        .mark_bar(height={"band": 0.72})
        .encode(
            y=alt.Y(label, type="nominal", sort=frame[label].to_list(), title=None, axis=beside),
            x=alt.X("share", type="quantitative", stack="zero", title=x_title, axis=below, scale=whole),
            color=painted("part", shades, legend),
            order=alt.Order("order", type="quantitative"),
            tooltip=[tip(label, title=labels.words(label)), tip("part", title=what), tip("share", ".1%")],
        )
    )
    bar = _BAR if frame.height <= _MOST_THICK else _THIN_BAR
    return finished(chart, bar * max(frame.height, 1), title=title)


def _part(column: str, place: int) -> tuple[str, str]:
    """Name and colour of a part of stacked bars."""
    limit = palette.LIMITS.get(column.removeprefix(_PREFIX))
    if limit is not None:
        return limit.name, limit.color
    return labels.words(column), palette.SERIES[place % len(palette.SERIES)]
