"""Captures as runs: formats, links, flows, what is damaged, what is said."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from captures import (
    ACK,
    FIN,
    PSH,
    RST,
    SYN,
    TCP,
    UDP,
    block,
    enhanced,
    ethernet,
    interface,
    ipv4,
    ipv6,
    noise,
    option,
    pcap,
    pcapng,
    section,
    tcp,
    udp,
)
from tightlink import _core, cli, console
from tightlink.report import captures, run_report
from tightlink.report.blocks import Chart
from tightlink.tables import TABLES

if TYPE_CHECKING:
    from captures import Timed

A, B = "10.0.0.1", "10.0.0.2"
PORTS, BACK = (5000, 80), (80, 5000)
MS = 10**6
DATAGRAM = ipv4(A, B, UDP, udp((2000, 53), 100))


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
    ends = {A: B, B: A}
    return [(10**18 + at * MS, ethernet(ipv4(end, ends[end], TCP, segment))) for at, end, segment in steps]


def read(tmp_path: Path, content: bytes, **options: Any) -> tl.Run:
    file = tmp_path / "trace"
    file.write_bytes(content)
    return tl.capture(file, **options)


def test_a_conversation(tmp_path: Path) -> None:
    run = read(tmp_path, pcap(conversation()))
    flow = run.flows.row(0, named=True)
    assert run.flows.height == 1
    expected = {
        "label": "10.0.0.1:5000-10.0.0.2:80", "from": A, "to": B, "transport": "tcp", "start_s": 0.0,
        "packets_sent": 5, "packets_retransmitted": 1, "bytes_sent": 40 + 12 + 3 * 1040 + 40, "timeouts": None,
        "packets_dropped": None, "congestion": None, "packets_marked": 0,
    }  # fmt: skip
    assert {name: flow[name] for name in expected} == expected
    assert flow["stop_s"] == pytest.approx(0.364)
    assert flow["goodput_bps"] == pytest.approx(2000 * 8 / 0.364)
    one = run.table("connections").row(0, named=True)
    expected = {
        "state": "complete", "packets_captured": 7, "data_packets": 3, "payload_bytes": 3000, "delivered_bytes": 2000,
        "retransmissions": 1, "fast_retransmissions": 0, "out_of_order": 0, "acks": 4, "duplicate_acks": 0,
        "window_max_bytes": 65535, "in_flight_max_bytes": 2000, "mss_bytes": 1460,
        "options": "sack, window scale 128", "rtt_samples": 4,
    }  # fmt: skip
    assert {name: one[name] for name in expected} == expected
    assert one["initial_rtt_s"] == pytest.approx(0.021)
    # tshark's rule: the ACK of what was sent twice counts from the first time.
    assert (one["rtt_min_s"], one["rtt_max_s"]) == pytest.approx((0.020, 0.340))
    assert one["rtt_median_s"] == pytest.approx(0.0205, rel=0.03)
    assert one["rtt_mean_s"] == pytest.approx((0.020 + 0.021 + 0.340 + 0.020) / 4)
    # Karn's rule, as of simulated transports: that one does not count.
    assert flow["rtt_mean_s"] == pytest.approx((0.020 + 0.021 + 0.020) / 3)
    assert run.warnings == []


def test_all_tables_have_their_columns(tmp_path: Path) -> None:
    run = read(tmp_path, pcap(noise(1, 3)), packets=True)
    assert run.tables == [name for name in TABLES if name in run.tables]
    assert {"flows", "links", "series", "packets", "connections", "findings"} < set(run.tables)
    for name in run.tables:
        assert run.table(name).columns == [column.name for column in TABLES[name]]
    saved = tl.open_run(run.save(tmp_path / "saved"))
    for name in run.tables:
        assert saved.table(name).equals(run.table(name))
    assert saved.manifest == run.manifest


def test_totals_agree(tmp_path: Path) -> None:
    run = read(tmp_path, pcapng(noise(2)), interval="100 ms", packets=True)
    frames = noise(2)
    link = run.links.row(0, named=True)
    size = sum(len(frame) - 14 for _, frame in frames)
    assert (link["link"], link["packets_out"], link["bytes_out"]) == ("eth0", len(frames), size)
    assert run.table("interfaces")["frame_bytes"].to_list() == [size + 14 * len(frames)]
    assert run.table("protocols").rows() == [("tcp", len(frames), size, 1.0, run.flows.height)]
    sizes = run.table("packet_sizes")
    assert (sizes["packets"].sum(), (sizes["packets"] * sizes["size_bytes"]).sum()) == (len(frames), size)
    series = run.series.filter((run.series["entity"] == "tcp") & (run.series["metric"] == "throughput_bps"))
    assert sum(series["value"].to_list()) * 0.1 / 8 == pytest.approx(size)
    assert series["time_s"].diff().drop_nulls().to_list() == pytest.approx([0.1] * (series.height - 1))
    assert run.packets["uid"].to_list() == list(range(1, len(frames) + 1))
    assert run.packets["size_bytes"].sum() == size


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


def test_links_of_many_kinds(tmp_path: Path) -> None:
    six = ipv6("fe80::1", "fe80::2", UDP, udp((2000, 53), 100))
    tagged = ethernet(DATAGRAM, tags=(0x88A8, 0x8100))
    wifi = b"\0" * 40
    framed = {
        1: tagged, 0: b"\2\0\0\0" + DATAGRAM, 108: b"\0\0\0\2" + DATAGRAM, 101: DATAGRAM, 228: DATAGRAM, 229: six,
        113: bytes(14) + b"\x08\0" + DATAGRAM, 276: b"\x08\0" + bytes(18) + DATAGRAM, 105: wifi,
        9: b"\0\x21" + DATAGRAM, 50: b"\xff\3\x21" + DATAGRAM, 204: b"\0\xff\3\0\x21" + DATAGRAM,
        104: b"\x0f\0\x08\0" + DATAGRAM,
    }  # fmt: skip
    told = b"".join(interface(link=link) for link in framed)
    content = section() + told + b"".join(enhanced(n, n, frame) for n, frame in enumerate(framed.values()))
    run = read(tmp_path, content)
    assert run.flows.select("label", "packets_sent", "bytes_sent").rows() == [
        ("10.0.0.1:2000-10.0.0.2:53", 11, 11 * 128),
        ("[fe80::1]:2000-[fe80::2]:53", 1, 156),
    ]
    assert run.table("protocols")["protocol"].to_list() == ["udp", "802.11"]
    assert run.warnings == ["headers of 802.11 frames are not read: their packets are counted, and are in no flow"]


def test_what_ppp_negotiates_is_no_flow(tmp_path: Path) -> None:
    frames = [(0, b"\xff\3\xc0\x21" + bytes(20)), (1, b"\x80\x21" + bytes(20))]
    run = read(tmp_path, pcap(frames, link=9))
    assert run.table("protocols").select("protocol", "packets", "flows").rows() == [("ppp control", 2, 0)]
    assert run.warnings == []


def test_a_capture_without_packets(tmp_path: Path) -> None:
    run = read(tmp_path, pcap([]), packets=True)
    assert run.warnings == ["the capture holds no packets"]
    assert {name: run.table(name).height for name in run.tables} == dict.fromkeys(run.tables, 0) | {
        "links": 1, "interfaces": 1
    }  # fmt: skip
    assert "0 packets" in run_report(run.save(tmp_path / "run")).read_text()
    with pytest.raises(tl.TightlinkError, match="this run has no table nodes: a capture does not tell it"):
        _ = run.nodes
    with pytest.raises(tl.TightlinkError, match=r"no table packets: .* of a capture, packets=True"):
        _ = tl.capture(tmp_path / "trace").packets


@pytest.mark.parametrize(("snap", "count"), [(10, 2), (14, 2), (33, 2), (34, 0)])
def test_headers_that_were_cut_off_are_said(tmp_path: Path, snap: int, count: int) -> None:
    run = read(tmp_path, pcap([(n, ethernet(DATAGRAM)) for n in range(2)], snap=snap))
    said = f"link or IP headers of {count} packets are cut off or make no sense: counted as unreadable, and in no flow"
    assert [warning.partition(";")[0] for warning in run.warnings] == [said] * (count > 0)
    assert run.flows.height == (0 if count else 1)


def test_frames_of_a_pseudowire_have_the_name_of_its_labels(tmp_path: Path) -> None:
    """With a control word they are looked into, without one nothing says what they are."""
    label = struct.pack(">I", (17 << 12) | 0x100 | 64)
    frames = [
        ethernet(label + packet, 0x8847) for packet in (DATAGRAM, bytes(4) + ethernet(DATAGRAM), ethernet(DATAGRAM))
    ]
    run = read(tmp_path, pcap(list(enumerate(frames))))
    assert run.table("protocols").select("protocol", "packets", "flows").rows() == [("udp", 2, 1), ("mpls", 1, 0)]


def test_what_is_not_ip_has_a_name(tmp_path: Path) -> None:
    frames = [ethernet(bytes(40), 0x0806), ethernet(bytes(40), 38), ethernet(bytes(40), 0x88CC), ethernet(b"", 0x0800)]
    frames.append(ethernet(ipv4(A, B, 47, bytes(8))))
    run = read(tmp_path, pcap([(n, frame) for n, frame in enumerate(frames)]))
    assert run.table("protocols")["protocol"].to_list() == ["arp", "llc", "lldp", "unreadable", "gre"]
    assert run.flows["label"].to_list() == ["10.0.0.1-10.0.0.2"]


def test_fragments_belong_to_the_flow_of_their_datagram(tmp_path: Path) -> None:
    whole = udp((2000, 53), 3000)
    parts = [(whole[:1480], 0x2000), (whole[1480:2960], 0x2000 | 185), (whole[2960:], 370)]
    packets = [ipv4(A, B, UDP, part, number=7, fragment=place) for part, place in parts]
    # The last two are each packet twice, as on a mirror port.
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 0, 1, 1, 2, 2], [0, 1, 2, 0, 1, 2]):
        run = read(tmp_path, pcap([(n, ethernet(packets[place])) for n, place in enumerate(order)]))
        assert run.flows.select("label", "packets_sent", "bytes_sent").rows() == [
            ("10.0.0.1:2000-10.0.0.2:53", len(order), sum(len(packets[place]) for place in order))
        ]
        assert run.manifest["incomplete_datagrams"] == 0


def test_a_short_file_whose_compression_is_cut_is_read_up_to_there(tmp_path: Path) -> None:
    frames = [(n * MS, ethernet(ipv4(A, B, UDP, udp((2000, 53), 100 + n)))) for n in range(40)]
    run = read(tmp_path, gzip.compress(pcap(frames))[:-100])
    assert 0 < run.flows["packets_sent"].sum() < 40
    assert "its compression is damaged" in " ".join(run.warnings)


def test_snap_length(tmp_path: Path) -> None:
    frames = noise(3)
    cut, whole = read(tmp_path, pcap(frames, snap=54)), read(tmp_path, pcap(frames))
    # Only options of SYN lie behind that.
    assert cut.flows.drop("goodput_bps").equals(whole.flows.drop("goodput_bps"))
    assert cut.table("interfaces")["packets_cut"][0] == sum(len(frame) > 54 for _, frame in frames)
    addresses = read(tmp_path, pcap(frames, snap=40))
    assert "too little was kept of" in addresses.warnings[0]
    # What was not looked at was not seen to be retransmitted, nor not to be.
    assert addresses.flows["packets_retransmitted"].null_count() == addresses.flows.height
    assert cut.flows["packets_retransmitted"].null_count() == 0


def test_sequence_numbers_wrap_around(tmp_path: Path) -> None:
    seq = 2**32 - 2500
    frames = [(n * MS, ethernet(ipv4(A, B, TCP, tcp(PORTS, seq + 1000 * n, 1, ACK, 500, 1000)))) for n in range(6)]
    frames.append((20 * MS, ethernet(ipv4(B, A, TCP, tcp(BACK, 1, seq + 6000, ACK, 500)))))
    one = read(tmp_path, pcap(frames)).table("connections").row(0, named=True)
    assert (one["delivered_bytes"], one["retransmissions"], one["lost_segments"]) == (6000, 0, 0)
    assert (one["rtt_samples"], one["state"]) == (1, "partial")


@pytest.mark.parametrize(
    ("flags", "state"),
    [([SYN], "unanswered"), ([SYN, RST | ACK], "refused"), ([SYN, SYN | ACK], "open"), ([ACK], "partial")],
)
def test_states_of_connections(tmp_path: Path, flags: list[int], state: str) -> None:
    ends = [(A, B, PORTS), (B, A, BACK)]
    frames = [
        (n, ethernet(ipv4(*ends[n][:2], TCP, tcp(ends[n][2], 10, 11, flag, 500)))) for n, flag in enumerate(flags)
    ]
    assert read(tmp_path, pcap(frames)).table("connections")["state"].to_list() == [state]


def test_compressed_and_from_standard_input(tmp_path: Path) -> None:
    content = pcapng(noise(4))
    plain, packed = read(tmp_path, content), read(tmp_path, gzip.compress(content))
    assert packed.flows.equals(plain.flows)
    assert packed.manifest["compressed"]
    assert packed.manifest["identity"] != plain.manifest["identity"]
    command = [sys.executable, "-m", "tightlink", "capture", "-", "--json"]
    done = subprocess.run(command, input=gzip.compress(content), capture_output=True, check=True, timeout=60)
    printed = json.loads(done.stdout)
    assert printed["flows"] == plain.flows.to_dicts()
    assert printed["manifest"]["file"] == "standard input"


def test_bounded_memory(tmp_path: Path) -> None:
    """Few connections at a time: what was quiet is concluded, the largest are listed."""
    frames = [(n * MS, ethernet(ipv4(A, B, UDP, udp((1000 + n % 50, 53), 100 + n % 50)))) for n in range(500)]
    (tmp_path / "many").write_bytes(pcap(frames))
    found = _core.capture(str(tmp_path / "many"), interval_ns=10**9, limits=(8, 5))
    facts = json.loads(found.manifest())
    assert (facts["listed"], facts["packets"]) == (5, 500)
    assert facts["concluded"] >= 400
    assert facts["connections"] > 400
    assert set(found.table("flows")["bytes_sent"]) == {177.0}
    assert sum(found.table("protocols")["packets"]) == 500


def test_the_same_capture_again_is_there_already(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, folder = tmp_path / "a.pcap", str(tmp_path / "run")
    file.write_bytes(pcap(conversation()))
    assert cli.main(["capture", str(file), "-o", folder]) == 0
    out = capsys.readouterr().out
    why, _, tables = out.partition("\n\n")
    assert why.startswith("10.0.0.1:5000-10.0.0.2:80: likely nothing gets through 82 % of the time, 300 ms")
    assert tables.splitlines()[1].split()[:3] == ["10.0.0.1:5000-10.0.0.2:80", "tcp", "complete"]
    assert cli.main(["capture", str(file), "-o", folder]) == 0
    assert cli.main(["capture", str(file), "-o", folder, "--interval", "10 ms"]) == console.WRONG
    assert "there is another capture; choose another folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty; expected a capture (pcap or pcapng) or a trace of ns-2"),
        (
            b"#!/bin/sh\n",
            "expected a capture (pcap or pcapng) or a trace of ns-2, and its first bytes are those of none",
        ),
        (b"\x04\x22\x4d\x180000", "this is compressed with lz4: unpack it first"),
        (pcap([])[:20], "at byte 0: the file ends within its header of 24 bytes"),
        (pcap(conversation())[:50], "at byte 24: the file ends within a packet"),
        (section()[:8] + b"abcd" + section()[12:], "at byte 0: a section of which the byte order cannot be told"),
        (section() + enhanced(0, 1, b"x"), "at byte 28: a packet of an interface that is not there"),
        (section() + b"\6\0\0\0\xff\xff\xff\xff" + bytes(20), "at byte 28: a block of 4294967295 bytes"),
        *(
            (
                pcap(conversation(), order=order, version=version),
                f"at byte 4: version {version[0]}.{version[1]} of pcap,",
            )
            for order in "<>"
            for version in [(1, 4), (2, 5), (3, 0), (0, 0), (65535, 65535)]
        ),
        *(
            (
                section(order, version) + interface(order=order),
                f"at byte 12: version {version[0]}.{version[1]} of pcapng,",
            )
            for order in "<>"
            for version in [(0, 1), (1, 1), (1, 3), (2, 0)]
        ),
    ],
)
def test_what_is_no_capture(tmp_path: Path, content: bytes, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad").write_bytes(content)
    assert cli.main(["capture", str(tmp_path / "bad")]) == console.WRONG
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


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


def test_a_later_section_of_another_version_is_damage(tmp_path: Path) -> None:
    whole = section() + interface() + enhanced(0, 1, ethernet(b""))
    run = read(tmp_path, whole + section(version=(7, 0)))
    assert run.warnings[0].startswith(f"damaged at byte {len(whole) + 12}: version 7.0 of pcapng")


def test_everything_up_to_the_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = pcap(conversation())
    (tmp_path / "cut").write_bytes(content[:-10])
    assert cli.main(["capture", str(tmp_path / "cut")]) == 3
    said = f"damaged at byte {len(content) - 70}: the file ends within a packet; the tables hold the 10 packets before"
    assert said in capsys.readouterr().err
    packed = gzip.compress(pcap(noise(5)))
    run = read(tmp_path, packed[: len(packed) // 2])
    assert run.warnings[0].startswith("damaged at byte ")
    assert "of what was unpacked: its compression is damaged" in run.warnings[0]
    assert run.links["packets_out"][0] > 10


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--only", "10.0.0.1:x"],
            '--only = "10.0.0.1:x": expected an address, a port or a flow, such as "10.0.0.1", ":443"',
        ),
        (["--only", ":9"], '--only = ":9": expected packets of'),
        (["--interval", "0 s"], '--interval = "0 s": expected a time above zero'),
        (["--interval", "1 Mbit"], "--interval"),
        (["--packets"], "--packets = true: expected --output beside it"),
    ],
)
def test_wrong_options(tmp_path: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").write_bytes(pcap(conversation()))
    assert cli.main(["capture", str(tmp_path / "a"), *options]) == console.WRONG
    assert said in capsys.readouterr().err


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["capture", str(tmp_path / "none")]) == console.WRONG
    assert cli.main(["capture", str(tmp_path)]) == console.WRONG
    assert "no such file or directory" in (error := capsys.readouterr().err)
    assert "and it is a folder" in error


@pytest.mark.fuzz
def test_random_damage(tmp_path: Path) -> None:
    """Tables or a sentence, whatever the bytes are."""
    rounds = int(os.environ.get("TIGHTLINK_FUZZ", "2000")) // 4
    rng = random.Random(rounds)
    frames = conversation() + noise(6, 2, 10)
    fragments = [
        (n, ethernet(ipv4(A, B, UDP, bytes(64), number=n % 3, fragment=rng.randrange(1 << 14)))) for n in range(30)
    ]
    seeds = [
        pcap(frames),
        pcapng(frames),
        pcap(frames, order=">", nano=False),
        pcap(fragments),
        gzip.compress(pcap(frames)),
    ]
    seeds.append(
        section() + interface(link=276) + enhanced(0, 1, b"\x86\xdd" + bytes(18) + ipv6("::1", "::2", 6, b"x" * 40))
    )
    file = tmp_path / "fuzz"
    outcomes = {"run": 0, "error": 0}
    for _ in range(rounds):
        content = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 8)):
            at = rng.randrange(len(content))
            match rng.randrange(4):
                case 0:
                    content[at] = rng.randrange(256)
                case 1:
                    content[at : at + 4] = rng.choice(
                        [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\1\0"]
                    )
                case 2:
                    del content[at : at + rng.randrange(40)]
                    content += b"\0"
                case _:
                    content[at:at] = content[: rng.randrange(80)]
        file.write_bytes(content)
        try:
            run = tl.capture(file, packets=True)
            outcomes["run"] += 1
            assert run.links["packets_out"].sum() == run.packets.height == run.manifest["packets"]
        except tl.TightlinkError as error:
            outcomes["error"] += 1
            assert str(error).startswith(f"{file}: ")
    assert min(outcomes.values()) > rounds // 100


def test_report(tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    file.write_bytes(pcapng(noise(8)))
    shown = tmp_path / "shown.html"
    written = ["-o", str(tmp_path / "run"), "--report", str(shown)]
    assert cli.main(["capture", str(file), "--interval", "100 ms", *written]) == 0
    for page in (run_report(tmp_path / "run").read_text(), shown.read_text()):
        for title in ("Why is it slow?", "Flows", "Protocols", "Sizes of packets", "Interfaces"):
            assert f">{title}<" in page
        assert "its receiver closed its window" in page
        assert "how long nothing was in flight" in page
        # Whoever gets the page by mail sees of which capture it is.
        assert f"{file}: " in page


def test_a_report_of_one(tmp_path: Path) -> None:
    """Words are singular where there is one; axes of rates begin at zero, however little they vary."""
    frames = [(n * MS, ethernet(ipv4(A, B, UDP, udp((2000, 53), 1000)))) for n in range(3000)]
    (tmp_path / "a").write_bytes(pcap(frames))
    run = tl.capture(tmp_path / "a", interval="100 ms")
    assert captures.lead(run).endswith(": 1 connection, 1 flow.")
    (section,) = (section for section in captures.sections(run) if section.title == "Protocols")
    charts = [block.chart.to_dict() for block in section.blocks if isinstance(block, Chart)]
    assert len(charts) == 1
    for chart in charts:
        low, high = chart["encoding"]["y"]["scale"]["domain"]
        assert low == 0
        assert 8.224 < high < 10


def test_a_line_of_few_points_says_how_to_get_more(tmp_path: Path) -> None:
    frames = [(n * MS, ethernet(ipv4(A, B, UDP, udp((2000, 53), 1000)))) for n in range(3000)]
    (tmp_path / "a").write_bytes(pcap(frames))
    sections = captures.sections(tl.capture(tmp_path / "a"))
    (chart,) = (
        block for each in sections if each.title == "Protocols" for block in each.blocks if isinstance(block, Chart)
    )
    assert (
        chart.caption == 'Throughput of each interval of 1 s. For a finer line, read the file with --interval "100 ms".'
    )


def test_what_deserves_a_look(tmp_path: Path) -> None:
    """A window of 10,000 bytes, filled; round trips of 100 ms; one segment in ten retransmitted."""
    frames: list[Timed] = []
    for turn in range(100):
        for place in range(10):
            seq = 100 + 1000 * (10 * turn + place)
            frames.append((turn * 100 * MS + place * MS, ethernet(ipv4(A, B, TCP, tcp(PORTS, seq, 1, ACK, 500, 1000)))))
        ack = 100 + 10_000 * (turn + 1)
        again = tcp(PORTS, ack - 5000, 1, ACK, 500, 1000)
        frames.append((turn * 100 * MS + 50 * MS, ethernet(ipv4(A, B, TCP, again))))
        frames.append((turn * 100 * MS + 99 * MS, ethernet(ipv4(B, A, TCP, tcp(BACK, 1, ack, ACK, 10_000)))))
    (one,) = read(tmp_path, pcap(frames)).why().diagnoses
    assert one.flows == ("10.0.0.1:5000-10.0.0.2:80",)
    assert one.answer == (
        "likely the receiver's window of 10000 bytes is full, at most 889 kbit/s at round trips of 90 ms; the "
        "handshake was not captured, and the window may be a multiple of that; losses keep the window small (9.1 % of "
        "the segments are retransmitted): random loss, a short queue or a policer, or drops that keep the queue of a "
        "full link short (CoDel), or a queue that never empties, which a capture does not tell apart."
    )


def test_options_that_were_cut_are_unknown(tmp_path: Path) -> None:
    """A snap length may end before a window's scale: the window is then no less than its header says, as tshark has it."""
    option = b"\2\4\5\xb4\1\3\3\7"
    frames = [
        (0, ethernet(ipv4(A, B, TCP, tcp(PORTS, 99, 0, SYN, 500, options=option)))),
        (MS, ethernet(ipv4(B, A, TCP, tcp(BACK, 499, 100, SYN | ACK, 500, options=option)))),
        (2 * MS, ethernet(ipv4(A, B, TCP, tcp(PORTS, 100, 500, ACK, 500, 500)))),
        (3 * MS, ethernet(ipv4(B, A, TCP, tcp(BACK, 500, 600, ACK, 500)))),
    ]
    whole, cut = (read(tmp_path, pcap(frames, snap=snap)).table("connections") for snap in (62, 56))
    assert (whole["options"][0], whole["window_max_bytes"][0]) == ("window scale 128", 500 * 128)
    assert (cut["options"][0], cut["window_max_bytes"][0], cut["window_full"][0]) == ("", 500, 0)


