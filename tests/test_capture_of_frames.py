"""Frames of captures: links of many kinds, what carries no IP, headers cut off, fragments."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from captures import UDP, enhanced, ethernet, interface, ipv4, ipv6, pcap, section, udp
from conversations import DATAGRAM, A, B, read


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


def test_frames_that_may_carry_flows_and_are_not_read_are_said(tmp_path: Path) -> None:
    label = struct.pack(">I", (17 << 12) | 0x100 | 64)
    wires = [ethernet(label + ethernet(DATAGRAM), 0x8847), ethernet(bytes(4) + DATAGRAM, 0x894F)]
    run = read(tmp_path, pcap(list(enumerate([*wires, ethernet(bytes(600), 0x0806)]))))
    assert [warning.partition(",")[0] for warning in run.warnings] == ["frames of mpls", "frames of type 0x894f"]
    few = [(n, ethernet(ipv4(A, B, UDP, udp((2000, 53), 1400)))) for n in range(9)]
    assert read(tmp_path, pcap([*few, (9, wires[1])])).warnings == []
