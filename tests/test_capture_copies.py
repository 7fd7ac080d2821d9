"""Packets that a capture has more than once: on a trunk, at two interfaces, by a mirror port, on both sides of a NAT."""

from __future__ import annotations

import random
import socket
import struct
from typing import TYPE_CHECKING, Final

import pytest
from polars.testing import assert_frame_equal

import captures
import tightlink as tl
from captures import ACK, PSH, SYN, TCP, ethernet, ipv4, tcp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from captures import Timed

_A, _B, _OUTSIDE = "10.0.0.1", "192.0.2.9", "203.0.113.7"
_BEGAN: Final = 10**18
_ETHERNET: Final = 14


def _conversation(port: int = 5000) -> list[Timed]:
    """A transfer of 300 segments over 20 ms, each hundredth of which is lost and retransmitted; packets have numbers."""
    rng = random.Random(port)
    time, number, own, other = _BEGAN + port, port, rng.randrange(2**32), rng.randrange(2**32)
    frames: list[Timed] = []

    def send(seq: int, ack: int, flags: int, payload: int = 0, *, back: bool = False) -> None:
        nonlocal number
        number += 1
        ports = (443, port) if back else (port, 443)
        ends = (_B, _A) if back else (_A, _B)
        # Linux answers a SYN with a packet without a number.
        told = 0 if flags == SYN | ACK else number
        packet = ipv4(*ends, TCP, tcp(ports, seq, ack, flags, 60_000, payload), number=told)
        frames.append((time, ethernet(packet)))

    send(own, 0, SYN)
    time += 20_000_000
    send(other, own + 1, SYN | ACK, back=True)
    own, other = own + 1, other + 1
    send(own, other, ACK)
    for segment in range(300):
        lost = segment % 100 == 50
        send(own, other, ACK | PSH, 1000)
        time += 20_000_000
        if lost:
            time += 200_000_000
            send(own, other, ACK | PSH, 1000)
            time += 20_000_000
        own += 1000
        send(other, own, ACK, back=True)
        time += 1_000_000
    return frames


def _routed(frame: bytes, vlan: int | None = None) -> bytes:
    """A frame behind a router, which has taken one off the time to live."""
    packet = bytearray(frame[_ETHERNET:])
    packet[8] -= 1
    return _tagged(ethernet(bytes(packet)), vlan)


def _tagged(frame: bytes, vlan: int | None) -> bytes:
    tag = b"" if vlan is None else struct.pack(">HH", 0x8100, vlan)
    return frame[:12] + tag + frame[12:]


def _translated(frame: bytes, address: str = _OUTSIDE, port: int = 61_000) -> bytes:
    routed = bytearray(_routed(frame))
    at = _ETHERNET
    outward = bytes(routed[at + 12 : at + 16]) == socket.inet_aton(_A)
    place, ports = (at + 12, at + 20) if outward else (at + 16, at + 22)
    routed[place : place + 4] = socket.inet_aton(address)
    routed[ports : ports + 2] = struct.pack(">H", port)
    return bytes(routed)


def _read(tmp_path: Path, frames: list[Timed]) -> tl.Run:
    file = tmp_path / "capture.pcap"
    file.write_bytes(captures.pcap(sorted(frames, key=lambda frame: frame[0])))
    return tl.capture(file, packets=True)


def _mirrored(frames: list[Timed]) -> list[Timed]:
    return [*frames, *((time + 2000, frame) for time, frame in frames)]


def _trunk(frames: list[Timed]) -> list[Timed]:
    return [
        *((time, _tagged(frame, 10)) for time, frame in frames),
        *((time + 50_000, _routed(frame, 20)) for time, frame in frames),
    ]


def _bridged(frames: list[Timed]) -> list[Timed]:
    """Two VLANs without a router."""
    return [(time + 900 * vlan, _tagged(frame, vlan)) for time, frame in frames for vlan in (1, 2)]