def test_a_file_out_of_the_order_of_time_is_said(tmp_path: Path) -> None:
    frames = noise(5)
    assert read(tmp_path, pcap(sorted(frames))).warnings == []
    pairs = [frames[at : at + 2][::-1] for at in range(0, len(frames), 2)]
    (warning,) = read(tmp_path, pcap([frame for pair in pairs for frame in pair])).warnings
    assert f"of {len(frames)} packets have an earlier time than the one before them" in warning
    assert "reordercap" in warning


def test_options_that_were_cut_off_are_said(tmp_path: Path) -> None:
    """A SYN of Linux is 74 bytes long; half of its options are behind byte 64."""
    frames = conversation()
    (warning,) = read(tmp_path, pcap(frames, snap=54)).warnings
    assert (
        warning == "options of SYNs of a connection were cut off, and windows are not known: capture 96 bytes of each"
    )
    assert read(tmp_path, pcap(frames, snap=96)).warnings == []


def test_a_clock_that_went_back_is_said(tmp_path: Path) -> None:
    def warned(*times: int) -> list[str]:
        packet = ethernet(ipv4(A, B, UDP, udp((5000, 53), 100)))
        return list(read(tmp_path, pcap([(10**18 + time * MS, packet) for time in times])).manifest["warnings"])

    assert warned(0, 20, 10, 30) == []
    (warning,) = warned(0, 9000, 10, 20)
    assert (
        warning == "the clock of the capture went back by 8.99 s: times, durations and rates around that are not right"
    )


