"""Networks made from a few keys. A new kind is one file and one entry in each of the two lists here.

Example:
    >>> sorted(TOPOLOGIES)
    ['chain', 'dumbbell']
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Discriminator, Tag

from tightlink.scenario.table import known_kind, tag_of_kind
from tightlink.scenario.topologies.base import GroupLink, GroupReverse, Spread, Topology
from tightlink.scenario.topologies.chain import Chain
from tightlink.scenario.topologies.dumbbell import Dumbbell

TOPOLOGIES: Final[dict[str, type[Topology]]] = {"dumbbell": Dumbbell, "chain": Chain}

AnyTopology = Annotated[
    Annotated[Dumbbell, Tag("<dumbbell>")] | Annotated[Chain, Tag("<chain>")],
    Discriminator(tag_of_kind),
    known_kind(*TOPOLOGIES),
]

__all__ = ["TOPOLOGIES", "AnyTopology", "Chain", "Dumbbell", "GroupLink", "GroupReverse", "Spread", "Topology"]
