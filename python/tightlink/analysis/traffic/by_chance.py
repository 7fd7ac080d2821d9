"""What simulated series say of one that was observed: how probable is as much, or more, by chance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tightlink.lazy import Array

#: Numbers that are simulated at a time.
_CHUNK: Final = 1_000_000


def portions(series: int, values: int) -> Iterator[int]:
    """How many series of so many values to simulate at a time, until there are all.

    >>> list(portions(5, 400_000))
    [2, 2, 1]
    """
    at_once = max(_CHUNK // values, 1)
    for done in range(0, series, at_once):
        yield min(at_once, series - done)


def p_value(observed: float, simulated: Array) -> float:
    """Probability of as much or more, as if the series itself were one more that was simulated.

    A. C. Davison, D. V. Hinkley: Bootstrap Methods and their Application, 1997, section 4.2.

    >>> p_value(3.0, np.array([1.0, 2.0, 3.0]))
    0.5
    """
    return (1 + int((simulated >= observed).sum())) / (1 + len(simulated))