def test_what_a_sender_waits_for(tmp_path: Path) -> None:
    """Nothing in flight, or no room for another segment in the window, until the sender sends again."""
    said = [
        (0, A, tcp(PORTS, 99, 0, SYN, 3000, options=b"\2\4\3\xe8")),
        (20, B, tcp(BACK, 499, 100, SYN | ACK, 3000, options=b"\2\4\3\xe8")),
        (20, A, tcp(PORTS, 100, 500, ACK, 3000)),
        (30, A, tcp(PORTS, 100, 500, ACK, 3000, 1000)),
        (50, B, tcp(BACK, 500, 1100, ACK, 3000)),
        # After 150 ms of silence, and 10 ms behind the handshake, it fills the window but for 500 bytes.
        (200, A, tcp(PORTS, 1100, 500, ACK, 3000, 1000)),
        (201, A, tcp(PORTS, 2100, 500, ACK, 3000, 1000)),
        (202, A, tcp(PORTS, 3100, 500, ACK, 3000, 500)),
        (220, B, tcp(BACK, 500, 2100, ACK, 3000)),
        (222, B, tcp(BACK, 500, 3600, ACK, 3000)),
        (322, A, tcp(PORTS, 3600, 500, FIN | ACK, 3000)),
    ]
    frames = [(time * MS, ethernet(ipv4(end, B if end == A else A, TCP, segment))) for time, end, segment in said]
    (one,) = read(tmp_path, pcap(frames)).table("connections").iter_rows(named=True)
    found = one["idle_s"], one["idle_beyond_rtt_s"], one["window_limited_s"]
    assert found == pytest.approx((0.26, 0.21, 0.018))


