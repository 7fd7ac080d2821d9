"""Captures of simulated packets, read byte by byte: they say what the tables say. What tshark says of them is in
`test_pcap_in_tshark.py`."""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from tightlink import cli
from written_captures import ACK, CWR, ECE, LINUX, SYN, Packet, captured, read

if TYPE_CHECKING:
    from pathlib import Path


def test_the_first_packets_of_a_flow(one_flow: str, tmp_path: Path) -> None:
    _, packets = captured(one_flow, tmp_path / "out.pcapng")
    syn, answer, data, more, ack = packets[:5]
    assert [(p.interface, p.outbound, p.time_ns) for p in (syn, answer, data, more)] == [
        ("sender", True, 100_000_000),
        ("sender", False, 120_320_000),
        ("sender", True, 120_320_000),
        ("sender", True, 120_320_000),
    ]
    assert [p.flags for p in packets[:5]] == [SYN, SYN | ACK, ACK, ACK, ACK]
    assert [(p.seq, p.ack, p.payload) for p in packets[:5]] == [
        (0, 0, 0),
        (0, 1, 0),
        (1, 1, 1000),
        (1001, 1, 1000),
        (1, 1001, 0),
    ]
    # ns-2's agents have no options; the SYN says how large segments are.
    assert [p.options for p in packets[:3]] == [{2: b"\x03\xe8"}, {2: b"\x03\xe8"}, {}]
    assert {int.from_bytes(p.above[14:16]) for p in packets} == {20_000}
    assert (syn.source, syn.destination, syn.ports) == (0, 1, (61000, 5201))
    assert (ack.source, ack.destination, ack.ports) == (1, 0, (5201, 61000))


def test_options_of_a_linux_host(tmp_path: Path) -> None:
    _, packets = captured(LINUX, tmp_path / "out.pcapng")
    syn, answer, bare = packets[:3]
    # 3 MiB in units of 64 B; the clock shows milliseconds and begins with 1.
    assert syn.options == {2: b"\x05\xb4", 3: b"\x06", 4: b"", 8: struct.pack(">II", 101, 0)}
    assert answer.options == {**syn.options, 8: struct.pack(">II", 111, 101)}
    assert bare.options == {8: struct.pack(">II", 121, 111)}
    assert (bare.flags, bare.payload) == (ACK, 0)
    window = int.from_bytes(bare.above[14:16]) << 6
    assert 0 <= window - 3 * 2**20 // 1448 * 1448 < 64
    data = [p for p in packets if p.outbound and p.payload]
    # The last segment has what is left of the bytes.
    assert max(p.seq + p.payload for p in data) == 1_000_001
    assert {p.ecn for p in packets if not p.payload} == {0}
    assert [p.flags & (SYN | ECE | CWR) for p in (syn, answer, bare)] == [SYN | ECE | CWR, SYN | ECE, 0]
    assert any(p.blocks for p in packets)


FRAGMENTS = """
duration = "1 s"
link.first = { ends = ["a", "r"], rate = "100 Mbit/s", delay = "1 ms" }
link.second = { ends = ["r", "b"], rate = "10 Mbit/s", delay = "1 ms" }
traffic.blocks = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "4000 B" }
traffic.small = { kind = "cbr", from = "a", to = "b", interval = "30 ms", udp.payload = "4000 B" }
"""


def test_fragments_have_their_places(tmp_path: Path) -> None:
    run, packets = captured(FRAGMENTS, tmp_path / "out.pcapng")
    pieces: dict[bytes, list[Packet]] = {}
    for packet in packets:
        pieces.setdefault(packet.header[4:6], []).append(packet)
    assert {tuple((p.offset, p.more, p.original) for p in piece) for piece in pieces.values()} == {
        ((0, True, 1500), (1480, True, 1500), (2960, False, 1068))
    }
    assert {piece[0].ports for piece in pieces.values()} == {(61000, 5201), (61001, 5201)}
    assert len(packets) == run.flows["packets_sent"].sum()


