"""What limits a network between two nodes: bits per second, packets per second, or both.

Links carry bits, processors carry packets. Max-flow min-cut over the rates of the links alone is wrong where
a processor binds (R. Smith: Data Traffic Dynamics and Saturation on a Single Link, 2009). Here the same
network is cut three times: by its links, by its processors, by both.

Example:
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.upper = { ends = ["a", "b"], rate = "10 Mbit/s", framing.overhead = "250 B" }
    ... link.lower = { ends = ["a", "b"], rate = "5 Mbit/s" }
    ... ''')
    >>> limits = flow_limits(scenario, source="a", target="b", packet_bytes=1000)
    >>> float(limits.bits.value), limits.packets.value
    (13000000.0, None)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from tightlink import units
from tightlink.analysis.limits.packet_capacity import packet_capacity
from tightlink.analysis.networks.carried import carried, changes, drawn, retransmitted
from tightlink.analysis.networks.maxflow import Edge, MaximumFlow, maximum_flow
from tightlink.errors import ScenarioError
from tightlink.scenario import Scenario
from tightlink.scenario.flows import packet_bytes as full_packet
from tightlink.scenario.loss import loss_spec
from tightlink.scenario.network import Hop, Network
from tightlink.scenario.profiles import PROFILES
from tightlink.scenario.table import given

_BITS: Final = 8
_Capacities = dict[str, Fraction]


@dataclass(frozen=True)
class FlowLimits:
    """The maximum flow between two nodes under each limit, for packets of one size.

    Bits are those of IP packets, headers included; the framing of links costs line time and is not counted.
    """

    source: str
    target: str
    packet_bytes: int
    #: By the rates of links alone, in bit/s.
    bits: MaximumFlow
    #: By the capacities of processors alone, in packets/s.
    packets: MaximumFlow
    #: By both, in bit/s.
    both: MaximumFlow
    #: Packets per second of each node that a processor limits.
    processors: _Capacities
    #: What the numbers leave aside, a sentence each.
    notes: tuple[str, ...]

    def overloaded(self) -> dict[str, Fraction]:
        """Packets per second that the answer in bit/s asks of processors which carry less, by node.

        It may overload one even where the links allow no more than both limits do: its paths need not be theirs.
        """
        asked = dict.fromkeys(self.processors, Fraction(0))
        for path in self.bits.paths:
            for node in asked.keys() & set(path.nodes):
                asked[node] += path.rate / (_BITS * self.packet_bytes)
        return {node: rate for node, rate in asked.items() if rate > self.processors[node]}


def flow_limits(
    scenario: Scenario, *, source: str | None = None, target: str | None = None, packet_bytes: int | None = None
) -> FlowLimits:
    """Cut a network by its links, by its processors, and by both.

    Of the traffic of its scenario only what the other arguments leave out: where the flow begins and ends, and the size
    of all packets, headers included, are those of its only traffic group then.
    """
    explicit = scenario.explicit()
    network = Network(explicit)
    source, target, size = _question(scenario, network, source, target, packet_bytes)
    wide = [hop for hop in network.hops if hop.mtu is None or hop.mtu >= size]
    narrow = [hop.name for hop in network.hops if hop.mtu is not None and hop.mtu < size]
    names = list(network.nodes)
    duration = units.time(scenario.duration)
    limited = [_edge(hop, names, carried(hop, size, duration)) for hop in wide]
    free = [_edge(hop, names, None) for hop in wide]
    capacities = _capacities(_processors_of(explicit), size, source, target)
    in_bits = {node: capacity * _BITS * size for node, capacity in capacities.items()}
    bits = maximum_flow(limited, {}, source, target)
    if not bits.paths:
        which = f" whose MTU takes packets of {size} B whole" if narrow else ""
        message = f'no path from "{source}" to "{target}": connect them by links in this direction{which}'
        raise ScenarioError(message, file=scenario.file, statement=True)
    packets = maximum_flow(free, capacities, source, target)
    both = maximum_flow(limited, in_bits, source, target)
    taken = {name for path in (*bits.paths, *both.paths) for name in path.edges}
    notes = tuple(_notes(narrow, [hop for hop in wide if hop.name in taken], size, scenario.duration))
    return FlowLimits(source, target, size, bits, packets, both, capacities, notes)


def _edge(hop: Hop, names: list[str], capacity: Fraction | None) -> Edge:
    return Edge(hop.name, names[hop.origin], names[hop.target], capacity)


def _capacities(processors: Mapping[str, Mapping[str, Any]], size: int, source: str, target: str) -> _Capacities:
    """Packets per second of each node whose processor limits them."""
    found = {}
    for name, processor in processors.items():
        # A host's processor is on its way out; what ends there passes it only where it says so.
        if name == target and not processor.get("receive"):
            continue
        capacity = packet_capacity(processor, size, arriving=name != source)
        if capacity is not None:
            found[name] = capacity
    return found


def _processors_of(explicit: Scenario) -> dict[str, Mapping[str, Any]]:
    """The keys of each node's processor."""
    nodes: Mapping[str, Any] = explicit.written().get("node", {})
    return {name: node["processor"] for name, node in nodes.items() if "processor" in node}


