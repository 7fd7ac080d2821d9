"""What Wireshark's tshark says of captures of simulated packets: nothing is wrong with them, and it counts what the
tables count."""

from __future__ import annotations

import itertools
import struct
import subprocess
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import tightlink as tl
from programs import needs

if TYPE_CHECKING:
    from pathlib import Path

needs_tshark = needs("tshark")

LOSSY: Final = """
profile = "PROFILE"
duration = "3 s"
link.near = { ends = ["a", "r"], rate = "100 Mbit/s", delay = "1 ms" }
link.far = { ends = ["r", "b"], rate = "4 Mbit/s", delay = "20 ms", queue = "15 packets", loss = "0.2 %" }
traffic.copy = { kind = "bulk", flows = 2, from = "a", to = "b", start = ["0 s", "0.3 s"], tcp.recovery = "RECOVERY" }
"""
MARKED: Final = """
profile = "linux"
duration = "3 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = { kind = "threshold", limit = "100 packets", mark = "10 packets" } }
traffic.copy = { kind = "bulk", from = "a", to = "b", tcp = { congestion = "dctcp", ecn = true } }
"""
DATAGRAMS: Final = """
duration = "2 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "20 packets" }
traffic.large = { kind = "cbr", from = "a", to = "b", interval = "10 ms", udp.payload = "4000 B" }
traffic.small = { kind = "cbr", from = "b", to = "a", interval = "7 ms", udp.payload = "1 B" }
traffic.burst = { kind = "on-off", from = "a", to = "b", interval = "2 ms", on = "50 ms", off = "100 ms" }
traffic.film = { kind = "video", from = "a", to = "b", rate = "1 Mbit/s" }
"""
TWO_WAYS: Final = """
profile = "rfc"
duration = "3 s"
link.wire = { ends = ["a", "b"], rate = "4 Mbit/s", delay = "10 ms", queue = "30 packets" }
traffic.there = { kind = "bulk", from = "a", to = "b", bytes = "600 kB" }
traffic.back = { kind = "bulk", from = "b", to = "a", bytes = "600 kB" }
"""
WINDOW: Final = """
profile = "rfc"
duration = "3 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms" }
traffic.copy = { kind = "bulk", from = "a", to = "b", tcp = { window = "10 packets", delayed_acks = false } }
"""
#: What tshark says of traffic as it is: losses, and windows that limit.
TRUE_OF_TCP: Final = (
    "Connection establish",
    "Duplicate ACK",
    "retransmission",
    "out-of-order",
    "Previous segment(s) not captured",
    "window specified by the receiver is now completely full",
    "TCP window update",
)


def lossy(profile: str, recovery: str) -> str:
    return LOSSY.replace("PROFILE", profile).replace("RECOVERY", recovery)


SCENARIOS: Final = {
    "ns2": lossy("ns2", "reno"),
    "ns2 with SACK": lossy("ns2", "sack"),
    "rfc": lossy("rfc", "sack"),
    "linux": lossy("linux", "rack"),
    "marks": MARKED,
    "counted marks": MARKED.replace("true", '"accecn"'),
    "marks counted by an option": MARKED.replace("true", '"accecn", ecn_option = true'),
    "datagrams": DATAGRAMS,
    "two ways": TWO_WAYS,
    "window": WINDOW,
}


