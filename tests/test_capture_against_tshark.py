"""tshark reads the same captures: every flag of every packet, every count, every round-trip time is the same.

Captures are made by code, and, where the machine lets us, of real traffic on its own loopback interface.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

import polars as pl
import pytest

import tightlink as tl
from captures import ACK, FIN, PSH, RST, SYN, TCP, ethernet, ipv4, noise, pcapng, tcp
from programs import need, needs

if TYPE_CHECKING:
    from pathlib import Path

    from captures import Timed

#: What tshark calls a finding, and what we call it.
_FLAGS: Final = {
    "retransmission": "retransmission",
    "fast_retransmission": "fast retransmission",
    "spurious_retransmission": "spurious retransmission",
    "out_of_order": "out of order",
    "lost_segment": "lost segment",
    "ack_lost_segment": "acked unseen segment",
    "duplicate_ack": "duplicate ack",
    "zero_window": "zero window",
    "zero_window_probe": "zero window probe",
    "zero_window_probe_ack": "zero window probe ack",
    "window_update": "window update",
    "window_full": "window full",
    "keep_alive": "keep-alive",
    "keep_alive_ack": "keep-alive ack",
    "reused_ports": "ports reused",
}
_FIELDS: Final = (
    *("frame.number", "tcp.stream", "ip.src", "tcp.srcport", "ip.len", "tcp.len", "tcp.analysis.ack_rtt"),
    *("tcp.analysis.acks_frame", "tcp.analysis.initial_rtt", "tcp.completeness"),
    *(f"tcp.analysis.{flag}" for flag in _FLAGS),
)
#: The definitions are those of this version; later ones see more in selective acknowledgments.
_VERSION: Final = "4.0."

pytestmark = needs("tshark")


def _tshark(file: Path, *, twice: bool = True) -> list[dict[str, str]]:
    """The fields of each TCP segment."""
    wanted = [part for field in _FIELDS for part in ("-e", field)]
    settings = ["-o", "tcp.desegment_tcp_streams:FALSE", "-o", "ip.defragment:TRUE"]
    # Twice over: only then is the completeness of a connection known at its first packet.
    command = [
        "tshark",
        *(["-2"] if twice else []),
        "-n",
        "-r",
        str(file),
        "-Y",
        "tcp",
        "-T",
        "fields",
        *settings,
        *wanted,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [dict(zip(_FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


def _same_rules() -> None:
    version = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True, timeout=60).stdout
    if _VERSION not in version.partition("\n")[0]:
        pytest.skip(f"the rules are those of tshark {_VERSION}x, and this is {version.partition('.')[0]}")


def _found(row: dict[str, str]) -> set[str]:
    """What tshark found of a segment; it says of every kind of retransmission that it is one."""
    found = {ours for flag, ours in _FLAGS.items() if row[f"tcp.analysis.{flag}"]}
    return found - {"retransmission"} if found & {"fast retransmission", "spurious retransmission"} else found


def _compare(file: Path, rows: list[dict[str, str]], run: tl.Run) -> Counter[str]:
    """Compare packet by packet and flow by flow; how often each thing was found."""
    _compare_findings(file, rows, run)
    _compare_connections(rows, run)
    return Counter(finding for row in rows for finding in _found(row))


def _compare_findings(file: Path, rows: list[dict[str, str]], run: tl.Run) -> None:
    ours: dict[int, set[str]] = defaultdict(set)
    for uid, finding in run.table("findings").select("uid", "finding").iter_rows():
        ours[uid].add(finding)
    theirs = {int(row["frame.number"]): _found(row) for row in rows}
    differ = {number: (ours[number], found) for number, found in theirs.items() if ours[number] != found}
    assert not differ, f"{file}: {dict(itertools.islice(differ.items(), 5))}"


def _compare_connections(rows: list[dict[str, str]], run: tl.Run) -> None:
    ends = dict(zip(run.flows["flow"], run.flows["label"].str.split("-").list.first(), strict=True))
    directions: dict[tuple[int, str], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        directions[int(row["tcp.stream"]), f"{row['ip.src']}:{row['tcp.srcport']}"].append(row)
    streams = sorted({stream for stream, _ in directions})
    connections = run.table("connections")
    assert connections["connection"].n_unique() == len(streams)
    numbers = dict(zip(sorted(connections["connection"].unique()), streams, strict=True))
    listed = set()
    for one in connections.iter_rows(named=True):
        stream, end = numbers[one["connection"]], ends[one["flow"]]
        listed.add((stream, end))
        own = directions[stream, end]
        back = [
            row for (number, other), found in directions.items() if number == stream and other != end for row in found
        ]
        assert one["packets_captured"] == len(own)
        assert one["bytes_captured"] == sum(int(row["ip.len"]) for row in own)
        assert one["payload_bytes"] == sum(int(row["tcp.len"]) for row in own)
        assert one["acks"] == len(back)
        # It does not write a round trip of zero, but the frame that is acknowledged.
        rtt = [float(row["tcp.analysis.ack_rtt"] or 0) for row in back if row["tcp.analysis.acks_frame"]]
        assert one["rtt_samples"] == len(rtt)
        if rtt:
            assert (one["rtt_min_s"], one["rtt_max_s"], one["rtt_mean_s"]) == pytest.approx(
                (min(rtt), max(rtt), sum(rtt) / len(rtt)), rel=0, abs=1e-9
            )
            ordered = sorted(rtt)
            assert one["rtt_median_s"] == pytest.approx(ordered[(len(rtt) - 1) // 2], rel=0.0101)
        first = [row["tcp.analysis.initial_rtt"] for row in own + back if row["tcp.analysis.initial_rtt"]]
        assert (one["initial_rtt_s"] is None) == (not first)
        assert one["initial_rtt_s"] is None or one["initial_rtt_s"] == pytest.approx(float(first[0]), abs=1e-9)
        assert one["state"] == _state(int((own + back)[0]["tcp.completeness"]))
    # Only directions without payload are not listed.
    for key in directions.keys() - listed:
        assert sum(int(row["tcp.len"]) for row in directions[key]) == 0


def _state(parts: int) -> str:
    """Our word for tshark's sum of SYN 1, SYN-ACK 2, ACK 4, data 8, FIN 16, RST 32."""
    opened = parts & 3 == 3
    if parts & 1 and not parts & 2:
        if parts & 32 and not parts & 8:
            return "refused"
        return "unanswered" if parts == 1 else "partial"
    if not opened:
        return "partial"
    return "complete" if parts & 16 else "reset" if parts & 32 else "open"


