"""Which access routers of the four-tier network have users: all of them, or a part of each class.

With fewer access routers each of them stays what it is: as fast, with as many users and as long a queue. Classes keep
their proportions, so that each router has the load that it would have in the whole network: it sends what its own
sources send, and receives its receivers' share of what all send. Backbone and points of presence stay, as they are not
what limits transfers.

Example:
    >>> {name: len(indices) for name, indices in kept("abilene", Fraction(1, 3)).items()}
    {'direct': 2, 'fast': 9, 'normal': 35}
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Final

from tightlink import units
from tightlink.scenario.four_tier.parameters import PARAMETERS
from tightlink.scenario.topologies.backbones import BACKBONES

#: So that each class has a path to itself: sources choose a receiver behind another router.
_FEWEST: Final = 2
_DIRECT_ROUTERS: Final = 6
_FINEST: Final = 1000
#: Of which direct routers the paths to each other and to all others are nearest to as long as those of all six (mean
#: round trips without queues, the class of paths that is farthest off counts), by variant and number.
_DIRECT: Final[dict[str, dict[int, tuple[int, ...]]]] = {
    "abilene": {2: (4, 5), 3: (1, 3, 4), 4: (0, 1, 2, 4), 5: (1, 2, 3, 4, 5)},
    "isp": {2: (1, 4), 3: (1, 3, 5), 4: (0, 1, 2, 3), 5: (1, 2, 3, 4, 5)},
}


@cache
def kept(variant: str, part: Fraction) -> dict[str, tuple[int, ...]]:
    """The numbers of the access routers that have users, a part of each class, in a variant of the backbone."""
    net = BACKBONES[variant]
    sizes = {"direct": len(net.direct), "fast": len(net.places(fast=True)), "normal": len(net.places(fast=False))}
    counts = {name: max(_FEWEST, _nearest(part * size)) for name, size in sizes.items()}
    # Of the fast ones, which send most of what normal ones receive, as many as leave them their load.
    counts["fast"] = min(
        range(_FEWEST, sizes["fast"] + 1), key=lambda fast: abs(_load(counts | {"fast": fast}) - _load(sizes))
    )
    return {name: _chosen(variant, name, size, counts[name]) for name, size in sizes.items()}


def in_crowd(part: Fraction, direct: Sequence[int]) -> tuple[int, ...]:
    """Of the direct routers that have users those of the crowd: in proportion, where two are more than that."""
    return tuple(direct[: max(1, _nearest(part * _DIRECT_ROUTERS))])


def _nearest(number: Fraction) -> int:
    """A whole number, a half rounded down; a sixth of 105 is 17.5 also where it was written as 0.16666666666666666."""
    return math.ceil(number.limit_denominator(_FINEST) - Fraction(1, 2))


def _load(routers: Mapping[str, int]) -> Fraction:
    """Sources for each receiver, as the study spreads them where classes differ: at the low levels."""
    sources, receivers = (
        sum((units.exact(weights[name]) * count for name, count in routers.items()), start=Fraction(0))
        for weights in (PARAMETERS["source_distribution"].low, PARAMETERS["receiver_distribution"].low)
    )
    return sources / receivers


def _chosen(variant: str, name: str, size: int, count: int) -> tuple[int, ...]:
    if name == "direct" and count < size:
        return _DIRECT[variant][count]
    # Routers are numbered by city and point of presence: evenly among their numbers is evenly over the country.
    return tuple((2 * place + 1) * size // (2 * count) for place in range(count))
