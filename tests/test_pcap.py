"""Captures of simulated packets, read byte by byte: they say what the tables say. What tshark says of them is in
`test_pcap_in_tshark.py`."""

from __future__ import annotations

import hashlib
import itertools
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from tightlink import cli

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


LINUX = """
profile = "linux"
duration = "3 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = { kind = "codel", limit = "50 packets" }, loss = "0.5 %" }
traffic.copy = { kind = "bulk", from = "a", to = "b", bytes = "1000000 B", start = "0.1 s", tcp.ecn = true }
"""


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


def test_marks_are_seen_where_they_arrive(tmp_path: Path) -> None:
    text = (
        LINUX.replace('loss = "0.5 %"', 'loss = "0 %"')
        .replace("1000000 B", "10 MB")
        .replace("limit", "ecn = true, limit")
    )
    run, packets = captured(text, tmp_path / "out.pcapng", pcap_at=["a", "b"])
    sent, arrived = ([p.ecn for p in packets if p.interface == at and p.payload] for at in ("a", "b"))
    # A packet sent for the first time may be marked (RFC 3168 §6.1.5).
    assert (sent.count(2), sent.count(3)) == (len(sent) - run.flows["packets_retransmitted"][0], 0)
    assert arrived.count(3) > 0
    marked = next(p for p in packets if p.ecn == 3)
    echoed = next(p for p in packets if p.flags & ECE and not p.flags & SYN)
    assert (echoed.interface, echoed.time_ns >= marked.time_ns) == ("b", True)
    reduced = next(p for p in packets if p.flags & CWR and p.payload)
    assert reduced.time_ns > echoed.time_ns


def test_accurate_ecn_counts_marks_in_three_flags(tmp_path: Path) -> None:
    text = (
        LINUX.replace('loss = "0.5 %"', 'loss = "0 %"')
        .replace("1000000 B", "10 MB")
        .replace("3 s", "9 s")
        .replace("limit", "ecn = true, limit")
        .replace("tcp.ecn = true", 'tcp.ecn = "accecn"')
    )
    run, packets = captured(text, tmp_path / "out.pcapng", pcap_at=["a", "b"])
    syn, answer, bare = packets[0:5:2]
    # RFC 9768 §3.1.1: all three flags ask; the answer says that the SYN arrived with ECT(0), the third step that the answer
    # was Not-ECT.
    assert [p.ace for p in (syn, answer, bare)] == [0b111, 0b100, 0b010]
    assert [p.ecn for p in (syn, answer, bare)] == [2, 0, 0]
    data = [p for p in packets if p.interface == "a" and p.payload]
    # No ACK is marked, so that the other counter stays where it begins.
    assert {p.ace for p in data} == {5}
    arrived = sum(p.ecn == 3 for p in packets if p.interface == "b" and p.payload)
    told = [5, *(p.ace for p in packets if p.interface == "a" and not p.outbound and not p.flags & SYN)]
    counted = sum((after - before) % 8 for before, after in itertools.pairwise(told))
    assert counted == arrived == run.flows["packets_marked"][0]
    assert counted > 8


def test_a_path_that_bleaches_shows_in_its_captures(tmp_path: Path) -> None:
    text = LINUX.replace("loss", 'ecn = "bleach", loss').replace("tcp.ecn = true", 'tcp.ecn = "accecn"')
    run, packets = captured(text, tmp_path / "out.pcapng", pcap_at=["a", "b"])
    syn, arrived, answer = packets[:3]
    assert (syn.ecn, arrived.ecn, answer.ace) == (2, 0, 0b010)
    assert {p.ecn for p in packets if p.payload} == {0}
    # Not knowing of accurate ECN, ends say ECT although it never arrives.
    _, packets = captured(text.replace('"accecn"', "true"), tmp_path / "classic.pcapng", pcap_at=["a", "b"])
    assert [{p.ecn for p in packets if p.payload and p.interface == at} for at in ("a", "b")] == [{0, 2}, {0}]
    assert run.flows["packets_marked"][0] == 0


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
    assert {p.interface for p in read(tmp_path / "out.pcapng")} == {"sender", "receiver"}
    assert cli.main(["run", str(file), *target]) == 2
    assert "is there already, and nothing is overwritten" in capsys.readouterr().err


