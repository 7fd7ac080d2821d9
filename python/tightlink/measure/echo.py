"""Round trips of small packets beside a measurement: ICMP echoes from one host to another, answered by its kernel."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tightlink.measure.testbed import Bed

#: How often an echo leaves unless told otherwise.
_EVERY_S: Final = 0.2
#: What echoes may take of a link, which is there for what is measured.
_PART: Final = 0.01
_BITS: Final = 8
_IP_BYTES: Final = 20

_ECHO: Final = 8
_ECHO_REPLY: Final = 0
_HEADER: Final = struct.Struct("!BBHHH")
#: A number that tells who is asked for what; the kernel gives the identifier and the checksum.
_PAYLOAD: Final = struct.Struct("!Q")
_FILL: Final = bytes(48)
_NS: Final = 1e9


def usual_interval_s(links: Iterable[Mapping[str, Any]]) -> float:
    """How long after each other echoes leave over links, as the engine gets these: longer where they are slow.

    >>> usual_interval_s([{"rate_bps": 2e6, "rate_pps": None}])
    0.2
    >>> round(usual_interval_s([{"rate_bps": 2e6, "rate_pps": None}, {"rate_bps": 9600.0, "rate_pps": None}]), 3)
    7.0
    """
    bits = _BITS * (_IP_BYTES + _HEADER.size + _PAYLOAD.size + len(_FILL))
    per_second = (link["rate_bps"] / bits if link["rate_pps"] is None else link["rate_pps"] for link in links)
    return max(_EVERY_S, *(1 / (_PART * float(each)) for each in per_second if each > 0))


class Echoes(contextlib.AbstractContextManager["Echoes"]):
    """Echoes from a host to an address, at an interval, in a thread; a context manager, at whose end they stop."""

    def __init__(self, bed: Bed, origin: str, address: str, *, every_s: float) -> None:
        self._address = address
        self._every_s = every_s
        self._socket = bed.socket(origin, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
        self._ended = threading.Event()
        self._sent_ns: dict[int, int] = {}
        self._came_back: list[tuple[int, int]] = []
        self._thread = threading.Thread(target=self._run, name="echoes", daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._socket.close()

    def samples(self, begin_ns: int) -> tuple[list[float], list[float]]:
        """When each was sent that came back, in seconds after a time of ``time.monotonic_ns()``, and its round trip."""
        trips = sorted((self._sent_ns[number], came_ns) for number, came_ns in self._came_back)
        return [(sent - begin_ns) / _NS for sent, _ in trips], [(came - sent) / _NS for sent, came in trips]

    @property
    def lost(self) -> int:
        """How many did not come back yet."""
        return len(self._sent_ns) - len(self._came_back)

    def _run(self) -> None:
        due = time.monotonic()
        number = 0
        while not self._ended.is_set():
            now = time.monotonic()
            if now >= due:
                self._send(number)
                number += 1
                due += self._every_s
            self._receive(max(0.0, min(due - time.monotonic(), 0.05)))

    def _send(self, number: int) -> None:
        packet = _HEADER.pack(_ECHO, 0, 0, 0, number & 0xFFFF) + _PAYLOAD.pack(number) + _FILL
        self._sent_ns[number] = time.monotonic_ns()
        # What does not leave is lost like what does not come back.
        with contextlib.suppress(OSError):
            self._socket.sendto(packet, (self._address, 0))

    def _receive(self, patience_s: float) -> None:
        if not select.select([self._socket], [], [], patience_s)[0]:
            return
        packet = self._socket.recv(256)
        came_ns = time.monotonic_ns()
        if len(packet) >= _HEADER.size + _PAYLOAD.size and packet[0] == _ECHO_REPLY:
            (number,) = _PAYLOAD.unpack_from(packet, _HEADER.size)
            self._came_back.append((number, came_ns))
