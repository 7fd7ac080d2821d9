"""Data frames as HTML tables: words for columns, units in the heading, numbers that line up.

Example:
    >>> import polars as pl
    >>> frame = pl.DataFrame({"label": ["ftp"], "goodput_bps": [1_911_919.2], "packets_sent": [2385]})
    >>> print(html(frame, {"goodput_bps": "{:.0f} bit/s"}))
    <table><thead><tr><th>flow</th><th class="number">goodput</th><th class="number">packets sent</th></tr></thead>
    <tbody>
    <tr><td>ftp</td><td class="number">1911919 bit/s</td><td class="number">2385</td></tr>
    </tbody></table>
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from tightlink.plots import labels
from tightlink.plots.labels import grouped
from tightlink.report.encoding import largest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl
    from markupsafe import Markup

    from tightlink.report.blocks import Format

_DIGITS: Final = 4
_NONE: Final = "–"


def html(frame: pl.DataFrame, formats: Mapping[str, Format]) -> Markup:
    """The frame as a table.

    Args:
        frame: A row each.
        formats: How columns are written: a format such as ".2f" or "{:.2f} ms", or a function.
    """
    from markupsafe import Markup

    heads, writers, numeric = [], [], []
    for name, dtype in frame.schema.items():
        head, writer = _column(frame, name, formats.get(name))
        heads.append(head)
        writers.append(writer)
        numeric.append(dtype.is_numeric())
    row = "".join('<td class="number">{}</td>' if number else "<td>{}</td>" for number in numeric)
    line = Markup(f"<tr>{row}</tr>\n")  # noqa: S704
    head = "".join('<th class="number">{}</th>' if number else "<th>{}</th>" for number in numeric)
    body = Markup().join(
        line.format(*(write(value) for write, value in zip(writers, values, strict=True)))
        for values in frame.iter_rows()
    )
    header = Markup(f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n").format(*heads)  # noqa: S704
    return header + body + Markup("</tbody></table>")


def _column(frame: pl.DataFrame, name: str, given: Format | None) -> tuple[str, Callable[[Any], str]]:
    """The heading of a column, and how its values are written."""
    dtype = frame.schema[name]
    if given is not None:
        bare = isinstance(given, str) and "{" not in given and labels.axis(name).factor == 1.0
        return labels.axis(name).title if bare else labels.plain(name), _given(given)
    if not dtype.is_numeric():
        return labels.plain(name), _word
    axis = labels.axis(name, largest(frame, name))
    if dtype.is_integer() and axis.factor == 1.0:
        return axis.title, lambda value: _NONE if value is None else grouped(str(value))
    top = abs((largest(frame, name) or 0.0) * axis.factor)
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
            return _NONE
        if callable(given):
            return str(given(value))
        return given.format(value) if "{" in given else format(value, given)

    return write


def _number(value: float | None, factor: float, decimals: int) -> str:
    if value is None or not math.isfinite(value):
        return _NONE
    scaled = value * factor
    return "0" if scaled == 0 else grouped(f"{scaled:.{decimals}f}")


def _word(value: Any) -> str:
    match value:
        case None:
            return _NONE
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
