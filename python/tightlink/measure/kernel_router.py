"""A router that is the kernel of this machine: three namespaces in a row, of which that in the middle forwards.

What arrives at the router waits in a ring of 256 packets for a thread of the kernel, which is the router's processor:
it does all that forwarding takes, until the packet has left. The line behind it is the kernel's token bucket. The
receiving host's interface counts what comes and takes no more of it, for that would be time of the same thread.

Example:
    >>> share = Sample(2_000_000_000, 900, 800, 0, 1.5, 0.01, 4).since(Sample(1_000_000_000, 0, 0, 0, 1.0, 0.0, 0))
    >>> share.packets_in, share.packets_out, share.ran_s, share.waited_s
    (900, 800, 0.5, 0.00996)
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tightlink.errors import TightlinkError
from tightlink.measure.hosts import DEVICE
from tightlink.measure.metadata import scheduled
from tightlink.measure.plan import Plan
from tightlink.measure.settings import largest_packet
from tightlink.measure.sides import Host
from tightlink.measure.testbed import Bed

#: A name that no node can have.
_ROUTER: Final = "<router>"
_OUT: Final = "out0"
#: Packets that a device of the kernel's own holds until its thread takes them (VETH_RING_SIZE).
RING: Final = 256
#: Ethernet's header, which a token bucket counts; an address that no interface here has.
ETHERNET_BYTES: Final = 14
_ELSEWHERE: Final = "02:00:00:00:00:01"
#: A token bucket lets so much pass at once: few timers, and a rate that is exact over milliseconds.
_BURST_BYTES: Final = 1 << 16
#: Largest rate of a token bucket whose rate is 32 bits of bytes per second.
_LARGEST_BPS: Final = 8 * (2**32 - 1)
#: Of threads that have a processor before others, but leave them some.
_NICEST: Final = -19
#: Waking up takes a thread this long, which is no waiting for others.
_WAKES_S: Final = 10e-6
_NS: Final = 1e9
#: Characters of a thread's name that every kernel shows.
_SHOWN: Final = 15


@dataclass(frozen=True)
class Sample:
    """What a router has done so far."""

    time_ns: int
    """Of ``time.monotonic_ns()``."""
    packets_in: int
    """Packets that its processor took from the ring."""
    packets_out: int
    dropped_out: int
    """Packets that the receiving host had no room for."""
    ran_s: float
    """How long its processor ran, by the kernel's scheduler."""
    waited_s: float
    """How long it could have run and did not."""
    runs: int
    """How often it began to run."""

    def since(self, before: Sample) -> Did:
        """What it did since then."""
        waited_s = self.waited_s - before.waited_s - _WAKES_S * (self.runs - before.runs)
        return Did(
            (self.time_ns - before.time_ns) / _NS,
            self.packets_in - before.packets_in,
            self.packets_out - before.packets_out,
            self.dropped_out - before.dropped_out,
            round(self.ran_s - before.ran_s, 9),
            round(max(0.0, waited_s), 9),
        )


@dataclass(frozen=True)
class Did:
    """What a router did in a time."""

    passed_s: float
    packets_in: int
    packets_out: int
    dropped_out: int
    ran_s: float
    waited_s: float
    """How long others had its processor, beyond what waking up takes."""


@dataclass(frozen=True)
class KernelRouter:
    """A router in a testbed, between two hosts."""

    bed: Bed
    device: str
    """Where packets arrive."""
    thread: int
    """Its processor, a thread of the kernel."""

    @classmethod
    def lay_out(cls, bed: Bed, plan: Plan, *, packet_bytes: int) -> KernelRouter:
        """Make both hosts of a plan and the router between them.

        The plan has a host on each side, and a link, whose rate and queue are the line behind the router.
        """
        (sender,), (receiver,) = plan.of_side(0), plan.of_side(1)
        mtu = largest_packet(plan)
        for name in (sender.name, _ROUTER, receiver.name):
            bed.add_host(name)
        bed.set(_ROUTER, {"net.ipv4.ip_forward": "1", "net.ipv4.conf.all.rp_filter": "0"})
        # Threads of the kernel are known by their device, which must be nobody else's.
        device = f"in{bed.process}"
        _, entrance = bed.add_wire((sender.name, sender.address), (_ROUTER, None), devices=(DEVICE, device), mtu=mtu)
        bed.add_wire((_ROUTER, None), (receiver.name, receiver.address), devices=(_OUT, DEVICE), mtu=mtu)
        bed.thread_input(_ROUTER, device)
        _connect(bed, sender, receiver, device, entrance)
        link = plan.directions[0]
        limit = link["queue"]["limit"]
        bed.shape(
            _ROUTER,
            _OUT,
            rate_bps=min(int(link["rate_bps"]), _LARGEST_BPS),
            queue_bytes=int(limit["packets"]) * (packet_bytes + ETHERNET_BYTES),
            burst_bytes=_BURST_BYTES,
        )
        return cls(bed, device, _thread(device))

    def stay_on(self, processor: int) -> bool:
        """Have its thread stay on a processor, before others there; whether that is allowed."""
        return stay_on(processor, self.thread)

    def sample(self) -> Sample:
        """What it has done so far."""
        time_ns, counters = self.bed.counters(_ROUTER)
        ran_s, waited_s, runs = _scheduled(self.thread)
        arrived, left = counters[self.device], counters[_OUT]
        return Sample(time_ns, arrived.packets_in, left.packets_out, left.dropped_out, ran_s, waited_s, runs)


def stay_on(processor: int, thread: int = 0) -> bool:
    """Have a thread, or this one, stay on a processor, before others there; whether both are allowed."""
    with contextlib.suppress(PermissionError):
        os.sched_setaffinity(thread, {processor})
        os.setpriority(os.PRIO_PROCESS, thread, _NICEST)
        return True
    return False


def _connect(bed: Bed, sender: Host, receiver: Host, device: str, entrance: str) -> None:
    """Routes and hardware addresses, so that no packet asks for them."""
    bed.add_route(sender.name, f"{receiver.address}/32", DEVICE)
    bed.add_neighbour(sender.name, DEVICE, receiver.address, entrance)
    bed.add_route(_ROUTER, f"{sender.address}/32", device)
    bed.add_route(_ROUTER, f"{receiver.address}/32", _OUT)
    bed.add_neighbour(_ROUTER, _OUT, receiver.address, _ELSEWHERE)


def _thread(device: str) -> int:
    """The thread of the kernel that takes what arrives at a device."""
    start = f"napi/{device}-"[:_SHOWN]
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdecimal() and (folder / "comm").read_text(encoding="utf-8").startswith(start):
                _scheduled(int(folder.name))
                return int(folder.name)
    raise TightlinkError("the threads of the kernel cannot be seen here, and so not how busy a router is that is one")


def _scheduled(thread: int) -> tuple[float, float, int]:
    """What `scheduled` says of a thread."""
    try:
        return scheduled(thread)
    except OSError as error:
        raise TightlinkError(f"the kernel does not tell how long its threads ran ({error.strerror})") from None
