r"""Tables of a quantity over time in files, CSV or Parquet: a column of times and one of values, by their units.

Example:
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "lte.csv"
    >>> _ = file.write_text("time_s,rate_bps\n0,5e6\n1,2e6\n")
    >>> read_course(str(file), "rate", {"rate_bps": 1.0, "rate_mbps": 1e6})
    ((0.0, 1.0), (5000000.0, 2000000.0))
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Final, Literal

from tightlink import units
from tightlink.checksums import as_named
from tightlink.errors import ScenarioError
from tightlink.files import check_stored
from tightlink.lazy import pl
from tightlink.scenario.changes import Course, Timed
from tightlink.scenario.problems import why_unreadable
from tightlink.scenario.values import Period

_MOST_ROWS: Final = 2**25
#: Columns that are named where the one that is needed is missing.
_SHOWN: Final = 8
#: Columns of times, and how many seconds their unit is.
_TIMES: Final = {"time_s": 1.0, "time_ms": 1e-3}


def read_course(name: str, key: str, columns: Mapping[str, float]) -> Course:
    """Times in seconds and values in SI units of a file.

    ``columns`` has names of its column of the quantity, and how much their unit is in SI units; ``key`` is for errors.
    """
    try:
        found = check_stored(name)
        return _course(name, key, tuple(columns.items()), found.st_mtime_ns, found.st_size)
    except (OSError, ValueError) as error:
        raise _unreadable(name, key, f"a file that can be read: {why_unreadable(error)}") from None


class CourseTable(Timed):
    """A quantity by a table in a file."""

    #: The key of the quantity, for errors; names of its column, and how much their unit is in SI units.
    quantity: ClassVar[str]
    columns: ClassVar[Mapping[str, float]]

    kind: Literal["table"] = "table"
    """How it changes."""
    table: str
    """Name of the file, relative to the scenario's; its first row is at 0 s, and its last value holds to the end."""
    period: Period | None = None
    """After how long the table begins anew (default never)."""

    def course(self) -> Course:
        """Times in seconds and values in SI units."""
        times, values = read_course(self.table, self.quantity, self.columns)
        if self.period is not None and units.time(self.period) <= times[-1]:
            expected = f"a time after the last row, which is at {times[-1]:g} s"
            raise ScenarioError(expected, key=f"{self.quantity}.period", value=self.period)
        return times, values


def _unreadable(name: str, key: str, expected: str) -> ScenarioError:
    return ScenarioError(expected, key=f"{key}.table", value=name)


@lru_cache(maxsize=16)
def _course(name: str, key: str, columns: tuple[tuple[str, float], ...], _changed_ns: int, _size: int) -> Course:
    table = _read(name, key, columns)
    if table.height > _MOST_ROWS:
        raise _unreadable(name, key, f"a table of at most {_MOST_ROWS} rows")
    times = _values(name, key, table, tuple(_TIMES.items()))
    values = _values(name, key, table, columns)
    if not times:
        raise _unreadable(name, key, "a table with a row for each change, of which there is none")
    for row, (before, after) in enumerate(itertools.pairwise(times), 2):
        if after <= before:
            raise _unreadable(name, key, f"times that rise, unlike those of row {row}: {before:g} s, then {after:g} s")
    if times[0] != 0:
        raise _unreadable(name, key, f"a first row at 0 s, which says what holds from the start, not at {times[0]:g} s")
    for row, value in enumerate(values, 1):
        if value < 0:
            raise _unreadable(name, key, f"values of at least 0, as in row {row} is not: {value:g}")
    return times, values


def _read(name: str, key: str, columns: tuple[tuple[str, float], ...]) -> pl.DataFrame:
    expected = f"a CSV or Parquet file with the columns time_s and {columns[0][0]}"
    try:
        if Path(name).suffix != ".parquet":
            return pl.read_csv(as_named(name), comment_prefix="#", glob=False)
        # Of a small file a table can be made that has no place in memory.
        table = pl.scan_parquet(as_named(name), glob=False)
        there = table.collect_schema().names()
        wanted = [column for column in (*_TIMES, *dict(columns)) if column in there]
        return table.select(wanted or there[:_SHOWN]).head(_MOST_ROWS + 1).collect()
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        raise _unreadable(name, key, expected) from None


def _values(name: str, key: str, table: pl.DataFrame, columns: tuple[tuple[str, float], ...]) -> tuple[float, ...]:
    names = " or ".join(column for column, _ in columns)
    for column, unit in columns:
        if column in table.columns:
            values = table[column]
            if not values.dtype.is_numeric() or values.null_count() or not values.cast(float).is_finite().all():
                raise _unreadable(name, key, f"a number in each row of its column {column}")
            return tuple(float(value) * unit for value in values)
    found = ", ".join(table.columns[:_SHOWN])
    raise _unreadable(name, key, f"a column {names}, beside those that it has: {found[:200]}")
