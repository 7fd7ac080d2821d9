"""Connections over one bottleneck: the fundamental diagram over their number.

Gábor and Csabai: The analogies of highway and computer network traffic, Physica A 307 (reference 21 of the
document) take the number of TCP connections between two hosts for the density of traffic. Beside links and an
interface, which do all the work that they can, there is a router that loses work with load: each arrival costs it an
interrupt, even of a packet that it then drops (receive livelock: Mogul and Ramakrishnan 1997). It is passed by TCP,
which listens to losses, and by streams of datagrams, which do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink import units
from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Cbr, Link, Node, Processor, Scenario, Starts, Tcp, Udp
from tightlink.studies.link_saturation.setup.interface import (
    FAST_ETHERNET,
    NIC,
    RECEIVER,
    RING,
    SENDER,
    Wire,
    nodes,
)

DENSITIES: Final = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64)
DURATION_S: Final = 10.0
#: One way: far enough that one connection with a small window does not fill the link.
_DELAY: Final = "10 ms"
#: Windows XP's default, 17,520 B of 1460.
_XP_WINDOW: Final = "12 packets"
_OPEN: Final = "10000 packets"
#: Half of a packet's time in the router is the interrupt of its arrival: it forwards 5,000 packets/s where none is
#: dropped, and none where twice as many arrive. Its lines are faster.
_COST: Final = "100 us"
_STREAM_PER_S: Final = 250


@dataclass(frozen=True)
class Density:
    """Connections over one bottleneck."""

    name: str
    payload: int
    window: str
    router: bool = False
    """Whether the bottleneck is behind a router, whose queue drops, or the sender's own link, which pushes back."""
    interrupts: bool = False
    """Whether that router is one that arrivals interrupt, and is the bottleneck."""
    streams: bool = False
    """Whether connections are streams of datagrams at a constant rate instead of TCP's."""

    def key(self, flows: int) -> str:
        """The name of a run."""
        return f"density/{self.name}/{flows}"

    def scenario(self, flows: int) -> Scenario:
        """Connections that start a millisecond apart and send all the time."""
        far = ("router", RECEIVER) if self.router else (SENDER, RECEIVER)
        base = FAST_ETHERNET.link(far)
        links: dict[str, Link] = {"far": base.model_copy(update={"delay": _DELAY})}
        if self.router:
            links["near"] = Wire("1 Gbit/s").link((SENDER, "router"))
        traffic = {"udp": self._udp(flows)} if self.streams else {"tcp": self._tcp(flows)}
        own = {} if self.router else nodes(NIC)
        if self.interrupts:
            own = {"router": Node(processor=Processor(per_packet=_COST, interrupt=_COST, input_ring=RING))}
        return Scenario(duration=units.format_time(DURATION_S), link=links, node=own, traffic=dict(traffic))

    def _tcp(self, flows: int) -> Bulk:
        tcp = Tcp(payload=f"{self.payload} B", window=self.window)
        return Bulk(from_=SENDER, to=RECEIVER, flows=flows, start=Starts(every="1 ms"), tcp=tcp)

    def _udp(self, flows: int) -> Cbr:
        interval, udp = units.format_time(1 / _STREAM_PER_S), Udp(payload=f"{self.payload} B")
        # A start each of its own spreads the packets of all streams over the interval.
        start = Starts(every=units.format_time(1 / _STREAM_PER_S / flows))
        return Cbr(from_=SENDER, to=RECEIVER, flows=flows, start=start, interval=interval, udp=udp)


LARGE: Final = Density("1448 B, link", 1448, _XP_WINDOW)
SMALL: Final = Density("100 B, interface", 100, _XP_WINDOW)
LOSSY: Final = Density("1448 B, router", 1448, _OPEN, router=True)
LIVELOCK: Final = Density("100 B, interrupted router", 100, _OPEN, router=True, interrupts=True)
STREAMS: Final = Density("100 B, interrupted router, streams", 100, "", router=True, interrupts=True, streams=True)
KINDS: Final = (LARGE, SMALL, LOSSY, LIVELOCK, STREAMS)


def tasks() -> list[Task]:
    """Every number of connections, of each kind."""
    return [Task(kind.key(flows), kind.scenario(flows)) for kind in KINDS for flows in DENSITIES]
