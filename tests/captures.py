"""Captures made by code: frames with their headers, files of either format, conversations full of trouble."""

from __future__ import annotations

import random
import socket
import struct
from typing import Final

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
TCP: Final = 6
UDP: Final = 17
#: A frame with its time in nanoseconds.
Timed = tuple[int, bytes]
_BEGAN: Final = 10**18


def ethernet(packet: bytes, kind: int = 0x0800, tags: tuple[int, ...] = ()) -> bytes:
    tagged = b"".join(struct.pack(">HH", tag, 5) for tag in tags)
    return b"\2\0\0\0\0\1\2\0\0\0\0\2" + tagged + struct.pack(">H", kind) + packet


def ipv4(  # noqa: PLR0913
    source: str, target: str, protocol: int, payload: bytes, *, number: int = 0, fragment: int = 0, marks: int = 0
) -> bytes:
    head = struct.pack(">BBHHHBBH", 0x45, marks, 20 + len(payload), number, fragment, 64, protocol, 0)
    addresses = socket.inet_aton(source) + socket.inet_aton(target)
    total = sum(struct.unpack(">10H", head + addresses))
    total = (total & 0xFFFF) + (total >> 16)
    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return head[:10] + struct.pack(">H", total) + addresses + payload


def ipv6(source: str, target: str, protocol: int, payload: bytes) -> bytes:
    """With a destination options header before what it carries."""
    options = struct.pack(">BB", protocol, 0) + b"\1\4\0\0\0\0"
    head = struct.pack(">IHBB", 6 << 28, len(options) + len(payload), 60, 64)
    addresses = socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, target)
    return head + addresses + options + payload


def tcp(  # noqa: PLR0913, PLR0917
    ports: tuple[int, int], seq: int, ack: int, flags: int, window: int, payload: int = 0, options: bytes = b""
) -> bytes:
    options += b"\1" * (-len(options) % 4)
    length = (20 + len(options)) // 4 << 4
    head = struct.pack(">HHIIBBHHH", *ports, seq % 2**32, ack % 2**32, length, flags, window, 0, 0)
    return head + options + b"x" * payload


def udp(ports: tuple[int, int], payload: int) -> bytes:
    return struct.pack(">HHHH", *ports, 8 + payload, 0) + b"x" * payload


