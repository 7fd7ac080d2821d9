"""How long a queue has to be, by what the path holds, and how that is said.

Example:
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "400 packets" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> from tightlink.diagnosis.paths import Paths
    >>> path = Paths(tl.simulate(scenario)).of("ftp")
    >>> long_enough(path.busiest, path)
    ('queue of what the path holds (35 packets)', '35 packets')
"""

from __future__ import annotations

import math
from typing import Final

from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.queueing import base_rtt_s

#: Kinds of rates that do not change at random.
_FORESEEN: Final = ("schedule", "table")
#: A highest rate of fewer times the mean is that of a trace without changes, whose packets are counted; so of delays.
_HIGHER: Final = 1.02
#: A queue that is suggested takes the burst of an initial window (RFC 6928), or of the flow's where that is larger.
_BURST: Final = 10


def holds(link: Link, path: Path) -> float:
    """Packets that keep a link busy: what the path of the longest round trip of its flows holds.

    Where these change by a schedule, it is that of the highest rate and the longest delays. What waits for its medium
    leaves at once: a burst more lasts until the next one.
    """
    longest_s = base_rtt_s(link, path) + _adds_s(path) + path.media_s
    if link.sends_bursts:
        return longest_s / link.interval_s(path.packet_bytes) + float(link.spec["rate"]["burst_packets"])
    return longest_s * link.highest_over_mean / link.written_interval_s(path.packet_bytes)


def _adds_s(path: Path) -> float:
    """What changing delays of the path add to its base round trip at most."""
    return sum(max(0.0, each.adds_s) for each in (*path.forward, *path.reverse))


def long_enough(link: Link, path: Path, flows: int = 1) -> tuple[str, str]:
    """A queue that keeps a link busy, in words and as a limit; of flows whose losses come one after the other."""
    length = math.ceil(many(link) * holds(link, path) / math.sqrt(flows))
    packets = f"{max(length, burst(path))} packets"
    if length < burst(path):
        return f"queue of {packets}", packets
    longest = link.name in path.longest and path.longest[link.name].whose
    most = ["its highest rate"] if link.highest_over_mean > _HIGHER else []
    most += ["the longest delay"] if _adds_s(path) > (_HIGHER - 1) * base_rtt_s(link, path) else []
    at = f" at {' and '.join(most)}" if most else ""
    at += " and a burst" if link.sends_bursts else ""
    what = f"{'twice ' if many(link) > 1 else ''}what the {'longest ' if longest else ''}path holds{at}"
    what += f" over the square root of {flows} flows" if flows > 1 else ""
    return f"queue of {what} ({packets})", packets


def burst(path: Path) -> int:
    """Packets that come at once when a flow starts."""
    return max(_BURST, int((path.tcp or {}).get("initial_window_packets", 0)))


def many(link: Link) -> int:
    """How many times what the path holds keeps a link busy: twice where its rate changes at random, and may rise."""
    return 1 if link.spec.get("rate", {}).get("kind", "schedule") in _FORESEEN else 2


def rate_changes(link: Link) -> bool:
    """Whether the rate of a link changes, at random or not."""
    return many(link) > 1 or link.highest_over_mean > _HIGHER
