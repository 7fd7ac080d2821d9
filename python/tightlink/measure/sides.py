"""Who is on which side of emulated links, and how packets get from one side to another."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Network
from typing import Final, NamedTuple

from tightlink import units
from tightlink.measure.emulated import Way, listed, refused
from tightlink.scenario.network import Network
from tightlink.scenario.paths import Router

#: Networks of the hosts on the two sides of a link. Around several links all are in the first.
SIDES: Final = ("10.64.0.0/17", "10.64.128.0/17")
_MOST_HOSTS: Final = 250


@dataclass(frozen=True)
class Host:
    """A node that sends or receives."""

    name: str
    address: str
    side: int
    """With one link 0 where it begins, 1 where it ends; around several links each host is another side."""


@dataclass(frozen=True)
class Route:
    """How packets get from a side to another."""

    sides: tuple[int, int]
    links: tuple[int, ...]
    """The emulated links that they cross, by their places among all directions of these."""
    before_s: float = 0.0
    """Propagation on other links before the first of these, in seconds."""
    gaps_s: tuple[float, ...] = ()
    """The same from each of these to the next."""
    beyond_s: float = 0.0
    """The same behind the last."""
    hosts: tuple[str, str] | None = None
    """Only from one host to another; without it, of all that have no route of their own."""


def around_one(
    network: Network, crossed: Sequence[Way], both: tuple[int, int]
) -> tuple[dict[str, Host], Sequence[Route]]:
    """The hosts on two sides of one link, and the routes between these.

    Raises:
        ScenarioError: A flow does not cross the link, or a host would be on both sides.
    """
    sides: dict[int, int] = {}
    delays: tuple[dict[tuple[int, int], _Beside], ...] = ({}, {})
    for way in crossed:
        _check_crosses(network, way, both)
        side = 0 if both[0] in way.there else 1
        for node, where in zip(way.ends, (side, 1 - side), strict=True):
            if sides.setdefault(node, where) != where:
                text = f"{network.name(node)} is on both sides of {network.hops[both[0]].name}"
                raise refused(text, key=f"traffic.{way.label}")
    labels: dict[tuple[int, int], str] = {}
    for way in crossed:
        for ends, links in ((way.ends, way.there), (way.ends[::-1], way.back)):
            for side, link in enumerate(both):
                if link in links:
                    place = links.index(link)
                    own = _Beside(_delay_s(network, links[:place]), _delay_s(network, links[place + 1 :]))
                    known = delays[side].setdefault(ends, own)
                    label = labels.setdefault(ends, way.label)
                    if known != own:
                        those = f"those of {label}, between the same hosts, {known}"
                        text = f"before and behind the link its delays are {own}, and {those}"
                        raise refused(text, key=f"traffic.{way.label}")
    hosts = _hosts(network, sides, [IPv4Network(side).hosts() for side in SIDES])
    return hosts, [route for side in (0, 1) for route in _of_side(network, side, delays[side])]


def _check_crosses(network: Network, way: Way, both: tuple[int, int]) -> None:
    crossed = [link for link in both if link in way.there]
    if len(crossed) != 1:
        raise refused(f"it does not cross {network.hops[both[0]].name}", key=f"traffic.{way.label}")
    (back,) = set(both) - set(crossed)
    if way.tcp and back not in way.back:
        raise refused(f"its ACKs do not return over {network.hops[back].name}", key=f"traffic.{way.label}")


class _Beside(NamedTuple):
    """Propagation beside a link, in seconds."""

    before_s: float
    beyond_s: float

    def __str__(self) -> str:
        return f"{self.before_s:g} and {self.beyond_s:g} s"


def _of_side(network: Network, side: int, delays: Mapping[tuple[int, int], _Beside]) -> Iterable[Route]:
    """The longest for all, and where hosts differ one for each two."""
    sides = (side, 1 - side)
    yield Route(sides, (side,), **max(delays.values(), key=sum, default=_Beside(0.0, 0.0))._asdict())
    if len(set(delays.values())) > 1:
        for (one, other), own in delays.items():
            yield Route(sides, (side,), **own._asdict(), hosts=(network.name(one), network.name(other)))


def around_several(
    network: Network, crossed: Sequence[Way], emulated: Sequence[int]
) -> tuple[dict[str, Host], Sequence[Route]]:
    """The hosts around several links, each by itself, and the routes from each to each.

    Raises:
        ScenarioError: A flow crosses none of the links, or between two hosts there are two ways.
    """
    ways: dict[tuple[int, int], tuple[list[int], str]] = {}
    sides: dict[int, int] = {}
    for way in crossed:
        if not set(way.there) & set(emulated):
            raise refused(f"it crosses none of {listed(network, emulated)}", key=f"traffic.{way.label}")
        for node in way.ends:
            sides.setdefault(node, len(sides))
        for ends, links in ((way.ends, way.there), (way.ends[::-1], way.back)):
            if links:
                before, label = ways.setdefault(ends, (links, way.label))
                if before != links:
                    raise refused(
                        f"it goes another way than {label}, between the same hosts", key=f"traffic.{way.label}"
                    )
    hosts = _hosts(network, sides, [IPv4Network(SIDES[0]).hosts()] * len(sides))
    router = Router.of(network)
    routes = []
    for (one, side), (other, its) in itertools.permutations(sides.items(), 2):
        links, _ = ways.get((one, other), (router.path(one, other) or [], ""))
        if links:
            routes.append(_route(network, (side, its), links, emulated))
    return hosts, routes


def _route(network: Network, sides: tuple[int, int], links: Sequence[int], emulated: Sequence[int]) -> Route:
    places = [place for place, link in enumerate(links) if link in emulated]
    if not places:
        return Route(sides, (), beyond_s=_delay_s(network, links))
    gaps = [links[before + 1 : after] for before, after in itertools.pairwise(places)]
    return Route(
        sides,
        tuple(emulated.index(links[place]) for place in places),
        before_s=_delay_s(network, links[: places[0]]),
        gaps_s=tuple(_delay_s(network, gap) for gap in gaps),
        beyond_s=_delay_s(network, links[places[-1] + 1 :]),
    )


def _delay_s(network: Network, links: Iterable[int]) -> float:
    # In exact numbers, as the order of links must not matter.
    return float(sum((units.exact(network.hops[link].delay) for link in links), start=Fraction(0)))


def _hosts(network: Network, sides: Mapping[int, int], free: Sequence[Iterator[IPv4Address]]) -> dict[str, Host]:
    """Hosts, each with the next free address of its side."""
    if len(sides) > _MOST_HOSTS:
        raise refused(f"{len(sides)} hosts are more than {_MOST_HOSTS}", key="traffic")
    names = {node: network.name(node) for node in sides}
    return {names[node]: Host(names[node], str(next(free[side])), side) for node, side in sides.items()}