def pcap(
    frames: list[Timed], *, link: int = 1, snap: int = 262144, order: str = "<", nano: bool = True,
    version: tuple[int, int] = (2, 4),
) -> bytes:  # fmt: skip
    out = [struct.pack(f"{order}IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, *version, 0, 0, snap, link)]
    for time, frame in frames:
        kept = frame[:snap]
        fraction = time % 10**9 // (1 if nano else 1000)
        out.append(struct.pack(f"{order}IIII", time // 10**9, fraction, len(kept), len(frame)) + kept)
    return b"".join(out)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    length = 12 + len(body)
    return struct.pack(f"{order}II", kind, length) + body + struct.pack(f"{order}I", length)


def option(code: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order: str = "<", version: tuple[int, int] = (1, 0)) -> bytes:
    return block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, *version, -1), order)


def interface(*options: bytes, link: int = 1, snap: int = 0, order: str = "<") -> bytes:
    return block(1, struct.pack(f"{order}HHI", link, 0, snap) + b"".join(options), order)


def enhanced(number: int, ticks: int, frame: bytes, *options: bytes, order: str = "<") -> bytes:
    head = struct.pack(f"{order}IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
    return block(6, head + frame + bytes(-len(frame) % 4) + b"".join(options), order)


def pcapng(frames: list[Timed]) -> bytes:
    """One interface with a clock of nanoseconds."""
    told = interface(option(2, b"eth0"), option(9, b"\x09"))
    return section() + told + b"".join(enhanced(0, time, frame) for time, frame in frames)


class Noise:
    """Two ends that do at random what real ones do in their worst moments."""

    def __init__(self, rng: random.Random, port: int) -> None:
        self.rng = rng
        self.port = port
        self.time = _BEGAN + rng.randrange(10**9)
        self.frames: list[Timed] = []
        self._restart()

    def _restart(self) -> None:
        rng = self.rng
        self.next = [rng.choice([rng.randrange(2**32), 2**32 - rng.randrange(1, 20_000)]) for _ in range(2)]
        self.acks = [self.next[1], self.next[0]]
        self.windows = [rng.choice([500, 1000, 65535]) for _ in range(2)]
        self.sent: list[list[tuple[int, int]]] = [[], []]
        self.held: list[tuple[int, int, int]] = []

    def send(self, end: int, seq: int, flags: int = ACK, payload: int = 0, options: bytes = b"") -> None:
        self.time += self.rng.randrange(1, 1000)
        ports = (self.port, 80) if end == 0 else (80, self.port)
        ack = self.acks[end] if flags & ACK else 0
        segment = tcp(ports, seq, ack, flags, self.windows[end], payload, options)
        addresses = ("10.0.0.1", "10.0.0.2") if end == 0 else ("10.0.0.2", "10.0.0.1")
        self.frames.append((self.time, ethernet(ipv4(*addresses, TCP, segment))))

    def open(self) -> None:
        rng = self.rng
        scale = [rng.choice([b"", b"\2\4\5\xb4\1\3\3" + bytes([rng.randrange(9)]), b"\2\4\5\xb4"]) for _ in range(2)]
        for end, flags in ((0, SYN), (1, SYN | ACK)):
            if end == 1:
                self.acks[1] = self.next[0]
            self.send(end, self.next[end], flags, options=scale[end])
            self.next[end] += 1
            self.time += rng.randrange(1, 30_000_000)
        self.acks = [self.next[1], self.next[0]]
        if rng.random() < 0.9:
            self.send(0, self.next[0])

    def step(self) -> None:  # noqa: C901, PLR0912
        rng, end = self.rng, self.rng.choice([0, 0, 0, 1, 1])
        other = 1 - end
        self.time += rng.choice([1000, 100_000, 2_999_999, 3_000_000, 19_000_000, 21_000_000, 300_000_000])
        match rng.choices(range(8), [40, 22, 16, 6, 5, 4, 4, 3])[0]:
            case 0:  # new data, captured or not
                payload = rng.choice([1, 2, 100, 1000, 1448])
                if rng.random() < 0.08:
                    self.held.append((end, self.next[end], payload))
                else:
                    self.send(end, self.next[end], ACK | rng.choice([0, PSH]), payload)
                    self.sent[end].append((self.next[end], payload))
                self.next[end] += payload
            case 1:  # ACKs
                if self.sent[other] and rng.random() < 0.8:
                    self.acks[end] = max(self.acks[end], sum(rng.choice(self.sent[other][-4:])))
                for _ in range(rng.choice([1, 1, 1, 2, 3, 4])):
                    self.time += rng.randrange(2_000_000)
                    self.send(end, self.next[end])
            case 2 if self.sent[end]:  # again
                seq, payload = rng.choice(self.sent[end][-5:])
                seq = self.acks[other] if rng.random() < 0.3 else seq
                self.send(end, seq, ACK, rng.choice([payload, payload, 1, payload + 10]))
            case 3 if self.held:  # overtaken
                end, seq, payload = self.held.pop(0)
                self.send(end, seq, ACK, payload)
                self.sent[end].append((seq, payload))
            case 4:  # another window
                self.windows[end] = rng.choice([0, 0, 500, 1000, 65535])
                self.send(end, self.next[end])
            case 5:  # keep-alive, and its answer
                self.send(end, self.next[end] - 1, ACK, rng.choice([0, 1]))
                self.send(other, self.next[other])
            case 6:  # probe of a window, and its answer
                self.send(end, self.next[end], ACK, 1)
                self.send(other, self.next[other])
            case 7 if rng.random() < 0.3:  # the ports again
                self._restart()
                self.open()
            case 7:
                self.send(end, self.next[end], rng.choice([FIN | ACK, RST, RST | ACK]))


def noise(seed: int, conversations: int = 20, steps: int = 80) -> list[Timed]:
    """The frames of many conversations at once, in the order of their times."""
    frames: list[Timed] = []
    for number in range(conversations):
        one = Noise(random.Random(f"{seed} {number}"), 4000 + number)
        if one.rng.random() < 0.8:
            one.open()
        for _ in range(steps):
            one.step()
        frames += one.frames
    return sorted(frames)
