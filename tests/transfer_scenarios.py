"""Open-loop transfers of one pair, and of many over leaves and spines."""

from __future__ import annotations

from typing import Any

import tightlink as tl

#: One link, on which nothing but the transfers' own packets is in the way.
ALONE = """
profile = "ns2"
duration = "100 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "unlimited" }

[traffic.web]
kind = "transfers"
from = "a"
to = "b"
times = ["1 s"]
size = "30 kB"
tcp = { payload = "1000 B", window = "1000 packets", initial_window = "2 packets" }
"""
TREE = """
profile = "linux"
duration = "100 ms"
topology.net = { kind = "fat-tree", k = 4, link = { rate = "1 Gbit/s", delay = "5 us", queue = "100 packets" } }

[traffic.web]
kind = "transfers"
from = "net.host[*]"
to = "net.host[*]"
load = 0.3
of = "net.host_link[*]"
size = { distribution = "pareto", mean = "200 kB" }
"""


def flows_of(scenario: tl.Scenario) -> list[dict[str, Any]]:
    """The flows that the engine gets of a scenario."""
    flows: list[dict[str, Any]] = scenario.resolve()["flows"]
    return flows
