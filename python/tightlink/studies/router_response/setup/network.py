"""The network of the document: sender, Linux router, router A, serial link, router B, receiver.

Probes go one way, and so do the links. What a variant changes is in a `Setting`.

Example:
    >>> DOCUMENTED.probe(65, "0.2 ms", 120).link["serial"].rate
    '2 Mbit/s'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tightlink.scenario import Cbr, Framing, Link, Node, Observe, Processor, Scenario, Udp
from tightlink.studies.router_response.setup import costs
from tightlink.studies.router_response.setup.document import (
    ETHERNET_OVERHEAD,
    INPUT_RING,
    LINUX_QUEUE,
    OUTPUT_RING,
    SERIAL_OVERHEAD,
    datagram_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

SENDER: Final = "sender"
LINUX: Final = "linux_router"
ROUTER_A: Final = "router_a"
ROUTER_B: Final = "router_b"
RECEIVER: Final = "receiver"
PROBE: Final = "probe"
#: Ethernet's smallest frame, with preamble and gap.
_SMALLEST: Final = 84
_ETHERNET: Final = Framing(overhead=f"{ETHERNET_OVERHEAD} B", smallest=f"{_SMALLEST} B")


def ethernet(begin: str, end: str, **settings: Any) -> Link:
    """A cable of 100 Mbit/s."""
    return Link(ends=(begin, end), rate="100 Mbit/s", delay="5 us", framing=_ETHERNET, one_way=True, **settings)


def processor(own: costs.Router, **changes: Any) -> Processor:
    """A router with costs of its own, and what both have in common.

    Args:
        own: Its costs.
        changes: Keys that a variant sets otherwise; None removes one.
    """
    keys = {
        "per_packet": f"{own.per_packet_us:g} us",
        "interrupt": f"{own.interrupt_us:g} us",
        "input_ring": f"{INPUT_RING} packets",
        "output_ring": f"{OUTPUT_RING} packets",
        **costs.low_priority(),
    }
    return Processor.model_validate({key: value for key, value in (keys | changes).items() if value is not None})


@dataclass(frozen=True)
class Setting:
    """The two routers and the link between them."""

    name: str
    """What the table of runs calls router A in it."""
    title: str
    """What is changed, for people."""
    router_a: Processor
    router_b: Processor
    serial_rate: str = "2 Mbit/s"
    serial_delay: str = "1 ms"
    read_s: int = costs.READ_S
    """When the meters are read, from the first packet on."""

    def links(self) -> dict[str, Link]:
        """The links, by name."""
        serial = Link(
            ends=(ROUTER_A, ROUTER_B), rate=self.serial_rate, delay=self.serial_delay, one_way=True,
            framing=Framing(overhead=f"{SERIAL_OVERHEAD} B"),
        )  # fmt: skip
        queue = f"{LINUX_QUEUE} packets"
        return {
            "lan_sender": ethernet(SENDER, LINUX, queue=queue),
            "lan_a": ethernet(LINUX, ROUTER_A, queue=queue),
            "serial": serial,
            "lan_b": ethernet(ROUTER_B, RECEIVER),
        }

    def nodes(self) -> dict[str, Node]:
        """The routers, by name."""
        return {ROUTER_A: Node(processor=self.router_a), ROUTER_B: Node(processor=self.router_b)}

    def scenario(self, traffic: Mapping[str, Any], duration_s: float, observe_s: float, **links: Link) -> Scenario:
        """This network with some traffic, and perhaps more links; rfc's headers."""
        return Scenario(
            profile="rfc",
            duration=f"{duration_s:g} s",
            link=self.links() | links,
            node=self.nodes(),
            traffic=dict(traffic),
            observe=Observe(interval=f"{observe_s:g} s"),
        )

    def probe(
        self, length: int, interval: str, duration_s: float, observe_s: float | None = None, start_s: float = 0.0
    ) -> Scenario:
        """A probe of packets of one length at one interval; the meters are read once, or every so often.

        Args:
            length: Of the packets, as the document counts.
            interval: From packet to packet.
            duration_s: For which the probe sends.
            observe_s: From reading to reading; without it, one at the study's time after the first packet.
            start_s: When it begins, for the meters' own clock does not know of the probe.
        """
        traffic = {PROBE: stream(length, interval, start_s=start_s)}
        return self.scenario(traffic, start_s + duration_s, observe_s or start_s + self.read_s)


def stream(length: int, interval: str, begin: str = SENDER, end: str = RECEIVER, start_s: float = 0.0) -> Cbr:
    """Packets of the document's length at a constant interval."""
    start = f"{start_s:g} s" if start_s else None
    return Cbr(from_=begin, to=end, interval=interval, start=start, udp=Udp(datagram=f"{datagram_bytes(length)} B"))


#: The network as the document has it, with the costs that follow from it.
DOCUMENTED: Final = Setting("A", "as documented", processor(costs.A), processor(costs.B))
