"""A response over the levels of a factor: means, their confidence intervals, and a line where levels are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tightlink.analysis.effects.factors import called, in_si
from tightlink.analysis.effects.levels import geometric
from tightlink.lazy import alt, pl
from tightlink.plots import labels, palette
from tightlink.report.encoding import Kind, axis_of, channel, color, field, finished, plain_format, steps, tip

_LINE: Final[dict[str, Any]] = {"strokeWidth": 1.6, "strokeJoin": "round"}
#: Levels up to which each has its tick.
_MOST_TICKS: Final = 12
#: Significant digits of a level at most: what floating point adds has more.
_DIGITS: Final = 9
#: Between the first level and the axis, in pixels.
_PADDING: Final = 12
#: Times of which the largest is so many times the least stand on a logarithmic axis.
_WIDE: Final = 20
#: Levels, and rates or losses over them, of which the largest is so many times the least, may follow a power law.
_DECADES: Final = 100
_FALLS: Final = 5
_ANGLE: Final = -30
_MOST_NAMED: Final = 4
_LONG: Final = 8


def over_levels(  # noqa: PLR0913
    frame: pl.DataFrame,
    factor: str,
    response: str,
    *,
    half_width: str | None = None,
    by: str | None = None,
    ordered: bool = False,
    paint: str = palette.SERIES[0],
    kind: Kind | None = None,
    height: int = 240,
) -> alt.LayerChart:
    """The means of a response at the levels of a factor, with their confidence intervals.

    Levels that are numbers or quantities are joined by lines, on a logarithmic axis where they are geometric; others
    stand beside each other.

    Args:
        frame: A row for each level, and for each value of ``by``, in the order of the levels.
        factor: Column of the levels, as a scenario has them.
        response: Column of the means.
        half_width: Column of half their confidence intervals.
        by: Column that tells lines apart, such as the traffic group.
        ordered: Whether what it tells apart are levels from small to large, whose colours are shades of one.
        paint: Colour of all where ``by`` tells nothing apart.
        kind: Kind of the axis upwards; without it, logarithmic for times over a wide range, and for rates and losses
            over geometric levels of two decades or more, where a power law is a straight line.
        height: In pixels.

    Example:
        >>> found = pl.DataFrame({"queue": ["10 packets", "20 packets", "40 packets"], "loss": [0.03, 0.02, 0.0]})
        >>> x = over_levels(found, "queue", "loss").to_dict()["layer"][0]["encoding"]["x"]
        >>> x["title"], x["scale"]["type"], x["axis"]["values"]
        ('queue (packets)', 'log', [10.0, 20.0, 40.0])
    """
    there = frame.filter(pl.col(response).is_not_null() & pl.col(response).is_not_nan())
    # What is never negative has no negative end of an interval, and a share none beyond the whole.
    least = 0.0 if there.select((pl.col(response) >= 0).all()).item() else None
    most = labels.most_of(response, labels.largest(there, response))
    there = there.with_columns(pl.col(response).clip(upper_bound=most))
    spread = pl.lit(0.0) if half_width is None else pl.col(half_width).fill_nan(0.0).fill_null(0.0)
    # The loss of a link is not the loss of all packets.
    name = labels.shortest([factor, "loss"])[factor]
    numbers = in_si(frame[factor].to_list())
    up = axis_of(there.with_columns(pl.col(response).abs() + spread), response, None)
    rows = there.with_columns(
        level=pl.Series(map(called, there[factor].to_list()), dtype=pl.String),
        low=(pl.col(response) - spread).clip(lower_bound=least) * up.factor,
        high=(pl.col(response) + spread).clip(upper_bound=most) * up.factor,
    ).with_columns(pl.col(response) * up.factor)  # fmt: skip
    encoding: dict[str, Any] = {"color": alt.ColorValue(paint) if by is None else color(rows, by, ordered=ordered)}
    meta: dict[str, Any] = {}
    if numbers is None:
        encoding |= _side_by_side(rows, name, by)
    else:
        along = "along"
        values = in_si(rows[factor].to_list()) or numbers
        rows = rows.with_columns(pl.Series(along, values[1], dtype=pl.Float64))
        x = labels.axis("_".join(filter(None, [name, numbers[0]])), max(map(abs, numbers[1])))
        rows = rows.with_columns(pl.col(along) * x.factor)
        encoding["x"] = _along(along, x.title, sorted({value * x.factor for value in numbers[1]}))
        meta = {"hover": {"x": along, "y": response, "by": by, "x_title": x.title, "y_title": up.title}}
    rows = rows.with_columns(pl.col(pl.Float64).fill_nan(None))
    if kind is None:
        ends = rows["low"].min(), rows[response].max()
        power = numbers is not None and may_be_power(sorted(numbers[1]), response, *ends)
        kind = "log" if power or is_wide(response, *ends) else "linear"
    both = pl.concat_list("low", "high").explode()
    spans = rows.select(both.alias(response), both.alias("low"))
    y, interval = (channel(alt.Y, spans, column, up, kind=kind, nice=steps(height)) for column in (response, "low"))
    shown = {response: up.title} | ({"low": "from", "high": "to"} if half_width else {})
    tips = [tip("level", title=name), *([] if by is None else [tip(field(by))])]
    tips += [tip(field(column), ",.4~r", text) for column, text in shown.items()]
    further = [*([] if by is None else [by]), *([] if numbers is None else ["along"])]
    base = alt.Chart(rows.select("level", "low", "high", response, *further))
    layers = [base.mark_point(filled=True, size=40, opacity=1).encode(**encoding, y=y, tooltip=tips)]
    if half_width is not None:
        layers.insert(0, base.mark_rule(strokeWidth=1.2).encode(**encoding, y=interval, y2=alt.Y2("high")))
    if numbers is not None:
        layers.insert(0, base.mark_line(**_LINE).encode(**encoding, y=y))
    return finished(alt.LayerChart(layer=layers), height, **meta)


def _along(column: str, title: str, levels: list[float]) -> Any:
    # A logarithmic scale has no zero to leave out.
    kind: dict[str, Any] = {"type": "log"} if geometric(levels) else {"type": "linear", "zero": False}
    scale = alt.Scale(**kind, nice=False, padding=_PADDING)
    x = alt.X(column, type="quantitative", title=title, scale=scale)
    if len(levels) <= _MOST_TICKS:
        # Where steps are wide, Vega rounds what it writes by itself to these: 25 beside 100 would be 30.
        return x.axis(values=levels, labelExpr=f"format(datum.value, '.{_DIGITS}{plain_format(levels)}')")
    return x.axis(format=plain_format(levels)) if kind["type"] == "log" else x


def _side_by_side(rows: pl.DataFrame, name: str, by: str | None) -> dict[str, Any]:
    order = rows["level"].unique(maintain_order=True).to_list()
    angle = _ANGLE if max(map(len, order), default=0) > _LONG else 0
    # Where small charts have room for them, each level has its name.
    overlap: dict[str, Any] = {"labelOverlap": False} if len(order) <= _MOST_NAMED else {}
    axis = alt.Axis(labelAngle=angle, labelLimit=200, **overlap)
    x = alt.X("level", type="nominal", sort=order, title=name, axis=axis)
    return {"x": x} if by is None else {"x": x, "xOffset": alt.XOffset(field(by), type="nominal", sort=None)}


def may_be_power(levels: Sequence[float], response: str, low: Any, high: Any) -> bool:
    """Whether rates or losses go over a wide range as levels in ascending order do, as Mathis's do over loss.

    >>> may_be_power([0.001, 0.01, 0.1], "goodput_bps", 2e5, 9e6), may_be_power([1, 2, 4], "goodput_bps", 2e5, 9e6)
    (True, False)
    """
    if not (response.endswith(("_bps", "loss")) and isinstance(low, float) and isinstance(high, float)):
        return False
    return geometric(levels) and levels[-1] >= _DECADES * levels[0] and 0 < _FALLS * low < high


def is_wide(response: str, low: Any, high: Any) -> bool:
    """Whether a response is a time that goes over so wide a range that the small ones would not be seen.

    >>> is_wide("rtt_p95_s", 0.01, 0.5), is_wide("rtt_p95_s", 0.01, 0.1), is_wide("loss", 0.01, 0.5)
    (True, False, False)
    """
    if not (response.endswith("_s") and isinstance(low, float) and isinstance(high, float)):
        return False
    return low > 0 and high > _WIDE * low
