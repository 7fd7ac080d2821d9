"""Captures of packets within tunnels: flows are those of the innermost packets, as tshark sees them."""

from __future__ import annotations

import json
import random
import struct
import subprocess
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tightlink as tl
from captures import ethernet, ipv4, ipv6, noise, pcap
from programs import need
from tightlink.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from captures import Timed

A, B = "192.168.0.1", "192.168.0.2"
ETHERNET: Final = 14
TEB: Final = 0x6558


def _gre(kind: int, inner: bytes, flags: int = 0, fields: bytes = b"") -> bytes:
    return ethernet(ipv4(A, B, 47, struct.pack(">HH", flags, kind) + fields + inner))


def _udp(port: int, header: bytes, inner: bytes) -> bytes:
    told = struct.pack(">HHHH", 51_000, port, 8 + len(header) + len(inner), 0)
    return ethernet(ipv4(A, B, 17, told + header + inner))


def _vxlan(frame: bytes, network: int = 5001, port: int = 4789) -> bytes:
    return _udp(port, struct.pack(">II", 8 << 24, network << 8), frame)


def _gtp(frame: bytes, end: int = 0x1234) -> bytes:
    extended = struct.pack(">BBHI", 0x34, 255, len(frame) - ETHERNET + 8, end) + b"\0\0\0\x85\1\x10\1\0"
    return _udp(2152, extended, frame[ETHERNET:])


def _l2tp(frame: bytes, fields: bytes = b"\0\x09\0\x04", flags: int = 0x0002) -> bytes:
    header = struct.pack(">H", flags) + fields + b"\xff\3\0\x21"
    return _udp(1701, header, frame[ETHERNET:])


def _gpe(frame: bytes) -> bytes:
    """A service header within VXLAN-GPE."""
    services = struct.pack(">HBBI", 2, 2, 3, 7 << 8 | 255) + b""
    return _udp(4790, struct.pack(">BHBI", 0x0C, 0, 4, 5001 << 8), services + frame)


def _labelled(behind: bytes) -> bytes:
    """Behind two labels of MPLS and the control word of a pseudowire."""
    return ethernet(b"\0\x10\0\x40" + b"\0\x11\1\x40" + bytes(4) + behind, 0x8847)


#: By name how a frame of Ethernet is one within another that is no tunnel between addresses.
LINKS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "pseudowire": _labelled,
    "backbone bridge": lambda frame: ethernet(struct.pack(">I", 5001) + frame, 0x88E7),
    "service header": lambda frame: ethernet(struct.pack(">HBBI", 2, 2, 3, 7 << 8 | 255) + frame, 0x894F),
}
#: By name of the tunnel how a frame of Ethernet becomes one within it.
TUNNELS: Final[dict[str, Callable[[bytes], bytes]]] = {
    f"ipip {A}-{B}": lambda frame: ethernet(ipv4(A, B, 4, frame[ETHERNET:])),
    "ipip fd00::1-fd00::2": lambda frame: ethernet(ipv6("fd00::1", "fd00::2", 4, frame[ETHERNET:]), 0x86DD),
    f"gre {A}-{B}": lambda frame: _gre(0x0800, frame[ETHERNET:], 0x8000, bytes(4)),
    f"gre {A}-{B} key 7": lambda frame: _gre(0x0800, frame[ETHERNET:], 0x3000, struct.pack(">II", 7, 1)),
    f"gre {A}-{B} key 1280265": lambda frame: _gre(TEB, frame, 0x2000, struct.pack(">I", 5001 << 8 | 9)),
    f"erspan {A}-{B}": lambda frame: _gre(0x88BE, frame),
    f"erspan {A}-{B} session 3": lambda frame: _gre(
        0x88BE, frame, 0x1000, struct.pack(">IHHI", 1, 1 << 12 | 100, 3, 0)
    ),
    f"erspan {A}-{B} session 4": lambda frame: _gre(
        0x22EB, frame, 0x1000, struct.pack(">IHHIHHII", 1, 2 << 12 | 100, 4, 0, 0, 1, 0, 0)
    ),
    "vxlan 5001": _vxlan,
    "geneve 5001": lambda frame: _udp(6081, struct.pack(">BBHI", 2, 0, TEB, 5001 << 8) + b"\0\1\x80\1abcd", frame),
    f"gtp-u 0x1234 to {B}": _gtp,
    f"etherip {A}-{B}": lambda frame: ethernet(ipv4(A, B, 97, b"\x30\0" + frame)),
    f"l2tp 9/4 to {B}": _l2tp,
    f"l2tp 7/5 to {B}": lambda frame: _l2tp(
        frame, struct.pack(">HHHHHH", len(frame) - ETHERNET + 20, 7, 5, 1, 0, 2) + b"\0\0", 0x4A02
    ),
    "vxlan 5001 ": _gpe,
    f"vxlan 7 in ipip {A}-{B}": lambda frame: ethernet(ipv4(A, B, 4, _vxlan(frame, 7)[ETHERNET:])),
}


