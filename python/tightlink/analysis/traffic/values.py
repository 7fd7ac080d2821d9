"""Values that an analysis of traffic takes: numbers at equal intervals, none of them missing.

Example:
    >>> at_intervals([1, 2, 4], 0.1, least=2)
    array([1., 2., 4.])
    >>> at_intervals([1, None, 4], 0.1, least=2)
    Traceback (most recent call last):
    tightlink.errors.TightlinkError: 3 values: expected at least 2, all of them finite
"""

from __future__ import annotations

import math
from typing import Final

from tightlink.analysis.computable import unusable
from tightlink.errors import TightlinkError
from tightlink.lazy import Array, ArrayLike, np

#: What is this small beside the largest value is what rounding leaves of none.
ROUNDING: Final = 1e-12


def numbers(values: ArrayLike) -> Array:
    """Numbers in a row; NaN where one is missing."""
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise TightlinkError("the values are no numbers: expected a list or an array of numbers") from None
    if found.ndim != 1:
        raise TightlinkError(f"the values have {found.ndim} dimensions: expected one, a list or an array of numbers")
    if wrong := unusable(found):
        raise TightlinkError(wrong)
    return found


def at_intervals(values: ArrayLike, interval_s: float = 1.0, *, least: int) -> Array:
    """Values at equal intervals, all of them finite.

    Raises:
        TightlinkError: There are fewer than ``least``, one is missing, or the interval is no time above zero.
    """
    positive("interval_s", interval_s)
    found = numbers(values)
    if len(found) < least or not np.isfinite(found).all():
        raise TightlinkError(f"{len(found)} values: expected at least {least}, all of them finite")
    return found


def mean_of(values: Array) -> float:
    """The mean of values; zero where it is so but for rounding, so that nothing is a share of it.

    >>> mean_of(np.array([0.1, 0.2, -0.3])), mean_of(np.array([1.0, 2.0]))
    (0.0, 1.5)
    """
    mean = float(values.mean())
    return mean if abs(mean) > ROUNDING * float(np.abs(values).max(initial=0.0)) else 0.0


def positive(name: str, value: float, *, endless: bool = False) -> None:
    """Refuse an option that is not above zero, or not finite unless ``endless``.

    >>> positive("interval_s", -0.1)
    Traceback (most recent call last):
    tightlink.errors.TightlinkError: interval_s = -0.1: expected a number above zero
    """
    number = isinstance(value, int | float | np.number)
    if not number or not value > 0 or (math.isinf(value) and not endless):
        raise TightlinkError(f"{name} = {value!r}: expected a number above zero")