def test_data_in_a_syn_are_in_flight(tmp_path: Path) -> None:
    """TCP Fast Open (RFC 7413)."""
    said = [
        (0, A, tcp(PORTS, 99, 0, SYN, 3000, 500)),
        (40, B, tcp(BACK, 499, 600, SYN | ACK, 3000)),
        (40, A, tcp(PORTS, 600, 500, FIN | ACK, 3000)),
    ]
    frames = [(time * MS, ethernet(ipv4(end, B if end == A else A, TCP, segment))) for time, end, segment in said]
    run = read(tmp_path, pcap(frames))
    assert run.table("connections").select("payload_bytes", "delivered_bytes", "in_flight_max_bytes").rows() == [
        (500, 500, 500)
    ]
    assert "at most 500 bytes are in flight" in run.why().sentence


_FILLED = [
    (0, A, tcp(PORTS, 99, 0, SYN, 3000, options=b"\2\4\3\xe8")),
    (20, B, tcp(BACK, 499, 100, SYN | ACK, 2000, options=b"\2\4\3\xe8")),
    (20, A, tcp(PORTS, 100, 500, ACK, 3000)),
    (30, A, tcp(PORTS, 100, 500, ACK, 3000, 1000)),
]
_PROBES = [step for time in (300, 700, 1500) for step in (
    (time, A, tcp(PORTS, 1099, 500, ACK, 3000)), (time + 20, B, tcp(BACK, 500, 1100, ACK, 0)),
)]  # fmt: skip