def test_fragments_of_too_large_datagrams(tmp_path: Path) -> None:
    """Datagrams of ns-2 have no headers: with those of a capture they would not fit into IP's 16 bits."""
    text = """
profile = "ns2"
duration = "1 s"
link.wire = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "10 ms", mtu = "1500 B" }
traffic.blocks = { kind = "cbr", from = "a", to = "b", interval = "300 ms", udp.payload = "65516 B" }
"""
    with pytest.raises(tl.ScenarioError, match=r'traffic.blocks.udp.payload = "65516 B": expected at most 65515 B'):
        captured(text, tmp_path / "out.pcapng")
    assert not list(tmp_path.iterdir())
    _, packets = captured(text.replace("65516", "65515"), tmp_path / "out.pcapng")
    assert max(packet.offset + packet.original for packet in packets) == 65_535
    # Without fragments they fit: the headers are part of them.
    _, packets = captured(text.replace("65516", "65535").replace(', mtu = "1500 B"', ""), tmp_path / "whole.pcapng")
    assert {packet.original for packet in packets} == {65_535}


def test_copies_that_a_link_makes_are_captured(tmp_path: Path) -> None:
    """As many packets arrive in the capture as the last link has delivered: copies have the headers of what they are copies of."""
    run, packets = captured(
        """\
duration = "1 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms", queue = "100 packets", duplicate = 0.2 }
link.next = { ends = ["b", "c"], rate = "10 Mbit/s", delay = "5 ms", queue = "100 packets" }
traffic.calls = { kind = "cbr", from = "a", to = "c", rate = "1 Mbit/s" }
""",
        tmp_path / "copies.pcapng",
        pcap_at=["c"],
    )
    sent, arrived = run.flows["packets_sent"][0], run.links.filter(pl.col("link") == "next")["packets_out"][0]
    assert len(packets) == arrived > sent
    assert {packet.destination for packet in packets} == {2}


def test_places_of_capture(tmp_path: Path) -> None:
    _, packets = captured(FRAGMENTS, tmp_path / "out.pcapng", pcap_at=["b", "r", "a"])
    assert {(p.interface, p.outbound, p.ttl) for p in packets} == {("a", True, 64), ("r", False, 64), ("b", False, 63)}
    times = [next(p.time_ns for p in packets if p.interface == at) for at in ("a", "r", "b")]
    # 1500 B at 100 Mbit/s and 1 ms, then at 10 Mbit/s and 1 ms.
    assert times == [1, 1_120_000, 3_320_000]


PROCESSORS = """
profile = "rfc"
duration = "2 s"
link.lan_a = { ends = ["sender", "router_a"], rate = "100 Mbit/s", delay = "5 us", queue = "100 packets", flow_control = true }
link.serial = { ends = ["router_a", "router_b"], rate = "2 Mbit/s", delay = "1 ms", framing.overhead = "7 B" }
link.lan_b = { ends = ["router_b", "receiver"], rate = "100 Mbit/s", delay = "5 us" }
node.sender.processor = { per_packet = "20 us", input_ring = "20 packets" }
node.router_a.processor = { per_packet = "187 us", input_ring = "10 packets", output_ring = "5 packets" }
node.receiver.processor = { per_packet = "50 us", input_ring = "64 packets", receive = true }
traffic.probe = { kind = "cbr", from = "sender", to = "receiver", interval = "300 us", udp.datagram = "65 B" }
traffic.copy = { kind = "bulk", from = "sender", to = "receiver" }
"""


def test_processors_and_gates_on_the_way(tmp_path: Path) -> None:
    nodes = ["sender", "router_a", "router_b", "receiver"]
    run, packets = captured(PROCESSORS, tmp_path / "out.pcapng", pcap_at=nodes, trace=True)
    arrived = run.packets.filter(pl.col("event") == "r").group_by("to").len()
    assert dict(arrived.rows()) == {name: sum(not p.outbound for p in packets if p.interface == name) for name in nodes}
    sent = [p for p in packets if p.interface == "sender" and p.outbound]
    # Before the processor of the host, which may refuse some.
    assert len(sent) == run.flows["packets_sent"].sum()
    assert run.flows["packets_dropped"].sum() > 0
    datagrams = [p for p in sent if not p.is_tcp]
    assert [p.time_ns for p in datagrams[:3]] == [1, 300_000, 600_000]


