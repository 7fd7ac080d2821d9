"""Conversations of two ends as captures, step by step, and captures of them as runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import tightlink as tl
from captures import ACK, FIN, PSH, SYN, TCP, UDP, ethernet, ipv4, tcp, udp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from captures import Timed


A, B = "10.0.0.1", "10.0.0.2"
PORTS, BACK = (5000, 80), (80, 5000)
MS = 10**6
DATAGRAM = ipv4(A, B, UDP, udp((2000, 53), 100))


def segments(steps: Iterable[tuple[int, str, bytes]]) -> list[Timed]:
    """Frames of TCP segments, each given with its time in milliseconds and the end that sends it."""
    return [(at * MS, ethernet(ipv4(end, B if end == A else A, TCP, segment))) for at, end, segment in steps]


def conversation() -> list[Timed]:
    """A handshake, three segments of which one is retransmitted, their ACKs, the end."""
    offers = b"\2\4\5\xb4\1\3\3\7\4\2"
    steps = [
        (0, A, tcp(PORTS, 99, 0, SYN, 65535, options=offers)),
        (20, B, tcp(BACK, 499, 100, SYN | ACK, 65535, options=offers)),
        (21, A, tcp(PORTS, 100, 500, ACK, 500)),
        (22, A, tcp(PORTS, 100, 500, ACK, 500, 1000)),
        (23, A, tcp(PORTS, 1100, 500, ACK | PSH, 500, 1000)),
        (43, B, tcp(BACK, 500, 1100, ACK, 400)),
        (343, A, tcp(PORTS, 1100, 500, ACK | PSH, 500, 1000)),
        (363, B, tcp(BACK, 500, 2100, ACK, 400)),
        (364, A, tcp(PORTS, 2100, 500, FIN | ACK, 500)),
        (384, B, tcp(BACK, 500, 2101, FIN | ACK, 400)),
        (385, A, tcp(PORTS, 2101, 501, ACK, 500)),
    ]
    return [(10**18 + time, frame) for time, frame in segments(steps)]


def read(tmp_path: Path, content: bytes, **options: Any) -> tl.Run:
    file = tmp_path / "trace"
    file.write_bytes(content)
    return tl.capture(file, **options)