@pytest.mark.parametrize(
    ("after", "first", "idle_s", "window_limited_s"),
    [
        # From the handshake to its data 10 ms pass. The window closes, and what follows are probes of it and their answers; also where the scale is not known.
        ([(50, B, tcp(BACK, 500, 1100, ACK, 0)), *_PROBES], 0, 0.01, 1.47),
        ([(50, B, tcp(BACK, 500, 1100, ACK, 0)), *_PROBES], 3, 0.0, 1.47),
        # It is full, and nobody acknowledges what is retransmitted.
        ([(time, A, tcp(PORTS, 1100, 500, ACK, 3000, 1000)) for time in (31, 400, 1031)], 0, 0.01, 1.0),
        # Everything was delivered: keep-alives, or the other end's FIN, make that no pause.
        ([(50, B, tcp(BACK, 500, 1100, ACK, 2000)), (900, A, tcp(PORTS, 1099, 500, ACK, 3000))], 0, 0.01, 0.0),
        ([(50, B, tcp(BACK, 500, 1100, ACK, 2000)), (900, B, tcp(BACK, 500, 1100, FIN | ACK, 2000))], 0, 0.01, 0.0),
        # After its FIN a sender waits for no window.
        (
            [(40, A, tcp(PORTS, 1100, 500, FIN | ACK, 3000)), (60, B, tcp(BACK, 500, 1101, ACK, 0)),
             (900, B, tcp(BACK, 500, 1101, FIN | ACK, 0))],
            0, 0.01, 0.0,
        ),
    ],
)  # fmt: skip
def test_what_a_sender_waits_for_at_the_end(
    tmp_path: Path, after: list[tuple[int, str, bytes]], first: int, idle_s: float, window_limited_s: float
) -> None:
    steps = [*_FILLED, *after][first:]
    frames = [(time * MS, ethernet(ipv4(end, B if end == A else A, TCP, segment))) for time, end, segment in steps]
    (one,) = read(tmp_path, pcap(frames)).table("connections").iter_rows(named=True)
    assert (one["idle_s"], one["window_limited_s"]) == pytest.approx((idle_s, window_limited_s))


