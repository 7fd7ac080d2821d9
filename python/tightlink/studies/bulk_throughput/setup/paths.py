"""The document's paths, and every window and number of flows that it gives for them.

Example:
    >>> [path.name for path in PATHS], sum(len(path.cells) for path in PATHS)
    (['daresbury', 'in2p3-factor-1', 'in2p3-factor-2', 'in2p3-factor-3', 'caltech', 'caltech-10ms', 'lbnl'], 760)
    >>> [each.name for each in ALTERNATIVES], [each.changed for each in ALTERNATIVES]
    (['defaults', 'threshold-20', 'delayed-acks', 'threshold-20-delayed-acks'], [0, 1, 1, 2])
    >>> [each.name for each in COMPARED]
    ['daresbury.tahoe-newreno', 'in2p3-factor-2.tahoe-sack', 'lbnl.sack-newreno']
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.analysis.path.vary import Variation, one_at_a_time
from tightlink.experiment.execute import Task
from tightlink.scenario import Scenario

#: Windows in packets of 1460 B, which stand for 8, 16, … 1024 kB.
WINDOWS: Final = (6, 11, 22, 44, 88, 175, 350, 700)
#: What the document calls them, in kB.
KILOBYTES: Final = dict(zip(WINDOWS, (8, 16, 32, 64, 128, 256, 512, 1024), strict=True))
#: Both of the document's lists for Daresbury, and one more.
_DARESBURY: Final = (1, 2, 3, 4, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40)
_IN2P3: Final = (1, 2, 4, 7, 10, 15, 20, 25, 30, 40)
_MANY: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 25, 30, 40)


# Two settings of ns-2's TCP that the document does not give: each changed by itself, and both.
#
# The initial threshold: ns-2 resets its agents as a run begins, and each takes its window as the threshold then
# (``TcpAgent::reset``). An agent that gets its window later, by an event at time 0, keeps the default's 20 packets.
#
# ACKs: ``Agent/TCPSink`` acknowledges each packet, as ns-2 has it by default; ``Agent/TCPSink/DelAck`` every second, as
# the hosts that were measured did.


@dataclass(frozen=True)
class Alternative:
    """A reading of what the document leaves to ns-2."""

    name: str
    title: str
    tcp: Mapping[str, object] = field(default_factory=dict)
    """Keys of the transport that differ from ns-2's defaults."""

    @property
    def changed(self) -> int:
        """How many settings differ from ns-2's defaults: what a criterion charges it for."""
        return len(self.tcp)

    def task(self, name: str) -> str:
        """Name of a task under it; that of the chosen one has no prefix."""
        return name if self is CHOSEN else f"{self.name}/{name}"


_THRESHOLD: Final[dict[str, object]] = {"initial_ssthresh": "20 packets"}
_DELAYED: Final[dict[str, object]] = {"delayed_acks": True}
DEFAULTS: Final = Alternative("defaults", "ns-2's defaults")
#: Of which the claims are judged: the document's figures choose it.
CHOSEN: Final = Alternative("threshold-20-delayed-acks", "initial threshold 20, delayed ACKs", _THRESHOLD | _DELAYED)
ALTERNATIVES: Final = (
    DEFAULTS,
    Alternative("threshold-20", "initial threshold 20", _THRESHOLD),
    Alternative("delayed-acks", "delayed ACKs", _DELAYED),
    CHOSEN,
)


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
        """The simulations of all cells of the path."""
        return self.grid(under.task(self.name), partial(self.scenario, under=under))

    def grid(self, prefix: str, scenario: Callable[[int, int], Scenario]) -> list[Task]:
        """What a scenario is for each window and number of flows, named PREFIX/WINDOW/FLOWS."""
        return [Task(f"{prefix}/{window}/{flows}", scenario(window, flows)) for window, flows in self.cells]


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
#: Those of the summary's table, with the round trip that it has to Caltech.
SUMMARY: Final = (DARESBURY, IN2P3[1], CALTECH_10MS, LBNL)
#: Grids that the alternatives are chosen by: those of the document's statements.
WEIGHED: Final = (DARESBURY, *IN2P3[:2], CALTECH, CALTECH_10MS, LBNL)
#: R² of the document's own predictions and measurements at these, from its summary.
DOCUMENT_R2: Final = {"daresbury": 0.885, "in2p3-factor-2": 0.85, "caltech": 0.785, "lbnl": 0.2}
#: The path of Daresbury, used five times as long, and the prefix of its tasks.
LONG_PATH: Final = DARESBURY.path.changed(duration_s=50.0)
LONG: Final = "daresbury-50s"


def tasks() -> list[Task]:
    """The grids, that of Daresbury five times as long, and those that the alternatives are chosen by under each."""
    return [
        *(task for place in PATHS for task in place.tasks()),
        *DARESBURY.grid(LONG, partial(LONG_PATH.scenario, tcp=CHOSEN.tcp)),
        *(task for under in ALTERNATIVES if under is not CHOSEN for place in WEIGHED for task in place.tasks(under)),
    ]


# One property of a path at a time, as in the document's example figures, and the recoveries that it compared.
#
# It does not give the figures' values, and doubts that its ns-2 compared Tahoe, NewReno and SACK at all.

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

    def prefix(self, recovery: str, under: Alternative) -> str:
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
        task
        for under in ALTERNATIVES
        for each in COMPARED
        for recovery in each.recoveries
        if recovery != _NEWRENO
        for task in each.place.grid(
            each.prefix(recovery, under), partial(each.place.path.changed(recovery=recovery).scenario, tcp=under.tcp)
        )
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