def _read(tmp_path: Path, frames: list[Timed], *, packets: bool = False) -> tl.Run:
    file = tmp_path / "tunnel.pcap"
    file.write_bytes(pcap(frames))
    return tl.capture(file, packets=packets)


def _without_names(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("label").str.split(" in ").list.first())


@pytest.mark.parametrize("name", TUNNELS)
def test_flows_within_a_tunnel_are_those_without_it(tmp_path: Path, name: str) -> None:
    frames = noise(11, 4, 40)
    plain = _read(tmp_path, frames, packets=True)
    run = _read(tmp_path, [(time, TUNNELS[name](frame)) for time, frame in frames], packets=True)
    for table in ("flows", "connections"):
        assert_frame_equal(_without_names(run.table(table)), plain.table(table), check_exact=True)
    assert_frame_equal(run.table("findings"), plain.table("findings"))
    name = name.strip()
    assert set(run.flows["label"].str.split(" in ").list.slice(1).list.join(" in ")) == {name}
    inner, outer = (int(one.links["bytes_out"].sum()) for one in (plain, run))
    assert run.table("tunnels").rows() == [(name, len(frames), outer, outer - inner)]
    assert run.table("protocols")["bytes"].sum() == outer
    assert run.warnings == plain.warnings == []
    assert "tunnels" not in plain.tables


@pytest.mark.parametrize("name", LINKS)
def test_frames_within_frames_are_looked_into(tmp_path: Path, name: str) -> None:
    frames = noise(11, 4, 40)
    plain = _read(tmp_path, frames)
    run = _read(tmp_path, [(time, LINKS[name](frame)) for time, frame in frames])
    for table in ("flows", "connections"):
        assert_frame_equal(run.table(table), plain.table(table), check_exact=True)
    assert run.warnings == []


def test_packets_of_teredo_are_those_within(tmp_path: Path) -> None:
    """Of IPv6, behind authentication and the address that a server saw, or neither; not what else has the port."""
    frames = []
    for number in range(6):
        segment = struct.pack(">HHIIBBHHH", 5000, 80, 1 + 100 * number, 1, 0x50, 16, 500, 0, 0) + b"x" * 100
        inner = ipv6("2001:0:1::1", "2001:db8::2", 6, segment)
        before = [b"", b"\0\1\0\0" + bytes(9), b"\0\0\1\2\1\2\3\4"][number % 3]
        frames.append((10**18 + number, _udp(3544, before, inner)))
    run = _read(tmp_path, [*frames, (10**18 + 9, _udp(3544, b"", b"\x60hello, this is a query of another protocol"))])
    assert run.flows.filter(run.flows["transport"] == "tcp").select("label", "packets_sent").rows() == [
        ("[2001:0:1::1]:5000-[2001:db8::2]:80 in teredo", 6)
    ]
    assert run.flows.filter(run.flows["transport"] == "udp")["packets_sent"].to_list() == [1]


@pytest.mark.parametrize("name", TUNNELS)
def test_tshark_finds_the_same_within(tmp_path: Path, name: str) -> None:
    need("tshark")
    run = _read(tmp_path, [(time, TUNNELS[name](frame)) for time, frame in noise(12, 3, 40)], packets=True)
    fields = (
        "frame.number",
        "tcp.len",
        "tcp.analysis.duplicate_ack",
        "tcp.analysis.zero_window",
        "tcp.analysis.ack_rtt",
    )
    command = ["tshark", "-n", "-r", str(tmp_path / "tunnel.pcap"), "-Y", "tcp", "-T", "fields"]
    wanted = [part for field in fields for part in ("-e", field)]
    said = subprocess.run([*command, *wanted], capture_output=True, text=True, check=True, timeout=120).stdout
    rows = [line.split("\t") for line in said.splitlines()]
    connections, findings = run.table("connections"), run.table("findings")
    assert connections["payload_bytes"].sum() == sum(int(row[1]) for row in rows)
    for finding, at in (("duplicate ack", 2), ("zero window", 3)):
        found = findings.filter(findings["finding"] == finding)["uid"].to_list()
        assert found == [int(row[0]) for row in rows if row[at]]
        assert found
    rtt = [float(row[4]) for row in rows if row[4]]
    assert connections["rtt_max_s"].max() == pytest.approx(max(rtt), abs=1e-9)


