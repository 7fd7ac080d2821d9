"""What stands for the document's measurements, which were never published: other traffic, Linux, pings, unknowns.

Example:
    >>> chosen(DARESBURY, 4)
    {6: 'window-limited', 22: 'window-limited', 44: 'filling', 88: 'overflowing', 700: 'overflowing'}
    >>> len(cells()), [task.name for task in tasks()][:2]
    (84, ['linux/daresbury/reno/6/1', 'linux/daresbury/reno/88/1'])
    >>> len(UNKNOWNS), [each.names for each in UNKNOWNS[:2]], len(unknown_tasks())
    (20, [(), ('bandwidth',)], 608)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

from tightlink.analysis.path.bulk_path import BOTTLENECK, BulkPath, competing_ends
from tightlink.analysis.path.cells import cell
from tightlink.analysis.path.cross_traffic import MOMENTS
from tightlink.experiment.execute import Task
from tightlink.run import Run
from tightlink.scenario import Cbr, Scenario, Udp
from tightlink.studies.bulk_throughput.setup.paths import CALTECH, CHOSEN, DARESBURY, SITES, WINDOWS, Place

# Cross traffic over the week, which the document says that its simulator lacks: on the path to Daresbury, in several
# shares; and on each path, with SACK, beside what is observed, each time at a time of the week of its own.

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

    Args:
        place: The path.
        cross: Share of the bottleneck that others take over the week.
        bandwidth: Of the bottleneck, over the document's.
    """
    hours = [moment for moment in MOMENTS for _ in range(moment.weight)]
    busy = place.path.changed(bandwidth_bps=bandwidth * place.path.bandwidth_bps, cross=cross, recovery="sack")
    on = "" if (cross, bandwidth) == (CROSS, 1) else f"/{cross:g}/{bandwidth:g}"
    return [
        Observation(place, window, flows, seed, hours[seed * _STRIDE % len(hours)].path(busy), on)
        for seed, (window, flows) in enumerate(product(WINDOWS, _FLOWS), start=1)
    ]


def cross_traffic_tasks() -> list[Task]:
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


# Which cells of the document's grids are measured on real hosts, and the same cells simulated.
#
# They are chosen by a rule, before anything is measured: of each path, for one, few and many flows, those of the
# document's windows with which the flows together are small, just below and just above what the path holds, just above
# what path and queue hold, and the largest.

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


# Pings beside transfers to Caltech: a packet of 100 B each second through the same queue.
#
# The document pinged during some 20 measurements of 10 s, which makes some 200 pings for each window and
# number of flows. Here 20 pings, each once a second, run beside one transfer, spread over the second: their
# two kilobytes a second take no part of the path worth mentioning.

_PINGS: Final = 20
PING: Final = "ping"
#: Prefixes of tasks, by what the queue counts.
PACKETS: Final = "ping"
BYTES: Final = "ping-bytes"
#: Some 80 full packets, and no whole number of them: there is room for a ping when there is none for a packet.
SIZE: Final = "120 KiB"


def scenario(window: int, flows: int) -> Scenario:
    """A transfer to Caltech with pings beside it."""
    ping = Cbr(
        flows=_PINGS,
        interval="1 s",
        start=[f"{1000 * index // _PINGS} ms" for index in range(_PINGS)],
        udp=Udp(datagram="100 B"),
        **competing_ends(flows),
    )
    return CALTECH.path.scenario(window, flows, traffic={PING: ping}, tcp=CHOSEN.tcp)


def pings_tasks() -> list[Task]:
    """The grid of Caltech with pings, at a queue that counts packets and at one that counts bytes."""
    return CALTECH.grid(PACKETS, scenario) + CALTECH.grid(
        BYTES, lambda window, flows: scenario(window, flows).set(f"topology.{BOTTLENECK}.queue", SIZE)
    )


# What a prediction does not know of the path to Caltech: other people's traffic, and the bandwidth.
#
# The document suspects its bandwidth of being too low (l. 159) and says that its simulator has no other traffic
# (l. 297). Both are varied in what stands for its measurements, while the prediction stays that of 45 Mbit/s alone.

#: Over the document's 45 Mbit/s, and of the bottleneck over the week.
BANDWIDTHS: Final = (1.0, 1.1, 1.25, 1.5, 2.0)
_UNKNOWN_SHARES: Final = (0.0, 0.1, CROSS, 0.3)


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


UNKNOWNS: Final = tuple(Unknown(cross, bandwidth) for cross, bandwidth in product(_UNKNOWN_SHARES, BANDWIDTHS))


def unknown_tasks() -> list[Task]:
    """The observations on every such path, but for that of the study's own observations."""
    return [one.task for each in UNKNOWNS if (each.cross, each.bandwidth) != (CROSS, 1) for one in each.observations()]