def _question(
    scenario: Scenario, network: Network, source: str | None, target: str | None, size: int | None
) -> tuple[str, str, int]:
    """The two nodes and the size, from the scenario's only traffic group where they are not given."""
    if source is None or target is None or size is None:
        origin, end, size = _only_group(scenario, list(network.nodes), size)
        source, target = source or origin, target or end
    for key, name in (("from", source), ("to", target)):
        network.node(key, name, 0)
    if source == target:
        raise ScenarioError(f'another node than from, which is "{source}"', key="to", value=target)
    headers = PROFILES[scenario.profile].udp.header_bytes
    if size <= headers:
        raise ScenarioError(f"more than the {headers} B of its headers", key="packet", value=f"{size} B")
    return source, target, size


def _only_group(scenario: Scenario, names: list[str], size: int | None) -> tuple[str, str, int]:
    """Where its flows begin and end, and the size of their packets, unless another is given."""
    if len(scenario.traffic) != 1:
        found = f"one group of traffic, not {len(scenario.traffic)}"
        expected = f"{found}, or from, to and packet size given beside the file"
        raise ScenarioError(expected, key="traffic", file=scenario.file)
    flows = scenario.resolve()["flows"]
    if not flows:
        ((name, many),) = scenario.traffic.items()
        expected = "single flows, or from, to and packet size given beside the file"
        raise ScenarioError(expected, key=f"traffic.{name}.kind", value=many.kind, file=scenario.file)
    first = flows[0]
    if any((flow["from"], flow["to"]) != (first["from"], first["to"]) for flow in flows):
        expected = "flows between the same two nodes, or from, to and packet size given beside the file"
        raise ScenarioError(expected, key=f"traffic.{first['group']}", file=scenario.file)
    if size is not None:
        return names[first["from"]], names[first["to"]], size
    if first["transport"].get("udp", {}).get("sizes"):
        expected = "packets of one size, or a packet size given beside the file"
        raise ScenarioError(expected, key=f"traffic.{first['group']}.sizes", file=scenario.file)
    return names[first["from"]], names[first["to"]], full_packet(first["transport"])


def _notes(narrow: list[str], taken: list[Hop], size: int, duration: str) -> list[str]:
    notes = []
    if narrow:
        notes.append(f"left out, as their MTU is below {size} B: {', '.join(narrow)}")
    if changing := [hop.name for hop in taken if changes(hop) and not drawn(hop)]:
        notes.append(f"what changes over time counts with its mean over the {duration}: {', '.join(changing)}")
    notes += [f"random, so that no run has just this: {hop.name}, {what}" for hop in taken if (what := drawn(hop))]
    lossy = [hop for hop in taken if loss_spec(given(hop.wire.loss)) != 0]
    again = {hop.name: retransmitted(hop, size, units.time(duration)) for hop in lossy}
    if net := [f"{name}, {100 * share:.4g} %" for name, share in again.items() if share]:
        notes.append(f"the line time of retransmissions is taken away: {', '.join(net)}")
    if lost := [name for name, share in again.items() if not share]:
        notes.append(f"random losses are not subtracted: {', '.join(lost)}")
    if twice := [
        f"{hop.name}, {100 * share:.4g} %" for hop in taken if (share := units.fraction(given(hop.wire.duplicate)))
    ]:
        notes.append(f"packets that come out twice arrive in addition: {', '.join(twice)}")
    return notes
