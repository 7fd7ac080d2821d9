"""Other traffic over the week, which the document says that its simulator lacks.

On the path to Daresbury in several shares; and on each path, with SACK, beside what is observed in place of its
measurements, which were never published: each at another time of the week.
"""

from dataclasses import dataclass
from itertools import product
from typing import Final

from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.analysis.path.cross_traffic import MOMENTS
from tightlink.experiment.execute import Task
from tightlink.studies.bulk_throughput.setup.paths import CHOSEN, DARESBURY, SITES, WINDOWS, Place

#: Of the bottleneck, over the week.
SHARES: Final = (0.0, 0.1, 0.2, 0.3, 0.4)
SEEDS: Final = (1, 2)
FOUR_FLOWS: Final = "4 flows of 64 kB"
#: Window and flows: what the rules choose for Daresbury, and the single flow.
SETTINGS: Final = {"1 flow of 128 kB": (88, 1), FOUR_FLOWS: (44, 4), "25 flows of 8 kB": (6, 25)}
#: Share of the bottleneck beside observations, over the week.
CROSS: Final = 0.2
#: Numbers of flows that all sites have.
_FLOWS: Final = (1, 4, 10, 25)
#: From measurement to measurement through the hours of the week: prime to their number.
_STRIDE: Final = 23


def name(share: float, window: int, flows: int, place: int, seed: int) -> str:
    """Name of the task at one of the moments, by its place."""
    return f"cross/{share:g}/{window}/{flows}/{place}/{seed}"


@dataclass(frozen=True)
class Observation:
    """A cell of a path's grid, transferred once."""

    place: Place
    window: int
    flows: int
    seed: int
    path: BulkPath
    """The path as it is then."""
    on: str = ""
    """What the path is beyond what the prediction knows, in the names of tasks."""

    @property
    def name(self) -> str:
        """Name of its task."""
        return f"observed{self.on}/{self.prediction}"

    @property
    def task(self) -> Task:
        """What is simulated in place of the measurement."""
        return Task(self.name, self.path.scenario(self.window, self.flows, seed=self.seed))

    @property
    def prediction(self) -> str:
        """Name of the task of the same cell on the quiet path."""
        return f"{self.place.name}/{self.window}/{self.flows}"


def observations(place: Place, cross: float = CROSS, bandwidth: float = 1.0) -> list[Observation]:
    """One of each cell: hours come as often as in a week, and in no step with windows.

    ``bandwidth`` is that of the bottleneck, over the document's.
    """
    hours = [moment for moment in MOMENTS for _ in range(moment.weight)]
    busy = place.path.changed(bandwidth_bps=bandwidth * place.path.bandwidth_bps, cross=cross, recovery="sack")
    on = "" if (cross, bandwidth) == (CROSS, 1) else f"/{cross:g}/{bandwidth:g}"
    return [
        Observation(place, window, flows, seed, hours[seed * _STRIDE % len(hours)].path(busy), on)
        for seed, (window, flows) in enumerate(product(WINDOWS, _FLOWS), start=1)
    ]


def tasks() -> list[Task]:
    """Each share of cross traffic, at times of the week; then the observations on each path."""
    shares = [
        Task(
            name(share, window, flows, place, seed),
            moment.path(DARESBURY.path.changed(cross=share)).scenario(window, flows, seed=seed, tcp=CHOSEN.tcp),
        )
        for window, flows in SETTINGS.values()
        for share in SHARES[1:]
        for place, moment in enumerate(MOMENTS)
        for seed in SEEDS
    ]
    return shares + [each.task for place in SITES for each in observations(place)]