def test_what_is_sent_again_within_a_round_trip(tmp_path: Path) -> None:
    """At the sender it is retransmitted; behind the loss it is new. tshark calls both out of order."""
    offers = [(0, A, tcp(PORTS, 99, 0, SYN, 500)), (20, B, tcp(BACK, 499, 100, SYN | ACK, 500))]
    offers.append((21, A, tcp(PORTS, 100, 500, ACK, 500)))
    first = [(30 + n, A, tcp(PORTS, 100 + 1000 * n, 500, ACK, 500, 1000)) for n in range(4)]
    again = (40, A, tcp(PORTS, 1100, 500, ACK, 500, 1000))
    ends = {A: B, B: A}
    for steps, retransmitted in (([*offers, *first, again], 1), ([*offers, first[0], *first[2:], again], 0)):
        frames = [(at * MS, ethernet(ipv4(end, ends[end], TCP, segment))) for at, end, segment in steps]
        run = read(tmp_path, pcap(frames))
        assert run.flows["packets_retransmitted"].to_list() == [retransmitted]
        assert run.table("connections")["out_of_order"].to_list() == [1]


LOSSY = """
profile = "linux"
duration = "20 s"
[node]
sender = {{}}
receiver = {{}}
[link.there]
ends = ["sender", "receiver"]
rate = "20 Mbit/s"
delay = "35 ms"
queue = "5000 packets"
{link}
[traffic.upload]
kind = "bulk"
from = "sender"
to = "receiver"
"""