def test_equal_ends_in_different_tunnels_are_told_apart(tmp_path: Path) -> None:
    frames = noise(13, 1, 40)
    both = [(time + 17 * network, _vxlan(frame, network)) for time, frame in frames for network in (1, 2)]
    one, run = _read(tmp_path, frames), _read(tmp_path, sorted(both))
    connections = run.table("connections")
    for network in (1, 2):
        of = connections.filter(connections["label"].str.ends_with(f" in vxlan {network}"))
        assert of["payload_bytes"].to_list() == one.table("connections")["payload_bytes"].to_list()
        assert of["retransmissions"].to_list() == one.table("connections")["retransmissions"].to_list()
    label = connections["label"][0]
    only = tl.capture(tmp_path / "tunnel.pcap", only=label)
    assert set(only.flows["label"].str.split(" in ").list.last()) == {"vxlan 1"}
    assert only.manifest["packets"] == len(frames)
    # Outer addresses are those of the packets within, too.
    assert tl.capture(tmp_path / "tunnel.pcap", only=A).manifest["packets"] == 2 * len(frames)


def test_identifiers_may_differ_by_direction(tmp_path: Path) -> None:
    frames = noise(14, 2, 40)
    ends = {bytes([10, 0, 0, 1]): 1, bytes([10, 0, 0, 2]): 2}
    run = _read(tmp_path, [(time, _gtp(frame, ends[frame[26:30]])) for time, frame in frames])
    plain = _read(tmp_path, frames)
    assert_frame_equal(_without_names(run.table("connections")), plain.table("connections"), check_exact=True)
    names = defaultdict(set)
    for label in run.flows["label"]:
        names[label[:8]].add(label.partition(" in ")[2])
    assert names == {"10.0.0.1": {f"gtp-u 0x1 to {B}"}, "10.0.0.2": {f"gtp-u 0x2 to {B}"}}


def test_packets_of_a_tunnel_in_fragments(tmp_path: Path) -> None:
    frames, apart = noise(15, 2, 40), []
    for number, (time, frame) in enumerate(frames):
        datagram = struct.pack(">HH", 0, 0x0800) + frame[ETHERNET:]
        cut = 72
        parts = [datagram] if len(datagram) <= cut else [datagram[:cut], datagram[cut:]]
        for place, part in enumerate(parts):
            more = 0x2000 if place + 1 < len(parts) else 0
            packet = ipv4(A, B, 47, part, number=number, fragment=more | place * cut // 8)
            apart.append((time + place, ethernet(packet)))
    run, plain = _read(tmp_path, apart), _read(tmp_path, frames)
    connections, expected = run.table("connections"), plain.table("connections")
    for column in ("payload_bytes", "bytes_captured", "retransmissions", "duplicate_acks", "rtt_samples"):
        assert connections[column].to_list() == expected[column].to_list()
    # Those before the last one of each datagram.
    first = run.flows.filter(run.flows["transport"] == "gre")
    assert first["packets_sent"].to_list() == [len(apart) - len(frames)]
    assert "fragments" in str(run.why().to_dict())


def test_headers_of_tunnels_that_were_cut_off_are_said(tmp_path: Path) -> None:
    frames = [(time, _vxlan(frame)) for time, frame in noise(16, 1, 40)]
    header = 20 + 8 + 8 + 14
    for snap, said in (
        (54, "packets of tunnels to look into them: capture 192 bytes"),
        (98, f"segments to look at them: capture {96 + header} bytes"),
    ):
        (tmp_path / "cut.pcap").write_bytes(pcap(frames, snap=snap))
        run = tl.capture(tmp_path / "cut.pcap")
        assert [warning for warning in run.warnings if said in warning], (snap, run.warnings)
    (tmp_path / "cut.pcap").write_bytes(pcap(frames, snap=96 + header))
    assert tl.capture(tmp_path / "cut.pcap").warnings == []


def test_what_is_no_ip_stays_a_packet_of_its_tunnel(tmp_path: Path) -> None:
    frames = [
        _vxlan(ethernet(bytes(46), 0x0806)),
        _udp(4789, bytes(8), b"x" * 60),
        _udp(2152, b"\x32\1" + bytes(10), b""),
    ]
    frames += [_gre(0x0800, b"")]
    run = _read(tmp_path, list(enumerate(frames)))
    assert Counter(run.table("flows")["transport"]) == {"udp": 2, "gre": 1}
    assert "tunnels" not in run.tables
    assert run.warnings == []


def test_tunnels_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(1)
    frames = [(time, _vxlan(frame, rng.choice([3, 4]))) for time, frame in noise(17, 1, 20)]
    _read(tmp_path, frames)
    assert main(["capture", str(tmp_path / "tunnel.pcap"), "--wide"]) == 0
    printed = capsys.readouterr().out
    assert "vxlan 3 " in printed
    assert "headers" in printed
    page = tmp_path / "page.html"
    assert main(["capture", str(tmp_path / "tunnel.pcap"), "--json", "--report", str(page)]) == 0
    told = json.loads(capsys.readouterr().out)["tunnels"]
    assert [row["tunnel"] for row in told] == tl.capture(tmp_path / "tunnel.pcap").table("tunnels")["tunnel"].to_list()
    assert "Tunnels through which packets came" in page.read_text()
