"""Which cells of the document's grids are measured on real hosts, and the same cells simulated.

They are chosen by a rule, before anything is measured: of each path, for one, few and many flows, those of the
document's windows with which the flows together are small, just below and just above what the path holds, just above
what path and queue hold, and the largest.

Example:
    >>> chosen(DARESBURY, 4)
    {6: 'window-limited', 22: 'window-limited', 44: 'filling', 88: 'overflowing', 700: 'overflowing'}
    >>> len(cells()), [task.name for task in tasks()][:2]
    (84, ['linux/daresbury/reno/6/1', 'linux/daresbury/reno/88/1'])
"""

from dataclasses import dataclass
from typing import Final

from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.analysis.path.cells import cell
from tightlink.experiment.execute import Task
from tightlink.run import Run
from tightlink.scenario import Scenario
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY, SITES, WINDOWS, Place

#: One, few and many.
FLOWS: Final = (1, 4, 20)
CONTROLS: Final = ("reno", "cubic")
LIMITED, FILLING, OVERFLOWING = "window-limited", "filling", "overflowing"
#: With timestamps packets of 1500 B carry less than the document's 1460 B.
_PAYLOAD: Final = 1448
#: From one echo beside a measurement to the next.
ECHO_S: Final = 0.2


def chosen(place: Place, flows: int) -> dict[int, str]:
    """The windows that are measured with so many flows, and what each does to the path."""
    path = path_of(place, CONTROLS[0])
    empty = path.bdp_bytes / path.packet_bytes
    full = empty + path.queue_packets
    kinds = {
        window: LIMITED if window * flows <= empty else FILLING if window * flows <= full else OVERFLOWING
        for window in WINDOWS
    }
    limited, filling, overflowing = (
        [window for window in WINDOWS if kinds[window] == kind] for kind in (LIMITED, FILLING, OVERFLOWING)
    )
    kept = {*limited[:1], *limited[-1:], *filling[:1], *overflowing[:1]}
    # A window that holds more than path and queue never limits, and larger ones are no different.
    if overflowing[0] <= full:
        kept.add(overflowing[-1])
    return {window: kinds[window] for window in sorted(kept)}


def path_of(place: Place, congestion: str) -> BulkPath:
    """A path as two real hosts have it: Linux's TCP, and nothing before the bottleneck."""
    return place.path.changed(
        profile="linux", recovery="rack", congestion=congestion, payload_bytes=_PAYLOAD, two_hosts=True
    )


@dataclass(frozen=True)
class Cell:
    """A cell of a grid under one congestion control."""

    place: Place
    congestion: str
    window: int
    flows: int
    kind: str
    """What its flows do to the path: window-limited, filling or overflowing."""

    @property
    def path(self) -> BulkPath:
        """The path that is simulated and measured."""
        return path_of(self.place, self.congestion)

    @property
    def name(self) -> str:
        """The name of the cell's measurement."""
        return f"{self.place.name}/{self.congestion}/{self.window}/{self.flows}"

    @property
    def task(self) -> str:
        """Name of its simulation."""
        return f"linux/{self.name}"

    @property
    def scenario(self) -> Scenario:
        """What is simulated and measured."""
        return self.path.scenario(self.window, self.flows)

    @property
    def witnessed(self) -> bool:
        """Whether iperf3 measures it, too: on one path, with Reno; each of its flows is two processes."""
        return self.place is DARESBURY and self.congestion == CONTROLS[0] and self.flows < FLOWS[-1]

    def goodput_bps(self, run: Run) -> float:
        """The goodput of all flows together."""
        return cell(run, self.path)["goodput_bps"]


def cells() -> list[Cell]:
    """All cells that are measured on Linux."""
    return [
        Cell(place, congestion, window, flows, kind)
        for place in SITES
        for congestion in CONTROLS
        for flows in FLOWS
        for window, kind in chosen(place, flows).items()
    ]


def tasks() -> list[Task]:
    """The simulations of the measured cells."""
    return [Task(each.task, each.scenario) for each in cells()]
