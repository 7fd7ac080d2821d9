"""Runs that go to a worker together, as a message costs what many a short run takes.

Example:
    >>> parcels = Parcels(range(100), together_s=0.5, ahead=4)
    >>> parcels.next()
    [0]
    >>> parcels.took(1, 0.05)
    >>> len(parcels.next())
    10
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final, Generic, TypeVar

T = TypeVar("T")
_MOST: Final = 256
#: At the end parcels are smaller, down to this share of the usual time.
_LAST_SHARE: Final = 0.2
#: How far to look for the end, in works.
_FARTHEST: Final = 4096
_SHORTEST_S: Final = 1e-6


class Parcels(Generic[T]):
    """Cuts works into parcels of about the same time, by what those before took; ``ahead`` are under way at a time.

    Near the end they become smaller, so that all workers end at about the same time.
    """

    def __init__(self, works: Iterable[T], *, together_s: float, ahead: int) -> None:
        self._upcoming = iter(works)
        self._waiting: deque[T] = deque()
        self._ended = False
        self._together_s = together_s
        self._each_s: float | None = None
        self.ahead = ahead

    def took(self, count: int, seconds: float) -> None:
        """A parcel of so many works took so many seconds."""
        self._each_s = seconds / count

    def next(self) -> list[T]:
        """The next parcel; empty at the end."""
        count = self._within(self._together_s)
        self._look(count)
        if self._ended:
            share = math.ceil(len(self._waiting) / self.ahead)
            count = min(count, max(share, self._within(_LAST_SHARE * self._together_s)))
        return [self._waiting.popleft() for _ in range(min(count, len(self._waiting)))]

    def _look(self, count: int) -> None:
        """Take works until so many parcels are waiting as are under way, to see the end coming.

        Two parcels at a time, for whoever asks waits meanwhile.
        """
        wanted = max(count, min(count * self.ahead, _FARTHEST)) - len(self._waiting)
        asked = max(0, min(wanted, 2 * count))
        taken = [] if self._ended else list(islice(self._upcoming, asked))
        self._ended = self._ended or len(taken) < asked
        self._waiting.extend(taken)

    def _within(self, seconds: float) -> int:
        """How many works to give so many seconds to; one as long as nobody knows what they take."""
        if self._each_s is None:
            return 1
        return max(1, min(_MOST, int(seconds / max(self._each_s, _SHORTEST_S))))