def fields(path: Path, *names: str, only: str = "") -> list[list[str]]:
    """What tshark makes of packets."""
    wanted = [option for name in names for option in ("-e", name)]
    options = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    # Each fragment is its own packet.
    options += ["-o", "ip.defragment:FALSE", *(["-Y", only] if only else [])]
    command = ["tshark", "-n", "-r", str(path), *options, "-T", "fields", "-E", "separator=;", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return [line.split(";") for line in done.stdout.splitlines()]


def filled(path: Path, target: Path) -> Path:
    """The same capture with payloads of zeros, so that there is something to sum up."""
    data, parts = path.read_bytes(), []
    parts.append(data[:16] + struct.pack("<I", 65535) + data[20:24])
    at = 24
    while at < len(data):
        seconds, nanoseconds, length, original = struct.unpack("<4I", data[at : at + 16])
        packet = data[at + 16 : at + 16 + length]
        parts += [struct.pack("<4I", seconds, nanoseconds, original, original), packet, bytes(original - length)]
        at += 16 + length
    target.write_bytes(b"".join(parts))
    return target


@needs_tshark
@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_wrong(name: str, tmp_path: Path) -> None:
    scenario = tl.loads(SCENARIOS[name])
    run = tl.simulate(scenario, pcap=tmp_path / "out.pcap")
    tl.simulate(scenario, pcap=tmp_path / "out.pcapng")
    columns = (
        "ip.checksum.status",
        "tcp.checksum.status",
        "udp.checksum.status",
        "_ws.malformed",
        "_ws.expert.message",
    )
    found = fields(filled(tmp_path / "out.pcap", tmp_path / "filled.pcap"), *columns)
    good = "1"
    assert {row[0] for row in found} == {good}
    # A fragment's checksum is that of the whole datagram, which tshark sums up where it puts datagrams together.
    assert {row[1] + row[2] for row in found} <= {good} | ({"", "2"} if name == "datagrams" else set())
    assert {row[3] for row in found} == {""}
    said = {message for row in found for message in row[4].split(",") if message}
    assert all(any(known in message for known in TRUE_OF_TCP) for message in said), said
    short = fields(tmp_path / "out.pcapng", "frame.len", "frame.cap_len", "_ws.expert.message", "frame.interface_name")
    assert [row[2] for row in short] == [row[4] for row in found]
    assert {row[3] for row in short} == {*run.flows["from"]}
    assert max(int(row[1]) for row in short) <= 80


@needs_tshark
def test_datagrams_in_fragments_are_put_together(tmp_path: Path) -> None:
    run = tl.simulate(tl.loads(DATAGRAMS), pcap=tmp_path / "out.pcap", pcap_at=["a"])
    filled(tmp_path / "out.pcap", tmp_path / "filled.pcap")
    command = ["tshark", "-n", "-r", str(tmp_path / "filled.pcap"), "-o", "udp.check_checksum:TRUE"]
    command += ["-Y", "udp.length == 4008", "-T", "fields", "-e", "udp.checksum.status", "-e", "ip.fragment.count"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    whole = [line.split() for line in done.stdout.splitlines()]
    assert {tuple(row) for row in whole} == {("1", "3")}
    assert 3 * len(whole) == run.flows["packets_sent"][0]


@needs_tshark
@pytest.mark.parametrize("name", ["ns2", "ns2 with SACK", "rfc", "linux", "two ways"])
def test_it_counts_what_the_tables_count(name: str, tmp_path: Path) -> None:
    run = tl.simulate(tl.loads(SCENARIOS[name]), pcap=tmp_path / "out.pcapng", trace=True)
    columns = ("tcp.stream", "tcp.srcport", "frame.len", "tcp.flags.syn", "tcp.hdr_len")
    judged = [f"tcp.analysis.{kind}" for kind in ("retransmission", "out_of_order", "duplicate_ack", "window_update")]
    found = fields(tmp_path / "out.pcapng", *columns, *judged)
    repeated = [line for line in found if line[5] or line[6]]
    # It takes an ACK that acknowledges nothing new for a duplicate only if its window is that of the one before.
    duplicates = [line for line in found if line[7] or line[8]]
    for stream, row in enumerate(run.flows.rows(named=True)):
        sent = [line for line in found if int(line[0]) == stream and int(line[1]) >= 61000]
        assert len(sent) == row["packets_sent"]
        header = 20 if name.startswith("ns2") else 32
        syns = sum(int(line[4]) - header for line in sent if line[3] in ("1", "True"))
        assert sum(int(line[2]) for line in sent) - syns == row["bytes_sent"]
        assert sum(int(line[0]) == stream for line in repeated) == row["packets_retransmitted"]
        assert sum(int(line[0]) == stream for line in duplicates) == _duplicates(run, row)


def _duplicates(run: tl.Run, row: dict[str, Any]) -> int:
    """ACKs that came to a sender and told it nothing new, while data was outstanding."""
    acks = run.packets.filter(
        (run.packets["flow"] == row["flow"])
        & (run.packets["type"] == "ack")
        & (run.packets["event"] == "r")
        & (run.packets["to"] == row["from"])
    )["seq"]
    return int((acks.diff() == 0).sum())


@needs_tshark
def test_it_counts_marks_by_their_flags(tmp_path: Path) -> None:
    """RFC 9768 §3.2.2: what ACKs add to the field ACE is what arrived with CE."""
    # What comes last is acknowledged before the end: it ends with its bytes.
    scenario = tl.loads(SCENARIOS["counted marks"]).set("traffic.copy.bytes", "2 MB")
    run = tl.simulate(scenario, pcap=tmp_path / "out.pcapng")
    acks = fields(tmp_path / "out.pcapng", "tcp.flags", only="tcp.srcport == 5201 and tcp.flags.syn == 0")
    told = [5, *(int(flags, 16) >> 6 & 0b111 for (flags,) in acks)]
    counted = sum((after - before) % 8 for before, after in itertools.pairwise(told))
    assert counted == run.flows["packets_marked"][0] > 8


@needs_tshark
def test_it_reads_the_option_that_counts_bytes(tmp_path: Path) -> None:
    """RFC 9768 §3.2.3: r.ceb begins at zero, r.e0b and r.e1b at one; together they count all payload that came."""
    scenario = tl.loads(SCENARIOS["marks counted by an option"]).set("traffic.copy.bytes", "2 MB")
    run = tl.simulate(scenario, pcap=tmp_path / "out.pcapng")
    # Nothing is lost: what is retransmitted has no ECN field to count.
    names = [f"tcp.options.acc_ecn.{name}" for name in ("eceb", "ee0b", "ee1b")]
    acks = fields(tmp_path / "out.pcapng", *names, only="tcp.srcport == 5201")
    marked, ect0, ect1 = (int(value) for value in acks[-1])
    flow = run.flows.row(0, named=True)
    payload = scenario.resolve()["flows"][0]["transport"]["tcp"]["payload_bytes"]
    assert marked == flow["packets_marked"] * payload > 0
    assert marked + ect0 - 1 == (flow["packets_delivered"] - 2) * payload
    assert (ect1, acks[0]) == (1, ["0", "1", "1"])


@needs_tshark
def test_its_round_trip_times_are_ours(tmp_path: Path) -> None:
    run = tl.simulate(tl.loads(WINDOW), pcap=tmp_path / "out.pcapng")
    found = [
        float(row[0])
        for row in fields(
            tmp_path / "out.pcapng", "tcp.analysis.ack_rtt", only="tcp.analysis.ack_rtt and tcp.srcport == 5201"
        )
    ]
    assert sum(found) / len(found) == pytest.approx(run.flows["rtt_mean_s"][0], abs=1e-8)


@needs_tshark
def test_it_sees_that_the_window_is_the_limit(tmp_path: Path) -> None:
    run = tl.simulate(tl.loads(WINDOW), pcap=tmp_path / "out.pcapng")
    assert run.flows["limited_by_receiver_window"][0] > 0.9
    assert len(fields(tmp_path / "out.pcapng", "frame.number", only="tcp.analysis.window_full")) > 100


@needs_tshark
def test_capinfos_finds_every_interface(dumbbell: str, tmp_path: Path) -> None:
    scenario = tl.loads(dumbbell.replace("100,", "20,").replace('"10 s"', '"0.3 s"'))
    run = tl.simulate(scenario, pcap=tmp_path / "out.pcapng")
    done = subprocess.run(["capinfos", str(tmp_path / "out.pcapng")], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    said = dict(line.split(":", 1) for line in done.stdout.splitlines() if ":" in line)
    assert said["File timestamp precision"].strip() == "nanoseconds (9)"
    assert said["Strict time order"].strip() == "True"
    assert said["Number of interfaces in file"].strip() == "20"
    assert said["File encapsulation"].strip() == "Raw IP"
    sent = fields(tmp_path / "out.pcapng", "frame.number", only="tcp.dstport == 5201")
    assert len(sent) == run.flows["packets_sent"].sum()


@needs_tshark
@pytest.mark.parametrize("name", ["ns2", "rfc", "linux", "two ways"])
def test_our_own_reader_says_the_same(name: str, tmp_path: Path) -> None:
    """Flows that begin at 0 have a first round trip, too, on which it hangs what is called out of order."""
    path = tmp_path / "out.pcapng"
    tl.simulate(tl.loads(SCENARIOS[name]), pcap=path)
    kinds = {
        "retransmission": ("retransmission", "fast retransmission", "spurious retransmission"),
        "fast_retransmission": ("fast retransmission",),
        "out_of_order": ("out of order",),
        "duplicate_ack": ("duplicate ack",),
        "window_full": ("window full",),
    }
    findings = tl.capture(path, packets=True).table("findings")
    ours = {
        kind: sorted(findings.filter(pl.col("finding").is_in(words))["uid"].to_list()) for kind, words in kinds.items()
    }
    judged = fields(path, "frame.number", *(f"tcp.analysis.{kind}" for kind in kinds))
    theirs = {kind: [int(line[0]) for line in judged if line[place]] for place, kind in enumerate(kinds, start=1)}
    assert ours == theirs
    assert ours["retransmission"] or name == "two ways"
    (first, *_) = fields(path, "tcp.analysis.initial_rtt", only="tcp.stream == 0 && tcp.analysis.initial_rtt")
    assert float(first[0]) > 0
