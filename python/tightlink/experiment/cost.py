"""How much work a run is, as packet-hops to expect, from its scenario alone: rough, and made to compare runs.

What runs of an experiment take differs by orders of magnitude where rates are varied. Time that is left is told by what
the runs that remain are worth, not by how many they are.

Example:
    >>> import tightlink as tl
    >>> base = tl.loads('''
    ... duration = "10 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> slow, fast = (packet_hops(base.set("link.wire.rate", rate).resolve()) for rate in ("20 Mbit/s", "200 Mbit/s"))
    >>> 6 < fast / slow < 7
    True
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from tightlink.errors import TightlinkError
from tightlink.scenario.paths import Router

#: What a run takes beside its packets, in packet-hops: some milliseconds.
_BESIDE: Final = 20_000.0
#: Packets a second of a source that thinks now and then, with their ACKs, over the links of its path.
_OF_SOURCE: Final = 100.0
#: No more time than this is taken to look at the runs of an experiment; those between are taken to be like them.
_LOOK_S: Final = 0.3


def packet_hops(resolved: dict[str, Any]) -> float:
    """Packet-hops to expect of a run, from its resolved scenario; at least what a run takes beside them."""
    links = resolved["links"]
    router = Router(len(resolved["nodes"]), [(link["from"], link["to"]) for link in links])
    ways = {(flow["from"], flow["to"]): router.path(flow["from"], flow["to"]) or [] for flow in resolved["flows"]}
    shared = Counter(link for flow in resolved["flows"] for link in ways[flow["from"], flow["to"]])
    found = _BESIDE
    for flow in resolved["flows"]:
        way = ways[flow["from"], flow["to"]]
        size, acked = _packet(flow["transport"])
        share = min((_bps(links[link], size) / shared[link] for link in way), default=0.0)
        packets = min(share / (8 * size), _offered(flow, size, links, way)) * max(0.0, flow["stop_s"] - flow["start_s"])
        found += packets * len(way) * (2 if acked else 1)
    sources = sum(site["sources"] for group in resolved["users"] for site in group["sites"])
    return float(found + sources * _OF_SOURCE * resolved["duration_s"])


def _packet(transport: dict[str, Any]) -> tuple[int, bool]:
    """Size of a packet in bytes, and whether it is acknowledged."""
    own = transport.get("tcp") or transport["udp"]
    return max(1, own["payload_bytes"] + own["header_bytes"]), "tcp" in transport


def _bps(link: dict[str, Any], size: int) -> float:
    bps, pps = link["rate_bps"], link["rate_pps"]
    return float(bps if pps is None else pps * 8 * size)


def _offered(flow: dict[str, Any], size: int, links: list[dict[str, Any]], way: list[int]) -> float:
    """Packets a second that a flow sends at most, whatever its links carry."""
    traffic = flow["traffic"]
    pace = traffic.get("pace")
    if pace is not None:
        return float(1 / pace["interval_s"] if "interval_s" in pace else pace["rate_bps"] / (8 * size))
    if traffic["kind"] == "video":
        return float(traffic["frame_bytes"] / size / traffic["interval_s"])
    window = flow["transport"].get("tcp", {}).get("window_packets")
    rtt_s = 2 * sum(links[link]["delay_s"] for link in way)
    return float(window / rtt_s) if window and rtt_s > 0 else float("inf")


class Costs:
    """The packet-hops to expect of each run of an experiment, and how many of them are done; looked at when asked."""

    def __init__(self, runs: int, resolved: Callable[[int], dict[str, Any]]) -> None:
        self._runs, self._resolved = runs, resolved
        self._each: list[float] = []
        self._new: list[tuple[int, bool]] = []
        self._simulated = self._left = 0.0

    def done(self, run: int, *, simulated: bool) -> None:
        """Count a run as finished: as simulated, or as one that took no time, as it was there."""
        self._new.append((run, simulated))

    def share(self) -> float:
        """The share of the work that is done of all that has to be simulated."""
        if not self._each:
            self._each = self._look()
            self._left = math.fsum(self._each)
        for run, simulated in self._new:
            self._left -= self._each[run]
            self._simulated += self._each[run] if simulated else 0.0
        self._new.clear()
        work = self._simulated + max(0.0, self._left)
        return self._simulated / work if work > 0 else 1.0

    def _look(self) -> list[float]:
        """What each run is worth; that of one before it where there is no time to look at all."""
        found: dict[int, float] = {}
        until = time.monotonic() + _LOOK_S
        step = self._runs
        while step and len(found) < self._runs and (not found or time.monotonic() < until):
            for run in range(0, self._runs, step):
                if run not in found and (not found or time.monotonic() < until):
                    found[run] = self._worth(run, next(iter(found.values()), _BESIDE))
            step //= 2
        each: list[float] = []
        for run in range(self._runs):
            each.append(found.get(run, each[-1] if each else _BESIDE))
        return each

    def _worth(self, run: int, otherwise: float) -> float:
        """What a run is worth; one that cannot be resolved will fail."""
        try:
            return packet_hops(self._resolved(run))
        except TightlinkError:
            return otherwise