@pytest.mark.parametrize("seed", range(6))
def test_conversations_full_of_trouble(tmp_path: Path, seed: int) -> None:
    _same_rules()
    file = tmp_path / "noise.pcapng"
    file.write_bytes(pcapng(noise(seed)))
    counted = _compare(file, _tshark(file), tl.capture(file, packets=True))
    assert set(counted) == set(_FLAGS.values())


def _said(*segments: tuple[int, int, int, int, int], ports: tuple[int, int] = (5000, 80)) -> list[bytes]:
    """IP packets of a conversation: who sends, sequence number, ACK, flags, payload."""
    return [
        ipv4(f"10.0.0.{1 + end}", f"10.0.0.{2 - end}", TCP, tcp(ports if end == 0 else ports[::-1], seq, ack, flags, 1000, payload))
        for end, seq, ack, flags, payload in segments
    ]  # fmt: skip


def _pppoe(packet: bytes, beyond: int) -> bytes:
    """In a session of PPPoE, whose length leaves out bytes that the IP header counts."""
    head = bytes([0x11, 0, 0, 1]) + (len(packet) + 2 - beyond).to_bytes(2, "big") + b"\x00\x21"
    return ethernet(head + packet, 0x8864)


_ZERO = [
    (0, 99, 0, SYN, 0),
    (1, 0, 100, RST | ACK, 0),
    (0, 99, 0, SYN, 0),
    (1, 4_000_000_000, 100, SYN | ACK, 0),
    (0, 100, 4_000_000_001, ACK, 0),
    (0, 100, 4_000_000_001, ACK | PSH, 50),
    (1, 4_000_000_001, 150, ACK, 0),
    (1, 4_000_000_001, 150, ACK, 0),
    (1, 4_000_000_001, 150, ACK | FIN, 0),
]
_HANDSHAKE = [(0, 99, 0, SYN, 0), (1, 499, 100, SYN | ACK, 0), (0, 100, 500, ACK, 0)]
_OPPOSITE = [*_HANDSHAKE, (0, 100, 500, ACK, 10), (0, 110 + 2**31, 500, ACK, 10), (0, 110, 500, ACK, 10)]
_PADDED = [*_HANDSHAKE, (1, 500, 100, ACK, 6), (1, 500, 100, ACK, 51), (0, 100, 551, ACK, 0)]

