"""The link and the interface of the document as a scenario: one wire, and what a packet costs the sender.

R. Smith: Data Traffic Dynamics and Saturation on a Single Link, 2009 (arXiv 0802.3554). Here stand the figures that the
model takes from it; all others stand in the table of claims.

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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tightlink import units
from tightlink.scenario import Framing, Link, Node, Processor, Saturate, Scenario, Udp

BANDWIDTH_BPS: Final = 100e6
#: Payloads that were measured: 25 to 1450 B in steps of 25 B.
STEP_BYTES: Final = 25
SMALLEST_BYTES: Final = 25
LARGEST_BYTES: Final = 1450
#: Section 4: T_max and p_c, which eq. 7 takes, and the packet rates at both ends of saturation.
PLATEAU_MBIT: Final = 96
CRITICAL_BYTES: Final = 451
#: The payload at which interface and line are equally fast: the middle of what 451 B within half a step allows, 439 to
#: 463 B, and 25 thousand/s within half of its last digit, which a line of 100 Mbit/s carries up to 444 B.
BALANCED_BYTES: Final = 441
LARGEST_RATE: Final = 30_000

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

    def link(self, ends: tuple[str, str] = (SENDER, RECEIVER), queue: str = RING) -> Link:
        """As a link of Ethernet: each frame is 38 B longer than its packet on the line, and 84 B at least."""
        framing = Framing(overhead=f"{ETHERNET_BYTES + GAP_BYTES} B", smallest=f"{SMALLEST_FRAME_BYTES + GAP_BYTES} B")
        pauses = True if self.flow_control else None
        own: dict[str, Any] = {"rate": self.rate, "mtu": self.mtu, "flow_control": pauses}
        return Link(ends=ends, delay="1 us", queue=queue, framing=framing, **own)


def interface(packet_s: float = PER_PACKET_S, byte_s: float = PER_BYTE_S, *, receive: bool | None = None) -> Processor:
    """An interface that costs a time for each packet and for each byte of the IP packet."""
    return Processor(
        per_packet=units.format_time(packet_s), per_byte=units.format_time(byte_s), input_ring=RING, receive=receive
    )


#: The one that the document's figures give.
NIC: Final = interface()
FAST_ETHERNET: Final = Wire()


def two_hosts(
    traffic: Mapping[str, Any],
    wire: Wire = FAST_ETHERNET,
    sender: Processor | None = NIC,
    receiver: Processor | None = None,
) -> Scenario:
    """Traffic over a wire between two hosts; packets cost nothing where a host has no interface."""
    return Scenario(
        duration=units.format_time(DURATION_S),
        link={"wire": wire.link()},
        node=nodes(sender, receiver),
        traffic=dict(traffic),
    )


def udp(payload: int, **hosts: Any) -> Scenario:
    """Datagrams of so many application bytes, as fast as the sender sends them."""
    return two_hosts({PROBE: Saturate(from_=SENDER, to=RECEIVER, udp=Udp(payload=f"{payload} B"))}, **hosts)


def nodes(sender: Processor | None, receiver: Processor | None = None) -> dict[str, Node]:
    """The hosts that have an interface that counts."""
    given = {SENDER: sender, RECEIVER: receiver}
    return {name: Node(processor=processor) for name, processor in given.items() if processor is not None}
