"""Data frames as HTML tables: words for columns, units in the heading, numbers that line up.

Example:
    >>> frame = pl.DataFrame({"label": ["ftp"], "goodput_bps": [1_911_919.2]})
    >>> print(*parts(frame, {"goodput_bps": "{:.0f} bit/s"}))
    <table><thead><tr><th scope="col">flow</th><th scope="col" class="number">goodput</th></tr></thead>
    <tbody>
    <tr><th scope="row">ftp</th><td class="number">1,911,919 bit/s</td></tr>
    </tbody></table>
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from tightlink.console import largest
from tightlink.lazy import pl
from tightlink.numbers import NONE, NOTHING, grouped, interval
from tightlink.plots import labels
from tightlink.report.blocks import Format

_DIGITS: Final = 4
#: Below so many of a unit, what is less than one of it has the next smaller one, by a step.
_FEW: Final = 10
_STEP: Final = 1000
#: How wide a table may be, in pixels: a page on a screen of 1300, and on paper with letters two thirds as large.
ROOM: Final = 1080
#: Width of a letter and of the room beside a column, in pixels.
_LETTER: Final = 8
_GAP: Final = 13
#: Text that is longer is broken into lines.
_LONG: Final = 44


def parts(
    frame: pl.DataFrame, formats: Mapping[str, Format], widths: Mapping[str, str] | None = None, *, room: int = ROOM
) -> list[Markup]:
    """The frame as tables that no page cuts: what has no room beside continues below, with the first column again.

    Args:
        frame: A row each.
        formats: How columns are written: a format such as ".2f" or "{:.2f} ms", or a function.
        widths: By column, the column of half its confidence intervals, which stand behind the values in their unit.
        room: How wide a table may be, in pixels.

    >>> [str(part).count("scope=") for part in parts(pl.DataFrame({"a": ["x"], "b": [1], "c": [2]}), {}, room=50)]
    [3, 3]
    >>> found = pl.DataFrame({"goodput_bps": [9.0e6, 9.426e6], "half_width_bps": [98e3, None]})
    >>> print(parts(found, {}, {"goodput_bps": "half_width_bps"})[0].partition("<tbody>")[2])
    <BLANKLINE>
    <tr><th scope="row" class="number">9.000 ± 0.098</th></tr>
    <tr><th scope="row" class="number">9.426</th></tr>
    </tbody></table>
    """
    first, *others = _columns(frame, formats, widths) or [_NOTHING]
    tables, used = [[first]], first.width
    for column in others:
        if used + column.width > room and len(tables[-1]) > 1:
            tables.append([first])
            used = first.width
        tables[-1].append(column)
        used += column.width
    return [_html(columns) for columns in tables]


@dataclass(frozen=True)
class _Written:
    """A column as it stands on the page."""

    head: str
    cells: Sequence[str]
    kind: str
    """Class of its cells: number, long (text that is broken into lines), or none."""

    @property
    def width(self) -> int:
        """About how wide it is, in pixels."""
        words = max((len(word) for word in self.head.split()), default=0)
        longest = max((len(cell) for cell in self.cells), default=0)
        return _GAP + _LETTER * max(words, min(longest, _LONG))


_NOTHING: Final = _Written("", (), "")


def _html(columns: Sequence[_Written]) -> Markup:
    of = [f' class="{column.kind}"' if column.kind else "" for column in columns]
    head = "".join(f'<th scope="col"{kind}>{{}}</th>' for kind in of)
    row = f'<th scope="row"{of[0]}>{{}}</th>' + "".join(f"<td{kind}>{{}}</td>" for kind in of[1:])
    line = Markup(f"<tr>{row}</tr>\n")  # noqa: S704
    body = Markup().join(line.format(*cells) for cells in zip(*(column.cells for column in columns), strict=True))
    header = Markup(f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n")  # noqa: S704
    return header.format(*(column.head for column in columns)) + body + Markup("</tbody></table>")


def _columns(frame: pl.DataFrame, formats: Mapping[str, Format], widths: Mapping[str, str] | None) -> list[_Written]:
    half = widths or {}
    shown = [name for name in frame.columns if name not in half.values()]
    axes = _axes(frame, shown)
    return [_column(frame, name, axes[name], formats.get(name), half.get(name)) for name in shown]


def _axes(frame: pl.DataFrame, names: Sequence[str]) -> dict[str, labels.Axis]:
    """The title and the unit of each column: the mean of a delay and its largest have one."""
    sizes = {name: labels.largest(frame, name) for name in names}
    together: dict[str, list[float]] = {}
    for name, size in sizes.items():
        if size:
            together.setdefault(labels.summarized(name), []).append(size)
    return {name: _axis(name, together.get(labels.summarized(name), []), size) for name, size in sizes.items()}


def _axis(name: str, sizes: Sequence[float], size: float | None) -> labels.Axis:
    """The title and the unit of a column: of several that of the largest; 590 and 3,210 ms are no 0.59 and 3.21 s."""
    if not sizes:
        return labels.axis(name, size)
    axis, least = (labels.axis(name, end(sizes)) for end in (max, min))
    return axis if least == axis or max(sizes) * axis.factor >= _FEW else labels.axis(name, max(sizes) / _STEP)


def _column(frame: pl.DataFrame, name: str, axis: labels.Axis, given: Format | None, half: str | None) -> _Written:
    head, write = _writer(frame, name, axis, given)
    widths = [None] * frame.height if half is None else frame[half].to_list()
    cells = [_cell(write, value, width, largest(name.rpartition(".")[2]))
             for value, width in zip(frame[name].to_list(), widths, strict=True)]  # fmt: skip
    if frame.schema[name].is_numeric():
        return _Written(head, cells, "number")
    return _Written(head, cells, "long" if max(map(len, cells), default=0) > _LONG else "")


def _cell(write: Callable[[Any], str], value: Any, half_width: float | None, most: float) -> str:
    known = value is not None and half_width and math.isfinite(half_width)
    return interval(value, half_width, write, most) if known and half_width else write(value)


def _writer(
    frame: pl.DataFrame, name: str, axis: labels.Axis, given: Format | None
) -> tuple[str, Callable[[Any], str]]:
    """The heading of a column, and how its values are written."""
    dtype = frame.schema[name]
    if given is not None:
        bare = isinstance(given, str) and "{" not in given and labels.axis(name).factor == 1.0
        return labels.axis(name).title if bare else labels.plain(name), _given(given)
    if not dtype.is_numeric():
        return labels.plain(name), _word
    if dtype.is_integer() and axis.factor == 1.0:
        return axis.title, lambda value: NONE if value is None else grouped(value)
    top = abs((labels.largest(frame, name) or 0.0) * axis.factor)
    most = max(0, _DIGITS - 1 - (math.floor(math.log10(top)) if top > 0 else 0))
    decimals = _needed([value * axis.factor for value in frame[name].drop_nulls().to_list()], most)
    return axis.title, lambda value: _number(value, axis.factor, decimals)


def _needed(values: list[float], most: int) -> int:
    """How many decimals a column needs: none that is zero in all rows."""
    texts = [f"{value:.{most}f}" for value in values if math.isfinite(value)]
    return max((len(text.partition(".")[2].rstrip("0")) for text in texts), default=0)


def _given(given: Format) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        if value is None:
            return NONE
        if callable(given):
            return str(given(value))
        return grouped(given.format(value) if "{" in given else format(value, given))

    return write


def _number(value: float | None, factor: float, decimals: int) -> str:
    if value is None or not math.isfinite(value):
        return NONE
    if abs(value) < NOTHING:
        return "0"
    scaled = value * factor
    if round(scaled, decimals):
        return grouped(f"{scaled:.{decimals}f}")
    # A column has as many decimals as its largest value needs: what is less than these is not nothing.
    least = f"{10**-decimals:.{decimals}f}"
    return f"< {least}" if scaled > 0 else f"> −{least}"


def _word(value: Any) -> str:
    match value:
        case None:
            return NONE
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
