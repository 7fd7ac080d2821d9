"""Oscillation in tables over time: each column is tested, for each thing that it belongs to.

Tables are wide, such as ``users`` (a column for each quantity), or long, such as ``series`` (columns ``metric`` and
``value``). Columns of names, such as ``entity`` and ``label``, tell what values belong to.

Example:
    >>> import numpy as np
    >>> import polars as pl
    >>> times = np.arange(1, 201) / 10
    >>> table = pl.DataFrame({"time_s": times, "label": "web", "timeouts": (np.arange(200) % 8 < 3) * 5.0})
    >>> {name: found.oscillates for name, found in each(table, ["timeouts"]).items()}
    {('web', 'timeouts'): True}
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tightlink.analysis.oscillation import LEAST_VALUES, SIMULATIONS, Oscillation, oscillation
from tightlink.errors import TightlinkError, closest, one_of, show

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from tightlink.run import Run

    Found: TypeAlias = dict[tuple[str, ...], Oscillation]

#: Columns that say whose values a row has, in the order of names.
NAMES: Final = ("run", "label", "entity", "flow", "path", "link")
#: What is looked at where nothing is said, by table.
_USUAL: Final = {
    "series": ("cwnd_packets", "packets_dropped"),
    "users": ("cwnd_mean_packets", "packets_retransmitted"),
}
#: Of an interval: times are written with few digits.
_NEAR: Final = 0.01


def of_run(
    run: Run,
    columns: Sequence[str] = (),
    *,
    begin_s: float = 0.0,
    end_s: float = math.inf,
    simulations: int = SIMULATIONS,
) -> Found:
    """Test a run: its table ``series``, or of a run with users that table, with periods in round trips.

    Args:
        run: With ``observe.interval``.
        columns: Metrics of ``series`` or columns of ``users`` (default: windows, and losses or what is sent again).
        begin_s: From when on, so that the start is left out.
        end_s: Until when.
        simulations: Series of noise to compare with.

    Raises:
        TightlinkError: There is no such table or column, or too little in that time.
    """
    names = ["users"] if "users" in run.tables else ["series", *(["flows"] if "flows" in run.tables else [])]
    tables = {name: run.table(name) for name in names}
    return of_tables(tables, columns, begin_s=begin_s, end_s=end_s, simulations=simulations)


def of_tables(
    tables: Mapping[str, pl.DataFrame],
    columns: Sequence[str] = (),
    *,
    begin_s: float = 0.0,
    end_s: float = math.inf,
    simulations: int = SIMULATIONS,
) -> Found:
    """The same from the tables ``users``, or ``series`` and ``flows``: of a run, or with a column ``run`` of many.

    The unit of a flow's periods is its mean round-trip time, of a link's the mean of all flows', of users' that of the
    packets in that time.
    """
    name = "users" if "users" in tables else "series"
    times: dict[tuple[str, str], float] = {}
    if name == "series" and "flows" in tables:
        for row in tables["flows"].iter_rows(named=True):
            if row["rtt_mean_s"] is not None:
                times[row.get("run", ""), row["label"]] = row["rtt_mean_s"]

    def round_trip(row: dict[str, Any], rows: pl.DataFrame) -> float:
        if name == "users":
            return _mean(rows["rtt_mean_s"].drop_nulls().to_list())
        run = row.get("run", "")
        own = times.get((run, row["entity"]))
        return _mean([time for (of, _), time in times.items() if of == run]) if own is None else own

    return each(tables[name], columns or _USUAL[name], begin_s=begin_s, end_s=end_s, round_trip_s=round_trip,
                simulations=simulations)  # fmt: skip


def each(
    table: pl.DataFrame,
    columns: Sequence[str],
    *,
    begin_s: float = 0.0,
    end_s: float = math.inf,
    round_trip_s: float | Callable[[dict[str, Any], pl.DataFrame], float] = math.nan,
    simulations: int = SIMULATIONS,
) -> Found:
    """Test columns of a table over time.

    Args:
        table: With ``time_s``, at equal intervals.
        columns: What to test; of a long table, its metrics.
        begin_s: From when on.
        end_s: Until when.
        round_trip_s: Unit of periods; or what tells it from the names and the rows of a series.
        simulations: Series of noise to compare with.

    Returns:
        By the names of whom it belongs to and then the column.

    Raises:
        TightlinkError: A column is missing, a value is no number, times are not equally spaced or too few.
    """
    import polars as pl

    if "time_s" not in table.columns:
        raise TightlinkError(f"no column time_s among {one_of(table.columns).removeprefix('one of ')}")
    long = {"metric", "value"} <= set(table.columns)
    known = table["metric"].unique(maintain_order=True).to_list() if long else table.columns
    names = [name for name in NAMES if name in table.columns]
    during = table.filter(pl.col("time_s") >= begin_s, pl.col("time_s") <= end_s)
    found: Found = {}
    for column in columns:
        if column not in known:
            raise TightlinkError(f"no column {column}: expected {one_of(known)}{_meant(column, known)}")
        rows = during.filter(pl.col("metric") == column) if long else during
        value = "value" if long else column
        for key, part in rows.group_by(names, maintain_order=True) if names else [((), rows)]:
            who = dict(zip(names, key, strict=True))
            title = (*map(str, key), column)
            interval, part = _even(part, value, " ".join(title))
            unit = round_trip_s(who, part) if callable(round_trip_s) else round_trip_s
            found[title] = oscillation(part[value].to_numpy(), interval, begin_s=part["time_s"][0], round_trip_s=unit,
                                       simulations=simulations)  # fmt: skip
    if not found:
        raise TightlinkError(f"nothing between {begin_s:g} s and {end_s:g} s: expected values over time there")
    return found


def summary(found: Found) -> pl.DataFrame:
    """A row for each series: ``series`` (its name), then what `Oscillation` says, all but the spectrum."""
    import polars as pl

    fields = ("samples", "interval_s", "mean", "period_s", "period_round_trips", "amplitude", "relative_amplitude",
              "ratio", "critical_ratio", "correlation", "p", "significant", "oscillates")  # fmt: skip
    return pl.DataFrame(
        [{"series": " ".join(name)} | {field: getattr(each, field) for field in fields} for name, each in found.items()]
    )


def _even(rows: pl.DataFrame, value: str, title: str) -> tuple[float, pl.DataFrame]:
    """The interval, and the rows with their values as numbers; a shorter last interval is left out."""
    import numpy as np
    import polars as pl

    rows = rows.with_columns(pl.col(value).cast(pl.Float64, strict=False)).sort("time_s")
    times = rows["time_s"].to_numpy()
    steps = np.diff(times)
    interval = float(np.median(steps)) if len(steps) else 0.0
    if len(steps) and steps[-1] < interval * (1 - _NEAR):
        rows, steps = rows[:-1], steps[:-1]
    if rows.height < LEAST_VALUES:
        raise TightlinkError(f"{title}: {rows.height} values: expected at least {LEAST_VALUES}")
    uneven = np.flatnonzero(np.abs(steps - interval) > interval * _NEAR)
    if interval <= 0 or len(uneven):
        at = times[uneven[0] + 1] if len(uneven) else times[0]
        raise TightlinkError(f"{title}: time_s = {at:g}: expected times at equal intervals, here of {interval:g} s")
    values = rows[value]
    bad = (values.is_null() | values.is_nan() | values.is_infinite()).fill_null(value=True).arg_true()
    if len(bad):
        raise TightlinkError(f"{title}: at {times[bad[0]]:g} s: expected a number at every time")
    return interval, rows


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def _meant(column: str, known: Sequence[str]) -> str:
    like = closest(column, known)
    return f"; did you mean {show(like)}?" if like else ""
