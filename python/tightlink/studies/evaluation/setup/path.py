"""The path that all tests share: one bottleneck, and flows through it.

Example:
    >>> path = Path(rate_mbit=20, rtt_ms=40)
    >>> path.label, path.scenario({"long": path.bulk("reno")}, duration_s=10).duration
    ('20 Mbit/s, 40 ms, 1 BDP', '10 s')
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from tightlink.scenario import Bulk, Cbr, Link, Observe, OnOff, Reverse, Scenario, Tcp, Udp

BOTTLENECK: Final = "bottleneck"
SENDER: Final = "sender"
RECEIVER: Final = "receiver"
#: Packets of all flows are as large: profile rfc, Ethernet.
PACKET_BITS: Final = 1500 * 8
#: Random traffic beside flows that share a path, so that no phase decides who loses: share of the rate, each way.
BACKGROUND: Final = 0.05
#: It finds all losses without the timer, so that what is compared is the control.
_RECOVERY: Final = "rack"
#: A call: 50 packets a second of 160 bytes of speech with their headers.
VOICE: Final = Cbr(from_=SENDER, to=RECEIVER, interval="20 ms", udp=Udp(payload="172 B"))
_BURST: Final = "50 ms"
#: Round trips, in ms, of what paths of two lengths share.
_SHARED_MS: Final = 10


@dataclass(frozen=True)
class Path:
    """A bottleneck: rate, round trip of the empty path, and a queue."""

    rate_mbit: float
    rtt_ms: float
    buffer_bdp: float = 1.0
    queue: str | Mapping[str, Any] = "drop-tail"
    """Kind, with its defaults beside the limit; or a table with options."""
    marks: bool = False
    """Whether it marks packets instead of dropping them."""

    @property
    def label(self) -> str:
        """The path as tables and charts name it."""
        return f"{self.rate_mbit:g} Mbit/s, {self.rtt_ms:g} ms, {self.buffer_bdp:g} BDP"

    @property
    def rate_bps(self) -> float:
        """The rate of the bottleneck, in bit/s."""
        return self.rate_mbit * 1e6

    @property
    def packet_s(self) -> float:
        """What a packet takes on the bottleneck."""
        return PACKET_BITS / self.rate_bps

    def table(self, limit: str) -> dict[str, Any]:
        """Its queue, with this limit unless it has its own."""
        return {"limit": limit} | ({"kind": self.queue} if isinstance(self.queue, str) else dict(self.queue))

    def beside(self, queue: str | Mapping[str, Any], *, marks: bool = False) -> Self:
        """The same with another kind of queue."""
        return replace(self, queue=queue, marks=marks)

    def bulk(self, congestion: Any, **settings: Any) -> Bulk:
        """A flow, or a group of flows, from end to end; of the settings ``tcp`` are further keys of TCP."""
        tcp = Tcp(congestion=congestion, recovery=_RECOVERY, window="10000000 packets", **settings.pop("tcp", {}))
        return Bulk(**({"from": SENDER, "to": RECEIVER} | settings), tcp=tcp)

    def link(self, **changes: Any) -> Link:
        """The bottleneck; the way back has room for all ACKs."""
        bits = self.rate_bps * self.rtt_ms / 1e3 * self.buffer_bdp
        limit = f"{max(4, -(-bits // PACKET_BITS)):.0f} packets"
        keys: dict[str, Any] = {
            "ends": (SENDER, RECEIVER),
            "rate": f"{self.rate_mbit:g} Mbit/s",
            "delay": f"{self.rtt_ms / 2:g} ms",
            "queue": self.table(limit) | ({"ecn": True} if self.marks else {}),
            "reverse": Reverse(queue="unlimited"),
        }
        return Link(**(keys | changes))

    def background(self) -> dict[str, OnOff]:
        """Random traffic in both directions."""
        rate = f"{2 * BACKGROUND * self.rate_mbit:g} Mbit/s"
        udp = Udp(datagram=f"{PACKET_BITS // 8} B")
        ways = {"forward": (SENDER, RECEIVER), "backward": (RECEIVER, SENDER)}
        return {
            f"background_{name}": OnOff(from_=ends[0], to=ends[1], rate=rate, on=_BURST, off=_BURST, udp=udp)
            for name, ends in ways.items()
        }

    def scenario(
        self,
        traffic: Mapping[str, Any],
        *,
        duration_s: float,
        interval_ms: float = 100,
        seed: int = 1,
        links: Mapping[str, Link] | None = None,
    ) -> Scenario:
        """A run over this path: over its bottleneck alone, unless all links are given."""
        return Scenario(
            profile="rfc", duration=f"{duration_s:g} s", seed=seed, link=dict(links or {BOTTLENECK: self.link()}),
            traffic=dict(traffic), observe=Observe(interval=f"{interval_ms:g} ms"),
        )  # fmt: skip


def two_round_trips(path: Path, hosts: Mapping[str, float], rate: str) -> dict[str, Link]:
    """Hosts before the bottleneck of a path, each with its round trip in ms, of which they share some."""
    links = {BOTTLENECK: path.link(delay=f"{_SHARED_MS / 2:g} ms")}
    for host, round_trip in hosts.items():
        delay = f"{(round_trip - _SHARED_MS) / 2:g} ms"
        links[host] = Link(ends=(host, SENDER), rate=rate, delay=delay, queue="unlimited")
    return links
