"""The graphs: small worlds, scale-free, random, lattices, trees, and one that is imported.

Example:
    >>> ring(9).graph.number_of_edges(), random(16, seed=1).graph.number_of_edges()
    (9, 32)
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import networkx as nx

from tightlink.analysis.networks.graphs import Invariants, invariants
from tightlink.scenario.topologies.backbones import ABILENE

#: Neighbours of a node in the mean, in all families that leave the choice.
DEGREE: Final = 4
_TRIES: Final = 1000


@dataclass(frozen=True)
class Named:
    """A graph of a family."""

    name: str
    """Letters, digits and "-": labels and names of runs have it."""
    family: str
    graph: nx.Graph

    @property
    def slug(self) -> str:
        """Its family, in claims."""
        return self.family.lower().replace(" ", "-")

    @property
    def nodes(self) -> int:
        """How many there are."""
        return int(self.graph.number_of_nodes())

    @cached_property
    def invariants(self) -> Invariants:
        """What is measured of it."""
        return invariants(self.graph)

    def __hash__(self) -> int:
        return hash(self.name)


@cache
def one_link() -> Named:
    """Two nodes and a wire: the document's own network."""
    return Named("one-link", "one link", nx.path_graph(2))


@cache
def ring(nodes: int) -> Named:
    """A lattice of one dimension that is closed; with an odd number of nodes each pair has one shortest path."""
    return Named(f"ring-{nodes}", "ring", nx.cycle_graph(nodes))


@cache
def lattice(side: int) -> Named:
    """A square lattice with borders."""
    return Named(f"lattice-{side**2}", "lattice", nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)))


@cache
def torus(side: int) -> Named:
    """A square lattice that is closed in both directions."""
    graph = nx.grid_2d_graph(side, side, periodic=True)
    return Named(f"torus-{side**2}", "torus", nx.convert_node_labels_to_integers(graph))


@cache
def tree(height: int) -> Named:
    """A balanced tree in which each node has two children."""
    graph = nx.balanced_tree(2, height)
    return Named(f"tree-{graph.number_of_nodes()}", "tree", graph)


@cache
def small_world(nodes: int, rewired: float = 0.1, seed: int = 1) -> Named:
    """A ring of neighbours and next neighbours, of whose links a share is rewired (Watts and Strogatz 1998)."""
    graph = nx.connected_watts_strogatz_graph(nodes, DEGREE, rewired, tries=_TRIES, seed=seed)
    return Named(f"small-world-{nodes}-{round(100 * rewired)}-{seed}", "small world", graph)


@cache
def scale_free(nodes: int, seed: int = 1) -> Named:
    """Each new node links to two that have many links already (Barabási and Albert 1999)."""
    return Named(f"scale-free-{nodes}-{seed}", "scale-free", nx.barabasi_albert_graph(nodes, DEGREE // 2, seed=seed))


@cache
def random(nodes: int, seed: int = 1) -> Named:
    """As many links, anywhere (Erdős and Rényi 1959): of the graphs of a seed the first that is connected."""
    return Named(f"random-{nodes}-{seed}", "random", _connected(lambda draw: nx.gnm_random_graph(
        nodes, nodes * DEGREE // 2, seed=_TRIES * seed + draw)))  # fmt: skip


@cache
def regular(nodes: int, seed: int = 1) -> Named:
    """As many links, anywhere, the same number at each node."""
    return Named(f"regular-{nodes}-{seed}", "random regular", _connected(lambda draw: nx.random_regular_graph(
        DEGREE, nodes, seed=_TRIES * seed + draw)))  # fmt: skip


@cache
def autonomous_systems(nodes: int, seed: int = 1) -> Named:
    """Providers and customers as the Internet's autonomous systems have them (Elmokashfi, Kvalbein, Dovrolis 2010)."""
    graph = nx.Graph(nx.random_internet_as_graph(nodes, seed=seed).edges)
    return Named(f"as-{nodes}-{seed}", "autonomous systems", nx.convert_node_labels_to_integers(graph))


@cache
def abilene() -> Named:
    """The backbone of Abilene, imported from the four-tier network."""
    return Named("abilene-11", "Abilene", nx.convert_node_labels_to_integers(nx.Graph(ABILENE.links)))


def _connected(draw: Callable[[int], nx.Graph]) -> nx.Graph:
    return next(graph for graph in map(draw, range(_TRIES)) if nx.is_connected(graph))
