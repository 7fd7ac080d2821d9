"""One number from a column: polars' own reductions may be of any type, or nothing.

Example:
    >>> import polars as pl
    >>> column = pl.Series([1, 2, 6])
    >>> smallest(column), largest(column), mean_of(column), median_of(column)
    (1.0, 6.0, 3.0, 2.0)
"""

from __future__ import annotations

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


def jain(shares: Sequence[float]) -> float:
    """Jain's index (Σx)² / (n Σx²): 1 where all get the same, 1/n where one gets all.

    Jain, Chiu, Hawe: A Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared Computer
    Systems, DEC-TR-301, 1984.

    >>> jain([1.0, 1.0, 1.0, 1.0]), jain([1.0, 0.0, 0.0, 0.0])
    (1.0, 0.25)
    """
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares > 0 else 1.0


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise ValueError(f"no number comes from this column, but {value!r}")  # noqa: TRY004
    return float(value)
