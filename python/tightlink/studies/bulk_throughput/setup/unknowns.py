"""What a prediction does not know of the path to Caltech: other people's traffic, and the bandwidth.

The document suspects its bandwidth of being too low (Caltech) and says that its simulator has no other traffic
(Summary). Both are varied in what stands for its measurements, while the prediction stays that of 45 Mbit/s alone.

Example:
    >>> len(UNKNOWNS), [each.names for each in UNKNOWNS[:2]], len(tasks())
    (20, [(), ('bandwidth',)], 608)
"""

from dataclasses import dataclass
from itertools import product
from typing import Final

from tightlink.experiment.execute import Task
from tightlink.studies.bulk_throughput.setup.cross_traffic import CROSS, Observation, observations
from tightlink.studies.bulk_throughput.setup.paths import CALTECH

#: Over the document's 45 Mbit/s, and of the bottleneck over the week.
BANDWIDTHS: Final = (1.0, 1.1, 1.25, 1.5, 2.0)
_SHARES: Final = (0.0, 0.1, CROSS, 0.3)


@dataclass(frozen=True)
class Unknown:
    """A path to Caltech of which the prediction knows only what the document does."""

    cross: float
    bandwidth: float

    @property
    def names(self) -> tuple[str, ...]:
        """What is other than the prediction has it: what a criterion charges for."""
        return ("traffic",) * (self.cross > 0) + ("bandwidth",) * (self.bandwidth != 1)

    @property
    def bandwidth_bps(self) -> float:
        """The rate of the path's bottleneck."""
        return self.bandwidth * CALTECH.path.bandwidth_bps

    def observations(self) -> list[Observation]:
        """One of each cell, on this path."""
        return observations(CALTECH, self.cross, self.bandwidth)


UNKNOWNS: Final = tuple(Unknown(cross, bandwidth) for cross, bandwidth in product(_SHARES, BANDWIDTHS))


def tasks() -> list[Task]:
    """The observations on every such path, but for that of the study's own observations."""
    return [one.task for each in UNKNOWNS if (each.cross, each.bandwidth) != (CROSS, 1) for one in each.observations()]
