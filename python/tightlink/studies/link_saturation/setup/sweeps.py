"""The sweeps over payloads: the document's, and the same with one thing changed at a time.

Example:
    >>> MAIN.payloads[:3], len(MAIN.payloads), MAIN.key(25)
    ((25, 50, 75), 58, 'udp/100 Mbit/s/25')
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Processor, Scenario, Tcp
from tightlink.studies.link_saturation.setup.interface import (
    FAST_ETHERNET,
    LARGEST_BYTES,
    NIC,
    PER_BYTE_S,
    PER_PACKET_S,
    PROBE,
    RECEIVER,
    SENDER,
    SMALLEST_BYTES,
    STEP_BYTES,
    Wire,
    interface,
    two_hosts,
    udp,
)

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
    MAIN, FRAGMENTS, JUMBO_FRAMES, SLOW, GIGABIT, GIGABIT_JUMBO, NO_BYTES, TWICE_AS_FAST, BARE_LINE, *SLOW_RECEIVERS,
    PAUSED, TCP_OUT, TCP_BOTH,
)  # fmt: skip
#: The sweeps of which claims name rows and columns, as SWEEP.PAYLOAD.… and SWEEP.….
NAMED: Final = {
    "main": MAIN, "fragments": FRAGMENTS, "jumbo": JUMBO_FRAMES, "slow": SLOW, "gigabit": GIGABIT,
    "gigabit-jumbo": GIGABIT_JUMBO, "bare": BARE_LINE, "tcp-out": TCP_OUT, "tcp-both": TCP_BOTH,
    "paused": PAUSED,
    **{f"receiver-{100 * share:.0f}": sweep for share, sweep in zip(SLOWER, SLOW_RECEIVERS, strict=True)},
}  # fmt: skip


def tasks() -> list[Task]:
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
