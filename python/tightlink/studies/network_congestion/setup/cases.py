"""The cases: graphs, loads around the critical one, and what is varied beside them.

Example:
    >>> [case.graph.family for case in in_time()]
    ['one link', 'scale-free', 'ring']
    >>> MIXED.mean, round(MIXED.variability, 2)
    (539.0, 2.22)
"""

from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np

from tightlink.analysis.networks.routes import Routes
from tightlink.experiment.execute import Task
from tightlink.lazy import Array
from tightlink.studies.network_congestion.setup import graphs, growth
from tightlink.studies.network_congestion.setup.graphs import Named
from tightlink.studies.network_congestion.setup.network import Case, Sizes

#: Near the critical load in steps that are the resolution of what is found there.
STEP: Final = 0.02
LOADS: Final = (0.7, 0.85, 0.92, 0.96, 0.98, 1.0, 1.02, 1.04, 1.06, 1.08, 1.1, 1.2, 1.5, 2.0)
_NEAR: Final = (0.93, 0.95, 0.97, 0.985, 1.0, 1.015, 1.03, 1.05, 1.07)
#: Sizes of each family.
_SIZES: Final[dict[str, tuple[Callable[[int], Named], tuple[int, ...]]]] = {
    "ring": (graphs.ring, (17, 33, 65, 129)),
    "lattice": (lambda nodes: graphs.lattice(round(nodes**0.5)), (16, 36, 64, 144)),
    "random": (graphs.random, (16, 32, 64, 128)),
    "scale-free": (graphs.scale_free, (16, 32, 64, 128)),
}
_SIZE_LOADS: Final = (0.9, 0.96, 1.0, 1.02, 1.04, 1.06, 1.09, 1.12)
#: Packets that a queue holds, the one in service among them.
LIMITS: Final = (8, 16, 32, 64)
_LIMITED_LOADS: Final = (0.8, 0.88, 0.92, 0.95, 0.97, 0.985, 1.0, 1.015, 1.03, 1.05, 1.08, 1.12, 1.2)
#: Of the link with short queues: packets on its wire would count among few that wait.
_SHORT_DELAY_S: Final = 0.0005
_INVARIANT_LOADS: Final = (0.9, 1.0, 1.03, 1.06, 1.09, 1.12)
_SIZED_LOADS: Final = (0.9, 0.94, 0.97, 1.0, 1.02, 1.04, 1.06, 1.08, 1.12, 1.16, 1.2, 1.5)
_BALANCED_LOADS: Final = (0.9, 0.96, 1.0, 1.02, 1.04, 1.06, 1.1)
#: Packet sizes of the Internet and their shares: ACKs, the old default of 536 B of payload, full Ethernet frames. The
#: document names three modes without figures (its ref. 33); these are the usual ones, our choice.
MIXED: Final = Sizes({"ack": (40, 0.5), "default": (576, 0.25), "full": (1500, 0.25)})
ALIKE: Final = Sizes({"mean": (round(MIXED.mean), 1.0)})


@cache
def order_parameter() -> tuple[Case, ...]:
    """One link, a graph of each family, of 63 to 65 nodes, and the backbone of Abilene."""
    chosen = (
        graphs.one_link(), graphs.ring(65), graphs.lattice(8), graphs.torus(8), graphs.tree(5), graphs.small_world(64),
        graphs.random(64), graphs.scale_free(64), graphs.autonomous_systems(64), graphs.abilene(),
    )  # fmt: skip
    return tuple(Case(f"curves/{graph.name}", graph, LOADS, seeds=2) for graph in chosen)


@cache
def in_time() -> tuple[Case, ...]:
    """One link, and two networks, of which one has a single busiest link and one has 66."""
    chosen = (graphs.one_link(), graphs.scale_free(32), graphs.ring(33))
    return tuple(Case(f"time/{graph.name}", graph, _NEAR, seeds=8) for graph in chosen)


@cache
def in_size() -> tuple[Case, ...]:
    """Four families at four sizes each."""
    return tuple(
        Case(f"size/{make(nodes).name}", make(nodes), _SIZE_LOADS, seeds=2)
        for make, sizes in _SIZES.values()
        for nodes in sizes
    )


@cache
def limited_queues() -> tuple[Case, ...]:
    """One link with short queues, and a network with one of them."""
    link = [
        Case(f"buffers/one-link-{limit}", graphs.one_link(), _LIMITED_LOADS, seeds=2, queue=f"{limit} packets",
             delay_s=_SHORT_DELAY_S)
        for limit in LIMITS
    ]  # fmt: skip
    network = Case("buffers/scale-free", graphs.scale_free(32), (*_LIMITED_LOADS, 1.5, 2.0), queue="64 packets")
    return (*link, network)


@cache
def invariants() -> tuple[Case, ...]:
    """Graphs of 62 to 65 nodes."""
    chosen = [
        graphs.ring(65), graphs.lattice(8), graphs.torus(8), graphs.tree(5),
        *(graphs.small_world(64, rewired, seed) for rewired in (0.02, 0.1, 0.3, 1.0) for seed in (1, 2)),
        *(graphs.random(64, seed) for seed in (1, 2, 3)),
        *(graphs.regular(64, seed) for seed in (1, 2, 3)),
        *(graphs.scale_free(64, seed) for seed in (1, 2, 3, 4)),
        *(graphs.autonomous_systems(64, seed) for seed in (1, 2, 3)),
    ]  # fmt: skip
    return tuple(Case(f"invariants/{graph.name}", graph, _INVARIANT_LOADS) for graph in chosen)


@cache
def packet_sizes() -> tuple[Case, ...]:
    """A scale-free graph, with its links limited in either unit, under packets alike and mixed."""
    graph = graphs.scale_free(32)
    return tuple(
        Case(f"limits/{unit}-{kind}", graph, _SIZED_LOADS, seeds=6, sizes=sizes, in_bits=unit == "bits",
             stream="limits")
        for unit in ("packets", "bits")
        for kind, sizes in (("alike", ALIKE), ("mixed", MIXED))
    )  # fmt: skip


@cache
def balanced() -> tuple[Case, ...]:
    """Four families, each link with a share of the capacity of all."""
    chosen = (graphs.lattice(8), graphs.tree(5), graphs.random(64), graphs.scale_free(64))
    return tuple(Case(f"balanced/{graph.name}", graph, _BALANCED_LOADS, share=_by_betweenness) for graph in chosen)


def _by_betweenness(routes: Routes) -> Array:
    """Shares of the capacity of all links, as what they carry; a link without paths has next to nothing."""
    asked = routes.betweenness.clip(min=1)
    return np.asarray(asked / asked.sum())


def tasks() -> list[Task]:
    """Everything that is simulated."""
    listed = [
        *order_parameter(), *in_time(), *in_size(), *limited_queues(), *invariants(), *packet_sizes(), *balanced(),
        *growth.networks(),
    ]  # fmt: skip
    return [task for case in listed for task in case.tasks()]
