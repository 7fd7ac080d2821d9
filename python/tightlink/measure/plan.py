"""How a scenario becomes hosts around the links that are emulated: which links, who is where, what is left out.

Example:
    >>> import tightlink as tl
    >>> scenario = tl.loads('''
    ... duration = "10 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "b", to = "a" }
    ... ''')
    >>> plan = Plan.of(scenario)
    >>> plan.links, [(host.name, host.side, host.address) for host in plan.hosts.values()]
    (('wire',), [('b', 1, '10.64.128.1'), ('a', 0, '10.64.0.1')])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink.errors import located
from tightlink.measure.emulated import Way, chosen, directions, left_out, listed, refused, slowest, ways
from tightlink.measure.sides import Host, Route, around_one, around_several
from tightlink.scenario import Scenario
from tightlink.scenario.network import Network

#: Keys of links that change.
_CHANGING: Final = frozenset(
    {"rate", "delay", "jitter", "outages", "shaper", "arq", "reorder", "overtaking", "duplicate"}
)


@dataclass(frozen=True)
class Plan:
    """A scenario as hosts around emulated links."""

    scenario: Scenario
    resolved: Mapping[str, Any]
    """The scenario as the engine would get it."""
    links: tuple[str, ...]
    """The emulated links, by the names of their forward directions, in the order of the scenario."""
    directions: tuple[Mapping[str, Any], ...]
    """Each of them as the engine gets it, forward and back."""
    routes: tuple[Route, ...]
    """From each side to each other that can be reached."""
    hosts: Mapping[str, Host]
    """By name, in the order of the flows."""
    processor: tuple[str, int, Mapping[str, Any]] | None
    """A router at an end of the only link: its name, its side, its processor as the engine gets it."""
    first_links: tuple[int, ...]
    """The first link of each flow, that of its sender's interface, by its place among the links."""
    warnings: tuple[str, ...]
    """What is simpler than in the scenario."""

    @classmethod
    def of(cls, scenario: Scenario, *, links: Sequence[str] = ()) -> Plan:
        """Plan how a scenario is measured on real hosts.

        Args:
            scenario: Its flows tell which nodes are hosts, and where they are.
            links: The links to emulate, instead of the slowest on the way of each flow.
        """
        with located(scenario.file):
            return _planned(scenario, links)

    @property
    def changes(self) -> bool:
        """Whether a link depends on the time since the scenario began, or on what has passed it since then."""
        return any(isinstance(link["loss"], dict) or link.keys() & _CHANGING for link in self.directions)

    @property
    def sides(self) -> int:
        """How many sides there are."""
        return max(host.side for host in self.hosts.values()) + 1

    def route(self, sender: str, receiver: str) -> Route:
        """The route of packets from a host to another."""
        sides = (self.hosts[sender].side, self.hosts[receiver].side)
        # Those of two hosts come last.
        return next(
            route
            for route in reversed(self.routes)
            if route.hosts == (sender, receiver) or (route.hosts is None and route.sides == sides)
        )

    def round_trip_s(self, sender: str, receiver: str) -> float:
        """Propagation from a host to another and back, in seconds."""
        both = (self.route(sender, receiver), self.route(receiver, sender))
        return sum(self.propagation_s(route) for route in both)

    def propagation_s(self, route: Route) -> float:
        """Propagation on a route, in seconds."""
        own = sum(self.directions[link]["delay_s"] for link in route.links)
        return float(own + route.before_s + sum(route.gaps_s) + route.beyond_s)

    def ends(self, direction: int) -> tuple[str, str]:
        """The nodes at the ends of an emulated link, by its place among `directions`."""
        link = self.directions[direction]
        return self.node(link["from"]), self.node(link["to"])

    def flows(self) -> Sequence[Mapping[str, Any]]:
        """The flows as the engine gets them."""
        return list(self.resolved["flows"])

    def node(self, index: int) -> str:
        """The name of a node."""
        return str(self.resolved["nodes"][index]["name"])

    def of_side(self, side: int) -> list[Host]:
        """The hosts on a side."""
        return [host for host in self.hosts.values() if host.side == side]


def _planned(scenario: Scenario, wanted: Sequence[str]) -> Plan:
    resolved = scenario.resolve()
    for kind in ("users", "scatter", "transfers"):
        if resolved.get(kind):
            name = next(name for name, each in scenario.traffic.items() if each.kind == kind)
            what = "is simulated only" if kind == "transfers" else "has no flows that hosts could send"
            raise refused(f'traffic of kind "{kind}" {what}', key=f"traffic.{name}")
    for flow in resolved["flows"]:
        if flow["transport"].get("udp", {}).get("ecn") is not None:
            raise refused("datagrams are sent without ECN in real time", key=f"traffic.{flow['group']}.udp.ecn")
    network = Network(scenario.explicit())
    crossed = list(ways(resolved["flows"], network))
    names = chosen(network, wanted, crossed) if wanted else slowest(network, crossed)
    both = [place for name in names for place in directions(network, name)]
    _check_links(resolved, network, both)
    processor = _processor(resolved["nodes"], network, crossed, both)
    if len(names) == 1:
        hosts, routes = around_one(network, crossed, (both[0], both[1]))
    else:
        hosts, routes = around_several(network, crossed, both)
    return Plan(
        scenario=scenario,
        resolved=resolved,
        links=names,
        directions=tuple(resolved["links"][place] for place in both),
        routes=tuple(routes),
        hosts=hosts,
        processor=processor,
        first_links=tuple(way.there[0] for way in crossed),
        warnings=tuple(left_out(network, crossed, both)),
    )


def _check_links(resolved: Mapping[str, Any], network: Network, both: Sequence[int]) -> None:
    known: dict[tuple[int, int], str] = {}
    for place in both:
        link, hop = resolved["links"][place], network.hops[place]
        if link["flow_control"]:
            raise refused("flow control cannot be had in real time", key=f"{hop.key}.flow_control")
        beside = known.setdefault((hop.origin, hop.target), hop.name)
        if beside != hop.name:
            text = f"{beside} and {hop.name} join the same nodes, and a trace of packets could not tell them apart"
            raise refused(text, key=hop.key)


def _processor(
    nodes: Sequence[Mapping[str, Any]], network: Network, crossed: Sequence[Way], both: Sequence[int]
) -> tuple[str, int, Mapping[str, Any]] | None:
    hop = network.hops[both[0]]
    passed = [network.hops[link] for way in crossed for link in (*way.there, *way.back)]
    on_the_way = {node for each in passed for node in (each.origin, each.target)}
    hosts = {node for way in crossed for node in way.ends}
    found = [node for node in sorted(on_the_way) if nodes[node].get("processor")]
    for node in found:
        name, key = nodes[node]["name"], f"node.{nodes[node]['name']}.processor"
        if node in hosts:
            raise refused(f"{name} is a host, whose interface is the machine's own", key=key)
        if len(both) > 2:  # noqa: PLR2004
            text = f"{name} has a processor, which is emulated beside one link only, not {listed(network, both)}"
            raise refused(f"{text}; link, or --link NAME, chooses one", key=key)
        if node not in (hop.origin, hop.target):
            raise refused(f"{name} is not at an end of {hop.name}", key=key)
    if len(found) > 1:
        raise refused("a second router has a processor", key=f"node.{nodes[found[1]]['name']}.processor")
    if not found:
        return None
    (node,) = found
    return nodes[node]["name"], 0 if node == hop.origin else 1, nodes[node]["processor"]
