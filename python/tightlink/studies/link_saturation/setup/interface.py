"""The link and the interface of the document as a scenario: one wire, and what a packet costs the sender.

A cost per packet and byte has two unknowns. The document prints 30,000 packets/s at 25 B of payload, and a
critical size of about 451 B at around 25,000/s, where interface and line are equally fast: with headers
on the line as in its set-up, a payload of 441 B. Per byte it is the difference of the two times over the
difference of the two sizes, per packet the rest. That is all that is fitted in the study.

Example:
    >>> NIC.per_packet, NIC.per_byte
    ('32.413 us', '17.37 ns')
    >>> udp(1450).traffic["probe"].udp.payload
    '1450 B'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink import units
from tightlink.scenario import Bulk, Framing, Link, Node, Processor, Saturate, Scenario, Tcp, Udp
from tightlink.studies.link_saturation.setup.document import BALANCED_BYTES, BANDWIDTH_BPS, LARGEST_RATE, SMALLEST_BYTES

SENDER: Final = "sender"
RECEIVER: Final = "receiver"
PROBE: Final = "probe"
DURATION_S: Final = 1.0
#: UDP 8 and IP 20 bytes; Ethernet's header and trailer; preamble and gap, which take line time only.
UDP_IP_BYTES: Final = 28
ETHERNET_BYTES: Final = 18
GAP_BYTES: Final = 20
HEADER_BYTES: Final = UDP_IP_BYTES + ETHERNET_BYTES
SMALLEST_FRAME_BYTES: Final = 64
#: Rings of an interface hold some dozens of packets; a source that is pushed back makes the number irrelevant.
RING: Final = "64 packets"
#: Of a packet at which interface and line are equally fast, on the line.
_BALANCED_S: Final = 8 * (BALANCED_BYTES + HEADER_BYTES + GAP_BYTES) / BANDWIDTH_BPS
#: To 10 ps a byte and 1 ns a packet, far below what figures of two digits can say.
PER_BYTE_S: Final = round((_BALANCED_S - 1 / LARGEST_RATE) / (BALANCED_BYTES - SMALLEST_BYTES), 11)
PER_PACKET_S: Final = round(1 / LARGEST_RATE - PER_BYTE_S * (SMALLEST_BYTES + UDP_IP_BYTES), 9)


@dataclass(frozen=True)
class Wire:
    """The link between the two hosts."""

    rate: str = "100 Mbit/s"
    mtu: str = "1500 B"
    flow_control: bool = False
    """Whether a full ring at the far end pauses it (IEEE 802.3x)."""

    @property
    def bps(self) -> float:
        """Its rate in bit/s."""
        return units.rate(self.rate)

    def link(self, ends: tuple[str, str] = (SENDER, RECEIVER), queue: str = RING) -> Link:
        """As a link of Ethernet: each frame is 38 B longer than its packet on the line, and 84 B at least."""
        framing = Framing(overhead=f"{ETHERNET_BYTES + GAP_BYTES} B", smallest=f"{SMALLEST_FRAME_BYTES + GAP_BYTES} B")
        return Link(
            ends=ends,
            rate=self.rate,
            delay="1 us",
            queue=queue,
            framing=framing,
            mtu=self.mtu,
            flow_control=True if self.flow_control else None,
        )


def interface(packet_s: float = PER_PACKET_S, byte_s: float = PER_BYTE_S, *, receive: bool | None = None) -> Processor:
    """An interface that costs a time for each packet and for each byte of the IP packet."""
    return Processor(
        per_packet=units.format_time(packet_s), per_byte=units.format_time(byte_s), input_ring=RING, receive=receive
    )


#: The one that the document's figures give.
NIC: Final = interface()
FAST_ETHERNET: Final = Wire()


def udp(
    payload: int,
    *,
    wire: Wire = FAST_ETHERNET,
    sender: Processor | None = NIC,
    receiver: Processor | None = None,
) -> Scenario:
    """Datagrams of one size, as fast as the sender sends them.

    Args:
        payload: Application bytes in a datagram.
        wire: The link.
        sender: The sender's interface; without it the line alone limits.
        receiver: That of the receiver; without it packets cost it nothing.
    """
    probe = Saturate(from_=SENDER, to=RECEIVER, udp=Udp(payload=f"{payload} B"))
    return Scenario(
        duration=units.format_time(DURATION_S),
        link={"wire": wire.link()},
        node=nodes(sender, receiver),
        traffic={PROBE: probe},
    )


def tcp(payload: int, *, both_ways: bool) -> Scenario:
    """One TCP connection with segments of one size; both hosts have the interface.

    Args:
        payload: Application bytes in a segment.
        both_ways: Whether packets that arrive cost a host as much as those that it sends.
    """
    nic = interface(receive=True if both_ways else None)
    flow = Bulk(from_=SENDER, to=RECEIVER, tcp=Tcp(payload=f"{payload} B"))
    return Scenario(
        duration=units.format_time(DURATION_S),
        link={"wire": FAST_ETHERNET.link()},
        node=nodes(nic, nic),
        traffic={PROBE: flow},
    )


def nodes(sender: Processor | None, receiver: Processor | None = None) -> dict[str, Node]:
    """The hosts that have an interface that counts."""
    given = {SENDER: sender, RECEIVER: receiver}
    return {name: Node(processor=processor) for name, processor in given.items() if processor is not None}
