"""One property of a path at a time, as in the document's example figures, and the recoveries that it compared.

It does not give the figures' values, and doubts that its ns-2 compared Tahoe, NewReno and SACK at all.

Example:
    >>> [each.name for each in COMPARED]
    ['daresbury.tahoe-newreno', 'in2p3-factor-2.tahoe-sack', 'lbnl.sack-newreno']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tightlink.analysis.bulk_vary import one_at_a_time
from tightlink.experiment.execute import Task
from tightlink.studies.bulk_throughput.setup.alternatives import ALTERNATIVES, CHOSEN, Alternative
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY, IN2P3, LBNL, Place

if TYPE_CHECKING:
    from tightlink.analysis.bulk_vary import Variation

#: Flows and window: the path of Daresbury with windows that overflow its queue, and with ones that do not.
BASES: Final = {"1 × 128 kB": (88, 1), "4 × 64 kB": (44, 4), "10 × 128 kB": (88, 10)}
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

    def prefix(self, recovery: str, under: Alternative = CHOSEN) -> str:
        """What the tasks of the grid with one of the recoveries begin with."""
        return under.task(self.place.name if recovery == _NEWRENO else f"{recovery}/{self.place.name}")


#: What the document compared, and where.
COMPARED: Final = (
    Comparison(DARESBURY, ("tahoe", _NEWRENO)),
    Comparison(IN2P3[1], ("tahoe", "sack")),
    Comparison(LBNL, ("sack", _NEWRENO)),
)


def recovery_tasks() -> list[Task]:
    """The grids with the recoveries that are not in the main ones, under each alternative."""
    return [
        Task(
            f"{each.prefix(recovery, under)}/{window}/{flows}",
            each.place.path.changed(recovery=recovery).scenario(window, flows, tcp=under.tcp),
        )
        for under in ALTERNATIVES
        for each in COMPARED
        for recovery in each.recoveries
        if recovery != _NEWRENO
        for window, flows in each.place.cells
    ]


def variations() -> dict[str, tuple[str, Variation]]:
    """By the name of their task: which base, and what is changed."""
    return {
        f"one-property/{window}/{flows}/{place.factor}/{place.value:g}": (base, place)
        for base, (window, flows) in BASES.items()
        for place in one_at_a_time(DARESBURY.path, window, flows)
    }


def property_tasks() -> list[Task]:
    """A task for each variation."""
    return [
        Task(name, place.path.scenario(place.window, place.flows, tcp=CHOSEN.tcp))
        for name, (_, place) in variations().items()
    ]
