"""Paths as the engine finds them: fewest links, the first of the scenario where several qualify.

They are needed here only for what a scenario expresses by its paths, as bandwidth-delay products and the MTU of a
path, and for how much memory a run needs.

Example:
    >>> Router(3, [(0, 1), (1, 2), (2, 1), (1, 0)]).path(2, 0)
    [2, 3]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import Self, TypeVar

from tightlink.errors import ScenarioError
from tightlink.scenario.network import Network

N = TypeVar("N", bound=Hashable)


def check_connected(key: str, network: Network, nodes: Sequence[int]) -> None:
    """Refuse nodes of which one cannot reach all others."""
    onward: dict[int, list[int]] = {}
    back: dict[int, list[int]] = {}
    for hop in network.hops:
        onward.setdefault(hop.origin, []).append(hop.target)
        back.setdefault(hop.target, []).append(hop.origin)
    first = nodes[0]
    for neighbours in (onward, back):
        reached = distances(neighbours, first)
        lost = next((node for node in nodes if node not in reached), None)
        if lost is not None:
            ends = (first, lost) if neighbours is onward else (lost, first)
            raise no_path(key, network, *ends)


def no_path(key: str, network: Network, origin: int, target: int) -> ScenarioError:
    """The error where no links lead from one node to another."""
    ends = f'"{network.name(origin)}" to "{network.name(target)}"'
    return ScenarioError(f"no path from {ends}: connect them by links in this direction", key=key, statement=True)


def distances(neighbours: Mapping[N, Sequence[N]], start: N) -> dict[N, int]:
    """How many links away every node is that can be reached.

    >>> distances({"a": ["b"], "b": ["a", "c"]}, "a")
    {'a': 0, 'b': 1, 'c': 2}
    """
    found = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in neighbours.get(node, ()):
            if other not in found:
                found[other] = found[node] + 1
                queue.append(other)
    return found


class Router:
    """Breadth-first search towards destinations, remembered for each."""

    def __init__(self, nodes: int, links: Sequence[tuple[int, int]]) -> None:
        self._links = links
        self._outgoing: list[list[int]] = [[] for _ in range(nodes)]
        self._incoming: list[list[int]] = [[] for _ in range(nodes)]
        for index, (origin, target) in enumerate(links):
            self._outgoing[origin].append(index)
            self._incoming[target].append(index)
        self._towards: dict[int, list[int | None]] = {}

    @classmethod
    def of(cls, network: Network) -> Self:
        """That of a network."""
        return cls(len(network.nodes), [(hop.origin, hop.target) for hop in network.hops])

    def path(self, origin: int, target: int) -> list[int] | None:
        """The links from one node to another, or nothing where there is no way."""
        last: list[int] = []
        incoming = self._incoming[target]
        if len(incoming) == 1 and self._links[incoming[0]][0] != origin:
            # A host on a single link shares the search of the router behind it.
            last = incoming
            target = self._links[incoming[0]][0]
        if target not in self._towards:
            self._towards[target] = self._search(target)
        following = self._towards[target]
        path = []
        while origin != target:
            link = following[origin]
            if link is None:
                return None
            path.append(link)
            origin = self._links[link][1]
        return path + last

    def _search(self, target: int) -> list[int | None]:
        following: list[int | None] = [None] * len(self._outgoing)
        frontier = deque([target])
        while frontier:
            node = frontier.popleft()
            for index in self._incoming[node]:
                before = self._links[index][0]
                if before != target and following[before] is None:
                    # Among links to the same node, the first of the scenario.
                    following[before] = next(i for i in self._outgoing[before] if self._links[i][1] == node)
                    frontier.append(before)
        return following