#: Rules that foreign captures taught: frames, and which findings there are in all.
RULES: Final[dict[str, tuple[list[bytes], list[str]]]] = {
    # The number of a RST that refuses a connection says nothing of those of the next one.
    "zero": (
        [ethernet(packet) for packet in _said(*_ZERO)],
        ["duplicate ack", "ports reused", "retransmission"],
    ),
    # Each of two numbers that are half of all numbers apart lies behind the other.
    "opposite": ([ethernet(packet) for packet in _said(*_OPPOSITE)], ["lost segment", "spurious retransmission"]),
    # What is behind the length that the header of PPPoE says is padding.
    "pppoe": (
        [_pppoe(packet, 6 * (number == 3)) for number, packet in enumerate(_said(*_PADDED))],
        ["duplicate ack"],
    ),
    # Zero is a port like others.
    "port": ([ethernet(packet) for packet in _said(*_HANDSHAKE, (0, 100, 500, ACK, 10), ports=(0, 80))], []),
}


@pytest.mark.parametrize("name", RULES)
def test_rules_that_foreign_captures_taught(tmp_path: Path, name: str) -> None:
    _same_rules()
    frames, expected = RULES[name]
    file = tmp_path / f"{name}.pcapng"
    timed: list[Timed] = [(10**18 + 10**7 * number, frame) for number, frame in enumerate(frames)]
    file.write_bytes(pcapng(timed))
    run = tl.capture(file, packets=True)
    # Once over: the second time a connection begins with what the first time knew at its end.
    rows = _tshark(file, twice=False)
    _compare_findings(file, rows, run)
    assert sorted(run.table("findings")["finding"]) == expected
    assert int(run.table("connections")["payload_bytes"].sum()) == sum(int(row["tcp.len"]) for row in rows)
    assert {f"{row['ip.src']}:{row['tcp.srcport']}" for row in rows} == {
        end for label in run.flows["label"] for end in label.split("-")
    }


@pytest.mark.parametrize("delay", ["1 ms", "50 ms"])
def test_reordering_and_losses(tmp_path: Path, delay: str) -> None:
    """What timestamps tell of them is no part of what tshark says."""
    _same_rules()
    file = tmp_path / "reordered.pcapng"
    scenario = tl.loads(f"""
    profile = "linux"
    duration = "5 s"
    [link.wire]
    ends = ["a", "b"]
    rate = "10 Mbit/s"
    delay = "20 ms"
    loss = "0.5 %"
    reorder = {{ probability = "2 %", delay = "{delay}" }}
    [traffic.copy]
    kind = "bulk"
    from = "a"
    to = "b"
    """)
    tl.simulate(scenario, pcap=file, pcap_at=["b"])
    counted = _compare(file, _tshark(file), tl.capture(file, packets=True))
    assert min(counted[finding] for finding in ("lost segment", "out of order", "fast retransmission")) > 0


def test_totals_of_conversations(tmp_path: Path) -> None:
    """The statistics that users know: tshark -z conv,tcp."""
    file = tmp_path / "noise.pcapng"
    file.write_bytes(pcapng(noise(7)))
    command = ["tshark", "-n", "-q", "-r", str(file), "-z", "conv,tcp"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    lines = [line.split() for line in said.splitlines() if "<->" in line]
    connections = tl.capture(file).table("connections")
    assert len(lines) == connections["connection"].n_unique()
    both = connections.unique("connection").select(pl.col("packets_captured") + pl.col("acks")).to_series()
    # END <-> END, then of each direction: frames, bytes, the unit of these.
    assert sorted(both) == sorted(int(line[3]) + int(line[6]) for line in lines)


def test_real_traffic(tmp_path: Path) -> None:
    """A transfer on the loopback interface of a separate namespace, captured by dumpcap."""
    need("dumpcap", "iperf3", "unshare", "ip")
    file = tmp_path / "real.pcapng"
    script = f"""
        ip link set lo up
        timeout 20 dumpcap -q -i lo -s 100 -w {file} -a duration:15 & capture=$!
        for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; [ -s {file} ] && break; done
        timeout 20 iperf3 -s -1 > /dev/null & server=$!
        sleep 0.7
        timeout 20 iperf3 -c 127.0.0.1 -n 2M > /dev/null; done=$?
        wait $server; sleep 1; kill -INT $capture; wait $capture; chmod a+r {file}; exit $done
    """
    command = ["unshare", "--user", "--map-root-user", "--net", "bash", "-c", script]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=os.environ)
    if ran.returncode != 0 or not file.exists():
        pytest.skip(f"no capture of real traffic here: {ran.stderr.strip()[-200:]}")
    run = tl.capture(file, packets=True)
    assert set(run.table("connections")["state"]) <= {"complete", "reset", "open"}
    assert run.flows.height >= 3
    _same_rules()
    _compare(file, _tshark(file), run)
