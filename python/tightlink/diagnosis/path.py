"""The path of one flow: its links and processors, and what follows from them: round trips, packets that fill it.

Example:
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "100 packets" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> from tightlink.diagnosis.paths import Paths
    >>> path = Paths(tl.simulate(scenario)).of("ftp")
    >>> path.slowest.name, round(path.base_rtt_s * 1000, 2), round(path.holds_packets, 1)
    ('wire', 21.24, 17.7)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from tightlink.diagnosis.links import Link, Processor
from tightlink.diagnosis.words import MEMBERS

#: A window that lacks so little of a packet fills the path, too.
_ROUNDED: Final = 0.2
#: Base round trips that differ by less are one for who reads of them.
ALIKE: Final = 1.2
#: A link whose packets are less than so many times as large as ACKs carries hardly anything else.
_ACKS: Final = 2.0
#: A link that is busy for so much of the time has no room for more.
_FULL: Final = 0.9
#: HyStart leaves slow start where round trips are longer by a part of the shortest, within these (Ha and Rhee 2011).
_HYSTART_PART, _HYSTART_S = 8, (0.004, 0.016)


class Longest(NamedTuple):
    """The longest round trip of the flows that share a link."""

    base_s: float
    """Of connections, with empty queues."""
    propagation_s: float
    """Propagation alone, also of datagrams: a queue of "1 BDP" counts no more."""
    whose: str
    """Of which flow it is; nobody's where all are about as long."""


