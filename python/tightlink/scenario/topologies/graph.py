"""Networks that are graphs: of a file, or of networkx."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, PrivateAttr, StrictBool

from tightlink.errors import ScenarioError, located
from tightlink.scenario.links import Medium, Span, Wire
from tightlink.scenario.table import NAME, Table, merged, wrong
from tightlink.scenario.topologies.base import Topology, table_of
from tightlink.scenario.topologies.graph_file import Reading, joints, names, read
from tightlink.scenario.values import LineRate, Period, PropagationDelay, ensured

_ENDS: Final = 2
_GROUP: Final = "router"
#: What bare numbers of edges are, as the Topology Zoo has them.
_RATE_UNIT: Final = "1 bit/s"
_DELAY_UNIT: Final = "1 s"
_NO_DELAY: Final = "0 s"


def _number(name: str) -> int | None:
    """The number of a node that has no other name: 3 of ``router[3]``."""
    digits = name.removeprefix(f"{_GROUP}[").removesuffix("]")
    return int(digits) if digits.isdecimal() and name == f"{_GROUP}[{int(digits)}]" else None


_TWO_NODES: Final = ensured(
    lambda ends: isinstance(ends, list | tuple) and len(ends) == _ENDS and ends[0] != ends[1],
    'two different nodes, such as ["Chicago", "Denver"]',
)
_FILE_NAME: Final = ensured(
    lambda name: isinstance(name, str) and name, 'the name of a file, such as "abilene.graphml"'
)
_NODE_NAME: Final = ensured(
    lambda name: isinstance(name, str) and (NAME.fullmatch(name) or _number(name) is not None),
    'a name of letters, digits, _ and -, beginning with a letter, or such as "router[3]"',
)
NodeName = Annotated[str, BeforeValidator(_NODE_NAME)]


class Edge(Table):
    """A link of a graph."""

    ends: Annotated[tuple[NodeName, NodeName], BeforeValidator(_TWO_NODES)]
    """The two nodes that it connects."""
    rate: LineRate
    """Transmission rate, in bits or in packets."""
    delay: PropagationDelay = "0 s"
    """Propagation delay."""
    one_way: StrictBool = False
    """Only from the first end to the second."""


class GraphLink(Medium):
    """The links of a graph: what all have in common, and what those have whose edges do not say."""

    rate: LineRate | None = None
    """Transmission rate of edges without one (default: they must have one)."""
    delay: PropagationDelay | None = None
    """Propagation delay of edges without one (default "0 s")."""


def _check_routers(nodes: list[str]) -> list[str]:
    if len(set(nodes)) < len(nodes):
        twice = next(node for node in nodes if nodes.count(node) > 1)
        raise wrong("each node once", value=twice)
    for place, node in enumerate(nodes):
        if _number(node) not in {None, place}:
            raise wrong(f'a name, or "{_GROUP}[{place}]" in this place', value=node)
    return nodes


class Graph(Topology):
    """A graph, from a GraphML or GML file such as those of the Internet Topology Zoo, or written out.

    Nodes bear their labels, with ``_`` for what no name may hold: NAME.New_York; those without one of their own
    are NAME.router[i]. The group NAME.router[*] has all of them, in the file's order. Links are NAME.link[i], one for
    each edge, one-way where the graph is directed. Traffic begins and ends at nodes; links of their own join
    hosts to them.

    The rate of a link is the attribute LinkSpeedRaw, capacity or rate of its edge, or ``link.rate``; its delay
    is the attribute delay, or the great circle between the nodes' Latitude and Longitude at 200 km/ms, or
    ``link.delay``. ``rate_from`` and ``delay_from`` name other attributes.

    Example:
        >>> net = tl.Graph(routers=["a", "b"], edges=[{"ends": ["a", "b"], "rate": "1 Gbit/s"}])
        >>> [span.ends for span in net.spans("net")]
        [('net.a', 'net.b')]
    """

    kind: Literal["graph"] = "graph"
    file: Annotated[str, BeforeValidator(_FILE_NAME)] | None = None
    """GraphML or GML file, relative to the scenario's."""
    rate_from: str | None = None
    """Attribute of edges with their rate (default: LinkSpeedRaw, capacity or rate)."""
    rate_unit: LineRate | None = None
    """What bare numbers there are multiples of (default "1 bit/s")."""
    delay_from: str | None = None
    """Attribute of edges with their delay, or "coordinates" (default: delay, then coordinates)."""
    delay_unit: Period | None = None
    """What bare numbers there are multiples of (default "1 s")."""
    routers: Annotated[list[NodeName], AfterValidator(_check_routers)] | None = None
    """Its nodes, where there is no file."""
    edges: list[Edge] | None = None
    """Its links, where there is no file."""
    link: GraphLink | None = None
    """All links."""

    _folder: Path = PrivateAttr(default=Path())
    _written_out: Self | None = PrivateAttr(default=None)

    def _check(self) -> None:
        if self.file is not None:
            self._refuse("nothing here, as there is a file", "routers", "edges")
            return
        self._refuse("nothing here without a file", "rate_from", "delay_from", "rate_unit", "delay_unit")
        if not self.routers:
            raise wrong('the name of a file, such as "abilene.graphml", or routers and edges', key="file")
        if not self.edges:
            raise wrong("the links between the routers", key="edges")
        known = set(self.routers)
        for index, edge in enumerate(self.edges):
            if not known.issuperset(edge.ends):
                raise wrong("two of the routers", key=f"edges[{index}].ends", value=list(edge.ends))

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        link: GraphLink | Mapping[str, Any] | None = None,
        rate_from: str | None = None,
        delay_from: str | None = None,
    ) -> Self:
        """The network of a graph of networkx, with bare numbers in bit/s and seconds.

        Args:
            graph: Directed or not, with several edges between two nodes or not.
            link: All links, and the rate and delay of those whose edges have none.
            rate_from: Attribute of edges, as for files.
            delay_from: Attribute of edges or "coordinates", as for files.

        Raises:
            ScenarioError: It is empty, not connected or without rates.

        Example:
            >>> import networkx as nx
            >>> net = tl.Graph.from_networkx(nx.path_graph(3), link={"rate": "1 Gbit/s", "delay": "1 ms"})
            >>> net.groups("net")
            {'net.router': 3, 'net.link': 2}
        """
        own = GraphLink() if link is None else link if isinstance(link, GraphLink) else GraphLink(**link)
        reading = Reading(rate_from, delay_from, _RATE_UNIT, _DELAY_UNIT, own.rate, own.delay or _NO_DELAY)
        with located(cls.__name__):
            return cls._of(graph, own, reading)

    @classmethod
    def _of(cls, graph: Any, link: GraphLink, reading: Reading) -> Self:
        edges = joints(graph, reading)
        routers = [name or f"{_GROUP}[{index}]" for index, name in enumerate(names(graph))]
        common = {key: value for key, value in link.written().items() if key not in {"rate", "delay"}}
        tables = [
            {"ends": [routers[end] for end in edge.ends], "rate": edge.rate, "delay": edge.delay}
            | ({"one_way": True} if edge.one_way else {})
            for edge in edges
        ]
        return cls.model_validate(
            {"kind": "graph", "routers": routers, "edges": tables} | ({"link": common} if common else {})
        )

    def stands_in(self, folder: Path) -> None:
        """Says which folder the file's name is relative to."""
        self._folder = folder  # type: ignore[misc]

    def written_out(self) -> Self:
        """The same with routers and edges instead of a file.

        Raises:
            ScenarioError: The file cannot be read, or holds no network; the key is relative to this table.
        """
        if self.file is None:
            return self
        if self._written_out is None:
            link = self.link or GraphLink()
            units = (self.rate_unit or _RATE_UNIT, self.delay_unit or _DELAY_UNIT)
            reading = Reading(self.rate_from, self.delay_from, *units, link.rate, link.delay or _NO_DELAY)
            try:
                made = self._of(read(self._folder / self.file), link, reading)
            except ScenarioError as error:
                if error.key is None:
                    error.key, error.value = "file", self.file
                raise
            # Kept, as nothing of a scenario changes, and the file might.
            self._written_out = made  # type: ignore[misc]
        return self._written_out

    def _network(self) -> tuple[list[str], list[Edge]]:
        whole = self.written_out()
        return whole.routers or [], whole.edges or []

    def nodes(self, name: str) -> Iterator[str]:
        """The nodes in the file's order."""
        for router in self._network()[0]:
            yield f"{name}.{router}"

    def aliases(self, name: str) -> dict[str, str]:
        """``router[i]`` for the nodes that have a name of their own."""
        routers = enumerate(self._network()[0])
        return {f"{name}.{_GROUP}[{index}]": f"{name}.{router}" for index, router in routers if _number(router) is None}

    def spans(self, name: str) -> Iterator[Span]:
        """A link for each edge, in the file's order."""
        common = {key: value for key, value in table_of(self.link).items() if key not in {"rate", "delay"}}
        wires: dict[tuple[str, str], Wire] = {}
        for index, edge in enumerate(self._network()[1]):
            # Equal links share what follows from their table.
            wire = wires.get((edge.rate, edge.delay))
            if wire is None:
                wire = Wire.model_validate(common | {"rate": edge.rate, "delay": edge.delay})
                wires[edge.rate, edge.delay] = wire
            ends = (f"{name}.{edge.ends[0]}", f"{name}.{edge.ends[1]}")
            yield Span(f"{name}.link[{index}]", f"topology.{name}.link", ends, wire, None if edge.one_way else wire)

    def groups(self, name: str) -> dict[str, int]:
        """All nodes, and all links."""
        routers, edges = self._network()
        return {f"{name}.{_GROUP}": len(routers), f"{name}.link": len(edges)}

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table written out, with the defaults for links where it is silent."""
        whole = self.written_out()
        medium = {key: value for key, value in defaults.items() if key != "delay"}
        return whole.written() | {"link": merged(medium, table_of(whole.link))}