@st.composite
def scenarios(draw: st.DrawFn) -> str:
    """A path of some hops with some flows in both directions."""
    profile = draw(st.sampled_from(["ns2", "rfc", "linux"]))
    hops = draw(st.integers(1, 3))
    lines = [f'profile = "{profile}"', 'duration = "2 s"', f"seed = {draw(st.integers(0, 9))}"]
    for hop in range(hops):
        limit = f'"{draw(st.integers(2, 30))} packets"'
        queue = draw(
            st.sampled_from(
                [
                    limit,
                    f'{{ kind = "codel", ecn = true, limit = {limit} }}',
                    f'{{ kind = "fq-codel", ecn = true, limit = {limit} }}',
                ]
            )
        )
        rate, delay = draw(st.integers(1, 9)), draw(st.integers(0, 20))
        loss = draw(st.sampled_from([0, 0, 1, 5]))
        lines.append(
            f'link.hop{hop} = {{ ends = ["n{hop}", "n{hop + 1}"], rate = "{rate} Mbit/s", delay = "{delay} ms", queue = {queue}, loss = "{loss} %" }}'
        )
    for flow in range(draw(st.integers(1, 4))):
        ends = ["n0", f"n{hops}"][:: draw(st.sampled_from([1, -1]))]
        start = f'from = "{ends[0]}", to = "{ends[1]}", start = "{draw(st.integers(0, 500))} ms"'
        match draw(st.sampled_from(["bulk", "bytes", "pulses", "datagrams", "on-off"])):
            case "datagrams":
                size = draw(st.integers(30, 5000))
                lines.append(
                    f'traffic.t{flow} = {{ kind = "cbr", {start}, interval = "17 ms", udp.payload = "{size} B" }}'
                )
            case "on-off":
                lines.append(
                    f'traffic.t{flow} = {{ kind = "on-off", {start}, interval = "5 ms", on = "50 ms", off = "50 ms" }}'
                )
            case kind:
                recovery = draw(
                    st.sampled_from(["tahoe", "reno", "newreno", "sack", *(["rack"] if profile != "ns2" else [])])
                )
                window, payload = draw(st.integers(1, 200)), draw(st.integers(100, 1448))
                ecn = draw(st.sampled_from(["false", "true", *(['"accecn"'] if profile != "ns2" else [])]))
                delayed = draw(st.booleans())
                tcp = f'tcp = {{ recovery = "{recovery}", window = "{window} packets", payload = "{payload} B", ecn = {ecn}, delayed_acks = {str(delayed).lower()} }}'
                what = {
                    "bulk": 'kind = "bulk"',
                    "bytes": 'kind = "bulk", bytes = "50 kB"',
                    "pulses": 'kind = "cbr", interval = "9 ms"',
                }
                lines.append(f"traffic.t{flow} = {{ {what[kind]}, {start}, {tcp} }}")
    return "\n".join(lines)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(scenarios())
def test_captures_of_random_scenarios_say_what_the_tables_say(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("random") / "out.pcapng"
    nodes = [node["name"] for node in tl.loads(text).resolve()["nodes"]]
    run, packets = captured(text, path, pcap_at=nodes, trace=True)
    hops = len(nodes) - 1
    for packet in packets:
        # The nodes stand in a row.
        place = abs(nodes.index(packet.interface) - packet.source)
        assert packet.outbound == (place == 0)
        assert packet.ttl == 64 - max(0, place - 1)
        assert abs(packet.source - packet.destination) == hops
    trace = run.packets
    for name in nodes:
        here = [p for p in packets if p.interface == name]
        assert (
            sum(not p.outbound for p in here) == trace.filter((pl.col("event") == "r") & (pl.col("to") == name)).height
        )
        sent = run.flows.filter(pl.col("from") == name)
        data = [p for p in here if p.outbound and (not p.is_tcp or p.ports[0] >= 61000)]
        assert len(data) == sent["packets_sent"].sum()
        if "ns2" not in text:
            # A SYN has more options than the engine counts bytes for.
            syns = sum(len(p.above) - 32 for p in data if p.is_tcp and p.flags & SYN)
            assert sum(p.original for p in data) - syns == sent["bytes_sent"].sum()
        assert len({p.header[4:6] for p in here if p.outbound and not p.offset}) == sum(
            not p.offset for p in here if p.outbound
        )
    for row, flow in zip(run.flows.rows(named=True), tl.loads(text).resolve()["flows"], strict=True):
        if row["transport"] == "tcp":
            _check_connection(row, packets, nodes, 61000 + _place(run, row), flow)


def _place(run: tl.Run, row: dict[str, Any]) -> int:
    """The place of a flow among those that begin at its node."""
    return run.flows.filter((pl.col("from") == row["from"]) & (pl.col("flow") < row["flow"])).height


def _check_connection(
    row: dict[str, Any], packets: list[Packet], nodes: list[str], port: int, flow: dict[str, Any]
) -> None:
    host = nodes.index(row["from"])
    at_host = [p for p in packets if p.is_tcp and p.interface == row["from"]]
    sent = [p for p in at_host if p.outbound and (p.source, p.ports[0]) == (host, port)]
    acks = [p for p in at_host if not p.outbound and (p.destination, p.ports[1]) == (host, port)]
    if not sent:
        return
    assert sent[0].flags & SYN
    highest, again = 0, 0
    for packet in sent:
        end = packet.seq + packet.payload + bool(packet.flags & SYN)
        # The bare third step of a handshake takes no number.
        again += end <= highest and end > packet.seq
        highest = max(highest, end)
    assert again == row["packets_retransmitted"]
    assert [p.ack for p in acks] == sorted(p.ack for p in acks)
    for ack in acks:
        assert 1 <= ack.ack <= highest
        blocks = list(ack.blocks)
        if flow["transport"]["tcp"]["recovery"] == "rack" and blocks and blocks[0][1] <= ack.ack:
            # What came twice, first and below the ACK (RFC 2883 §4).
            left, right = blocks.pop(0)
            assert 1 <= left < right
        assert all(ack.ack < left < right <= highest for left, right in blocks)
    at_receiver = [p for p in packets if p.is_tcp and p.interface == row["to"]]
    answers = [p.ack for p in at_receiver if p.outbound and (p.destination, p.ports[1]) == (host, port)]
    payload = row["goodput_bps"] * (min(row["stop_s"], 2) - row["start_s"]) / 8 if row["goodput_bps"] else 0
    if not flow["transport"]["tcp"]["delayed_ack_s"] and answers:
        # ns-2's last packet is as large as the others; what the application did not offer is not counted.
        through = min(max(answers) - 1, flow["traffic"].get("bytes") or max(answers))
        assert through == pytest.approx(payload, abs=0.5)
