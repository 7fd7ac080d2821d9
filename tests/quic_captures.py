"""Captures of QUIC made by code: packets with headers as RFC 9000 has them, and transfers between two ends that spin."""

from __future__ import annotations

import heapq
import random
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from captures import UDP, ethernet, ipv4

if TYPE_CHECKING:
    from collections.abc import Callable

    from captures import Timed

ONE, TWO = 1, 0x6B3343CF
INITIAL, ZERO_RTT, HANDSHAKE, RETRY = range(4)
CLIENT, SERVER = "10.0.0.1", "10.0.0.2"
PORTS: Final = {CLIENT: 50000, SERVER: 4433}
#: Connection IDs: the one that the client makes up, its own, the server's, and the one of a Retry.
MADE_UP, OF_CLIENT, OF_SERVER, OF_RETRY = b"made up!", b"client", b"server!!", b"retry!!!"
MS: Final = 10**6
BEGAN: Final = 10**18


def varint(value: int) -> bytes:
    return struct.pack(">H", 0x4000 | value)


def long(  # noqa: PLR0913
    kind: int, target: bytes, source: bytes, *, version: int = ONE, payload: int = 100, token: bytes = b"",
    fixed: bool = True,
) -> bytes:  # fmt: skip
    """A packet with a long header, whose payload is as good as encrypted."""
    number = (kind + 1) % 4 if version == TWO else kind
    first = 0x80 | (0x40 if fixed else 0) | number << 4 | 1
    head = struct.pack(">BI", first, version) + bytes([len(target)]) + target + bytes([len(source)]) + source
    if kind == RETRY:
        return head + token + b"i" * 16
    tokens = varint(len(token)) + token if kind == INITIAL else b""
    return head + tokens + varint(payload) + b"p" * payload


def filled(*packets: bytes) -> bytes:
    """A datagram of a client's Initial, filled up with zeros."""
    datagram = b"".join(packets)
    return datagram + bytes(max(0, 1200 - len(datagram)))


def negotiation(target: bytes, source: bytes, versions: tuple[int, ...]) -> bytes:
    head = b"\x8a" + bytes(4) + bytes([len(target)]) + target + bytes([len(source)]) + source
    return head + b"".join(struct.pack(">I", version) for version in versions)


def short(target: bytes, *, spin: bool, payload: int = 1000, fixed: bool = True) -> bytes:
    """A packet with a short header."""
    return bytes([(0x40 if fixed else 0) | (0x20 if spin else 0) | 2]) + target + b"p" * payload


def frame(end: str, datagram: bytes) -> bytes:
    other = SERVER if end == CLIENT else CLIENT
    head = struct.pack(">HHHH", PORTS[end], PORTS[other], 8 + len(datagram), 0)
    return ethernet(ipv4(end, other, UDP, head + datagram))


def handshake(*, before_ms: float = 5, behind_ms: float = 15, version: int = ONE, answer_ms: float = 1) -> list[Timed]:
    """A handshake, captured between a client that is so far away, there and back, and a server."""
    steps = [
        (0, CLIENT, filled(long(INITIAL, MADE_UP, OF_CLIENT, version=version, payload=1150))),
        (
            behind_ms + answer_ms,
            SERVER,
            long(INITIAL, OF_CLIENT, OF_SERVER, version=version)
            + long(HANDSHAKE, OF_CLIENT, OF_SERVER, version=version),
        ),
        (behind_ms + answer_ms + 0.1, SERVER, long(HANDSHAKE, OF_CLIENT, OF_SERVER, version=version, payload=1000)),
        (
            before_ms + behind_ms + answer_ms,
            CLIENT,
            filled(
                long(INITIAL, OF_SERVER, OF_CLIENT, version=version)
                + long(HANDSHAKE, OF_SERVER, OF_CLIENT, version=version)
            ),
        ),
    ]
    return [(BEGAN + round(at * MS), frame(end, datagram)) for at, end, datagram in steps]


@dataclass
class Download:
    """Data of a server over a path with a queue, captured between both ends; either end may not spin (RFC 9000 §17.4)."""

    before_ms: float = 5
    behind_ms: float = 15
    #: Packets in flight, and how long the narrowest link takes for each, in ms.
    window: int = 20
    gap_ms: float = 0.5
    packets: int = 2000
    #: What an end sends instead of the spin bit, in the order of client and server.
    bits: tuple[Callable[[], bool] | None, Callable[[], bool] | None] = (None, None)
    #: Pauses of the application before packets by their number, in ms.
    pauses_ms: dict[int, float] = field(default_factory=dict)

    def frames(self) -> list[Timed]:
        """All packets from the end of the handshake on, in the order of time."""
        self.captured: list[tuple[float, str, bool]] = []
        self.events: list[tuple[float, int, str, int, bool]] = []
        self.spin = {CLIENT: False, SERVER: False}
        self.highest = {CLIENT: -1, SERVER: -1}
        self.link_free = 0.0
        self.sent = self.acks = self.received = 0
        self.order = 0
        for _ in range(self.window):
            self._data(0.0)
        while self.events:
            now, _, end, number, bit = heapq.heappop(self.events)
            self._receive(now, end, number, spin=bit)
        begin = handshake(before_ms=self.before_ms, behind_ms=self.behind_ms)
        start = max(time for time, _ in begin) + MS
        frames = [
            (start + round(time * MS), frame(end, short(OF_SERVER if end == CLIENT else OF_CLIENT, spin=bit,
                                                        payload=40 if end == CLIENT else 1200)))
            for time, end, bit in sorted(self.captured)
        ]  # fmt: skip
        return begin + frames

    def _bit(self, end: str) -> bool:
        own = self.bits[end == SERVER]
        return self.spin[end] if own is None else own()

    def _data(self, now: float) -> None:
        """The server sends a packet, which waits for the narrowest link, right behind it."""
        if self.sent >= self.packets:
            return
        now += self.pauses_ms.get(self.sent, 0.0)
        self.link_free = max(now, self.link_free) + self.gap_ms
        bit = self._bit(SERVER)
        self.captured.append((self.link_free + self.behind_ms / 2, SERVER, bit))
        self._arrives(self.link_free + (self.before_ms + self.behind_ms) / 2, CLIENT, self.sent, spin=bit)
        self.sent += 1

    def _ack(self, now: float) -> None:
        bit = self._bit(CLIENT)
        self.captured.append((now + self.before_ms / 2, CLIENT, bit))
        self._arrives(now + (self.before_ms + self.behind_ms) / 2, SERVER, self.acks, spin=bit)
        self.acks += 1

    def _arrives(self, at: float, end: str, number: int, *, spin: bool) -> None:
        self.order += 1
        heapq.heappush(self.events, (at, self.order, end, number, spin))

    def _receive(self, now: float, end: str, number: int, *, spin: bool) -> None:
        if number > self.highest[end]:
            self.highest[end] = number
            self.spin[end] = spin if end == SERVER else not spin
        if end == SERVER:
            self._data(now)
            self._data(now)
            return
        self.received += 1
        if self.received % 2 == 0:
            self._ack(now)


def reordered(frames: list[Timed], seed: int, *, share: float = 0.05, most_ms: float = 3) -> list[Timed]:
    """The same with some packets of those with short headers up to so much later."""
    rng = random.Random(seed)
    begin, rest = frames[:4], frames[4:]
    late = [round(rng.uniform(0, most_ms) * MS) if rng.random() < share else 0 for _ in rest]
    return begin + sorted((time + more, kept) for (time, kept), more in zip(rest, late, strict=True))
