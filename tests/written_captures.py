"""Captures that Tightlink writes, read byte by byte, apart from its own reader."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tightlink as tl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


#: SYN and ACK, and those of congestion.
SYN, ACK, ECE, CWR = 0x02, 0x10, 0x40, 0x80


@dataclass(frozen=True)
class Packet:
    """A packet of a capture, with what its headers say."""

    interface: str
    time_ns: int
    outbound: bool
    original: int
    header: bytes
    """IP and what follows, without payload."""

    @property
    def ttl(self) -> int:
        return self.header[8]

    @property
    def ecn(self) -> int:
        return self.header[1] & 0b11

    @property
    def source(self) -> int:
        """The number of the node that sent it."""
        return int.from_bytes(self.header[13:16]) - 1

    @property
    def destination(self) -> int:
        return int.from_bytes(self.header[17:20]) - 1

    @property
    def is_tcp(self) -> bool:
        return self.header[9] == 6

    @property
    def above(self) -> bytes:
        return self.header[20:]

    @property
    def offset(self) -> int:
        """Of a fragment, where it belongs in its datagram."""
        return (int.from_bytes(self.header[6:8]) & 0x1FFF) * 8

    @property
    def more(self) -> bool:
        return bool(self.header[6] & 0x20)

    @property
    def ports(self) -> tuple[int, int]:
        return struct.unpack(">HH", self.above[:4])

    @property
    def flags(self) -> int:
        return self.above[13]

    @property
    def ace(self) -> int:
        """The flags AE, CWR and ECE as a number (RFC 9768 §3.2)."""
        return (self.above[12] & 1) << 2 | self.flags >> 6

    @property
    def seq(self) -> int:
        return int.from_bytes(self.above[4:8])

    @property
    def ack(self) -> int:
        return int.from_bytes(self.above[8:12])

    @property
    def payload(self) -> int:
        return self.original - len(self.header)

    @property
    def options(self) -> dict[int, bytes]:
        found, rest = {}, self.above[20:]
        while rest:
            kind, length = rest[0], 1 if rest[0] == 1 else rest[1]
            if kind != 1:
                found[kind] = rest[2:length]
            rest = rest[length:]
        return found

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """What SACK tells."""
        edges = self.options.get(5, b"")
        return [struct.unpack(">II", edges[at : at + 8]) for at in range(0, len(edges), 8)]

    def check(self) -> None:
        """Whether lengths and checksums are right, the payload being zeros."""
        assert self.header[0] == 0x45
        assert int.from_bytes(self.header[2:4]) == self.original >= len(self.header)
        assert _sum(self.header[:20]) == 0xFFFF
        if self.is_tcp:
            assert len(self.above) == 4 * (self.above[12] >> 4)
            assert _sum(self._pseudo(self.original - 20)) == 0xFFFF
        elif self.offset == 0:
            length = int.from_bytes(self.above[4:6])
            assert self.more or length == self.original - 20
            assert _sum(self._pseudo(length)) == 0xFFFF

    def _pseudo(self, length: int) -> bytes:
        return self.header[12:20] + bytes([0, self.header[9]]) + length.to_bytes(4) + self.above


def _sum(data: bytes) -> int:
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def read(path: Path) -> list[Packet]:
    """The packets of a pcapng file, which is looked through on the way."""
    data = path.read_bytes()
    interfaces: list[str] = []
    packets = []
    for kind, body in _blocks(data):
        match kind:
            case 1:
                link_type, _, snap = struct.unpack("<HHI", body[:8])
                assert (link_type, snap) == (101, 80)
                length = int.from_bytes(body[10:12], "little")
                interfaces.append(body[12 : 12 + length].decode())
            case 6:
                interface, high, low, captured, original = struct.unpack("<5I", body[:20])
                flags = body[20 + (captured + 3) // 4 * 4 :]
                assert flags[:4] == struct.pack("<HH", 2, 4)
                header = body[20 : 20 + captured]
                packets.append(Packet(interfaces[interface], high << 32 | low, flags[4] == 2, original, header))
    return packets


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        kind, length = struct.unpack("<II", data[:8])
        assert data[length - 4 : length] == data[4:8]
        yield kind, data[8 : length - 4]
        data = data[length:]


def captured(text: str, path: Path, **options: Any) -> tuple[tl.Run, list[Packet]]:
    run = tl.simulate(tl.loads(text), pcap=path, **options)
    packets = read(path)
    for packet in packets:
        packet.check()
    assert [packet.time_ns for packet in packets] == sorted(packet.time_ns for packet in packets)
    return run, packets


LINUX = """
profile = "linux"
duration = "3 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = { kind = "codel", limit = "50 packets" }, loss = "0.5 %" }
traffic.copy = { kind = "bulk", from = "a", to = "b", bytes = "1000000 B", start = "0.1 s", tcp.ecn = true }
"""
