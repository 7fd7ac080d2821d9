"""How far an experiment is: runs done, failed and running, the speed, the time left.

Example:
    >>> now = ExperimentProgress(total=90, done=30, found=10, failed=1, running=2, packet_hops=12_000_000, elapsed_s=4)
    >>> print(now)
    30 of 90 runs, 1 failed, 2 running, 3.0 M packet-hops/s, 12 s left
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tightlink.experiment.work import Done

if TYPE_CHECKING:
    from collections.abc import Callable

    from tightlink.experiment.engines import Engine
    from tightlink.experiment.work import Failed

_MINUTE: Final = 60
_HOUR: Final = 3600


@dataclass(frozen=True)
class ExperimentProgress:
    """Where an experiment stands (`tightlink.progress`)."""

    total: int
    done: int
    """Runs that are finished, those that were there and those that failed included."""
    found: int
    """Runs that were there."""
    failed: int
    running: int
    packet_hops: int
    """Of the runs that were simulated."""
    elapsed_s: float

    @property
    def share(self) -> float:
        """What is done of it, from 0 to 1."""
        return self.done / self.total

    @property
    def packet_hops_per_s(self) -> float:
        """Speed of all runs together."""
        return self.packet_hops / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """The time that the other runs take if they are like those before; nothing before the first."""
        simulated = self.done - self.found
        return self.elapsed_s / simulated * (self.total - self.done) if simulated > 0 else None

    def __str__(self) -> str:
        parts = [f"{self.done} of {self.total} runs"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.running:
            parts.append(f"{self.running} running")
        if self.packet_hops:
            parts.append(f"{self.packet_hops_per_s / 1e6:.1f} M packet-hops/s")
        if self.left_s is not None and self.done < self.total:
            parts.append(f"{duration(self.left_s)} left")
        return ", ".join(parts)


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


class Counter:
    """Counts runs and tells of it."""

    def __init__(self, total: int, on: Engine, tell: Callable[[ExperimentProgress], None] | None) -> None:
        self._total, self._on, self._tell = total, on, tell
        self._found = self._failed = self._simulated = self._hops = 0
        self._begin = time.monotonic()

    def found(self, *, failed: bool = False) -> None:
        """A run was there, or could not even begin."""
        self._found += 1
        self._failed += failed
        self._say()

    def simulated(self, done: Done | Failed) -> None:
        """A run ended."""
        self._simulated += 1
        if isinstance(done, Done):
            self._hops += done.manifest["packet_hops"]
        else:
            self._failed += 1
        self._say()

    def _say(self) -> None:
        if self._tell is not None:
            self._tell(
                ExperimentProgress(
                    total=self._total,
                    done=self._found + self._simulated,
                    found=self._found,
                    failed=self._failed,
                    running=self._on.running,
                    packet_hops=self._hops,
                    elapsed_s=time.monotonic() - self._begin,
                )
            )
