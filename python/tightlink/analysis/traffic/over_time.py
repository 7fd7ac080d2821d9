"""Columns of tables over time as series at equal intervals, one for each thing that they belong to.

Tables are wide, such as ``users`` (a column for each quantity), or long, such as ``series`` (columns ``metric`` and
``value``). Columns of names, such as ``entity`` and ``label``, tell what values belong to.

Example:
    >>> table = pl.DataFrame({"time_s": [1.0, 2.0, 3.0], "label": "web", "timeouts": [0, 2, 1]})
    >>> [(each.title, each.interval_s, each.values.tolist()) for each in series_of(table, ["timeouts"], least=3)]
    [('web timeouts', 1.0, [0.0, 2.0, 1.0])]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink.errors import TightlinkError, did_you_mean, one_of
from tightlink.lazy import Array, np, pl

#: Columns that say whose values a row has, in the order of names.
NAMES: Final = ("run", "label", "entity", "flow", "path", "link")
#: Of an interval: times are written with few digits.
_NEAR: Final = 0.01


@dataclass(frozen=True)
class Series:
    """Values at equal intervals."""

    name: tuple[str, ...]
    """Whose they are, then the column."""
    who: dict[str, Any]
    """The same by the columns of names."""
    interval_s: float
    rows: pl.DataFrame
    """The rows of the table."""
    column: str
    """That of the values in ``rows``."""

    @property
    def title(self) -> str:
        """The name in one text."""
        return " ".join(self.name)

    @property
    def values(self) -> Array:
        """The values of the series, in order of time."""
        return self.rows[self.column].to_numpy()

    @property
    def begin_s(self) -> float:
        """The time of the first."""
        return float(self.rows["time_s"][0])


def series_of(
    table: pl.DataFrame, columns: Sequence[str], *, least: int, begin_s: float = 0.0, end_s: float = math.inf
) -> Iterator[Series]:
    """The series of columns, or of the metrics of a long table; fewer values than ``least`` are an error."""
    if "time_s" not in table.columns:
        raise TightlinkError(f"no column time_s among {one_of(table.columns).removeprefix('one of ')}")
    long = {"metric", "value"} <= set(table.columns)
    known = table["metric"].unique(maintain_order=True).to_list() if long else table.columns
    names = [name for name in NAMES if name in table.columns]
    during = table.filter(pl.col("time_s") >= begin_s, pl.col("time_s") <= end_s)
    for column in columns:
        if column not in known:
            raise TightlinkError(f"no column {column}: expected {one_of(known)}{did_you_mean(column, known)}")
        rows = during.filter(pl.col("metric") == column) if long else during
        value = "value" if long else column
        for key, part in rows.group_by(names, maintain_order=True) if names else [((), rows)]:
            name = (*map(str, key), column)
            interval, even = _even(part, value, " ".join(name), least)
            yield Series(name, dict(zip(names, key, strict=True)), interval, even, value)


def _even(rows: pl.DataFrame, value: str, title: str, least: int) -> tuple[float, pl.DataFrame]:
    """The interval, and the rows with their values as numbers; a shorter last interval is left out."""
    rows = rows.with_columns(pl.col(value).cast(pl.Float64, strict=False)).sort("time_s")
    times = rows["time_s"].to_numpy()
    steps = np.diff(times)
    interval = float(np.median(steps)) if len(steps) else 0.0
    if len(steps) and steps[-1] < interval * (1 - _NEAR):
        rows, steps = rows[:-1], steps[:-1]
    if rows.height < least:
        more = f", at intervals below {interval:g} s or over a longer time" if interval else ""
        raise TightlinkError(f"{title}: {rows.height} values: expected at least {least}{more}")
    uneven = np.flatnonzero(np.abs(steps - interval) > interval * _NEAR)
    if interval <= 0 or len(uneven):
        at = times[uneven[0] + 1] if len(uneven) else times[0]
        raise TightlinkError(f"{title}: time_s = {at:g}: expected times at equal intervals, here of {interval:g} s")
    values = rows[value]
    bad = (values.is_null() | values.is_nan() | values.is_infinite()).fill_null(value=True).arg_true()
    if len(bad):
        raise TightlinkError(f"{title}: at {times[bad[0]]:g} s: expected a number at every time")
    return interval, rows
