"""Datagrams faster than one by one: trains, each given to the kernel at once, which cuts it (UDP_SEGMENT).

A system call for each datagram would make the sender slower than many a path that it is to fill. On the wire each
datagram is a packet like any other, but those of a train follow each other at once.

Example:
    >>> import socket, time
    >>> with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink, socket.socket(type=socket.SOCK_DGRAM) as end:
    ...     sink.bind(("127.0.0.1", 0))
    ...     sink.settimeout(10)
    ...     end.connect(sink.getsockname())
    ...     begin_ns = time.monotonic_ns()
    ...     found = send_trains(end, payload_bytes=100, begin_ns=begin_ns, stop_ns=begin_ns + 200_000_000)
    ...     size = len(sink.recv(2000))
    >>> found.sent % LONGEST == 0, size
    (True, 100)
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from typing import Final

from tightlink.errors import TightlinkError

# <linux/udp.h>; since 4.18, and since 6.11 for devices that compute no checksums, as those of testbeds do not
_UDP_SEGMENT: Final = 103
_SOL_UDP: Final = 17
_NS: Final = 1e9
#: Datagrams of a train: what every kernel takes that has trains (UDP_MAX_SEGMENTS), and where trains are paced.
LONGEST: Final = 64
PACED: Final = 16
#: What a socket may have on its way until a router takes it; the kernel doubles it. With what it counts
#: beside the bytes of packets that is a few trains, and fewer packets than the ring of a virtual device holds.
_HELD_BYTES: Final = 1 << 16
#: A train is one IP packet until it is cut.
_LARGEST_BYTES: Final = 65_000


@dataclass(frozen=True)
class TrainsSent:
    """What a sender of trains did."""

    sent: int
    """Datagrams given to the kernel."""
    busy: float
    """The share of the time in which it had its processor, of which it needs all: below 1 others had it, too."""
    late_s: float
    """How much later than it was due a train was sent at most, in seconds; as fast as can be, the first."""


def send_trains(
    end: socket.socket, *, payload_bytes: int, begin_ns: int, stop_ns: int, interval_s: float | None = None
) -> TrainsSent:
    """Send trains in this thread, which never sleeps; what the path does not take keeps the next train waiting.

    Times to begin and to stop are of ``time.monotonic_ns()``. Without ``interval_s``, the mean time from datagram to
    datagram, they come as fast as can be.
    """
    train = min(LONGEST if interval_s is None else PACED, _LARGEST_BYTES // payload_bytes)
    every_ns = 0.0 if interval_s is None else interval_s * train * _NS
    content = bytes(train * payload_bytes)
    count, late_ns, due_ns = 0, 0.0, float(begin_ns)
    try:
        end.setsockopt(_SOL_UDP, _UDP_SEGMENT, payload_bytes)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _HELD_BYTES)
        end.settimeout(0)
        time.sleep(max(0.0, (begin_ns - time.monotonic_ns()) / _NS))
        began_ns, began_s = time.monotonic_ns(), time.thread_time()
        while (now_ns := time.monotonic_ns()) < stop_ns and due_ns < stop_ns:
            if now_ns < due_ns:
                continue
            try:
                end.send(content)
            except BlockingIOError:
                # The path holds all that the socket may have on it.
                continue
            late_ns = max(late_ns, now_ns - due_ns)
            count += 1
            due_ns = begin_ns + count * every_ns if every_ns else float(now_ns)
    except OSError as error:
        raise TightlinkError(
            f"the kernel takes no trains of datagrams ({str(error.strerror).lower()}): Linux 6.11 or later does"
        ) from None
    passed_s = max((time.monotonic_ns() - began_ns) / _NS, 1 / _NS)
    busy = (time.thread_time() - began_s) / passed_s
    return TrainsSent(count * train, min(1.0, busy), late_ns / _NS)
