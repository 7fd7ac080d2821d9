"""Lines and points on ground that is shaded where something else begins, with printed values drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink.lazy import alt, pl
from tightlink.plots import palette
from tightlink.plots.labels import Axis
from tightlink.reduce import largest, smallest
from tightlink.report.encoding import (
    Domain,
    Kind,
    axis_of,
    channel,
    color,
    finished,
    fixed,
    scaled,
    tip,
    tooltip,
    with_told,
    written,
)

_LINE: Final[dict[str, Any]] = {"strokeWidth": 1.4, "strokeJoin": "round"}
_MARK: Final[dict[str, Any]] = {"shape": "diamond", "size": 130, "strokeWidth": 2, "filled": False}
_TEXT: Final[dict[str, Any]] = {"align": "left", "fontSize": 11, "color": "currentColor", "opacity": 0.75}
#: Names of regions stand this far below the top, and below each other, in pixels.
_TOP: Final = 4
_ROW: Final = 14


@dataclass(frozen=True)
class Shade:
    """Ground between two places along."""

    name: str
    low: float
    high: float
    color: str = palette.SERIES[4]


def shaded(  # noqa: PLR0913
    frame: pl.DataFrame,
    x: str,
    y: str,
    *,
    by: str | None = None,
    shades: Sequence[Shade] = (),
    marks: pl.DataFrame | None = None,
    mark: str = "document",
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    height: int = 300,
    x_domain: Domain | None = None,
    y_domain: Domain | None = None,
    x_scale: Kind = "linear",
) -> alt.LayerChart:
    """A line through the points of each kind, over shaded ground; hovering a point shows its row.

    Args:
        frame: One row a point; all its columns are shown where the mouse is.
        x: Column along.
        y: Column up.
        by: Column that tells lines apart.
        shades: Ground to shade, in the unit of the column along.
        marks: Frame with the same x and y: values from elsewhere, drawn as diamonds. Without a y (null),
            a dashed line across.
        mark: Column of ``marks`` that says what they are.
        title: Above the chart.
        x_title: Below the axis; without it, from the column's name.
        y_title: Beside the axis; without it, from the column's name.
        height: In pixels.
        x_domain: Ends of the axis, in the unit of the column; without it, where the values end.
        y_domain: Ends of the axis, in the unit of the column.
        x_scale: Kind of axis.

    Example:
        >>> frame = pl.DataFrame({"packets_per_s": [1000.0, 5000.0], "load": [0.2, 0.7]})
        >>> len(shaded(frame, "packets_per_s", "load", shades=[Shade("unstable", 4000, 6000)]).layer)
        4
    """
    axes = {x: axis_of(frame, x, x_title, x_domain), y: axis_of(frame, y, y_title, y_domain)}
    shown, titles = with_told(frame, axes, by)
    ends = x_domain or (smallest(frame[x]), largest(frame[x]))
    encoding: dict[str, Any] = {
        "x": channel(alt.X, shown, x, axes[x], kind=x_scale, domain=ends),
        "y": channel(alt.Y, shown, y, axes[y], domain=y_domain),
    }
    kinds = color(shown, by)
    dots = alt.Chart(shown).mark_point(filled=True, size=34, clip=True)
    layers = [layer for place, shade in enumerate(shades) for layer in _ground(shade, place, axes[x], ends, x_scale)]
    layers += [
        alt.Chart(shown).mark_line(**_LINE, clip=True).encode(**encoding, color=kinds),
        dots.encode(**encoding, color=kinds, tooltip=tooltip(shown, titles)),
    ]
    if marks is not None:
        layers += _printed(scaled(marks, axes), y, mark, encoding)
    return finished(alt.LayerChart(layer=layers), height, title=title)


def _ground(shade: Shade, row: int, axis: Axis, ends: Domain, kind: Kind) -> list[Any]:
    """A rectangle of the chart's height, with its name in its own row; nothing where it is out of sight."""
    low, high = max(shade.low, ends[0]), min(shade.high, ends[1])
    if low >= high:
        return []
    place = pl.DataFrame({"low": [low * axis.factor], "high": [high * axis.factor], "name": [shade.name]})
    begin = channel(alt.X, place, "low", axis, kind=kind, domain=ends)
    base = alt.Chart(place)
    ground = base.mark_rect(color=shade.color, opacity=0.13)
    name = base.mark_text(**_TEXT, baseline="top", dx=4)
    return [
        ground.encode(x=begin, x2=alt.X2("high"), tooltip=alt.TooltipValue(None)),
        written(name, "name", x=begin, **fixed(y=_TOP + row * _ROW)),
    ]


def _printed(marks: pl.DataFrame, y: str, mark: str, encoding: dict[str, Any]) -> list[Any]:
    points, lines = marks.filter(pl.col(y).is_not_null()), marks.filter(pl.col(y).is_null())
    layers: list[Any] = []
    if points.height:
        layers.append(
            alt.Chart(points).mark_point(**_MARK, color=palette.NEUTRAL).encode(**encoding, tooltip=tooltip(points, {}))
        )
    if lines.height:
        rule = alt.Chart(lines).mark_rule(strokeDash=[4, 3], strokeWidth=1.4, color=palette.NEUTRAL)
        layers.append(rule.encode(x=encoding["x"], tooltip=[tip(mark)]))
    return layers
