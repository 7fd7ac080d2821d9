"""Frames of videos whose packets leave at once: how large they are, and how long their packets wait for each other.

Example:
    >>> scenario = tl.loads('''
    ... duration = "10 s"
    ... link.line = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "1000 packets" }
    ... traffic.camera = { kind = "video", from = "a", to = "b", rate = "2 Mbit/s", variation = 0 }
    ... ''')
    >>> from tightlink.diagnosis.paths import Paths
    >>> run = tl.simulate(scenario)
    >>> path = Paths(run).of("camera")
    >>> largest_packets(path), round(waits_s(path, path.link("line")), 4)
    (26, 0.0063)
    >>> round(run.flows["queueing_delay_mean_s"][0], 4)
    0.0064
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path

#: The largest frames are so many standard deviations above the mean.
_DEVIATIONS: Final = 3.0


def at_once(path: Path) -> bool:
    """Whether a flow is a video whose frames leave at once, rather than spread over their interval."""
    traffic = path.spec["traffic"]
    return traffic["kind"] == "video" and not traffic["spread"]


def largest_bytes(video: Mapping[str, Any]) -> float:
    """Bytes of a key frame of a video, with some deviations."""
    return _key_and_other(video)[0] * (1 + _DEVIATIONS * float(video["variation"]))


def largest_packets(path: Path) -> int:
    """Packets of the largest frames, where these leave at once; else none."""
    return math.ceil(largest_bytes(path.spec["traffic"]) / _payload(path)) if at_once(path) else 0


def waits_s(path: Path, link: Link) -> float:
    """How long the packets of a flow wait on average at a link of its path for those of their own frame before them.

    Of a frame of n packets that is (n - 1) / 2 of them. Links before it that are slower spread the packets.
    """
    if not at_once(path):
        return 0.0
    video, size = path.spec["traffic"], path.packet_bytes
    (key, other), group = _key_and_other(video), video["group_of_pictures"]
    squares = (key**2 + (group - 1) * other**2) / group * (1 + video["variation"] ** 2)
    before = max(0.0, squares / video["frame_bytes"] / _payload(path) - 1) / 2
    earlier = path.forward[: path.forward.index(link)]
    return float(
        before * max(0.0, link.interval_s(size) - max((each.interval_s(size) for each in earlier), default=0.0))
    )


def as_sent(row: Mapping[str, Any], path: Path) -> Path:
    """The path of datagrams of several sizes, and of a video, with packets of their mean size."""
    sent = row["packets_sent"] or 0
    if not sent or path.tcp is not None:
        return path
    udp = path.spec["transport"]["udp"]
    if path.spec["traffic"]["kind"] != "video" and not udp["sizes"]:
        return path
    payload = round(row["bytes_sent"] / sent) - udp["header_bytes"]
    return replace(path, spec={**path.spec, "transport": {"udp": {**udp, "payload_bytes": payload}}})


def _key_and_other(video: Mapping[str, Any]) -> tuple[float, float]:
    """Mean bytes of key frames, which are so many times as large as the others of their group, and of these."""
    group, ratio = video["group_of_pictures"], video["key_frame_ratio"]
    other = video["frame_bytes"] * group / (ratio + group - 1)
    return float(other * ratio), float(other)


def _payload(path: Path) -> int:
    return int(path.spec["transport"]["udp"]["payload_bytes"])
