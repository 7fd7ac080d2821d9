"""tshark reads the same QUIC: versions, kinds of packets, and round trips counted from the spin bits that it tells."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from captures import pcap
from programs import needs
from quic_captures import BEGAN, CLIENT, MADE_UP, MS, OF_CLIENT, ONE, TWO, ZERO_RTT, Download, frame, handshake, long

if TYPE_CHECKING:
    from pathlib import Path

    from captures import Timed

pytestmark = needs("tshark")

_FIELDS = (
    *("frame.time_epoch", "ip.src", "quic.version", "quic.long.packet_type", "quic.long.packet_type_v2"),
    "quic.spin_bit",
)
_PORT = "udp.port==4433,quic"


def _tshark(file: Path) -> list[dict[str, str]]:
    wanted = [part for field in _FIELDS for part in ("-e", field)]
    command = ["tshark", "-n", "-r", str(file), "-d", _PORT, "-T", "fields", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [dict(zip(_FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


def _nanoseconds(time: str) -> int:
    seconds, _, fraction = time.partition(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


def _round_trips(rows: list[dict[str, str]], end: str) -> list[int]:
    """From switch to switch of what an end sent; the first value began before."""
    bits = [(row["quic.spin_bit"], _nanoseconds(row["frame.time_epoch"])) for row in rows if row["ip.src"] == end]
    bits = [(bit, time) for bit, time in bits if bit]
    edges = [time for (before, _), (bit, time) in pairwise(bits) if bit != before]
    return [after - edge for edge, after in pairwise(edges)]


def _read(tmp_path: Path, frames: list[Timed]) -> tuple[list[dict[str, str]], tl.Run]:
    file = tmp_path / "quic.pcap"
    file.write_bytes(pcap(frames))
    return _tshark(file), tl.capture(file)


@pytest.mark.parametrize("download", [Download(), Download(window=100), Download(2, 70, 8, 3.0, 600)])
def test_round_trips_by_the_spin_bit(tmp_path: Path, download: Download) -> None:
    rows, run = _read(tmp_path, download.frames())
    ours = run.table("quic").to_dicts()
    for end in (row["from"] for row in run.flows.to_dicts()):
        (one,) = [row for row in ours if row["label"].startswith(f"{end}:")]
        theirs = _round_trips(rows, end)
        assert one["rtt_samples"] == len(theirs) > 5
        assert one["rtt_mean_s"] == pytest.approx(sum(theirs) / len(theirs) / 1e9, rel=1e-9)
        assert one["rtt_min_s"] == pytest.approx(min(theirs) / 1e9, rel=1e-9)
        assert one["rtt_max_s"] == pytest.approx(max(theirs) / 1e9, rel=1e-9)


@pytest.mark.parametrize("version", [ONE, TWO])
def test_versions_and_kinds_of_packets(tmp_path: Path, version: int) -> None:
    early = (BEGAN + MS, frame(CLIENT, long(ZERO_RTT, MADE_UP, OF_CLIENT, version=version, payload=900)))
    first, *rest = handshake(version=version)
    rows, run = _read(tmp_path, [first, early, *rest])
    types = [
        kind
        for row in rows
        for kind in f"{row['quic.long.packet_type']},{row['quic.long.packet_type_v2']}".split(",")
        if kind
    ]
    assert {int(one, 16) for row in rows for one in row["quic.version"].split(",") if one} == {version}
    # Types of version 2 are one further.
    assert types.count(str(ZERO_RTT + (version == TWO))) == 1
    assert set(run.table("quic")["zero_rtt_packets"]) == {1}
    assert set(run.table("quic")["version"]) == {"v1" if version == ONE else "v2"}
