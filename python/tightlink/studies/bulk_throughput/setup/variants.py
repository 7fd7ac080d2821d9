"""Recoveries that the document compared, which it doubts that its ns-2 did: Tahoe, NewReno and SACK.

Example:
    >>> [each.name for each in COMPARED]
    ['daresbury.tahoe-newreno', 'in2p3-factor-2.tahoe-sack', 'lbnl.sack-newreno']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink.experiment.execute import Task
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY, IN2P3, LBNL, Place

#: The recovery of the main grids.
_NEWRENO: Final = "newreno"
_TITLES: Final = {"tahoe": "Tahoe", "sack": "SACK", _NEWRENO: "NewReno"}


@dataclass(frozen=True)
class Comparison:
    """Two recoveries on one path."""

    place: Place
    recoveries: tuple[str, str]

    @property
    def name(self) -> str:
        """Name of its claim."""
        return f"{self.place.name}.{'-'.join(self.recoveries)}"

    @property
    def title(self) -> str:
        """Both recoveries, for people."""
        return " with ".join(_TITLES[recovery] for recovery in self.recoveries)

    def prefix(self, recovery: str) -> str:
        """What the tasks of the grid with one of the recoveries begin with."""
        return self.place.name if recovery == _NEWRENO else f"{recovery}/{self.place.name}"


#: What the document compared, and where.
COMPARED: Final = (
    Comparison(DARESBURY, ("tahoe", _NEWRENO)),
    Comparison(IN2P3[1], ("tahoe", "sack")),
    Comparison(LBNL, ("sack", _NEWRENO)),
)


def tasks() -> list[Task]:
    """The grids with the recoveries that are not in the main ones."""
    return [
        Task(
            f"{each.prefix(recovery)}/{window}/{flows}",
            each.place.path.changed(recovery=recovery).scenario(window, flows),
        )
        for each in COMPARED
        for recovery in each.recoveries
        if recovery != _NEWRENO
        for window, flows in each.place.cells
    ]