def test_groups_of_nodes_are_places(dumbbell: str, tmp_path: Path) -> None:
    text = dumbbell.replace("100,", "12,").replace('"10 s"', '"0.2 s"')
    _, packets = captured(text, tmp_path / "out.pcapng", pcap_at=["net.right[*]"])
    assert {p.interface for p in packets} == {f"net.right[{pair}]" for pair in range(12)}
    with pytest.raises(tl.ScenarioError, match=r'pcap_at = "net.middle\[\*\]": expected one of'):
        tl.simulate(tl.loads(text), pcap=tmp_path / "no.pcapng", pcap_at=["net.middle[*]"])


def test_the_same_bytes_for_the_same_scenario(mixed: str, tmp_path: Path) -> None:
    def digest(name: str, **options: Any) -> str:
        tl.simulate(tl.loads(mixed), pcap=tmp_path / name, **options)
        return hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()

    first = digest("a.pcapng")
    assert first == digest("b.pcapng", trace=True, tr=tmp_path / "out.tr")
    assert first != digest("c.pcapng", seed=8)


def test_nothing_changes_when_packets_are_captured(mixed: str, tmp_path: Path) -> None:
    plain, watched = tl.simulate(tl.loads(mixed)), tl.simulate(tl.loads(mixed), pcap=tmp_path / "out.pcap")
    assert plain.manifest["digest"] == watched.manifest["digest"]


def test_a_pcap_has_the_same_packets(mixed: str, tmp_path: Path) -> None:
    _, packets = captured(mixed, tmp_path / "out.pcapng")
    tl.simulate(tl.loads(mixed), pcap=tmp_path / "out.pcap")
    data = (tmp_path / "out.pcap").read_bytes()
    assert struct.unpack("<IHHIIII", data[:24]) == (0xA1B23C4D, 2, 4, 0, 0, 80, 101)
    rest, found = data[24:], []
    while rest:
        seconds, nanoseconds, length, original = struct.unpack("<4I", rest[:16])
        found.append((seconds * 10**9 + nanoseconds, original, rest[16 : 16 + length]))
        rest = rest[16 + length :]
    assert found == [(p.time_ns, p.original, p.header) for p in packets]


def test_what_cannot_be_captured(
    one_flow: str, small_users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tl.loads(one_flow)
    with pytest.raises(tl.ScenarioError, match="the packets of users are not recorded one by one"):
        tl.simulate(tl.loads(small_users), pcap=tmp_path / "out.pcap")
    with pytest.raises(tl.TightlinkError, match=r"out.cap: expected a name that ends in .pcapng or .pcap"):
        tl.simulate(scenario, pcap=tmp_path / "out.cap")
    with pytest.raises(tl.TightlinkError, match=r'^pcap_at = \["sender"\]: expected a file for pcap beside it$'):
        tl.simulate(scenario, pcap_at=["sender"])
    with pytest.raises(tl.TightlinkError, match=r'pcap_at = "sendr".*did you mean sender'):
        tl.simulate(scenario, pcap=tmp_path / "out.pcap", pcap_at=["sendr"])
    letters: Any = "sender"  # Each is no node, or it may be one.
    with pytest.raises(tl.TightlinkError, match=r"^pcap_at = \"sender\": expected a list, such as \['sender'\]$"):
        tl.simulate(scenario, pcap=tmp_path / "out.pcap", pcap_at=letters)
    assert list(tmp_path.iterdir()) == []
    file = tmp_path / "flow.toml"
    file.write_text(one_flow)
    assert cli.main(["run", str(file), "--pcap-at", "sender"]) == 2
    assert '--pcap-at = "sender": expected --pcap FILE.pcapng beside it' in capsys.readouterr().err
    target = ["--pcap", str(tmp_path / "out.pcapng"), "--pcap-at", "sender,receiver"]
    assert cli.main(["run", str(file), *target]) == 0
    assert f"wrote {target[1]}" in capsys.readouterr().err
    assert {p.interface for p in read(tmp_path / "out.pcapng")} == {"sender", "receiver"}
    assert cli.main(["run", str(file), *target]) == 2
    assert "is there already, and nothing is overwritten" in capsys.readouterr().err
