"""Which access routers of the four-tier network have users: all of them, or a part of each class.

With fewer access routers each of them stays what it is: as fast, with as many users and as long a queue. Classes keep
their proportions, so that each router has the load that it would have in the whole network: it sends what its own
sources send, and receives its receivers' share of what all send. Backbone and points of presence stay, as they are not
what limits transfers.

Example:
    >>> from fractions import Fraction
    >>> {name: len(indices) for name, indices in kept("abilene", Fraction(1, 3)).items()}
    {'direct': 2, 'fast': 9, 'normal': 35}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.scenario.topologies.backbones import BACKBONES

if TYPE_CHECKING:
    from fractions import Fraction

#: So that each class has a path to itself: sources choose a receiver behind another router.
_FEWEST: Final = 2
#: Of which direct routers the paths to each other and to all others are nearest to as long as those of all six (mean
#: round trips without queues, the class of paths that is farthest off counts), by variant and number.
_DIRECT: Final[dict[str, dict[int, tuple[int, ...]]]] = {
    "abilene": {2: (4, 5), 3: (1, 3, 4), 4: (0, 1, 2, 4), 5: (1, 2, 3, 4, 5)},
    "isp": {2: (1, 4), 3: (1, 3, 5), 4: (0, 1, 2, 3), 5: (1, 2, 3, 4, 5)},
}


def kept(variant: str, part: Fraction) -> dict[str, tuple[int, ...]]:
    """The numbers of the access routers of each class that have users.

    Args:
        variant: Of the backbone.
        part: How many of each class, up to 1.
    """
    net = BACKBONES[variant]
    sizes = {"direct": len(net.direct), "fast": len(net.places(fast=True)), "normal": len(net.places(fast=False))}
    return {name: _chosen(variant, name, size, max(_FEWEST, round(part * size))) for name, size in sizes.items()}


def _chosen(variant: str, name: str, size: int, count: int) -> tuple[int, ...]:
    if name == "direct" and count < size:
        return _DIRECT[variant][count]
    # Routers are numbered by city and point of presence: evenly among their numbers is evenly over the country.
    return tuple((2 * place + 1) * size // (2 * count) for place in range(count))
