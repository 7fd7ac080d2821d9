"""What a graph is like, in numbers: degree, clustering, path length, betweenness, spectral gap.

They are of the graph alone. What a network makes of it, with the one path that its routing takes where several
are equally short, is in `tightlink.analysis.networks.routes`.

Example:
    >>> import networkx as nx
    >>> ring = invariants(nx.cycle_graph(9))
    >>> ring.degree_mean, ring.clustering, ring.path_length_mean, ring.diameter
    (2.0, 0.0, 2.5, 4)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tightlink.errors import TightlinkError
from tightlink.lazy import np, nx
from tightlink.scenario import Scenario
from tightlink.scenario.network import Network


@dataclass(frozen=True)
class Invariants:
    """Numbers of a connected graph that do not depend on how its nodes are named."""

    nodes: int
    wires: int
    """Edges: a duplex link is one."""
    degree_mean: float
    degree_max: int
    degree_ratio: float
    """⟨k²⟩ / ⟨k⟩²: 1 where all degrees are equal, large where there are hubs."""
    clustering: float
    """Mean over the nodes of the share of a node's pairs of neighbours that are neighbours themselves."""
    path_length_mean: float
    """Links of a shortest path, mean over all pairs of nodes."""
    diameter: int
    """Links of the longest of the shortest paths."""
    node_betweenness_max: float
    """Share of the pairs of other nodes whose shortest paths lead through the node that has most of them."""
    link_betweenness_max: float
    """Ordered pairs of nodes whose shortest paths take the busiest direction of a wire, equal paths sharing evenly."""
    spectral_gap: float
    """Second smallest eigenvalue of the normalised Laplacian: near 0 where the graph nearly falls apart."""

    def row(self) -> dict[str, float]:
        """A row of a table."""
        return {name: float(value) for name, value in asdict(self).items()}


def invariants(graph: nx.Graph) -> Invariants:
    """Measure an undirected graph, in which parallel edges count once: the numbers of `Invariants`."""
    simple = nx.Graph(graph)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    _check(simple)
    degrees = np.array([degree for _, degree in simple.degree()], dtype=float)
    nodes = len(degrees)
    # Of each unordered pair; both directions of a wire carry one of its two orders.
    links = nx.edge_betweenness_centrality(simple, normalized=False)
    return Invariants(
        nodes=nodes,
        wires=simple.number_of_edges(),
        degree_mean=float(degrees.mean()),
        degree_max=int(degrees.max()),
        degree_ratio=float((degrees**2).mean() / degrees.mean() ** 2),
        clustering=float(nx.average_clustering(simple)),
        path_length_mean=float(nx.average_shortest_path_length(simple)),
        diameter=int(nx.diameter(simple)),
        node_betweenness_max=float(max(nx.betweenness_centrality(simple).values())),
        link_betweenness_max=float(max(links.values())),
        spectral_gap=float(nx.normalized_laplacian_spectrum(simple, weight=None)[1]),
    )


def graph_of(scenario: Scenario) -> nx.Graph:
    """The graph of a scenario's network: nodes by name, an edge for each wire.

    Example:
        >>> scenario = tl.loads('''
        ... duration = "1 s"
        ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s" }
        ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
        ... ''')
        >>> graph_of(scenario).edges
        EdgeView([('a', 'b')])
    """
    network = Network(scenario.explicit())
    names = list(network.nodes)
    graph = nx.Graph()
    graph.add_nodes_from(names)
    graph.add_edges_from((names[hop.origin], names[hop.target]) for hop in network.hops)
    return graph


def _check(graph: nx.Graph) -> None:
    nodes = graph.number_of_nodes()
    if nodes < 2:  # noqa: PLR2004
        raise TightlinkError(f"a graph of {nodes} nodes has no paths: expected two nodes at least")
    parts = nx.number_connected_components(graph)
    if parts > 1:
        raise TightlinkError(
            f"the graph falls into {parts} parts: expected one in which every node reaches every other"
        )
