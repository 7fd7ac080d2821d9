"""How a scenario becomes hosts on two sides of one link: which link that is, who is on which side, what is left out.

Example:
    >>> import tightlink as tl
    >>> scenario = tl.loads('''
    ... duration = "10 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "b", to = "a" }
    ... ''')
    >>> plan = Plan.of(scenario)
    >>> plan.link, [(host.name, host.side, host.address) for host in plan.hosts.values()]
    ('wire', [('b', 1, '10.64.128.1'), ('a', 0, '10.64.0.1')])
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.errors import ScenarioError, closest
from tightlink.scenario.network import Network
from tightlink.scenario.paths import Router

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tightlink.scenario import Scenario

#: Networks of the hosts on the two sides.
SIDES: Final = ("10.64.0.0/17", "10.64.128.0/17")
_MOST_HOSTS: Final = 250
_REVERSE: Final = ".reverse"


#: Keys of links that change.
_CHANGING: Final = frozenset(
    {"rate", "delay", "jitter", "outages", "shaper", "arq", "reorder", "overtaking", "duplicate"}
)


@dataclass(frozen=True)
class Host:
    """A node that sends or receives."""

    name: str
    address: str
    side: int
    """0 where the link begins, 1 where it ends."""


@dataclass(frozen=True)
class Plan:
    """A scenario as hosts on two sides of one link."""

    scenario: Scenario
    resolved: Mapping[str, Any]
    """The scenario as the engine would get it."""
    link: str
    """The link between the two sides, by the name of its forward direction."""
    directions: tuple[Mapping[str, Any], Mapping[str, Any]]
    """Forward and back: the link as the engine gets it, under ``link``; under ``beyond_s`` the propagation of all
    other links of the way, in seconds, the longest where hosts differ; and under ``between`` that of each two then."""
    hosts: Mapping[str, Host]
    """By name, in the order of the flows."""
    processor: tuple[str, int, Mapping[str, Any]] | None
    """A router at an end of the link: its name, its side, its processor as the engine gets it."""
    first_links: tuple[int, ...]
    """The first link of each flow, that of its sender's interface, by its place among the links."""
    warnings: tuple[str, ...]
    """What is simpler than in the scenario."""

    @classmethod
    def of(cls, scenario: Scenario, *, link: str | None = None) -> Plan:
        """Plan how a scenario is measured on real hosts.

        Args:
            scenario: Its flows tell which nodes are hosts, and on which side.
            link: The link between the sides, instead of the one with the smallest rate.

        Raises:
            ScenarioError: It does not come down to one link; the sentence says why.
        """
        try:
            return _planned(scenario, link)
        except ScenarioError as error:
            raise error.located(scenario.file) from None

    @property
    def changes(self) -> bool:
        """Whether the link depends on the time since the scenario began, or on what has passed it since then."""
        links = [each["link"] for each in self.directions]
        return any(isinstance(link["loss"], dict) or link.keys() & _CHANGING for link in links)

    @property
    def round_trip_s(self) -> float:
        """Propagation there and back, in seconds; of the hosts that are farthest from each other."""
        return float(sum(each["link"]["delay_s"] + each["beyond_s"] for each in self.directions))

    def flows(self) -> Sequence[Mapping[str, Any]]:
        """The flows as the engine gets them."""
        return list(self.resolved["flows"])

    def node(self, index: int) -> str:
        """The name of a node."""
        return str(self.resolved["nodes"][index]["name"])

    def of_side(self, side: int) -> list[Host]:
        """The hosts on a side."""
        return [host for host in self.hosts.values() if host.side == side]


@dataclass(frozen=True)
class _Way:
    """The links of a flow, there and back."""

    label: str
    ends: tuple[int, int]
    there: list[int]
    #: Nothing where nothing returns.
    back: list[int]
    tcp: bool


