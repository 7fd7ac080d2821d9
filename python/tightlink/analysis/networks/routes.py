"""What the paths of a network ask of its links, and from which load on it is more than they have.

Every node sends to every other at the same rate, as traffic ``scatter`` does, each pair over its one path. The
*betweenness* of a link is the number of ordered pairs whose path takes it: at λ packets/s from each of n nodes, a
link of betweenness B is offered λ B / (n − 1), so the first link is full at the *critical load*
λc = min over links of C (n − 1) / B.

Beyond it, packets pile up. `Routes.carried` is the fluid model of that: a link offered more than its capacity C
passes all its flows on in the same proportion, C / (what it is offered), as a queue served in order of arrival
does; links behind it get less. Its only numbers are the paths and the capacities.

Example:
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.left = { ends = ["a", "b"], rate = "1 Mbit/s" }
    ... link.right = { ends = ["b", "c"], rate = "1 Mbit/s" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "c" }
    ... ''')
    >>> found = routes(scenario)
    >>> dict(zip(found.links, found.betweenness.tolist()))
    {'left': 2, 'left.reverse': 2, 'right': 2, 'right.reverse': 2}
    >>> found.critical(100.0).load
    100.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Final

from tightlink.errors import TightlinkError
from tightlink.lazy import Array, NDArray, np
from tightlink.scenario import Scenario
from tightlink.scenario.network import Network
from tightlink.scenario.paths import Router

#: Capacities this near each other, as a share, are full at once.
_SAME: Final = 1e-12
#: The fluid model is at its end when what links pass on changes by less than this share.
_SETTLED: Final = 1e-9
_MOST_ROUNDS: Final = 20_000
#: Of the way to what a round gives: less and less, as a link that passes on less gets less from those before it.
_FIRST_STEP: Final = 0.5


@dataclass(frozen=True)
class Critical:
    """The load at which a network's first link is full."""

    load: float
    """λc, packets/s from each node."""
    link: str
    """The link; where several are full at once, the first."""
    links: int
    """How many are full at once."""


@dataclass(frozen=True)
class Routes:
    """The paths between all pairs of some nodes of a network."""

    nodes: tuple[str, ...]
    """Those that send and receive."""
    links: tuple[str, ...]
    """All directions of all wires, in the order of the scenario."""
    paths: NDArray[np.int32]
    """A row for each ordered pair: the links that it takes, by their index, then −1."""

    @property
    def pairs(self) -> int:
        """Ordered pairs of nodes: n (n − 1)."""
        return len(self.paths)

    @cached_property
    def hops(self) -> NDArray[np.int64]:
        """The length of each path, in links."""
        return np.asarray((self.paths >= 0).sum(axis=1))

    @cached_property
    def betweenness(self) -> NDArray[np.int64]:
        """Of each link: the ordered pairs whose path takes it."""
        return np.bincount(self.paths[self.paths >= 0], minlength=len(self.links))

    def offered(self, load: float) -> Array:
        """Packets/s that each link is asked to carry where nothing piles up, at a load of packets/s from each node."""
        return np.asarray(load * self.betweenness / (len(self.nodes) - 1))

    def critical(self, capacity: float | Array) -> Critical:
        """The load per node from which some link is asked for more packets/s than its capacity, or that of all."""
        used = self.betweenness > 0
        full = np.full(len(self.links), np.inf)
        full[used] = np.broadcast_to(capacity, used.shape)[used] * (len(self.nodes) - 1) / self.betweenness[used]
        least = float(full.min())
        ties = np.flatnonzero(full <= least * (1 + _SAME))
        return Critical(least, self.links[int(ties[0])], len(ties))

    def carried(self, capacity: float | Array, load: float) -> float:
        """The share of the packets that arrive while others pile up, by the fluid model."""
        passed = np.ones(len(self.links))
        limits = np.broadcast_to(np.asarray(capacity, dtype=float), passed.shape)
        step, before = _FIRST_STEP, np.inf
        for _ in range(_MOST_ROUNDS):
            asked, share = self._flow(passed)
            asked = asked * load / (len(self.nodes) - 1)
            wanted = np.minimum(1.0, np.divide(limits, asked, out=np.ones_like(asked), where=asked > 0))
            change = wanted - passed
            left = float(np.abs(change).max())
            if left < _SETTLED:
                return share
            if left >= before:
                step /= 2
            passed, before = passed + step * change, left
        raise TightlinkError(f"the fluid model found no steady state at {load:g} packets/s from each node")

    def piled_up(self, capacity: float | Array, load: float) -> float:
        """The order parameter η by the fluid model: packets that pile up per packet sent."""
        return 1.0 - self.carried(capacity, load)

    def _flow(self, passed: Array) -> tuple[Array, float]:
        """What links are asked for, in units of one pair's rate, and what share arrives, if links pass these shares."""
        rate = np.ones(self.pairs)
        asked = np.zeros(len(self.links))
        for column in self.paths.T:
            on = np.flatnonzero(column >= 0)
            asked += np.bincount(column[on], weights=rate[on], minlength=len(asked))
            rate[on] *= passed[column[on]]
        return asked, float(rate.mean())


def routes(scenario: Scenario, nodes: Sequence[str] | None = None) -> Routes:
    """The paths of a scenario, as the engine finds them: between some nodes, or all."""
    network = Network(scenario.explicit())
    names = tuple(network.nodes if nodes is None else nodes)
    if len(names) < 2:  # noqa: PLR2004
        raise TightlinkError(f"{len(names)} nodes: expected two at least, so that there are paths")
    router = Router.of(network)
    found = []
    for target, origin in permutations(names, 2):
        path = router.path(network.nodes[origin], network.nodes[target])
        if path is None:
            raise TightlinkError(f"no path leads from {origin} to {target}")
        found.append(path)
    longest = max(map(len, found))
    padded = np.array([path + [-1] * (longest - len(path)) for path in found], dtype=np.int32)
    return Routes(names, tuple(network.links), padded)
