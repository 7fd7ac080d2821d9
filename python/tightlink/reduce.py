"""One number from a column, where polars' own reductions may be of any type, or nothing; and one of many series.

Example:
    >>> import polars as pl
    >>> column = pl.Series([1, 2, 6])
    >>> smallest(column), largest(column), mean_of(column), median_of(column)
    (1.0, 6.0, 3.0, 2.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tightlink.lazy import pl


def smallest(column: pl.Series) -> float:
    """The smallest value of a column.

    Raises:
        ValueError: There is none.
    """
    return _number(column.min())


def largest(column: pl.Series) -> float:
    """The largest value of a column.

    Raises:
        ValueError: There is none.
    """
    return _number(column.max())


def mean_of(column: pl.Series) -> float:
    """The mean of a column's values.

    Raises:
        ValueError: There is no value.
    """
    return _number(column.mean())


def median_of(column: pl.Series) -> float:
    """The median of a column's values.

    Raises:
        ValueError: There is no value.
    """
    return _number(column.median())


def samples(series: pl.DataFrame, metric: str, entity: str) -> pl.DataFrame:
    """The rows of the table ``series`` that are of one metric of one link, node or flow.

    >>> import polars as pl
    >>> series = pl.DataFrame({"time_s": [1, 1], "entity": ["a", "b"], "metric": ["load", "load"], "value": [0.1, 0.2]})
    >>> samples(series, "load", "b")["value"].to_list()
    [0.2]
    """
    return series.filter((pl.col("entity") == entity) & (pl.col("metric") == metric))


def jain(shares: Sequence[float]) -> float:
    """Jain's index (Σx)² / (n Σx²): 1 where all get the same, 1/n where one gets all.

    Jain, Chiu, Hawe: A Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared Computer
    Systems, DEC-TR-301, 1984.

    >>> jain([1.0, 1.0, 1.0, 1.0]), jain([1.0, 0.0, 0.0, 0.0])
    (1.0, 0.25)
    """
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares > 0 else 1.0


def rate_together(flows: pl.DataFrame, rate: str = "goodput_bps") -> float | None:
    """Goodput of several flows together, or another of their rates: from the first start to the last stop.

    One need not run while another does, so that their rates do not add up. Nothing where no rate is known.

    >>> import polars as pl
    >>> flows = pl.DataFrame({"start_s": [0.0, 10.0], "stop_s": [10.0, 20.0], "goodput_bps": [4e6, 6e6]})
    >>> rate_together(flows)
    5000000.0
    """
    needed = [rate, "start_s", "stop_s"]
    # Asked first, here and below: what polars makes a query of takes as long as all else of a small run.
    known = flows.drop_nulls(needed) if any(flows[name].null_count() for name in needed) else flows
    if known.is_empty():
        return None
    start = smallest(flows["start_s"])
    ends = known["start_s"] + _lasts(known)
    if (known["start_s"] == start).all() and ends.n_unique() == 1:
        return float(known[rate].sum())
    return amount_together(known, rate) / (max(largest(flows["stop_s"]), largest(ends)) - start)


def amount_together(flows: pl.DataFrame, rate: str = "goodput_bps") -> float:
    """What several flows carry by a rate: each from its start to its stop, or until the last of it arrived."""
    return math.fsum(amount for amount in (flows[rate] * _lasts(flows)).to_list() if amount is not None)


def _lasts(flows: pl.DataFrame) -> pl.Series:
    """The times that rates are over, in seconds: as the throughput says of the bytes, where a table has both."""
    planned = flows["stop_s"] - flows["start_s"]
    if not {"bytes_delivered", "throughput_bps"} <= set(flows.columns):
        return planned
    took = 8 * flows["bytes_delivered"] / flows["throughput_bps"]
    # What is unknown is no number in arrays, and such are not larger than any.
    later = took.to_numpy() > (planned * (1 + 1e-9)).to_numpy()
    return took.zip_with(pl.Series(later), planned)


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise ValueError(f"no number comes from this column, but {value!r}")  # noqa: TRY004
    return float(value)
