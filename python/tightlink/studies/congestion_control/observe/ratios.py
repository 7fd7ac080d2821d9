"""Medians of ratios over conditions, and how sure they are."""

import math
from typing import Final

import numpy as np

from tightlink.lazy import Array, stats

#: Of the interval of a median.
_CONFIDENCE: Final = 0.95
#: What is a little: the smaller filter of the document's condition-response summaries.
MARGIN: Final = 0.1
_UNDECIDED: Final = {
    "side": "The interval has 1 inside, {low:.3f} to {high:.3f}: a smaller effect cannot be told at this size.",
    "alike": "The interval leaves both possible: {low:.3f} to {high:.3f}.",
}


def of_ratios(name: str, ratios: Array) -> dict[str, object]:
    """The median of ratios and its interval, of 95 % by the sign test.

    There are none where the response compared with is zero, and no interval of fewer than six. ``open_side`` says why
    a claim that the median is above 1, or below, has no verdict: an interval with 1 inside. ``open_alike`` says so of a
    claim that it is within the margin of 1: an interval that leaves both possible. They are empty where there is one.
    """
    # Between the k-th smallest and the k-th largest lies the median, unless fewer than k are on one side of it.
    ordered = np.sort(ratios)
    outside = int(stats.binom.ppf((1 - _CONFIDENCE) / 2, ratios.size, 0.5)) if ratios.size else 0
    low, high = (ordered[outside - 1], ordered[-outside]) if outside else (0.0, math.inf)
    none = "" if ratios.size else "There is none to compare at this size."
    alike = low >= 1 - MARGIN and high <= 1 + MARGIN
    decided = {"side": low > 1 or high < 1, "alike": alike or high < 1 - MARGIN or low > 1 + MARGIN}
    return {
        f"{name}.ratio": float(np.median(ratios)) if ratios.size else math.nan,
        f"{name}.low": float(low),
        f"{name}.high": float(high),
        f"{name}.conditions": int(ratios.size),
        **{
            f"{name}.open_{claim}": none or ("" if sure else _UNDECIDED[claim].format(low=low, high=high))
            for claim, sure in decided.items()
        },
    }
