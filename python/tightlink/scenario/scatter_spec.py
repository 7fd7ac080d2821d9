"""Scattered datagrams as the engine reads them."""

from __future__ import annotations

from typing import Any

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario.network import Network, span_s
from tightlink.scenario.paths import check_connected
from tightlink.scenario.scatter import Scatter
from tightlink.scenario.sizes import check_packet, check_whole, size_shares
from tightlink.scenario.table import given


def scatter_spec(name: str, scatter: Scatter, network: Network, duration: float) -> dict[str, Any]:
    """The datagrams of one group of traffic, with every default filled in."""
    key = f"traffic.{name}"
    nodes = network.members(f"{key}.at", scatter.at)
    if len(set(nodes)) != len(nodes):
        raise ScenarioError("nodes that stand once", key=f"{key}.at", value=scatter.at)
    if len(nodes) == 1:
        raise ScenarioError("at least two nodes, which send to each other", key=f"{key}.at", value=scatter.at)
    check_connected(f"{key}.at", network, nodes)
    start, stop = span_s(key, scatter.start, scatter.stop, duration)
    sizes = given(scatter.sizes)
    for kind, entry in sizes.items():
        check_packet(f"{key}.sizes.{kind}.size", entry.size, units.size(entry.size))
    smallest = network.smallest_mtu
    if smallest is not None:
        check_whole(key, sizes, smallest, "the smallest MTU of a link")
    return {
        "label": name,
        "nodes": nodes,
        "packets_per_s": units.packet_rate(scatter.rate),
        "sizes": size_shares(sizes),
        "start_s": start,
        "stop_s": stop,
    }
