"""The maximum flow between two nodes: how much a network carries, what cuts it, and along which paths.

Max-flow min-cut (L. R. Ford, D. R. Fulkerson: Maximal Flow through a Network, Canadian Journal of
Mathematics 8, 1956), with capacities of edges, of nodes, or of both. Numbers are exact: capacities go in
as fractions, and the flow equals its cut to the last digit.

Example:
    >>> edges = [Edge("upper", "a", "b", Fraction(2)), Edge("lower", "a", "b", Fraction(3)),
    ...          Edge("last", "b", "c", Fraction(9))]
    >>> found = maximum_flow(edges, {}, "a", "c")
    >>> found.value == 5, found.cut_edges, [path.edges for path in found.paths]
    (True, ('upper', 'lower'), [('upper', 'last'), ('lower', 'last')])
    >>> found = maximum_flow(edges, {"b": Fraction(4)}, "a", "c")
    >>> found.value == 4, found.cut_edges, found.cut_nodes
    (True, (), ('b',))
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tightlink.lazy import nx

#: A vertex of the graph that is searched: what it stands for and its name.
_Vertex = tuple[str, str]


@dataclass(frozen=True)
class Edge:
    """One way from a node to another; several may join the same two nodes."""

    name: str
    origin: str
    target: str
    #: Nothing: unlimited.
    capacity: Fraction | None


@dataclass(frozen=True)
class Path:
    """A part of a flow: the edges and nodes that it takes, and how much of it does."""

    edges: tuple[str, ...]
    nodes: tuple[str, ...]
    rate: Fraction


@dataclass(frozen=True)
class MaximumFlow:
    """The most that gets through, and why not more."""

    #: In the unit of the capacities; nothing: unlimited.
    value: Fraction | None
    #: The minimum cut: their capacities add up to the value. Where several cuts are minimum, the one
    #: nearest the target.
    cut_edges: tuple[str, ...]
    cut_nodes: tuple[str, ...]
    #: Their rates add up to the value; none where the value is unlimited.
    paths: tuple[Path, ...]


def maximum_flow(edges: Sequence[Edge], nodes: Mapping[str, Fraction], source: str, target: str) -> MaximumFlow:
    """The maximum flow from a source to a target, its minimum cut and its paths.

    Edges have names that differ. The capacity of the source limits what it sends, that of the target what it receives.
    Where no way leads from the source to the target the flow is zero, with no path.
    """
    # Whole numbers instead of fractions: the search adds and compares them much faster.
    limits = [edge.capacity for edge in edges if edge.capacity is not None] + list(nodes.values())
    scale = math.lcm(*(limit.denominator for limit in limits))
    graph = _graph(edges, nodes, source, target, scale)
    begin, end = ("into", source), ("out of", target)
    # The default algorithm walks sets: which of several maximum flows it finds changes from process to process.
    search = nx.algorithms.flow.edmonds_karp
    try:
        value, flow = nx.maximum_flow(graph, begin, end, flow_func=search)
        _, (near, far) = nx.minimum_cut(graph, begin, end, flow_func=search)
    except nx.NetworkXUnbounded:
        return MaximumFlow(None, (), (), ())
    cut = {(u, v) for u, v in graph.edges if u in near and v in far}
    return MaximumFlow(
        Fraction(value, scale),
        tuple(edge.name for edge in edges if (("out of", edge.origin), ("edge", edge.name)) in cut),
        tuple(node for node in nodes if (("into", node), ("out of", node)) in cut),
        tuple(_paths(flow, begin, end, scale)),
    )


def _graph(edges: Iterable[Edge], nodes: Mapping[str, Fraction], source: str, target: str, scale: int) -> Any:
    """The graph with each node split in two, and each edge by its own vertex.

    The capacity of a node becomes that of the way from its one half to the other. A vertex in each edge
    keeps parallel edges apart, which networkx's flows do not know.
    """
    graph = nx.DiGraph()
    ends = [end for edge in edges for end in (edge.origin, edge.target)]
    for node in dict.fromkeys([source, target, *ends]):
        _join(graph, ("into", node), ("out of", node), nodes.get(node), scale)
    for edge in edges:
        _join(graph, ("out of", edge.origin), ("edge", edge.name), edge.capacity, scale)
        _join(graph, ("edge", edge.name), ("into", edge.target), None, scale)
    return graph


def _join(graph: Any, u: _Vertex, v: _Vertex, capacity: Fraction | None, scale: int) -> None:
    # To networkx an edge without this attribute is unlimited.
    limited = {} if capacity is None else {"capacity": int(capacity * scale)}
    graph.add_edge(u, v, **limited)


def _paths(flow: dict[_Vertex, dict[_Vertex, int]], begin: _Vertex, end: _Vertex, scale: int) -> Iterable[Path]:
    """The flow taken apart, the path with the fewest edges first; circles in it lead nowhere and stay behind."""
    left = nx.DiGraph((u, v, {"flow": amount}) for u, ends in flow.items() for v, amount in ends.items() if amount)
    # From one end, level by level: a search from both takes another one of paths that are equally short.
    while begin in left and (way := nx.single_source_shortest_path(left, begin).get(end)) is not None:
        steps = list(pairwise(way))
        rate = min(left.edges[step]["flow"] for step in steps)
        for step in steps:
            left.edges[step]["flow"] -= rate
        left.remove_edges_from([step for step in steps if not left.edges[step]["flow"]])
        edges = tuple(name for kind, name in way if kind == "edge")
        nodes = tuple(name for kind, name in way if kind == "into")
        yield Path(edges, nodes, Fraction(rate, scale))
