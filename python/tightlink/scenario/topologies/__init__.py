"""Networks made from a few keys. A new kind is one file and one entry in each of the two lists here.

Example:
    >>> sorted(TOPOLOGIES)
    ['abilene-four-tier', 'chain', 'dumbbell', 'fat-tree', 'graph', 'parking-lot']
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Discriminator, Tag

from tightlink.scenario.table import known_kind, tag_of_kind
from tightlink.scenario.topologies.base import GroupLink, GroupReverse, Spread, Topology
from tightlink.scenario.topologies.chain import Chain
from tightlink.scenario.topologies.dumbbell import Dumbbell
from tightlink.scenario.topologies.fat_tree import FatTree
from tightlink.scenario.topologies.four_tier import AbileneFourTier
from tightlink.scenario.topologies.graph import Graph
from tightlink.scenario.topologies.parking_lot import ParkingLot

TOPOLOGIES: Final[dict[str, type[Topology]]] = {
    "dumbbell": Dumbbell,
    "chain": Chain,
    "parking-lot": ParkingLot,
    "fat-tree": FatTree,
    "graph": Graph,
    "abilene-four-tier": AbileneFourTier,
}

AnyTopology = Annotated[
    Annotated[Dumbbell, Tag("<dumbbell>")]
    | Annotated[Chain, Tag("<chain>")]
    | Annotated[ParkingLot, Tag("<parking-lot>")]
    | Annotated[FatTree, Tag("<fat-tree>")]
    | Annotated[Graph, Tag("<graph>")]
    | Annotated[AbileneFourTier, Tag("<abilene-four-tier>")],
    Discriminator(tag_of_kind),
    known_kind(*TOPOLOGIES),
]

__all__ = [
    "TOPOLOGIES",
    "AbileneFourTier",
    "AnyTopology",
    "Chain",
    "Dumbbell",
    "FatTree",
    "Graph",
    "GroupLink",
    "GroupReverse",
    "ParkingLot",
    "Spread",
    "Topology",
]
