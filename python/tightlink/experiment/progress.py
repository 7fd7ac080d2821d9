"""How far an experiment is: runs done, failed and running, and the speed.

Example:
    >>> now = ExperimentProgress(total=90, done=30, found=10, failed=1, running=2, packet_hops=12_000_000, elapsed_s=4)
    >>> print(now)
    30 of 90 runs, 1 failed, 2 running, 3.0 M packet-hops/s
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tightlink.experiment.cost import Costs
from tightlink.progress import Progress


@dataclass(frozen=True)
class ExperimentProgress(Progress):
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
    costs: Costs | None = field(default=None, compare=False, repr=False)
    """What each run is worth; without it all are worth the same."""

    @property
    def share(self) -> float:
        """What is done of it, from 0 to 1."""
        return self.done / self.total

    @property
    def packet_hops_per_s(self) -> float:
        """Speed of all runs together."""
        return self.packet_hops / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def timed_share(self) -> float:
        """What is done of what takes time: of the runs that were not there, weighted by what each is worth."""
        if self.costs is not None:
            return self.costs.share()
        waited_for = self.total - self.found
        return (self.done - self.found) / waited_for if waited_for > 0 else 1.0

    def __str__(self) -> str:
        parts = [f"{self.done} of {self.total} runs"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.running:
            parts.append(f"{self.running} running")
        if self.packet_hops:
            parts.append(f"{self.packet_hops_per_s / 1e6:.1f} M packet-hops/s")
        return ", ".join(parts)