@pytest.mark.parametrize("twice", [_mirrored, _trunk, _bridged])
def test_copies_count_once(tmp_path: Path, twice: Callable[[list[Timed]], list[Timed]]) -> None:
    frames = _conversation()
    plain, run = _read(tmp_path, frames), _read(tmp_path, twice(frames))
    left_out = ["copies", "ack_copy_delay_s"]
    same = [name for name in plain.table("connections").columns if name not in left_out]
    assert_frame_equal(run.table("connections").select(same), plain.table("connections").select(same), rel_tol=0.01)
    assert_frame_equal(run.flows.drop("start_s", "stop_s"), plain.flows.drop("start_s", "stop_s"), rel_tol=0.01)
    assert run.flows["packets_retransmitted"].to_list() == [3]
    assert run.table("connections")["copies"].to_list() == run.table("connections")["packets_captured"].to_list()
    findings = run.table("findings")["finding"].to_list()
    assert findings.count("copy") == len(frames)
    # The link carried all of them.
    assert run.table("protocols")["packets"].to_list() == [2 * len(frames)]
    assert "packets are copies of others" in run.warnings[0]
    assert "each packet was captured twice" in run.why().sentence
    assert plain.warnings == []


def test_copies_of_some_packets_are_no_losses(tmp_path: Path) -> None:
    frames = _conversation()
    some = [(time + 50_000, _routed(frame, 20)) for time, frame in frames[::3]]
    run = _read(tmp_path, [*((time, _tagged(frame, 10)) for time, frame in frames), *some])
    assert run.flows["packets_retransmitted"].to_list() == [3]
    assert "of its packets were captured twice" in run.why().sentence


def test_both_sides_of_a_translation_are_said(tmp_path: Path) -> None:
    inside = [frame for port in (5000, 5001) for frame in _conversation(port)]
    outside = [
        (time + 30_000, _translated(frame, port=61_000 + port))
        for port in (0, 1)
        for time, frame in _conversation(5000 + port)
    ]
    run = _read(tmp_path, inside + outside)
    connections = run.table("connections")
    assert [label.partition(":")[0] for label in connections["label"]] == [_A, _A, _OUTSIDE, _OUTSIDE]
    assert connections["same_packets_as"].to_list() == [None, None, 0, 1]
    assert connections["copies"].to_list() == [0] * 4
    assert run.warnings == [
        f"2 connections have the same packets as another one, on both sides of an address translation (NAT) or of a "
        f"tunnel (same_packets_as): {len(outside)} packets count twice, in flows and in all totals"
    ]
    why = run.why()
    assert len(why.diagnoses) == 1
    assert len(why.diagnoses[0].flows) == 4
    assert "the same packets on both sides of an address translation (NAT)" in why.sentence
    one = run.why(f"{_OUTSIDE}:61000-{_B}:443")
    assert "the same packets on both sides of an address translation (NAT)" in one.sentence


def test_within_a_tunnel_and_without_it_is_said(tmp_path: Path) -> None:
    frames = _conversation()
    within = [
        (time + 30_000, ethernet(ipv4("192.0.2.1", "192.0.2.2", 4, _routed(frame)[_ETHERNET:])))
        for time, frame in frames
    ]
    run = _read(tmp_path, frames + within)
    assert run.table("connections")["same_packets_as"].to_list() == [None, 0]
    assert "the same packets within a tunnel and without it" in run.why().sentence


def test_connections_with_the_same_numbers_are_two(tmp_path: Path) -> None:
    """As generators of traffic make them: other packets, in which routers have left as much of the time to live."""
    frames = _conversation()
    other = []
    for time, frame in frames:
        changed = bytearray(_translated(frame))
        changed[_ETHERNET + 8] += 1
        number = struct.unpack(">H", changed[_ETHERNET + 4 : _ETHERNET + 6])[0] + 7000
        changed[_ETHERNET + 4 : _ETHERNET + 6] = struct.pack(">H", number)
        other.append((time + 30_000, bytes(changed)))
    run = _read(tmp_path, frames + other)
    assert run.table("connections")["same_packets_as"].to_list() == [None, None]
    assert run.warnings == []
