"""Numbers that can be computed with: squares and sums of others are zero or infinite in floating point."""

from __future__ import annotations

from typing import Final

from tightlink.lazy import Array, np

#: The largest of some numbers, at most and, unless all are zero, at least: of so many as there may be, squares add up.
_LARGEST: Final = 1e140
_LEAST: Final = 1e-140


def unusable(values: Array) -> str:
    """What to say of numbers that are too large or too small to be squared; nothing of others, and of none.

    >>> unusable(np.array([1e18, 0.0])), unusable(np.array([2e-300, 1e-300, np.nan]))
    ('', 'the largest is 2e-300 in size: expected 1e-140 to 1e+140, as in another unit')
    """
    sizes = np.abs(values[np.isfinite(values)])
    largest = float(sizes.max(initial=0.0))
    if not largest or _LEAST <= largest <= _LARGEST:
        return ""
    return f"the largest is {largest:.3g} in size: expected {_LEAST:g} to {_LARGEST:g}, as in another unit"
