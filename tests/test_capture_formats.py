"""Captures as files have them: pcap and pcapng, their versions, sections, interfaces and clocks."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import tightlink as tl
from captures import block, enhanced, ethernet, interface, option, pcap, section
from conversations import DATAGRAM, conversation, read
from tightlink import cli


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nano", [True, False])
def test_pcap_in_all_its_forms(tmp_path: Path, order: str, *, nano: bool) -> None:
    frames = conversation()
    same = read(tmp_path, pcap(frames, order=order, nano=nano))
    assert same.flows.equals(read(tmp_path, pcap(frames)).flows)
    assert same.manifest["format"] == ("pcap, nanoseconds" if nano else "pcap")
    assert same.manifest["began"] == "2001-09-09T01:46:40.000000000Z"


def test_sections_interfaces_and_clocks(tmp_path: Path) -> None:
    """Two sections in either byte order, clocks of microseconds, of 2^-20 s and with an offset."""
    frame = ethernet(DATAGRAM)
    first = section() + interface(option(2, b"lan")) + interface(option(9, b"\x94"), option(2, b"wan"))
    first += enhanced(0, 5 * 10**6, frame) + enhanced(1, 6 << 20, frame, option(4, (3).to_bytes(8, "little")))
    first += block(3, len(frame).to_bytes(4, "little") + frame)
    second = section(">") + interface(option(14, (5).to_bytes(8, "big"), ">"), option(2, b"lan", ">"), order=">")
    second += enhanced(0, 3 * 10**6, frame, order=">")
    old = b"".join(value.to_bytes(length, "big") for value, length in ((0, 2), (7, 2), (0, 4), (9 * 10**6, 4)))
    second += block(2, old + len(frame).to_bytes(4, "big") * 2 + frame, ">")
    run = read(tmp_path, first + second, packets=True)
    assert run.packets["time_s"].to_list() == [0.0, 1.0, 1.0, 3.0, 9.0]
    assert run.links["link"].to_list() == ["lan", "wan", "lan (2)"]
    assert run.links["packets_out"].to_list() == [2, 1, 2]
    assert run.table("interfaces")["capture_drops"].to_list() == [None, 3, 7]
    assert run.warnings == ["the capture itself lost 10 packets: gaps in it are not losses of the network"]


@pytest.mark.parametrize("offset_s", [-(2**63), -(10**10), 2**62])
def test_a_clock_that_cannot_be_that_far_off_is_said(tmp_path: Path, offset_s: int) -> None:
    told = interface(option(14, offset_s.to_bytes(8, "little", signed=True)), option(2, b"wan"))
    frames = b"".join(enhanced(number, number * 10**6, ethernet(DATAGRAM)) for number in (0, 1))
    run = read(tmp_path, section() + told + told + frames, packets=True)
    assert run.packets["time_s"].to_list() == [0.0, 1.0]
    assert run.manifest["began"] == "1970-01-01T00:00:00.000000000Z"
    (said,) = run.warnings
    assert said.startswith(f"the clock of wan is said to be {offset_s} s off")
    assert ", and those of 1 others" in said


def test_of_many_interfaces_the_largest_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file may tell of interfaces without packets, and of any number of them."""
    file = tmp_path / "many.pcapng"
    frames = b"".join(enhanced(number, number, ethernet(DATAGRAM)) for number in (7, 7, 900))
    file.write_bytes(section() + interface() * 1000 + frames)
    assert cli.main(["capture", str(file)]) == 0
    said = capsys.readouterr().out
    assert [line.split()[1] for line in said.splitlines() if line.startswith("interface ")][-2:] == ["7", "900"]
    assert "and 998 interfaces with less or no traffic (-o DIR keeps all)" in said
    assert tl.capture(file).table("interfaces").height == 1000


def test_older_versions_are_read(tmp_path: Path) -> None:
    """Before 2.4 the two lengths of a packet stand in either order; 1.2 of pcapng means 1.0."""
    frames = conversation()
    old = bytearray(pcap(frames, snap=60, version=(2, 2)))
    place = 24
    for _ in frames:
        kept, length = struct.unpack_from("<II", old, place + 8)
        struct.pack_into("<II", old, place + 8, length, kept)
        place += 16 + kept
    now = read(tmp_path, pcap(frames, snap=60))
    assert read(tmp_path, bytes(old)).flows.equals(now.flows)
    assert read(tmp_path, pcap(frames, snap=60, version=(2, 3))).flows.equals(now.flows)
    again = b"".join(enhanced(0, time // 1000, frame) for time, frame in frames)
    assert read(tmp_path, section(version=(1, 2)) + interface() + again).manifest["packets"] == len(frames)


def test_clocks_of_different_ticks_are_no_disorder(tmp_path: Path) -> None:
    """An interface with microseconds beside one with nanoseconds: times differ by what rounding takes."""
    told = section() + interface(option(2, b"us")) + interface(option(2, b"ns"), option(9, b"\x09"))
    times = [n * 10_000 + 900 for n in range(200)]
    blocks = [enhanced(1, t, ethernet(DATAGRAM)) + enhanced(0, t // 1000, ethernet(DATAGRAM)) for t in times]
    assert read(tmp_path, told + b"".join(blocks)).warnings == []
    later = [enhanced(1, t + 2000, ethernet(DATAGRAM)) + enhanced(0, t // 1000, ethernet(DATAGRAM)) for t in times]
    assert "have an earlier time" in read(tmp_path, told + b"".join(later)).warnings[0]