@dataclass(frozen=True)
class Path:
    """The way of a flow through the network, there and back."""

    spec: Mapping[str, Any]
    """The flow as the engine reads it."""
    forward: tuple[Link, ...]
    reverse: tuple[Link, ...]
    """Empty where nothing returns, as to a sender of datagrams."""
    processors: tuple[Processor, ...]
    written_window: str | None
    """The receiver's window as the scenario writes it."""
    longest: Mapping[str, Longest] = field(default_factory=dict)
    """Links with the longest round trip of the flows whose data or ACKs take them."""
    largest: Mapping[str, int] = field(default_factory=dict)
    """Links with the largest packets of connections whose data take them, in bytes."""
    mean_rtt_s: float | None = None
    """Of the flow in the run; nothing where nobody measured it."""
    waits_s: float | None = None
    """What its packets wait in queues on the way there, in the mean; nothing where nobody measured it."""
    constant_bytes: float = math.inf
    """A larger receiver's window begins small, and opens as far as it is used."""
    minds_lost_syns: bool = True
    """Whether a connection of which a SYN was lost begins with one packet and a threshold of two (RFC 5681 §3.1)."""

    def down(self, start_s: float, stop_s: float) -> tuple[float, Link]:
        """For how long of a time the link is down that is so for longest, there or back, and which it is."""
        links = (*self.forward, *self.reverse)
        return max(((link.down_s(start_s, stop_s), link) for link in links), key=lambda found: found[0])

    def needless_timeouts(self, row: Mapping[str, Any]) -> int:
        """How many of a flow's timeouts expired while a link was down that loses nothing by that."""
        if self.tcp is None or not row["timeouts"]:
            return 0
        rto, times_s = self.tcp["rto"], (row["start_s"], row["stop_s"])
        # At least: without what the round trip varies.
        least_s = rto["min_s"] + (row["rtt_mean_s"] or self.base_rtt_s)
        found = (link.needless_timeouts(*times_s, rto, least_s) for link in (*self.forward, *self.reverse))
        return min(int(row["timeouts"]), max(found) * int(row.get(MEMBERS, 1)))

    def link(self, name: str) -> Link:
        """The link of this name on the way there."""
        return next(link for link in self.forward if link.name == name)

    def crosses(self, name: str) -> Link | None:
        """The same, if the way there crosses it."""
        return next((link for link in self.forward if link.name == name), None)

    def returns_by(self, name: str) -> Link | None:
        """The link of this name on the way back, if there is one."""
        return next((link for link in self.reverse if link.name == name), None)

    def either_way(self, name: str) -> Link | None:
        """The link of this name on the way there or back, if there is one."""
        return self.crosses(name) or self.returns_by(name)

    @property
    def tcp(self) -> Mapping[str, Any] | None:
        """The TCP connection as the engine reads it; nothing of datagrams."""
        found: Mapping[str, Any] | None = self.spec["transport"].get("tcp")
        return found

    @property
    def sprayed(self) -> bool:
        """Whether its packets take several paths, of which this is the one with the busiest link."""
        return "spraying" in self.spec

    @cached_property
    def packet_bytes(self) -> int:
        """Size of a full data packet, headers included; of datagrams that are cut, of a full fragment."""
        (transport,) = self.spec["transport"].values()
        largest = min(link.spec["mtu_bytes"] or math.inf for link in self.forward)
        return int(min(transport["payload_bytes"] + transport["header_bytes"], largest))

    @property
    def ack_bytes(self) -> int:
        """Size of an ACK; none of datagrams."""
        return int((self.tcp or {}).get("ack_bytes", 0))

    @cached_property
    def slowest(self) -> Link:
        """The link with the smallest rate, the first of equals."""
        return min(self.forward, key=lambda link: link.carries_bps(self.packet_bytes))

    @cached_property
    def busiest(self) -> Link:
        """The link that is busy for the largest share of the time; of equals the slowest one."""
        return max(self.forward, key=lambda link: (round(link.utilization, 3), link is self.slowest))

    @cached_property
    def base_one_way_s(self) -> float:
        """Propagation, transmission and processing of a full packet with empty queues."""
        size = self.packet_bytes
        links = sum(link.spec["delay_s"] + link.shortest_s(size) for link in self.forward)
        return float(links + sum(each.service_s(size) for each in self.processors))

    @cached_property
    def shortest_one_way_s(self) -> float:
        """The same where the rates of links that change are as high as they can be."""
        faster_s = (link.shortest_s(self.packet_bytes) - link.fastest_s(self.packet_bytes) for link in self.forward)
        return self.base_one_way_s - math.fsum(faster_s)

    @cached_property
    def base_rtt_s(self) -> float:
        """The same there, and back of an ACK; there only, where nothing returns."""
        tcp = self.tcp
        if tcp is None:
            return self.base_one_way_s
        back = sum(link.spec["delay_s"] + link.shortest_s(tcp["ack_bytes"]) for link in self.reverse)
        return float(self.base_one_way_s + back)

    @property
    def propagation_s(self) -> float:
        """Propagation there and back; twice that there where nothing returns."""
        links = (*self.forward, *(self.reverse or self.forward))
        return float(sum(link.spec["delay_s"] for link in links))

    @cached_property
    def holds_packets(self) -> float:
        """Full packets that it holds: the rate of the slowest link times the base round trip."""
        return self.base_rtt_s / self.slowest.interval_s(self.packet_bytes)

    @cached_property
    def unfilled_rtt_s(self) -> float:
        """The round trip of the path with empty queues: the base RTT, and what media, changing delays and hosts add.

        Receivers delay ACKs of short windows, and not of longer ones.
        """
        return self._beside_s if self.longer else self._least_s

    @cached_property
    def _least_s(self) -> float:
        """The base round trip with the waits for media."""
        return self.base_rtt_s + self.media_s

    @property
    def media_s(self) -> float:
        """What there and back a packet and its ACK wait for media without any queue."""
        there = sum(link.medium_s(self.packet_bytes) for link in self.forward)
        return float(there + sum(link.medium_s(self.ack_bytes) for link in self.reverse))

    @property
    def _waited_s(self) -> float:
        return self.busiest.queueing_s if self.waits_s is None else self.waits_s

    @cached_property
    def acks_wait_s(self) -> float:
        """What ACKs wait for others in queues on their way back, no more than round trips tell."""
        waits_s = sum(max(0.0, link.queueing_s - link.medium_s(self.ack_bytes)) for link in self.reverse)
        if self.mean_rtt_s is None:
            return waits_s
        return min(waits_s, max(0.0, self.mean_rtt_s - self._waited_s - self._least_s))

    @property
    def acks_wait(self) -> bool:
        """Whether that is much of the round trips."""
        return self.acks_wait_s > (ALIKE - 1) * self.base_rtt_s

    @property
    def acks_wait_for_data(self) -> bool:
        """Whether they wait behind data of others, rather than for each other."""
        return self.acks_wait and self.acks_among_data

    @property
    def acks_among_data(self) -> bool:
        """Whether data of others take a link of their way back."""
        return any(link.mean_bytes >= _ACKS * self.ack_bytes for link in self.reverse)

    @property
    def acks_wait_at(self) -> Link:
        """The link where they wait longest."""
        return max(self.reverse, key=lambda link: link.queueing_s)

    @property
    def _beside_s(self) -> float:
        return (self.mean_rtt_s or 0.0) - self._waited_s - self.acks_wait_s

    @cached_property
    def longer(self) -> str:
        """What makes a round trip longer than the base RTT, other than queues, in words."""
        more = self._beside_s - self._least_s
        if more <= 0 or (self.waits_s is None and self.busiest.utilization >= _FULL):
            return ""
        if any(link.delay_changes for link in (*self.forward, *self.reverse)):
            return "with its changing delay"
        hosts_s = (self.tcp or {}).get("processing_delay_s") or 0.0
        return "as hosts take their time" if more > (ALIKE - 1) * self.base_rtt_s and hosts_s >= more / 2 else ""

    @property
    def leaves_early(self) -> Link | None:
        """The link whose wire delays packets so unlike each other that HyStart leaves slow start, if one does."""
        if (self.tcp or {}).get("slow_start") != "hystart":
            return None
        least_s, most_s = _HYSTART_S
        link = max((*self.forward, *self.reverse), key=lambda each: each.later_s)
        return link if link.later_s >= min(max(self.base_rtt_s / _HYSTART_PART, least_s), most_s) else None

    @property
    def filling_packets(self) -> float:
        """Packets that fill the path, by the round trip that there is to fill."""
        return self.holds_packets * self.unfilled_rtt_s / self.base_rtt_s

    @property
    def full_packets(self) -> int:
        """The same in whole packets: rounded up, unless a fifth of a packet is missing."""
        return _whole(self.filling_packets)

    @cached_property
    def most_packets(self) -> int:
        """The same at the highest rate that it has for more than a little of the flow's time."""
        times_s = (self.spec["start_s"], self.spec["stop_s"])
        highest = min(link.rarely_exceeds_bps(self.packet_bytes, times_s) for link in self.forward)
        return _whole(self.filling_packets * max(1.0, highest / self.slowest.carries_bps(self.packet_bytes)))

    @property
    def window_packets(self) -> int | None:
        """The largest window that the receiver advertises."""
        return None if self.tcp is None else int(self.tcp["window_packets"])

    def opens(self, packets: int) -> bool:
        """Whether a receiver's window of so many packets would begin small."""
        return (packets + 1) * int((self.tcp or {})["payload_bytes"]) > self.constant_bytes

    @property
    def congestion(self) -> str:
        """Name of the congestion control; empty for datagrams."""
        return control_of(self.tcp)


def _whole(packets: float) -> int:
    return max(1, math.ceil(packets - _ROUNDED))


def control_of(tcp: Mapping[str, Any] | None) -> str:
    """Name of the congestion control of a connection as the engine reads it; empty for datagrams."""
    control = "" if tcp is None else tcp["congestion"]
    return str(control if isinstance(control, str) else control["kind"])
