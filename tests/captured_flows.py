"""Captures of one flow, made segment by segment or simulated, and what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import captures
import tightlink as tl
from captures import ACK, SYN

if TYPE_CHECKING:
    from collections.abc import Mapping

MS: Final = 10**6
SEGMENT, FULL_SEGMENT = 1000, 1460
OPTIONS: Final = bytes.fromhex("020405b40103030001010402")
ENDS: Final = ("10.0.0.1", "10.0.0.2")
PORTS: Final = (5000, 80)


def segment_at(  # noqa: PLR0913
    time_ms: float, flags: int, seq: int, ack: int, payload: int = 0, *, back: bool = False, window: int = 60_000
) -> captures.Timed:
    ends, ports = (ENDS[::-1], PORTS[::-1]) if back else (ENDS, PORTS)
    segment = captures.tcp(ports, seq, ack, flags, window, payload, OPTIONS if flags & SYN else b"")
    return int(time_ms * MS), captures.ethernet(captures.ipv4(*ends, captures.TCP, segment))


def flow(
    begin_ms: float = 0.0,
    *,
    before_ms: float = 0.0,
    behind_ms: float = 40.0,
    rounds: int = 20,
    pause_ms: float = 3.0,
    window: int = 60_000,
) -> list[captures.Timed]:
    """Ten segments in each round trip, of which a part is before the capture point and a part behind it."""
    whole = before_ms + behind_ms
    found = [
        segment_at(begin_ms, SYN, 0, 0),
        segment_at(begin_ms + behind_ms, SYN | ACK, 0, 1, back=True),
        segment_at(begin_ms + whole, ACK, 1, 1),
    ]
    for place in range(rounds * 10):
        time = begin_ms + whole + 0.1 + place // 10 * (whole + pause_ms) + place % 10 * 0.1
        reached = 1 + (place + 1) * SEGMENT
        found.append(segment_at(time, ACK, reached - SEGMENT, 1, SEGMENT))
        found.append(segment_at(time + behind_ms, ACK, 1, reached, back=True, window=window))
    return sorted(found)


def captured(tmp_path: Path, frames: list[captures.Timed], **options: Any) -> tl.Run:
    """A capture of frames in the order that they are given in."""
    file = tmp_path / "flow.pcap"
    file.write_bytes(captures.pcap(frames))
    return tl.capture(file, **options)


def sentence(tmp_path: Path, frames: list[captures.Timed]) -> str:
    """What is said of the first flow of a capture."""
    return captured(tmp_path, sorted(frames)).why().diagnoses[0].sentence


def captured_upload(tmp_path: Path, changes: Mapping[str, object]) -> str:
    """Why a simulated transfer is as fast as it is, as a capture at its sender tells."""
    scenario = tl.loads("""
    profile = "linux"
    duration = "10 s"
    link.up = { ends = ["home", "net"], rate = "20 Mbit/s", delay = "20 ms", queue = "300 kB" }
    traffic.a = { kind = "bulk", from = "home", to = "net" }
    """)
    tl.simulate(scenario.set_all(changes), pcap=tmp_path / "a.pcapng", pcap_at=["home"])
    run = tl.capture(tmp_path / "a.pcapng")
    return str(run.why(run.flows.sort("bytes_sent", descending=True)["label"][0]).sentence)


PATH: Final = """
profile = "linux"
duration = "8 s"
link.near = { ends = ["sender", "between"], rate = "100 Mbit/s", delay = "10 ms" }
link.far = { ends = ["between", "receiver"], rate = "20 Mbit/s", delay = "20 ms", queue = "2 MB" }
"""
BULK: Final = 'traffic.up = { kind = "bulk", from = "sender", to = "receiver" }'
