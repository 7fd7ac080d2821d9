"""One number from a column: polars' own reductions may be of any type, or nothing.

Example:
    >>> import polars as pl
    >>> column = pl.Series([1, 2, 6])
    >>> smallest(column), largest(column), mean_of(column), median_of(column)
    (1.0, 6.0, 3.0, 2.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def smallest(column: pl.Series) -> float:
    """The smallest value.

    Raises:
        ValueError: There is none.
    """
    return _number(column.min())


def largest(column: pl.Series) -> float:
    """The largest value.

    Raises:
        ValueError: There is none.
    """
    return _number(column.max())


def mean_of(column: pl.Series) -> float:
    """The mean.

    Raises:
        ValueError: There is no value.
    """
    return _number(column.mean())


def median_of(column: pl.Series) -> float:
    """The median.

    Raises:
        ValueError: There is no value.
    """
    return _number(column.median())


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise ValueError(f"no number comes from this column, but {value!r}")  # noqa: TRY004
    return float(value)
