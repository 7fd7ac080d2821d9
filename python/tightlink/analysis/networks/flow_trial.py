"""Whether a network carries what a maximum flow proposes: constant rates along its paths, simulated.

Example:
    >>> from tightlink.analysis.networks.flow_limits import flow_limits
    >>> scenario = tl.loads('''
    ... duration = "2 s"
    ... link.first = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "1 ms" }
    ... link.second = { ends = ["b", "c"], rate = "5 Mbit/s", delay = "1 ms" }
    ... ''')
    >>> limits = flow_limits(scenario, source="a", target="c", packet_bytes=1000)
    >>> trial = try_paths(scenario, limits.bits.paths, limits.packet_bytes)
    >>> trial.offered_bps, trial.arrived_bps, trial.drops
    (5000000.0, 5000000.0, {})
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tightlink import units
from tightlink.analysis.networks.carried import changes
from tightlink.analysis.networks.maxflow import Path
from tightlink.lazy import pl
from tightlink.run import Run
from tightlink.scenario import Scenario
from tightlink.scenario.network import Network
from tightlink.simulate import simulate


@dataclass(frozen=True)
class Trial:
    """What arrived of what was offered. Bits are those of IP packets, headers included."""

    offered_bps: float
    #: During the second half of the run, when queues and rings have filled; during all of it where links change.
    arrived_bps: float
    packets_sent: int
    #: Packets lost during the whole run, by place: "link wire: queue", "node router: input ring".
    drops: dict[str, int]
    #: Links of the paths that carry less than their mean for some of the time.
    changing: tuple[str, ...]
    #: What must be read before the numbers are trusted.
    warnings: tuple[str, ...]


def try_paths(scenario: Scenario, paths: Sequence[Path], packet_bytes: int) -> Trial:
    """Send IP packets at the rate of each path along its links, in place of the scenario's traffic."""
    half = units.time(scenario.duration) / 2
    data = scenario.written() | {
        "traffic": {f"path-{index}": _flow(path, packet_bytes) for index, path in enumerate(paths)},
        "observe": {"interval": units.format_time(half)},
    }
    run = simulate(type(scenario).from_dict(data, file=scenario.file))
    network = Network(scenario.explicit())
    taken = dict.fromkeys(name for path in paths for name in path.edges)
    changing = tuple(name for name in taken if changes(network.hops[network.links[name]]))
    return Trial(
        offered_bps=float(sum(path.rate for path in paths)),
        arrived_bps=_arrived(run, half, all_of_it=bool(changing)),
        packets_sent=int(run.flows["packets_sent"].sum()),
        drops=_drops(run),
        changing=changing,
        warnings=(*run.warnings, *_too_short(scenario, network, paths, half)),
    )


def _flow(path: Path, packet_bytes: int) -> dict[str, Any]:
    return {
        "kind": "cbr",
        "from": path.nodes[0],
        "to": path.nodes[-1],
        "rate": units.format_rate(float(path.rate)),
        "udp": {"datagram": units.format_size(packet_bytes)},
        "path": list(path.edges),
    }


def _arrived(run: Run, half: float, *, all_of_it: bool) -> float:
    """Bits that arrived by the second: after the middle of the run, all less those of the first half, or all."""
    bits = float(run.flows["bytes_delivered"].sum()) * 8
    if all_of_it:
        return bits / (2 * half)
    early = run.series.filter((pl.col("metric") == "throughput_bps") & (pl.col("time_s") <= half))
    return bits / half - float(early["value"].sum())


def _drops(run: Run) -> dict[str, int]:
    places: dict[str, int] = {}
    for link, dropped, lost in run.links.select("link", "packets_dropped", "packets_lost").iter_rows():
        places |= {f"link {link}: queue": dropped - lost, f"link {link}: wire": lost}
    if "nodes" in run.tables:
        # A full output ring is the queue of a link, which has counted it.
        rings = run.nodes.select(pl.format("node {}: input ring", "node"), "dropped_input_ring")
        places |= dict(rings.iter_rows())
    return {place: count for place, count in places.items() if count}


def _too_short(scenario: Scenario, network: Network, paths: Sequence[Path], half: float) -> list[str]:
    """Whether some path has not delivered steadily during the second half."""
    longest = max(math.fsum(network.hops[network.links[name]].delay for name in path.edges) for path in paths)
    if longest < half:
        return []
    needed, given = units.format_time(2 * longest), scenario.duration
    return [f"packets travel for {units.format_time(longest)}: simulate for more than {needed} instead of {given}"]
