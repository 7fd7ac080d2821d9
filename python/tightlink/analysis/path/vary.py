"""One property of a transfer changed at a time, from halves to multiples of what it is.

Example:
    >>> from tightlink.analysis.path.bulk_path import BulkPath
    >>> listed = one_at_a_time(BulkPath(bandwidth_bps=10e6, rtt_s=0.162), window=88, flows=2)
    >>> [(place.value, place.path.queue_packets) for place in listed if place.factor == "queue_packets"]
    [(10, 10), (20, 20), (40, 40), (80, 80), (160, 160), (320, 320), (640, 640)]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.path.bulk_path import BulkPath

#: Properties in the order of the figures, with their titles.
FACTORS: Final = {
    "queue_packets": "queue (packets)",
    "duration_s": "run time (s)",
    "rtt_s": "round-trip time (s)",
    "bandwidth_bps": "bandwidth (bit/s)",
    "factor": "bottleneck factor",
    "flows": "flows",
    "window_packets": "window (packets)",
}
_OCTAVES: Final = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)


@dataclass(frozen=True)
class Variation:
    """A transfer that differs in one property."""

    factor: str
    value: float
    path: BulkPath
    window: int
    flows: int


def one_at_a_time(path: BulkPath, window: int, flows: int) -> list[Variation]:
    """The transfer with each property changed in turn; the others stay as they are."""

    def on(name: str, values: Iterable[float]) -> list[Variation]:
        return [Variation(name, value, path.changed(**{name: value}), window, flows) for value in values]

    def times(base: float, steps: tuple[float, ...]) -> list[float]:
        return [float(f"{base * step:.12g}") for step in steps]

    queues = dict.fromkeys(max(1, round(path.queue_packets * step)) for step in _OCTAVES)
    windows = dict.fromkeys(max(1, round(window * step)) for step in _OCTAVES)
    return [
        *on("queue_packets", queues),
        *on("duration_s", times(path.duration_s, (1 / 2, 1, 2, 5, 10))),
        *on("rtt_s", times(path.rtt_s, _OCTAVES)),
        *on("bandwidth_bps", times(path.bandwidth_bps, _OCTAVES)),
        *on("factor", map(float, (1, 1.25, 1.5, 2, 3, 5))),
        *(Variation("flows", count, path, window, count) for count in (1, 2, 4, 7, 10, 15, 20, 30, 40)),
        *(Variation("window_packets", size, path, size, flows) for size in windows),
    ]
