"""How far something is that takes its time: a simulation, a measurement, an experiment, the reading of a capture.

Each says it in its own way, and all are shown alike, with the time that is left.

Example:
    >>> from tightlink.simulate import SimulationProgress
    >>> now = SimulationProgress(simulated_s=2.5, duration_s=10.0, packet_hops=3_000_000, sending=2, wall_s=1.0)
    >>> shown(now, left_s=3.0)
    '25 %: 2.5 s of 10 s, 2 sources sending, 3.0 M packet-hops/s, 3 s left'
"""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import signature
from typing import Final

from tightlink.errors import TightlinkError

_MINUTE: Final = 60
_HOUR: Final = 3600
#: An estimate that is so much shorter is taken at once: nobody minds to be told of less.
_MUCH_LESS: Final = 0.5
#: Nothing is said of the time left before.
_SOONEST_S: Final = 1.0
#: Moments that are remembered.
_MOST_SEEN: Final = 256
#: An estimate that is longer than what was said is followed as slowly as this, in seconds.
_SLOWLY_S: Final = 5.0


class Progress:
    """How far something is; as text, a line for people."""

    @property
    def share(self) -> float | None:
        """What is done of it, from 0 to 1; nothing where nobody knows how much it is."""
        return None

    @property
    def timed_share(self) -> float | None:
        """The share of the work that is done, by which the time left is estimated; usually the same."""
        return self.share


#: Told now and then how far something is; what it raises ends that.
Watch = Callable[[Progress], None]


def check_watch(watch: object) -> None:
    """Refuse what cannot be told how far something is.

    Raises:
        TightlinkError: It is no function, or not one of one argument.
    """
    try:
        takes = watch is None or (callable(watch) and signature(watch).bind(Progress()) is not None)
    except TypeError:
        takes = False
    except ValueError:
        # Of functions that are not written in Python nobody may know.
        takes = True
    if not takes:
        raise TightlinkError(f"watch = {watch!r}: expected a function of one argument, which is told how far it is")


def shown(progress: Progress, left_s: float | None = None) -> str:
    """A line that says how far something is, and how long it will still take."""
    share = progress.share
    line = str(progress) if share is None else f"{int(100 * share)} %: {progress}"
    return line if left_s is None else f"{line}, {duration(left_s)} left"


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(0.4), duration(75), duration(5400)
    ('1 s', '1 min 15 s', '1 h 30 min')
    """
    whole = max(1, round(seconds))
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


class TimeLeft:
    """An estimate of how long something still takes, which counts down and follows new evidence without jumps.

    The speed is that of the last two thirds of the time so far: what begins slowly, such as TCP in slow start, says
    little of how it continues.

    >>> left = TimeLeft(0.0)
    >>> [round(left.after(done, now)) for done, now in ((0.1, 2.0), (0.2, 4.0), (0.3, 6.0))]
    [18, 16, 14]
    """

    def __init__(self, now: float) -> None:
        self._seen = [(now, 0.0)]
        self._left: float | None = None
        self._told = now

    def after(self, share: float | None, now: float) -> float | None:
        """Seconds that are left when some share of the work is done; none as long as nobody can know."""
        begin = self._seen[0][0]
        if share is None or share >= 1 or now - begin < _SOONEST_S:
            return None
        if share > self._seen[-1][1]:
            self._seen.append((now, share))
            if len(self._seen) > _MOST_SEEN:
                del self._seen[1:-1:2]
        early = (seen for seen in reversed(self._seen) if seen[0] <= begin + (now - begin) / 3)
        since, then = next(early, self._seen[0])
        if share > then:
            self._follow((1 - share) * (now - since) / (share - then), now)
        return self._left

    def _follow(self, estimate: float, now: float) -> None:
        """Count down, and go a part of the way to a new estimate: more of it the more time has passed."""
        passed, self._told = now - self._told, now
        if self._left is None:
            self._left = estimate
            return
        counted = max(0.0, self._left - passed)
        if estimate < _MUCH_LESS * counted:
            # The first estimates, of a few per mille of the work, may be many times too long.
            self._left = estimate
            return
        slowly = _SLOWLY_S if estimate > counted else _SOONEST_S
        self._left = counted + (estimate - counted) * (1 - math.exp(-passed / slowly))