def _at_both_ends(link: str, tmp_path: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The rows of a flow as simulated, and captured at the sender and at the receiver."""
    rows = []
    for place in ("sender", "receiver"):
        file = tmp_path / f"{place}.pcapng"
        run = tl.simulate(tl.loads(LOSSY.format(link=link)), pcap=file, pcap_at=[place])
        rows.append(tl.capture(file).flows.row(0, named=True))
    return run.flows.row(0, named=True), rows[0], rows[1]


def test_what_was_lost_before_the_capture_counts_as_retransmitted(tmp_path: Path) -> None:
    simulated, sender, receiver = _at_both_ends("loss = 0.005", tmp_path)
    lost = simulated["packets_retransmitted"]
    assert lost > 20
    assert sender["packets_retransmitted"] == lost
    # One may be on its way at the end, and the retransmission of a retransmission fills one gap.
    assert lost - 3 <= receiver["packets_retransmitted"] <= lost


@pytest.mark.parametrize(
    ("delay", "loss"),
    [
        ("5 ms", ""),
        # Later than half a round trip: timestamps tell.
        ("50 ms", ""),
        ("50 ms", "loss = 0.005"),
        # Later than what was retransmitted for it.
        ("100 ms", ""),
    ],
)
def test_what_was_overtaken_does_not(tmp_path: Path, delay: str, loss: str) -> None:
    link = f'reorder = {{ probability = "1 %", delay = "{delay}" }}\n{loss}'
    simulated, sender, receiver = _at_both_ends(link, tmp_path)
    assert (simulated["packets_dropped"] > 20) == bool(loss)
    assert sender["packets_retransmitted"] == simulated["packets_retransmitted"]
    # The retransmission of a retransmission fills one gap.
    packets = tl.simulate(tl.loads(LOSSY.format(link=link)), trace=True).packets.filter(type="tcp")
    first = packets.group_by("seq").agg(pl.col("uid").min())["uid"]
    lost_again = packets.filter(pl.col("event") == "d", ~pl.col("uid").is_in(first.implode())).height
    assert receiver["packets_retransmitted"] == simulated["packets_retransmitted"] - lost_again


def test_frames_that_may_carry_flows_and_are_not_read_are_said(tmp_path: Path) -> None:
    label = struct.pack(">I", (17 << 12) | 0x100 | 64)
    wires = [ethernet(label + ethernet(DATAGRAM), 0x8847), ethernet(bytes(4) + DATAGRAM, 0x894F)]
    run = read(tmp_path, pcap(list(enumerate([*wires, ethernet(bytes(600), 0x0806)]))))
    assert [warning.partition(",")[0] for warning in run.warnings] == ["frames of mpls", "frames of type 0x894f"]
    few = [(n, ethernet(ipv4(A, B, UDP, udp((2000, 53), 1400)))) for n in range(9)]
    assert read(tmp_path, pcap([*few, (9, wires[1])])).warnings == []


def test_clocks_of_different_ticks_are_no_disorder(tmp_path: Path) -> None:
    """An interface with microseconds beside one with nanoseconds: times differ by what rounding takes."""
    told = section() + interface(option(2, b"us")) + interface(option(2, b"ns"), option(9, b"\x09"))
    times = [n * 10_000 + 900 for n in range(200)]
    blocks = [enhanced(1, t, ethernet(DATAGRAM)) + enhanced(0, t // 1000, ethernet(DATAGRAM)) for t in times]
    assert read(tmp_path, told + b"".join(blocks)).warnings == []
    later = [enhanced(1, t + 2000, ethernet(DATAGRAM)) + enhanced(0, t // 1000, ethernet(DATAGRAM)) for t in times]
    assert "have an earlier time" in read(tmp_path, told + b"".join(later)).warnings[0]


def _zstd(content: bytes) -> bytes:
    """A frame of blocks that are not compressed, with a window of 2 MiB (RFC 8878 §3.1.1)."""
    size = 1 << 16
    parts = [content[at : at + size] for at in range(0, len(content), size)]
    heads = [(len(part) << 3 | (at == len(parts) - 1)).to_bytes(3, "little") for at, part in enumerate(parts)]
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(head + part for head, part in zip(heads, parts, strict=True))


@pytest.mark.parametrize("ending", ["xz", "zst"])
def test_other_compressions_that_are_cut_are_read_up_to_there(tmp_path: Path, ending: str) -> None:
    rng = random.Random(5)
    frames = [(n * MS, ethernet(ipv4(A, B, UDP, udp((2000, 53), 0)[:8] + rng.randbytes(1400)))) for n in range(400)]
    file = tmp_path / f"cut.{ending}"
    packed = lzma.compress(pcap(frames)) if ending == "xz" else _zstd(pcap(frames))
    file.write_bytes(packed[: len(packed) * 3 // 4])
    run = tl.capture(file)
    assert 200 <= run.flows["packets_sent"].sum() <= 300
    assert "its compression is damaged: the file ends within it" in " ".join(run.warnings)


def test_one_direction_alone_is_said(tmp_path: Path) -> None:
    there = [(n * MS, ethernet(ipv4(A, B, TCP, tcp((4000, 80), 100, 500 + 1000 * n, ACK, 500)))) for n in range(20)]
    assert "one direction alone" in read(tmp_path, pcap(there)).why().sentence
