"""Medians of ratios over conditions, and how sure they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Of the interval of a median.
_CONFIDENCE: Final = 0.95


def of_ratios(name: str, ratios: NDArray[np.float64]) -> dict[str, object]:
    """The median of ratios and its interval, of 95 % by the sign test.

    There are none where the response compared with is zero, and no interval of fewer than six.
    """
    from scipy import stats

    # Between the k-th smallest and the k-th largest lies the median, unless fewer than k are on one side of it.
    ordered = np.sort(ratios)
    outside = int(stats.binom.ppf((1 - _CONFIDENCE) / 2, ratios.size, 0.5)) if ratios.size else 0
    low, high = (ordered[outside - 1], ordered[-outside]) if outside else (0.0, math.inf)
    return {
        f"{name}.ratio": float(np.median(ratios)) if ratios.size else math.nan,
        f"{name}.low": float(low),
        f"{name}.high": float(high),
        f"{name}.conditions": int(ratios.size),
        f"{name}.none": "" if ratios.size else "There is none to compare at this size.",
    }
