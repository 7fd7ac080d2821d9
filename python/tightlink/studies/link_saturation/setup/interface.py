"""What the document prints and the model takes from it: its sizes, and the figures to which the interface is fitted.

R. Smith: Data Traffic Dynamics and Saturation on a Single Link, 2009 (arXiv 0802.3554). All other figures stand in the
table of claims.

Example:
    >>> NIC.per_packet, NIC.per_byte
    ('32.413 us', '17.37 ns')
    >>> udp(1450).traffic["probe"].udp.payload
    '1450 B'
    >>> MAIN.payloads[:3], len(MAIN.payloads), MAIN.key(25)
    ((25, 50, 75), 58, 'udp/100 Mbit/s/25')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from tightlink import units
from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Framing, Link, Node, Processor, Saturate, Scenario, Tcp, Udp

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


# The link and the interface of the document as a scenario: one wire, and what a packet costs the sender.
#
# A cost per packet and byte has two unknowns. The document prints 30,000 packets/s at 25 B of payload, and a
# critical size of about 451 B at around 25,000/s, where interface and line are equally fast: with headers
# on the line as in its set-up, a payload of 441 B. Per byte it is the difference of the two times over the
# difference of the two sizes, per packet the rest. That is all that is fitted in the study.

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


# The sweeps over payloads: the document's, and the same with one thing changed at a time.

DOCUMENTED: Final = tuple(range(SMALLEST_BYTES, LARGEST_BYTES + 1, STEP_BYTES))
#: For what is only compared with it: every second size.
_COMPARED: Final = (SMALLEST_BYTES, *range(2 * STEP_BYTES, LARGEST_BYTES + 1, 2 * STEP_BYTES))
#: The largest datagram that a frame takes.
WHOLE_BYTES: Final = 1472
#: Beyond it, and the two sizes at that edge.
FRAGMENTED: Final = (WHOLE_BYTES, WHOLE_BYTES + 1, *range(LARGEST_BYTES + STEP_BYTES, 3001, STEP_BYTES))
#: As far as an Ethernet of jumbo frames goes.
JUMBO: Final = (*range(50, 1451, 100), *range(1650, 8950, 400), 8950)
#: Around 18 B, where the smallest frame is full.
SMALL: Final = (1, 4, 8, 12, 16, 18, 20, 24, 32, 40, 48)
_JUMBO_MTU: Final = "9000 B"


@dataclass(frozen=True)
class Sweep:
    """Payloads over one link, from one interface."""

    name: str
    """As reports, the column ``link`` of the table of runs, and names of runs have it."""
    payloads: tuple[int, ...]
    wire: Wire = FAST_ETHERNET
    sender: Processor | None = NIC
    receiver: Processor | None = None
    tcp_both_ways: bool | None = None
    """Over TCP: whether packets that arrive cost a host, too; over UDP nothing."""

    def key(self, payload: int) -> str:
        """The name of a run."""
        return f"{'udp' if self.tcp_both_ways is None else 'tcp'}/{self.name}/{payload}"

    def scenario(self, payload: int) -> Scenario:
        """What is simulated of a payload."""
        if self.tcp_both_ways is None:
            return udp(payload, wire=self.wire, sender=self.sender, receiver=self.receiver)
        nic = interface(receive=True if self.tcp_both_ways else None)
        flow = Bulk(from_=SENDER, to=RECEIVER, tcp=Tcp(payload=f"{payload} B"))
        return two_hosts({PROBE: flow}, sender=nic, receiver=nic)


MAIN: Final = Sweep("100 Mbit/s", DOCUMENTED)
FRAGMENTS: Final = Sweep("100 Mbit/s, fragments", FRAGMENTED)
JUMBO_FRAMES: Final = Sweep("100 Mbit/s, jumbo frames", JUMBO, Wire(mtu=_JUMBO_MTU))
SLOW: Final = Sweep("10 Mbit/s", _COMPARED, Wire("10 Mbit/s"))
GIGABIT: Final = Sweep("1 Gbit/s", _COMPARED, Wire("1 Gbit/s"))
GIGABIT_JUMBO: Final = Sweep("1 Gbit/s, jumbo frames", JUMBO, Wire("1 Gbit/s", _JUMBO_MTU))
NO_BYTES: Final = Sweep("100 Mbit/s, no cost per byte", _COMPARED, sender=interface(1 / 25_000, 0.0))
TWICE_AS_FAST: Final = Sweep(
    "100 Mbit/s, interface twice as fast", _COMPARED, sender=interface(PER_PACKET_S / 2, PER_BYTE_S / 2)
)
BARE_LINE: Final = Sweep("100 Mbit/s, line alone", (*SMALL, *_COMPARED[2:]), sender=None)
#: How much slower than the sender a receiver is, as a share of the sender's costs.
SLOWER: Final = (0.01, 0.1, 0.25)
SLOW_RECEIVERS: Final = tuple(
    Sweep(
        f"100 Mbit/s, receiver {share:.0%} slower",
        _COMPARED,
        receiver=interface(PER_PACKET_S * (1 + share), PER_BYTE_S * (1 + share), receive=True),
    )
    for share in SLOWER
)
#: The slowest of them again, and its full ring pauses the sender.
PAUSED: Final = Sweep(
    f"{SLOW_RECEIVERS[-1].name}, flow control", _COMPARED, Wire(flow_control=True), receiver=SLOW_RECEIVERS[-1].receiver
)
#: With 52 B of headers and timestamps a segment has at most 1448 B.
_SEGMENTS: Final = (*_COMPARED[:-1], 1448)
TCP_OUT: Final = Sweep("100 Mbit/s, TCP", _SEGMENTS, tcp_both_ways=False)
TCP_BOTH: Final = Sweep("100 Mbit/s, TCP, arrivals cost too", _SEGMENTS, tcp_both_ways=True)
SWEEPS: Final = (
    MAIN,
    FRAGMENTS,
    JUMBO_FRAMES,
    SLOW,
    GIGABIT,
    GIGABIT_JUMBO,
    NO_BYTES,
    TWICE_AS_FAST,
    BARE_LINE,
    *SLOW_RECEIVERS,
    PAUSED,
    TCP_OUT,
    TCP_BOTH,
)


#: The sweeps of which claims name rows and columns, as SWEEP.PAYLOAD.… and SWEEP.….
NAMED: Final = {
    "main": MAIN, "fragments": FRAGMENTS, "jumbo": JUMBO_FRAMES, "slow": SLOW, "gigabit": GIGABIT,
    "gigabit-jumbo": GIGABIT_JUMBO, "bare": BARE_LINE, "tcp-out": TCP_OUT, "tcp-both": TCP_BOTH,
    "paused": PAUSED,
    **{f"receiver-{100 * share:.0f}": sweep for share, sweep in zip(SLOWER, SLOW_RECEIVERS, strict=True)},
}  # fmt: skip


def sweeps() -> list[Task]:
    """All payloads of all sweeps."""
    return [Task(sweep.key(payload), sweep.scenario(payload)) for sweep in SWEEPS for payload in sweep.payloads]


#: Sweeps in which size and rate say where a link saturates: none with fragments, of which one is nearly empty, nor
#: the one beyond the document's sizes at 1 Gbit/s, whose few packets a second are counted too coarsely.
_ANALYSED: Final = tuple(sweep for sweep in SWEEPS if sweep not in {FRAGMENTS, GIGABIT_JUMBO})


@cache
def _links() -> dict[Scenario, str]:
    return {sweep.scenario(payload): sweep.name for sweep in _ANALYSED for payload in sweep.payloads}


def link_of(scenario: Scenario) -> str:
    """What ``runs.parquet`` has in the column ``link``: the sweep, where ``tightlink analyze`` should take it."""
    return _links().get(scenario, "")