def _planned(scenario: Scenario, wanted: str | None) -> Plan:
    resolved = scenario.resolve()
    for kind in ("users", "scatter", "transfers"):
        if resolved.get(kind):
            name = next(name for name, each in scenario.traffic.items() if each.kind == kind)
            what = "is simulated only" if kind == "transfers" else "has no flows that hosts could send"
            raise _refused(f'traffic of kind "{kind}" {what}', key=f"traffic.{name}")
    for flow in resolved["flows"]:
        if flow["transport"].get("udp", {}).get("ecn") is not None:
            raise _refused("datagrams are sent without ECN in real time", key=f"traffic.{flow['group']}.udp.ecn")
    network = Network(scenario.explicit())
    ways = list(_ways(resolved["flows"], network))
    base = _wanted(network, wanted, ways) if wanted is not None else _slowest(network, ways)
    both = _directions(network, base)
    _check_ways(network, ways, both)
    hosts = _hosts(network, ways, both)
    beyond = _beyond(network, ways, both, hosts)
    links = [resolved["links"][index] for index in both]
    for link, index in zip(links, both, strict=True):
        _check_link(link, network.hops[index].key)
    processor = _processor(resolved["nodes"], network, ways, both)
    return Plan(
        scenario=scenario,
        resolved=resolved,
        link=base,
        directions=(
            {"link": links[0], **beyond[0]},
            {"link": links[1], **beyond[1]},
        ),
        hosts=hosts,
        processor=processor,
        first_links=tuple(way.there[0] for way in ways),
        warnings=tuple(_left_out(network, ways, both)),
    )


def _refused(why: str, *, key: str) -> ScenarioError:
    return ScenarioError(f"{why}: not a scenario that an emulated link can carry", key=key, statement=True)


def _ways(flows: Iterable[Mapping[str, Any]], network: Network) -> Iterable[_Way]:
    router = Router.of(network)
    for flow in flows:
        ends = (flow["from"], flow["to"])
        there = flow["path"] or router.path(*ends) or []
        tcp = "tcp" in flow["transport"]
        back = (flow["reverse_path"] or router.path(*ends[::-1]) or []) if tcp else []
        yield _Way(flow["label"], ends, list(there), list(back), tcp)


def _slowest(network: Network, ways: Sequence[_Way]) -> str:
    """The name of the link that is the slowest on every way."""
    found: dict[str, str] = {}
    for way in ways:
        rates = {link: network.hops[link].rate for link in way.there}
        least = min(rates.values())
        names = [network.hops[link].name for link, rate in rates.items() if rate == least]
        if len(names) > 1:
            text = f"{' and '.join(names[:2])} are equally slow on the way of {way.label}; --link NAME chooses one"
            raise _refused(text, key=f"link.{names[0]}")
        found.setdefault(names[0].removesuffix(_REVERSE), way.label)
    if len(found) > 1:
        (one, first), (other, second), *_ = found.items()
        text = f"{one} is the slowest link for {first} and {other} for {second}"
        raise _refused(text, key=f"traffic.{second}")
    return next(iter(found))


def _wanted(network: Network, wanted: str, ways: Sequence[_Way]) -> str:
    base = wanted.removesuffix(_REVERSE)
    if base not in network.links:
        crossed = {network.hops[link].name.removesuffix(_REVERSE) for way in ways for link in way.there}
        meant = closest(wanted, crossed)
        # Of an option, not of the file.
        suggestion = None if meant is None else f'"{meant}"'
        raise ScenarioError("the name of a link", key="--link", value=wanted, file="", suggestion=suggestion)
    return base


def _directions(network: Network, base: str) -> tuple[int, int]:
    forward = network.links[base]
    hop = network.hops[forward]
    back = network.links.get(f"{base}{_REVERSE}")
    if back is None:
        # A wire may be two links that go one way each.
        ends = (hop.target, hop.origin)
        back = next((index for index, other in enumerate(network.hops) if (other.origin, other.target) == ends), None)
    if back is None:
        raise _refused(f"{base} goes one way only", key=hop.key)
    return forward, back


def _check_ways(network: Network, ways: Sequence[_Way], both: tuple[int, int]) -> None:
    for way in ways:
        crossed = [link for link in both if link in way.there]
        if len(crossed) != 1:
            raise _refused(f"it does not cross {network.hops[both[0]].name}", key=f"traffic.{way.label}")
        (back,) = set(both) - set(crossed)
        if way.tcp and back not in way.back:
            text = f"its ACKs do not return over {network.hops[back].name}"
            raise _refused(text, key=f"traffic.{way.label}")


