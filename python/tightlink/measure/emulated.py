"""Which links of a scenario are emulated between hosts, and over which of them its flows go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink.errors import Argument, ScenarioError, in_quotes
from tightlink.scenario.network import Network
from tightlink.scenario.paths import Router

REVERSE: Final = ".reverse"


@dataclass(frozen=True)
class Way:
    """The links of a flow, there and back, by their places among all links."""

    label: str
    ends: tuple[int, int]
    there: list[int]
    back: list[int]
    """Nothing where nothing returns."""
    tcp: bool


def refused(why: str, *, key: str) -> ScenarioError:
    """The error that a scenario cannot be had in real time."""
    return ScenarioError(f"{why}: not a scenario that an emulated link can carry", key=key, statement=True)


def ways(flows: Iterable[Mapping[str, Any]], network: Network) -> Iterable[Way]:
    """The ways of flows, as the engine gets these.

    Raises:
        ScenarioError: The packets of one flow take several.
    """
    router = Router.of(network)
    for flow in flows:
        ends = (flow["from"], flow["to"])
        if "spraying" in flow:
            raise refused(f"packets of {flow['label']} take several paths", key="routing.ecmp")
        there = flow["path"] or router.path(*ends) or []
        tcp = "tcp" in flow["transport"]
        back = (flow["reverse_path"] or router.path(*ends[::-1]) or []) if tcp else []
        yield Way(flow["label"], ends, list(there), list(back), tcp)


def slowest(network: Network, crossed: Iterable[Way]) -> tuple[str, ...]:
    """The names of the links that are the slowest on the way of a flow."""
    found: set[str] = set()
    for way in crossed:
        rates = {link: network.hops[link].rate for link in way.there}
        least = min(rates.values())
        found |= {base(network, link) for link, rate in rates.items() if rate == least}
    return _in_order(network, found)


def chosen(network: Network, wanted: Sequence[str], crossed: Iterable[Way]) -> tuple[str, ...]:
    """The names of the links that somebody chose."""
    names = [name.removesuffix(REVERSE) for name in wanted]
    for name, given in zip(names, wanted, strict=True):
        if name not in network.links:
            # Of an option, not of the file.
            known = sorted({base(network, link) for way in crossed for link in way.there})
            meant = in_quotes(given, known)
            expected = "the name of a link" if meant or not known else f"the name of a link, such as {known[0]}"
            raise ScenarioError(expected, key=Argument("link"), value=given, file="", suggestion=meant)
    return _in_order(network, names)


def base(network: Network, link: int) -> str:
    """The name of a link, the same for both directions."""
    return network.hops[link].name.removesuffix(REVERSE)


def _in_order(network: Network, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names), key=lambda name: network.links[name]))


def directions(network: Network, name: str) -> tuple[int, int]:
    """The places of a link and of its way back."""
    forward = network.links[name]
    hop = network.hops[forward]
    back = network.links.get(f"{name}{REVERSE}")
    if back is None:
        # A wire may be two links that go one way each.
        ends = (hop.target, hop.origin)
        back = next((index for index, other in enumerate(network.hops) if (other.origin, other.target) == ends), None)
    if back is None:
        raise refused(f"{name} goes one way only", key=hop.key)
    return forward, back


def left_out(network: Network, crossed: Sequence[Way], emulated: Sequence[int]) -> Iterable[str]:
    """What the scenario has and the hosts will not, in sentences.

    Raises:
        ScenarioError: Without it, it would be another scenario.
    """
    others = {link: None for way in crossed for link in (*way.there, *way.back) if link not in emulated}
    for link in others:
        hop = network.hops[link]
        if hop.wire.loss:
            text = f"{hop.name} loses packets, and only {listed(network, emulated)} is emulated"
            names = ",".join(dict.fromkeys(base(network, each) for each in (*emulated, link)))
            raise refused(f"{text}; link in Python, or --link {names}, emulates both", key=hop.key)
    slow: dict[str, dict[str, None]] = {}
    for way in crossed:
        own = {base(network, link) for link in (*way.there, *way.back) if link in emulated}
        rates = [(network.hops[link].rate, base(network, link)) for link in emulated if base(network, link) in own]
        least, name = min(rates)
        beside = [network.hops[link] for link in (*way.there, *way.back) if link in others]
        slow.setdefault(_listed([name]), {}).update({hop.name: None for hop in beside if hop.rate <= least})
    for name, found in slow.items():
        if found:
            yield f"{_listed(found)} would not be faster than {name}: taken as free"
    known = {name for found in slow.values() for name in found}
    free = [network.hops[link].name for link in others if network.hops[link].name not in known]
    if free:
        yield f"taken as free, but for their delays: {_listed(free)}"


def listed(network: Network, links: Iterable[int]) -> str:
    """The names of links, those of a group and of both directions as one."""
    return _listed([network.hops[link].name for link in links])


def _listed(names: Iterable[str]) -> str:
    short = dict.fromkeys(
        name.removesuffix(REVERSE).partition("[")[0] + ("[*]" if "[" in name else "") for name in names
    )
    return ", ".join(short)
