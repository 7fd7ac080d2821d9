"""The phases of one flow: when each begins and ends, and what becomes of the window in it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.studies.congestion_basics.setup.network import FLOW
from tightlink.studies.congestion_basics.setup.phases import END_S, FLOOD_S, NAME, RTT_S, THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

#: Beyond this window packets wait in the queue, and the round trip grows.
_FILLS: Final = 400
#: A window that is left with less than this was cut.
_CUT: Final = 0.6


@dataclass(frozen=True)
class Phases:
    """The window over time, and the phases."""

    window: pl.DataFrame
    """The congestion window at each round trip."""
    listed: list[tuple[str, float, float]]
    """Name, begin and end of each phase, in seconds."""

    @classmethod
    def of(cls, runs: Mapping[str, Run]) -> Phases:
        """Those of the run."""
        run = runs[NAME]
        chosen = (pl.col("entity") == FLOW) & (pl.col("metric") == "cwnd_packets")
        window = run.series.filter(chosen).select("time_s", pl.col("value").alias("cwnd_packets"))
        return cls(window, _phases(window.rows(), run.flows.row(0, named=True)["limited_by_handshake"] * END_S))

    def values(self) -> dict[str, object]:
        """What claims compare, by name."""
        rows = self.window.rows()
        listed = {name: (begin, end) for name, begin, end in self.listed}

        def sizes(phase: str) -> list[float]:
            begin, end = listed[phase]
            # What is wholly within the phase.
            return [size for time, size in rows if begin + RTT_S < time < end - RTT_S]

        growing = sizes("slow start")
        steady = [size for size in sizes("congestion avoidance") if size < _FILLS]
        lost, expired = listed["congestion avoidance"][1], listed["slow start after the timeout"][0]
        return {
            "phases.connected_s": listed["connection"][1],
            "phases.growth_per_rtt": (growing[-1] / growing[0]) ** (1 / (len(growing) - 1)),
            "phases.packets_per_rtt": (steady[-1] - steady[0]) / (len(steady) - 1),
            "phases.before_loss_packets": _at(rows, lost),
            "phases.after_loss_packets": min(size for time, size in rows if lost < time < lost + 5 * RTT_S),
            "phases.before_flood_packets": _at(rows, FLOOD_S),
            "phases.after_timeout_packets": next(size for time, size in rows if time >= expired),
            "phases.avoidance_again_packets": sizes("congestion avoidance after it")[0],
        }


def _phases(rows: list[tuple[float, float]], connected: float) -> list[tuple[str, float, float]]:
    slow = next(time for time, size in rows if size >= THRESHOLD)
    lost = next(time for time, _, after in _steps(rows) if after < _CUT * _at(rows, time))
    expired = next(time for time, size in rows if time > FLOOD_S and size <= 1)
    again = next(time for time, size, after in _steps(rows) if time > expired and after < 1.5 * size)
    return [
        ("connection", 0.0, connected),
        ("slow start", connected, slow),
        ("congestion avoidance", slow, lost),
        ("congestion avoidance after a loss", lost, float(FLOOD_S)),
        ("nothing comes back", float(FLOOD_S), expired),
        ("slow start after the timeout", expired, again),
        ("congestion avoidance after it", again, float(END_S)),
    ]


def _steps(rows: list[tuple[float, float]]) -> Iterator[tuple[float, float, float]]:
    """Each sample with the one after it."""
    return ((time, size, after) for (time, size), (_, after) in itertools.pairwise(rows))


def _at(rows: list[tuple[float, float]], time_s: float) -> float:
    """The window at a time."""
    return next(size for time, size in reversed(rows) if time <= time_s)
