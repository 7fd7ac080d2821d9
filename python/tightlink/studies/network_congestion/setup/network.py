"""A graph as a network, and every node sending to every other at a load that is told in critical ones.

Each direction of each wire serves 1000 packets/s, or as much as its case says; queues are unlimited, so that what
piles up stays; wires take 5 ms, which plays no part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final
from zlib import crc32

import numpy as np

from tightlink.analysis.networks import routes as routing
from tightlink.analysis.networks.routes import Critical, Routes
from tightlink.experiment.execute import Task
from tightlink.lazy import Array
from tightlink.scenario import Scenario
from tightlink.studies.network_congestion.setup.graphs import Named

#: Packets/s of a link, and its service time.
CAPACITY: Final = 1000.0
SERVICE_S: Final = 1 / CAPACITY
DELAY_S: Final = 0.005
#: Between samples, in which windows are counted.
SAMPLE_S: Final = 0.05
DURATION_S: Final = 20.0
#: From here on the network is as full as it gets below the critical load, and growth is counted.
FILLED_S: Final = 4.0
LABEL: Final = "calls"
_NET: Final = "net"


@dataclass(frozen=True)
class Sizes:
    """Sizes of packets in bytes, with their shares."""

    shares: dict[str, tuple[int, float]] = field(default_factory=lambda: {"packet": (1500, 1.0)})

    @property
    def mean(self) -> float:
        """Mean size in bytes."""
        return sum(size * share for size, share in self.shares.values())

    @property
    def variability(self) -> float:
        """Second moment over the squared mean: 1 where all are equal."""
        return sum(size**2 * share for size, share in self.shares.values()) / self.mean**2

    def __hash__(self) -> int:
        return hash(tuple(self.shares.items()))


@dataclass(frozen=True)
class Case:
    """A graph, what limits its links, and the loads at which it is simulated."""

    name: str
    """Of the case; names of runs begin with it."""
    graph: Named
    loads: tuple[float, ...]
    """In critical loads."""
    seeds: int = 1
    duration_s: float = DURATION_S
    queue: str = "unlimited"
    sizes: Sizes = Sizes()
    stream: str = ""
    """Cases of one have the same random numbers; without it, a case has its own."""
    delay_s: float = DELAY_S
    in_bits: bool = False
    """Whether links are limited in bit/s; they carry 1000 packets/s of the mean size then."""
    share: Callable[[Routes], Array] | None = None
    """What share of the capacity of all links each of them has; without it, all have as much."""

    @cached_property
    def routes(self) -> Routes:
        """The paths that the engine takes."""
        return _routes(self.graph)

    @cached_property
    def capacity(self) -> Array:
        """Packets/s that each direction of each wire carries."""
        links = len(self.routes.links)
        if self.share is None:
            return np.full(links, CAPACITY)
        return CAPACITY * links * self.share(self.routes)

    @cached_property
    def critical(self) -> Critical:
        """The critical load by the theory."""
        return self.routes.critical(self.capacity)

    @cached_property
    def onset_slope(self) -> float:
        """The order parameter's slope dη / d ln λ at the critical load, by the fluid model."""
        step = 1e-4
        return self.routes.piled_up(self.capacity, self.critical.load * (1 + step)) / step

    def load(self, relative: float) -> float:
        """Packets/s from each node, as it is written in the scenario."""
        return round(relative * self.critical.load, 4)

    def moving(self, relative: float) -> float:
        """Packets on wires and in service where nothing waits; beyond λc no more of them."""
        return float(self.routes.offered(self.load(min(relative, 1.0))).sum()) * (self.delay_s + SERVICE_S)

    def key(self, relative: float, seed: int) -> str:
        """The name of a run."""
        return f"{self.name}/{relative:g}/{seed}"

    def keys(self, relative: float) -> list[str]:
        """The runs of a load."""
        return [self.key(relative, seed) for seed in range(1, self.seeds + 1)]

    def tasks(self) -> list[Task]:
        """All loads and seeds."""
        # No two cases have a seed in common, nor do two loads of one.
        first = crc32((self.stream or self.name).encode())
        return [
            Task(self.key(relative, seed), self.scenario(relative, first + place * self.seeds + seed))
            for place, relative in enumerate(self.loads)
            for seed in range(1, self.seeds + 1)
        ]

    def scenario(self, relative: float, seed: int) -> Scenario:
        """What is simulated at a load."""
        sizes = {name: {"size": f"{size} B", "share": share} for name, (size, share) in self.sizes.shares.items()}
        rate = f"{self.load(relative)!r} packets/s"
        rest = {
            "duration": f"{self.duration_s:g} s",
            "seed": seed,
            "traffic": {LABEL: {"kind": "scatter", "at": f"{_NET}.router[*]", "rate": rate, "sizes": sizes}},
            "observe": {"interval": f"{SAMPLE_S * 1e3:g} ms", "flows": "none"},
        }
        rates = [self._rate(value) for value in self.capacity.tolist()]
        return _scenario(self.graph, rates, rest, self.queue, f"{self.delay_s * 1e3:g} ms")

    def _rate(self, packets_per_s: float) -> str:
        if self.in_bits:
            return f"{round(packets_per_s * self.sizes.mean * 8)} bit/s"
        return f"{packets_per_s:.9g} packets/s"

    def __hash__(self) -> int:
        return hash(self.name)


def _scenario(graph: Named, rates: Sequence[str], rest: dict[str, Any], queue: str, delay: str) -> Scenario:
    """A graph with a link for each direction of each edge, one direction after the other."""
    ends = [pair for one, other in graph.graph.edges for pair in ((one, other), (other, one))]
    edges = [
        {"ends": [f"router[{one}]", f"router[{other}]"], "rate": rate, "delay": delay, "one_way": True}
        for (one, other), rate in zip(ends, rates, strict=True)
    ]
    routers = [f"router[{node}]" for node in graph.graph.nodes]
    net = {"kind": "graph", "routers": routers, "edges": edges, "link": {"queue": queue}}
    return Scenario.from_dict({"topology": {_NET: net}, **rest})


@cache
def _routes(graph: Named) -> Routes:
    """Of a graph alone: paths are those of fewest links, whatever these carry."""
    ends = [f"{_NET}.router[{node}]" for node in (0, 1)]
    rest = {"duration": "1 s", "traffic": {LABEL: {"kind": "bulk", "from": ends[0], "to": ends[1]}}}
    rates = ["1 Mbit/s"] * (2 * graph.graph.number_of_edges())
    return routing.routes(_scenario(graph, rates, rest, "unlimited", "1 ms"))
