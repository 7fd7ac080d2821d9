"""The document's paths, and every window and number of flows that it gives for them.

Example:
    >>> [path.name for path in PATHS], sum(len(path.cells) for path in PATHS)
    (['daresbury', 'in2p3-factor-1', 'in2p3-factor-2', 'in2p3-factor-3', 'caltech', 'caltech-10ms', 'lbnl'], 760)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tightlink.analysis.bulk_path import BulkPath
from tightlink.experiment.execute import Task
from tightlink.studies.bulk_throughput.setup.alternatives import ALTERNATIVES, CHOSEN, Alternative

if TYPE_CHECKING:
    from tightlink.scenario import Scenario

#: Windows in packets of 1460 B, which stand for 8, 16, … 1024 kB.
WINDOWS: Final = (6, 11, 22, 44, 88, 175, 350, 700)
#: What the document calls them, in kB.
KILOBYTES: Final = dict(zip(WINDOWS, (8, 16, 32, 64, 128, 256, 512, 1024), strict=True))
#: Both of the document's lists for Daresbury, and one more.
_DARESBURY: Final = (1, 2, 3, 4, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40)
_IN2P3: Final = (1, 2, 4, 7, 10, 15, 20, 25, 30, 40)
_MANY: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 25, 30, 40)


@dataclass(frozen=True)
class Place:
    """A path of the document with the numbers of flows that it was simulated for."""

    name: str
    title: str
    path: BulkPath
    flows: tuple[int, ...]

    @property
    def site(self) -> str:
        """The name of its far end.

        >>> CALTECH.site
        'Caltech'
        """
        return self.title.partition(",")[0]

    @property
    def bdp_packets(self) -> float:
        """Bandwidth times round trip in packets of 1460 B, not rounded."""
        return self.path.bdp_bytes / self.path.payload_bytes

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Every window with every number of flows."""
        return [(window, flows) for window in WINDOWS for flows in self.flows]

    def scenario(self, window: int, flows: int, under: Alternative = CHOSEN) -> Scenario:
        """A cell; ``series`` has one sample, of what is acknowledged at the sender when the run ends."""
        sample_s = self.path.duration_s - self.path.ack_way_s(flows)
        return self.path.scenario(window, flows, sample_s=sample_s, tcp=under.tcp)

    def tasks(self, under: Alternative = CHOSEN) -> list[Task]:
        """All cells."""
        named = {under.task(f"{self.name}/{window}/{flows}"): (window, flows) for window, flows in self.cells}
        return [Task(name, self.scenario(*cell, under)) for name, cell in named.items()]


DARESBURY: Final = Place("daresbury", "Daresbury, 10 Mbit/s, 162 ms", BulkPath(10e6, 0.162), _DARESBURY)
IN2P3: Final = tuple(
    Place(f"in2p3-factor-{factor}", f"IN2P3, 28 Mbit/s, 180 ms, factor {factor}",
          BulkPath(28e6, 0.180, factor=float(factor)), _IN2P3)
    for factor in (1, 2, 3)
)  # fmt: skip
CALTECH: Final = Place("caltech", "Caltech, 45 Mbit/s, 24.7 ms", BulkPath(45e6, 0.0247), _MANY)
CALTECH_10MS: Final = Place("caltech-10ms", "Caltech, 45 Mbit/s, 10 ms", BulkPath(45e6, 0.010), _MANY)
LBNL: Final = Place("lbnl", "LBNL, 30 Mbit/s, 3.4 ms", BulkPath(30e6, 0.0034), _MANY)
PATHS: Final = (DARESBURY, *IN2P3, CALTECH, CALTECH_10MS, LBNL)
#: The factor that the document shows, for each site, and the round trip of its text.
SITES: Final = (DARESBURY, IN2P3[1], CALTECH, LBNL)
#: Grids that the alternatives are chosen by: those of the document's statements.
WEIGHED: Final = (DARESBURY, *IN2P3[:2], CALTECH, LBNL)
#: R² of the document's own predictions and measurements at these, from its summary.
DOCUMENT_R2: Final = {"daresbury": 0.885, "in2p3-factor-2": 0.85, "caltech": 0.785, "lbnl": 0.2}
#: The path of Daresbury, used five times as long, and the prefix of its tasks.
LONG_PATH: Final = DARESBURY.path.changed(duration_s=50.0)
LONG: Final = "daresbury-50s"


def tasks() -> list[Task]:
    """The grids, that of Daresbury five times as long, and those that the alternatives are chosen by under each."""
    return [
        *(task for place in PATHS for task in place.tasks()),
        *(
            Task(f"{LONG}/{window}/{flows}", LONG_PATH.scenario(window, flows, tcp=CHOSEN.tcp))
            for window, flows in DARESBURY.cells
        ),
        *(task for under in ALTERNATIVES if under is not CHOSEN for place in WEIGHED for task in place.tasks(under)),
    ]
