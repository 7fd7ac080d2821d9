"""Oscillation in tables over time: each column is tested, for each thing that it belongs to.

Which series a table has, `over_time` says.

Example:
    >>> times = np.arange(1, 201) / 10
    >>> table = pl.DataFrame({"time_s": times, "label": "web", "timeouts": (np.arange(200) % 8 < 3) * 5.0})
    >>> {name: found.oscillates for name, found in each(table, ["timeouts"]).items()}
    {('web', 'timeouts'): True}
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from tightlink import arguments
from tightlink.analysis.traffic.oscillation import LEAST_VALUES, SIMULATIONS, Oscillation, oscillation
from tightlink.analysis.traffic.over_time import series_of
from tightlink.errors import TightlinkError
from tightlink.lazy import pl
from tightlink.run import Run, check_run

Found: TypeAlias = dict[tuple[str, ...], Oscillation]

#: What is looked at where nothing is said, by table.
_USUAL: Final = {"series": ("cwnd_packets", "packets_dropped"), "users": ("cwnd_mean_packets", "packets_retransmitted")}


def of_run(
    run: Run,
    columns: Sequence[str] = (),
    *,
    begin_s: float = 0.0,
    end_s: float = math.inf,
    simulations: int = SIMULATIONS,
) -> Found:
    """Test the series of a run for oscillation, with periods in round trips.

    Args:
        run: A run with ``observe.interval``: its table ``series``, or ``users`` if it has users.
        columns: Metrics of ``series`` or columns of ``users`` (default: windows, and losses or what is retransmitted).
        begin_s: From which time on, so that the start is left out.
        end_s: Until which time.
        simulations: Series of noise to compare with.

    Returns:
        A test for each series that is long enough, by entity and metric.

    Raises:
        TightlinkError: There is no such table or column, or too little in that time.

    Example:
        >>> dsl = tl.network("dsl").set("duration", "10 s")
        >>> found = tl.analyze.oscillations(tl.simulate(dsl), ["cwnd_packets"], simulations=19)
        >>> list(found)
        [('download', 'cwnd_packets')]
    """
    check_run(run)
    columns = [arguments.text("columns", name) for name in arguments.several("columns", columns)]
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
    times: defaultdict[str, dict[str, float]] = defaultdict(dict)
    if name == "series" and "flows" in tables:
        for row in tables["flows"].drop_nulls("rtt_mean_s").iter_rows(named=True):
            times[row.get("run", "")][row["label"]] = row["rtt_mean_s"]
    means = {run: _mean([*of.values()]) for run, of in times.items()}

    def round_trip(row: dict[str, Any], rows: pl.DataFrame) -> float:
        if name == "users":
            return _mean(rows["rtt_mean_s"].drop_nulls().to_list())
        run = row.get("run", "")
        return times[run].get(row["entity"], means.get(run, math.nan))

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

    Returns:
        By the names of whom it belongs to and then the column.
    """
    found: Found = {}
    for series in series_of(table, columns, least=LEAST_VALUES, begin_s=begin_s, end_s=end_s):
        unit = round_trip_s(series.who, series.rows) if callable(round_trip_s) else round_trip_s
        found[series.name] = oscillation(series.values, series.interval_s, begin_s=series.begin_s, round_trip_s=unit,
                                         simulations=simulations)  # fmt: skip
    if not found:
        raise TightlinkError(f"nothing between {begin_s:g} s and {end_s:g} s: expected values over time there")
    return found


def summary(found: Found) -> pl.DataFrame:
    """A row for each series: ``series`` (its name), then what `Oscillation` says, all but the spectrum."""
    fields = ("samples", "interval_s", "mean", "period_s", "period_round_trips", "amplitude", "relative_amplitude",
              "ratio", "critical_ratio", "correlation", "p", "significant", "oscillates")  # fmt: skip
    return pl.DataFrame(
        [{"series": " ".join(name)} | {field: getattr(each, field) for field in fields} for name, each in found.items()]
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
