"""How far something is that takes its time: a simulation, a measurement, an experiment, the reading of a capture.

Each says it in its own way, and all can be shown alike.

Example:
    >>> from tightlink.simulate import SimulationProgress
    >>> shown(SimulationProgress(simulated_s=2.5, duration_s=10.0, packet_hops=3_000_000, sending=2, wall_s=1.0))
    '25 %: 2.5 s of 10 s, 2 sources sending, 3.0 M packet-hops/s, 3 s left'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """How far something is; as text, a line for people."""

    @property
    def share(self) -> float | None:
        """What is done of it, from 0 to 1; nothing where nobody knows how much it is."""


#: Told now and then how far something is; what it raises ends that.
Watch = Callable[[Progress], None]


def shown(progress: Progress) -> str:
    """A line that says how far something is."""
    share = progress.share
    return str(progress) if share is None else f"{int(100 * share)} %: {progress}"
