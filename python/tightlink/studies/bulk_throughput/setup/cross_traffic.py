"""Cross traffic on the path to Daresbury, over the week: the document says that its simulator lacks it."""

from __future__ import annotations

from typing import Final

from tightlink.analysis.cross_traffic import MOMENTS
from tightlink.experiment.execute import Task
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY

#: Of the bottleneck, over the week.
SHARES: Final = (0.0, 0.1, 0.2, 0.3, 0.4)
SEEDS: Final = (1, 2)
FOUR_FLOWS: Final = "4 flows of 64 kB"
#: Window and flows: what the rules choose for Daresbury, and the single flow.
SETTINGS: Final = {"1 flow of 128 kB": (88, 1), FOUR_FLOWS: (44, 4), "25 flows of 8 kB": (6, 25)}


def name(share: float, window: int, flows: int, place: int, seed: int) -> str:
    """Name of the task at one of the moments, by its place."""
    return f"cross/{share:g}/{window}/{flows}/{place}/{seed}"


def tasks() -> list[Task]:
    """Each share of cross traffic, at times of the week."""
    return [
        Task(
            name(share, window, flows, place, seed),
            moment.path(DARESBURY.path.changed(cross=share)).scenario(window, flows, seed=seed),
        )
        for window, flows in SETTINGS.values()
        for share in SHARES[1:]
        for place, moment in enumerate(MOMENTS)
        for seed in SEEDS
    ]
