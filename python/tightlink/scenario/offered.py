"""How much users can offer to a link for long: where that is less than it carries, its queue does not fill.

Example:
    >>> two_ways = [(0, 1), (1, 0), (1, 2), (2, 1)]
    >>> links = [{"from": a, "to": b, "rate_pps": 100.0 if 0 in (a, b) else 300.0} for a, b in two_ways]
    >>> most_offered(3, links, {0, 2})
    [inf, 300.0, 100.0, inf]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, Final

from tightlink.scenario.paths import Router

_PACKET_BITS: Final = 8 * 1500
#: Of more than so many routers with users the paths are not looked at: there are their square.
_MOST_ENDS: Final = 256


def packets_per_s(link: Mapping[str, Any]) -> float:
    """What a link carries, in packets of 1500 B."""
    return float(link["rate_pps"] or link["rate_bps"] / _PACKET_BITS)


def most_offered(nodes: int, links: Sequence[Mapping[str, Any]], ends: Collection[int]) -> list[float]:
    """What can come to each link for long, in packets per second; infinite where hosts are, or where it is not known.

    Packets between two routers with users take the fewest links. No more can come from a router than its own links
    carry away, and senders that respond to losses do not send for long what links into the other router do not carry.
    So a link gets no more than all routers whose packets take it send, and than those to which they go receive.
    """
    alike = len({link["rate_pps"] is None for link in links}) == 1
    if not alike or len(ends) > _MOST_ENDS:
        return [float("inf")] * len(links)
    away, there = [0.0] * nodes, [0.0] * nodes
    for link in links:
        away[link["from"]] += packets_per_s(link)
        there[link["to"]] += packets_per_s(link)
    passing = _passing(nodes, tuple((link["from"], link["to"]) for link in links), tuple(ends))
    return [
        float("inf")
        if link["from"] in ends
        else min(
            sum(away[node] for node in starts),
            # The last link itself is what limits its router.
            float("inf") if link["to"] in ends else sum(there[node] for node in stops),
        )
        for link, (starts, stops) in zip(links, passing, strict=True)
    ]


# The runs of a study differ in rates, and hardly ever in their graph.
@lru_cache(maxsize=8)
def _passing(
    nodes: int, links: tuple[tuple[int, int], ...], ends: tuple[int, ...]
) -> tuple[tuple[AbstractSet[int], AbstractSet[int]], ...]:
    """From which and to which of the ends packets take each link."""
    origins: list[set[int]] = [set() for _ in links]
    targets: list[set[int]] = [set() for _ in links]
    router = Router(nodes, links)
    for origin in ends:
        for target in ends:
            for hop in router.path(origin, target) or () if origin != target else ():
                origins[hop].add(origin)
                targets[hop].add(target)
    return tuple(zip(origins, targets, strict=True))