def _beyond(
    network: Network, ways: Sequence[_Way], both: tuple[int, int], hosts: Mapping[str, Host]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The propagation beside the link, forward and back: the longest, and where hosts differ that between each two."""
    found: list[dict[tuple[int, int], tuple[float, str]]] = [{}, {}]
    for way in ways:
        for ends, links in ((way.ends, way.there), (way.ends[::-1], way.back)):
            for side, link in enumerate(both):
                if link in links:
                    # In exact numbers, as the order of links must not matter.
                    others = (units.exact(network.hops[other].delay) for other in links if other != link)
                    rest = float(sum(others, start=Fraction(0)))
                    before, label = found[side].setdefault(ends, (rest, way.label))
                    if before != rest:
                        other = f"that of {label}, between the same hosts, {before:g} s"
                        text = f"beside the link its delay is {rest:g} s and {other}"
                        raise _refused(text, key=f"traffic.{way.label}")
    forward, back = (_between(network, delays, hosts) for delays in found)
    return forward, back


def _between(
    network: Network, delays: Mapping[tuple[int, int], tuple[float, str]], hosts: Mapping[str, Host]
) -> dict[str, Any]:
    longest = max((rest for rest, _ in delays.values()), default=0.0)
    if len({rest for rest, _ in delays.values()}) < 2:  # noqa: PLR2004
        return {"beyond_s": longest}
    address = {node: hosts[network.name(node)].address for ends in delays for node in ends}
    between = [
        {"source": address[one], "destination": address[other], "beyond_s": rest}
        for (one, other), (rest, _) in delays.items()
    ]
    return {"beyond_s": longest, "between": between}


def _check_link(link: Mapping[str, Any], key: str) -> None:
    if link["queue"].get("ack_filter", "none") != "none":
        raise _refused("CAKE's ACK filter cannot be had in real time", key=f"{key}.queue.ack_filter")
    if link["flow_control"]:
        raise _refused("flow control cannot be had in real time", key=f"{key}.flow_control")


def _processor(
    nodes: Sequence[Mapping[str, Any]], network: Network, ways: Sequence[_Way], both: tuple[int, int]
) -> tuple[str, int, Mapping[str, Any]] | None:
    hop = network.hops[both[0]]
    on_the_way = {node for way in ways for link in (*way.there, *way.back) for node in _ends(network, link)}
    hosts = {node for way in ways for node in way.ends}
    found = [node for node in sorted(on_the_way) if nodes[node].get("processor")]
    for node in found:
        name, key = nodes[node]["name"], f"node.{nodes[node]['name']}.processor"
        if node in hosts:
            raise _refused(f"{name} is a host, whose interface is the machine's own", key=key)
        if node not in (hop.origin, hop.target):
            raise _refused(f"{name} is not at an end of {hop.name}", key=key)
    if len(found) > 1:
        raise _refused("a second router has a processor", key=f"node.{nodes[found[1]]['name']}.processor")
    if not found:
        return None
    (node,) = found
    return nodes[node]["name"], 0 if node == hop.origin else 1, nodes[node]["processor"]


def _ends(network: Network, link: int) -> tuple[int, int]:
    return network.hops[link].origin, network.hops[link].target


def _hosts(network: Network, ways: Sequence[_Way], both: tuple[int, int]) -> dict[str, Host]:
    sides: dict[int, int] = {}
    for way in ways:
        side = 0 if both[0] in way.there else 1
        for node, where in zip(way.ends, (side, 1 - side), strict=True):
            if sides.setdefault(node, where) != where:
                text = f"{network.name(node)} is on both sides of {network.hops[both[0]].name}"
                raise _refused(text, key=f"traffic.{way.label}")
    if len(sides) > _MOST_HOSTS:
        raise _refused(f"{len(sides)} hosts are more than {_MOST_HOSTS}", key="traffic")
    free = [ipaddress.ip_network(side).hosts() for side in SIDES]
    names = {node: network.name(node) for node in sides}
    return {names[node]: Host(names[node], str(next(free[side])), side) for node, side in sides.items()}


def _left_out(network: Network, ways: Sequence[_Way], both: tuple[int, int]) -> Iterable[str]:
    """What the scenario has and the hosts will not."""
    others = {link: None for way in ways for link in (*way.there, *way.back) if link not in both}
    for link in others:
        hop = network.hops[link]
        if hop.wire.loss:
            raise _refused(f"{hop.name} loses packets, and only {network.hops[both[0]].name} is emulated", key=hop.key)
    least = min(network.hops[link].rate for link in both)
    slow = [network.hops[link].name for link in others if network.hops[link].rate <= least]
    if slow:
        yield f"{_listed(slow)} would not be faster than {network.hops[both[0]].name}: taken as free"
    free = [network.hops[link].name for link in others if network.hops[link].name not in slow]
    if free:
        yield f"taken as free, but for their delays: {_listed(free)}"


def _listed(names: Sequence[str]) -> str:
    """Names of links, those of a group and of both directions as one."""
    short = dict.fromkeys(
        name.removesuffix(_REVERSE).partition("[")[0] + ("[*]" if "[" in name else "") for name in names
    )
    return ", ".join(short)
