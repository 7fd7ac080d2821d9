"""Times of many flows, from when until when each was sending: how many of them overlap a time, and are at once.

Example:
    >>> spans = Spans([(0.0, 4.0), (1.0, 2.0), (6.0, 8.0)])
    >>> spans.overlapping(0.0, 5.0), spans.at_once(0.0, 2.0), spans.at_once(4.5, 5.5)
    (2, 2, 0)
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate


class Spans:
    """Times from a start until a stop."""

    def __init__(self, spans: Sequence[tuple[float, float]]) -> None:
        self._starts, self._stops = (sorted(side) for side in zip(*spans, strict=True)) if spans else ([], [])
        self._sums = [list(accumulate(side, initial=0.0)) for side in (self._starts, self._stops)]

    def overlapping(self, start_s: float, stop_s: float) -> int:
        """How many have begun before the end of a time and are not over at its beginning."""
        return bisect_left(self._starts, stop_s) - bisect_right(self._stops, start_s)

    def at_once(self, start_s: float, stop_s: float) -> int:
        """How many there are at a time on average, at least one where there is any."""
        if not self.overlapping(start_s, stop_s) or stop_s <= start_s:
            return 0
        return max(1, round((self._lasted_s(stop_s) - self._lasted_s(start_s)) / (stop_s - start_s)))

    def _lasted_s(self, until_s: float) -> float:
        """For how long all of them together have been there until a time."""
        begun, over = (bisect_left(side, until_s) for side in (self._starts, self._stops))
        return float(begun * until_s - self._sums[0][begun] - (over * until_s - self._sums[1][over]))
