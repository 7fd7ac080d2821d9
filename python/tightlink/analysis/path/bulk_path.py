"""A path that a bulk transfer takes, as a few numbers, and its scenario for a window and a number of flows.

The network is the one with which SLAC predicted transfers in 2000 with ns-2: each flow has an access link
to itself, at ``bandwidth / flows × factor``, in front of one bottleneck, behind which nothing limits.

Example:
    >>> path = BulkPath(bandwidth_bps=10e6, rtt_s=0.162)
    >>> path.bdp_packets, path.scenario(window=22, flows=4).topology["net"].bottleneck.delay
    (139, '80 ms')
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tightlink import units
from tightlink.analysis.path.line import with_bandwidth
from tightlink.run import Run
from tightlink.scenario import Bulk, Dumbbell, Link, Observe, OnOff, Scenario, Tcp, Udp
from tightlink.scenario.profiles import PROFILES

BOTTLENECK: Final = "net.bottleneck"
#: The same between two hosts.
BETWEEN_TWO: Final = "bottleneck"
GROUP: Final = "bulk"
_BITS: Final = 8
#: ACKs of 40 bytes, as the profile ns2 has them.
_ACK_BITS: Final = 320
#: Queues in front of which nothing is meant to be lost.
_AMPLE: Final = "100000 packets"
#: One way of an access link; less on paths that are shorter than six of them.
_ACCESS_S: Final = 0.0005
_PARTS: Final = 6
#: Behind the bottleneck the links have 1 Gbit/s, or ten times its rate where that is more.
_FAST_BPS: Final = 1e9
_TIMES: Final = 10
#: Decimals of delays, below which there is only rounding.
_DIGITS: Final = 12
_CROSS: Final = "cross"
#: Sources of the cross traffic: many enough that none of them is seen, few enough to be bursty.
_CROSS_SOURCES: Final = 10
_CROSS_ON: Final = "0.5 s"


def competing_ends(flows: int) -> dict[str, Any]:
    """The ends of traffic that competes with so many flows: two further hosts, with fast links.

    >>> competing_ends(4)
    {'from_': 'net.left[4]', 'to': 'net.right[4]'}
    """
    return {"from_": f"net.left[{flows}]", "to": f"net.right[{flows}]"}


@dataclass(frozen=True)
class BulkPath:
    """A path and the TCP that uses it."""

    bandwidth_bps: float
    """Of the bottleneck, headers included."""
    rtt_s: float
    """Of the empty path, without transmission times."""
    queue_packets: int = 80
    factor: float = 2.0
    """What the access links carry together, over the bottleneck's bandwidth."""
    cross: float = 0.0
    """Share of the bottleneck that on-off Pareto sources offer on average."""
    duration_s: float = 10.0
    recovery: str = "newreno"
    congestion: str = "reno"
    payload_bytes: int = 1460
    profile: str = "ns2"
    two_hosts: bool = False
    """Whether all flows go from one host to one other, with nothing but the bottleneck between them: what can be
    measured over an emulated link. `factor` says nothing then, and others cross no such path."""
    line: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What else a scenario says of the bottleneck, as `tightlink.analysis.path.line.line_of` reads it: the way back of
    ACKs, token bucket, framing, losses, outages and what changes delays."""

    def __post_init__(self) -> None:
        if self.two_hosts and self.cross:
            raise ValueError("between two hosts there is no cross traffic")

    @property
    def header_bytes(self) -> int:
        """What the profile adds to each payload."""
        return PROFILES[self.profile].tcp.header_bytes

    @property
    def packet_bytes(self) -> int:
        """A full packet on the wire: with the profile's headers, 40 bytes of ns2's, and the framing of the line."""
        packet = self.payload_bytes + self.header_bytes
        framing = self.line.get("framing", {})
        overhead, smallest = (units.size(framing.get(key, "0 B")) for key in ("overhead", "smallest"))
        return max(packet + overhead, smallest)

    @property
    def packet_s(self) -> float:
        """What the bottleneck needs for a full packet."""
        return self.packet_bytes * _BITS / self.bandwidth_bps

    @property
    def bdp_bytes(self) -> float:
        """Bandwidth times round trip."""
        return self.bandwidth_bps * self.rtt_s / _BITS

    @property
    def bdp_packets(self) -> int:
        """The window that holds as many bytes, in packets, rounded up."""
        return math.ceil(round(self.bdp_bytes / self.payload_bytes, 9))

    @property
    def most_bps(self) -> float:
        """The goodput of a bottleneck that is always busy with full packets."""
        return self.bandwidth_bps * self.payload_bytes / self.packet_bytes

    def ack_way_s(self, flows: int) -> float:
        """What an ACK needs from the receiver to the sender where nothing holds it up."""
        rates = (self._fast_bps, self.bandwidth_bps, self.bandwidth_bps / flows * self.factor)
        return self.rtt_s / 2 + sum(_ACK_BITS / rate for rate in rates)

    def window_packets(self, size_bytes: float) -> int:
        """How many packets fit into a window in bytes; at least one."""
        return max(1, int(size_bytes // self.payload_bytes))

    @classmethod
    def of(cls, run: Run) -> BulkPath:
        """The path of a run that `scenario` made, without what else its line has."""
        scenario = run.manifest["scenario"]
        bulk = scenario["traffic"][GROUP]
        own = {
            "duration_s": units.time(scenario["duration"]),
            "recovery": bulk["tcp"]["recovery"],
            "congestion": bulk["tcp"]["congestion"],
            "payload_bytes": units.size(bulk["tcp"]["payload"]),
            "profile": scenario["profile"],
        }
        if BETWEEN_TWO in scenario.get("link", {}):
            wire = scenario["link"][BETWEEN_TWO]
            return cls(
                bandwidth_bps=units.rate(wire["rate"]),
                rtt_s=round(2 * units.time(wire["delay"]), _DIGITS),
                queue_packets=units.packets(wire["queue"]),
                two_hosts=True,
                **own,
            )
        net = scenario["topology"]["net"]
        wire, pairs = net["bottleneck"], int(bulk["flows"])
        slow = net["access_left"]["rate"]
        rate, size = units.rate(wire["rate"]), own["payload_bytes"] + PROFILES[own["profile"]].tcp.header_bytes
        cross = scenario["traffic"].get(_CROSS)
        return cls(
            bandwidth_bps=rate,
            rtt_s=round(2 * (units.time(wire["delay"]) + 2 * units.time(net["access"]["delay"])), _DIGITS),
            queue_packets=_packets(wire["queue"], size),
            factor=round(units.rate(slow if isinstance(slow, str) else slow[0]) * pairs / rate, 9),
            cross=0.0 if cross is None else round(units.rate(cross["rate"]) * _CROSS_SOURCES / 2 / rate, 9),
            **own,
        )

    def changed(self, **changes: Any) -> BulkPath:
        """The same path but for what is given."""
        return replace(self, **changes)

    def scenario(  # noqa: PLR0913
        self,
        window: int,
        flows: int,
        *,
        seed: int = 1,
        bytes_each: int | None = None,
        traffic: Mapping[str, Any] | None = None,
        sample_s: float | None = None,
        tcp: Mapping[str, Any] | None = None,
    ) -> Scenario:
        """A transfer over it: flows with windows in packets, all from time 0 on.

        Each flow sends ``bytes_each``; without it, data never end. More traffic, by name, is between the hosts that
        `competing_ends` names; ``tcp`` has keys of the transport beyond those of the path, and ``sample_s`` is the
        interval of the table ``series``. The seed is that of the cross traffic.
        """
        transport = Tcp(
            congestion=self.congestion,
            recovery=self.recovery,
            payload=f"{self.payload_bytes} B",
            window=units.format_packets(window),
            **(tcp or {}),
        )
        data: dict[str, Any] = {} if bytes_each is None else {"bytes": f"{bytes_each} B"}
        common: dict[str, Any] = {
            "profile": self.profile,
            "duration": units.format_time(self.duration_s),
            "seed": seed,
            "observe": Observe() if sample_s is None else Observe(interval=f"{sample_s!r} s"),
        }
        own = 0.0 if self.two_hosts else _ACCESS_S if self.rtt_s > _ACCESS_S * _PARTS else self.rtt_s / _PARTS
        wire: dict[str, Any] = {
            "reverse": {"queue": _AMPLE},
            **with_bandwidth(self.line, units.format_rate(self.bandwidth_bps)),
            "delay": units.format_time(round(self.rtt_s / 2 - 2 * own, _DIGITS)),
            "queue": units.format_packets(self.queue_packets),
        }
        if self.two_hosts:
            if traffic:
                raise ValueError("between two hosts there is no other traffic")
            only = Link.model_validate({"ends": ("sender", "receiver"), **wire})
            bulk = Bulk(flows=flows, from_="sender", to="receiver", tcp=transport, **data)
            return Scenario(**common, link={BETWEEN_TWO: only}, traffic={GROUP: bulk})
        fast = units.format_rate(self._fast_bps)
        others = self.cross > 0 or bool(traffic)
        slow = units.format_rate(self.bandwidth_bps / flows * self.factor)
        net = Dumbbell.model_validate({
            "pairs": flows + others,
            "bottleneck": wire,
            "access": {"delay": units.format_time(own), "queue": _AMPLE},
            "access_left": {"rate": [slow] * flows + [fast] if others else slow},
            "access_right": {"rate": fast},
        })  # fmt: skip
        bulk = Bulk(flows=flows, from_="net.left[*]", to="net.right[*]", tcp=transport, **data)
        everything = {GROUP: bulk, **self._crossing(flows), **(traffic or {})}
        return Scenario(**common, topology={"net": net}, traffic=everything)

    @property
    def _fast_bps(self) -> float:
        return max(_FAST_BPS, _TIMES * self.bandwidth_bps)

    def _crossing(self, flows: int) -> dict[str, OnOff]:
        """Sources that send half of the time, for times with a heavy tail, at twice their mean rate."""
        if not self.cross > 0:
            return {}
        rate = units.format_rate(2 * self.cross * self.bandwidth_bps / _CROSS_SOURCES)
        # A source begins with an on-time: not all at once.
        starts = [f"{index / _CROSS_SOURCES} s" for index in range(_CROSS_SOURCES)]
        return {_CROSS: OnOff(
            flows=_CROSS_SOURCES, rate=rate, on=_CROSS_ON, off=_CROSS_ON, start=starts, distribution="pareto",
            udp=Udp(payload="1000 B"), **competing_ends(flows),
        )}  # fmt: skip


def _packets(queue: str, packet_bytes: int) -> int:
    """A queue in full packets."""
    counts = queue.endswith(("packet", "packets"))
    return units.packets(queue) if counts else units.size(queue) // packet_bytes
