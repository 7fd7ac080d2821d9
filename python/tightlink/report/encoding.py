"""What the interactive charts have in common: scaled columns, axes, colours, sizes.

Encodings are written by their class, such as ``alt.TooltipValue(None)``: for ``alt.value(None)`` and ``"x:Q"`` Altair
looks for it in all of its schema, which takes a hundred times as long.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from tightlink.lazy import alt, pl
from tightlink.numbers import NOTHING, grouped
from tightlink.plots import labels, palette
from tightlink.reduce import largest, smallest

if TYPE_CHECKING:
    Drawn = TypeVar("Drawn", alt.Chart, alt.LayerChart)

Kind: TypeAlias = Literal["linear", "log"]
Width: TypeAlias = int | Literal["container"]
Domain: TypeAlias = tuple[float, float]

#: What the names of layers begin with whose texts have the colours of what they name; the style of the page finds them.
NAMES: Final = "names_"
#: An axis begins at zero unless its least value is above this share of the greatest, and they differ.
_NEAR: Final = 0.5
_FEW_POWERS: Final = 3
#: Numbers from here on have a prefix.
_LARGE: Final = 10_000
#: Between two ticks of an upright axis, in pixels at least.
_STEP: Final = 28
_MOST_STEPS: Final = 12
_SLACK: Final = 1e-9
#: Levels whose shades a legend tells, at most.
_MOST_SHADES: Final = 8
#: Size of a letter in a cell, and its width as a share of that.
_IN_CELLS: Final = 11
_WIDE: Final = 0.55
#: Width of a letter of a legend and of what stands before a name, in pixels.
_LETTER: Final = 6.6
_SYMBOL: Final = 38


def axis_of(frame: pl.DataFrame, column: str, title: str | None, domain: Domain | None = None) -> labels.Axis:
    """Title and scale of a column: the scale is 1 where a title is given."""
    if title is not None:
        return labels.Axis(title)
    return labels.axis(column, domain[1]) if domain else labels.axis_of(frame, column)


def field(column: str) -> str:
    r"""A column as Vega has it, for which dots and brackets lead into what a value holds.

    >>> field("bbr.share"), field("traffic[*].flows")
    ('bbr\\.share', 'traffic\\[*\\]\\.flows')
    """
    return re.sub(r"[.\[\]]", r"\\\g<0>", column)


def with_told(
    frame: pl.DataFrame, axes: Mapping[str, labels.Axis], by: str | None = None
) -> tuple[pl.DataFrame, dict[str, str]]:
    """The frame as `scaled`, and its titles: of what is drawn, and of what the mouse shows besides, but for the names.

    >>> flows = pl.DataFrame({"rtt_s": [0.02], "goodput_bps": [2e6]})
    >>> shown, titles = with_told(flows, {"rtt_s": labels.axis("rtt_s", 0.02)})
    >>> shown.row(0), titles
    ((20.0, 2.0), {'rtt_s': 'round-trip time (ms)', 'goodput_bps': 'goodput (Mbit/s)'})
    """
    others = (name for name, dtype in frame.schema.items() if dtype.is_numeric() and name not in {*axes, by})
    told = dict(axes) | {name: labels.axis_of(frame, name) for name in others}
    return scaled(frame, told), {name: axis.title for name, axis in told.items()}


def scaled(frame: pl.DataFrame, axes: Mapping[str, labels.Axis]) -> pl.DataFrame:
    """The frame with its columns in the units of their axes, and shares that rounding made larger than 1 as 1.

    An axis of these would end at 105 %. What rounding left of nothing is zero.
    """

    def whole(column: str) -> float | None:
        return labels.most_of(column, labels.largest(frame, column))

    return frame.with_columns(
        (
            pl.when(pl.col(column).abs() < NOTHING).then(0.0).otherwise(pl.col(column).clip(upper_bound=whole(column)))
            * axis.factor
        ).alias(column)
        for column, axis in axes.items()
        if axis.factor != 1.0
    )


def channel(  # noqa: PLR0913
    make: Any,
    frame: pl.DataFrame,
    column: str,
    axis: labels.Axis,
    *,
    kind: Kind = "linear",
    domain: Domain | None = None,
    fit: bool = False,
    nice: int | bool = True,
) -> Any:
    """An axis of a chart, which may end where the values end (``fit``), or at a round number (``nice``)."""
    if not frame[column].dtype.is_numeric():
        return make(field(column), type="nominal", sort=None, title=axis.title)
    scale: dict[str, Any] = {"type": kind}
    more: dict[str, Any] = {}
    if kind == "log":
        ticks = _log_ticks(frame, column, domain, axis.factor)
        more["axis"] = alt.Axis(values=ticks, format=plain_format(ticks))
    if domain is not None:
        scale |= {"domain": [end * axis.factor for end in domain], "nice": False}
    elif labels.largest(frame, column) == 0:
        scale["domain"] = [0, 1]
        more["axis"] = alt.Axis(values=[0, 1], format="d")
    elif kind == "linear":
        scale |= {"zero": from_zero(frame, column), "nice": not fit and nice}
    return make(field(column), type="quantitative", title=axis.title, scale=alt.Scale(**scale), **more)


def color(
    frame: pl.DataFrame,
    column: str | None,
    among: Iterable[str] | None = None,
    *,
    ordered: bool = False,
    title: str = "",
    legend: bool = True,
) -> Any:
    """The colours of the series of a chart by their names, in the order in which the column has them.

    Without a column there is one series. ``among`` are all names that share their colours, such as the flows of a run
    of which this chart has some; names that are ``ordered`` levels from small to large get shades of one colour. Where
    names stand beside what they name, no legend is needed; ``title`` is above it.
    """
    if column is None:
        return alt.ColorValue(palette.SERIES[0])
    names = [str(name) for name in frame[column].unique(maintain_order=True).drop_nulls()]
    colors = palette.shades(names) if ordered else palette.colors(names, among or ())
    told = _some(names) if ordered else names
    values = told if len(told) < len(names) else alt.Undefined
    beside = None
    if legend and len(names) > 1:
        beside = alt.Legend(title=title or None, columns=legend_columns(told), values=values)
    return painted(field(column), {name: colors[name] for name in names}, beside)


def _some(names: list[str]) -> list[str]:
    """Levels that a legend of shades tells: of many the first, the last, and some between them."""
    if len(names) <= _MOST_SHADES:
        return names
    return [names[round(place * (len(names) - 1) / (_MOST_SHADES - 1))] for place in range(_MOST_SHADES)]


def painted(column: str, colors: Mapping[Any, str], legend: Any = None) -> Any:
    """The colours of what a column may have, in their order."""
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    return alt.Color(column, type="nominal", scale=scale, legend=legend)


def legend_columns(names: Sequence[str]) -> Any:
    """How many names of a legend have room beside each other, as wide as the chart turns out to be."""
    return alt.ExprRef(f"max(1, floor(width / {_SYMBOL + _LETTER * max(map(len, names), default=0)}))")


def marked_cells(
    cells: pl.DataFrame, letters: int, *, color: Any, opacity: Any, dark: Any, tips: list[Any], **place: Any
) -> alt.LayerChart:
    """Coloured cells with their ``text`` in them, where a chart turns out to have room for so many letters in a row.

    Letters are white where a cell is ``dark`` on a light ground and on a dark one, else they have the page's ink.
    """
    size = alt.ExprRef(f"width < {round(_WIDE * _IN_CELLS * letters)} ? 0 : {_IN_CELLS}")
    ink = alt.condition(dark, alt.value("#ffffff"), alt.value("currentColor"))
    base, shared = alt.Chart(cells), {**place, "tooltip": tips}
    squares = base.mark_rect(stroke=palette.NEUTRAL, strokeOpacity=0.25).encode(**shared, color=color, opacity=opacity)
    texts = base.mark_text(fontWeight="bold", fontSize=size)
    return alt.LayerChart(layer=[squares, texts.encode(**shared, text=alt.Text("text", type="nominal"), color=ink)])


def tip(column: str, number: str | None = None, title: str | None = None) -> Any:
    """What the mouse shows of a column: numbers in a format of D3, "" for the usual one, without any words."""
    given: dict[str, Any] = {"title": title, "format": number or None}
    kind: Literal["nominal", "quantitative"] = "nominal" if number is None else "quantitative"
    return alt.Tooltip(column, type=kind, **{name: text for name, text in given.items() if text is not None})


def tooltip(frame: pl.DataFrame, titles: Mapping[str, str]) -> list[Any]:
    """All columns of a row, in words."""
    return [
        tip(field(name), ",.4~r" if dtype.is_float() else None, titles.get(name, labels.words(name)))
        for name, dtype in frame.schema.items()
    ]


def fixed(**places: Any) -> dict[str, Any]:
    """Encodings at places in pixels from the upper left corner, by channel."""
    kinds: dict[str, Any] = {"x": alt.XValue, "y": alt.YValue}
    return {channel: kinds[channel](place) for channel, place in places.items()}


def written(chart: Any, column: str, **encoding: Any) -> Any:
    """The words of a column as marks of text, at which the mouse shows nothing."""
    return chart.encode(**encoding, text=alt.Text(column, type="nominal"), tooltip=alt.TooltipValue(None))


def finished(chart: Drawn, height: int = 240, *, title: str = "", width: Width = "container", **meta: Any) -> Drawn:
    """The chart with its title and its size, and what the page must know of it."""
    properties: dict[str, Any] = {"height": height, "width": width, "usermeta": meta}
    if title:
        properties["title"] = title
    if width == "container":
        properties["autosize"] = alt.AutoSizeParams(type="fit-x", contains="padding")
    # Nobody else has it yet: Altair would copy all that is in it.
    for name, value in properties.items():
        setattr(chart, name, value)
    return chart


def thinned(before: pl.DataFrame, after: pl.DataFrame, by: str | None) -> str:
    """What the caption must say of points that were left out."""
    if after.height >= before.height:
        return ""
    lines = before[by].n_unique() if by is not None else 1
    share = "" if lines == 1 else f" of {lines} lines"
    return f"Drawn: {grouped(after.height)} of {grouped(before.height)} points{share}, every peak among them."


def outside(frame: pl.DataFrame, column: str, domain: Domain | None) -> bool:
    """Whether there are values beyond the ends of an axis, which must be cut there."""
    if domain is None:
        return False
    values = frame[column].drop_nulls()
    return bool(((values < domain[0]) | (values > domain[1])).any())


def steps(height: int) -> int:
    """How many steps an upright axis has; the page draws as many."""
    return max(3, min(8, height // _STEP))


def round_above(value: float) -> float:
    """A round number that is not less, at which an axis of few steps ends.

    >>> round_above(19.2), round_above(0.0731), round_above(1.0)
    (20.0, 0.08, 1.0)
    """
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    wide = next(factor * step for factor in (1, 2, 5, 10) if value <= _MOST_STEPS * factor * step)
    return float(f"{math.ceil(value / wide - _SLACK) * wide:.6g}")


def _log_ticks(frame: pl.DataFrame, column: str, domain: Domain | None, factor: float) -> list[float]:
    """Powers of ten; between them 2 and 5, where there are few powers."""
    values = frame[column].drop_nulls().to_list() if domain is None else [end * factor for end in domain]
    ends = [math.log10(value) for value in values if value > 0]
    first, last = math.floor(min(ends, default=0.0)), math.ceil(max(ends, default=0.0))
    digits = (1, 2, 5) if last - first <= _FEW_POWERS else (1,)
    return [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in digits]


def plain_format(ticks: Sequence[float]) -> str:
    """The format of numbers at an axis: as they are, large ones with a prefix; by itself Vega writes 1e+1.

    >>> plain_format([0.1, 1.0, 10.0]), plain_format([1e3, 1e4, 1e5])
    ('~r', '~s')
    """
    return "~s" if max(map(abs, ticks), default=0.0) >= _LARGE else "~r"


def from_zero(frame: pl.DataFrame, column: str) -> bool:
    """Whether an axis of these values begins at zero."""
    values = frame[column].cast(pl.Float64).drop_nulls().drop_nans()
    return values.is_empty() or 0 <= smallest(values) <= _NEAR * largest(values) or labels.still(values)
