"""Networks made from a few keys. A new kind is one file and one entry in the union here.

Example:
    >>> sorted(TOPOLOGIES)
    ['abilene-four-tier', 'chain', 'dumbbell', 'fat-tree', 'graph', 'leaf-spine', 'parking-lot']
"""

from __future__ import annotations

from typing import Annotated, Final

from tightlink.scenario.forms import Forms, by_kind
from tightlink.scenario.topologies.base import GroupLink, GroupReverse, Spread, Topology
from tightlink.scenario.topologies.chain import Chain
from tightlink.scenario.topologies.dumbbell import Dumbbell
from tightlink.scenario.topologies.fat_tree import FatTree
from tightlink.scenario.topologies.four_tier import AbileneFourTier
from tightlink.scenario.topologies.graph import Graph
from tightlink.scenario.topologies.leaf_spine import LeafSpine
from tightlink.scenario.topologies.parking_lot import ParkingLot

_Topologies = Dumbbell | Chain | ParkingLot | FatTree | LeafSpine | Graph | AbileneFourTier
TOPOLOGIES: Final = by_kind(_Topologies)
AnyTopology = Annotated[_Topologies, Forms()]

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
    "LeafSpine",
    "ParkingLot",
    "Spread",
    "Topology",
]
