"""Simulated in place of the document's measurements, which were never published: paths with what its simulator lacks.

The same paths with SACK and other people's traffic, each measurement at a time of the week of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from tightlink.analysis.cross_traffic import MOMENTS
from tightlink.experiment.execute import Task
from tightlink.studies.bulk_throughput.setup.paths import SITES, WINDOWS

if TYPE_CHECKING:
    from tightlink.analysis.bulk_path import BulkPath
    from tightlink.studies.bulk_throughput.setup.paths import Place

#: What others offer over the week, of the bottleneck.
CROSS: Final = 0.2
#: Numbers of flows that all sites have.
_FLOWS: Final = (1, 4, 10, 25)
#: From measurement to measurement through the hours of the week: prime to their number.
_STRIDE: Final = 23


@dataclass(frozen=True)
class Observation:
    """A cell of a path's grid, transferred once."""

    place: Place
    window: int
    flows: int
    seed: int
    path: BulkPath
    """The path as it is then."""

    @property
    def name(self) -> str:
        """Name of its task."""
        return f"observed/{self.prediction}"

    @property
    def prediction(self) -> str:
        """Name of the task of the same cell on the quiet path."""
        return f"{self.place.name}/{self.window}/{self.flows}"


def observations(place: Place) -> list[Observation]:
    """One of each cell: hours come as often as in a week, and in no step with windows."""
    hours = [moment for moment in MOMENTS for _ in range(moment.weight)]
    busy = place.path.changed(cross=CROSS, recovery="sack")
    return [
        Observation(place, window, flows, seed, hours[seed * _STRIDE % len(hours)].path(busy))
        for seed, (window, flows) in enumerate(product(WINDOWS, _FLOWS), start=1)
    ]


def tasks() -> list[Task]:
    """The observations on each path."""
    return [
        Task(each.name, each.path.scenario(each.window, each.flows, seed=each.seed))
        for place in SITES
        for each in observations(place)
    ]
