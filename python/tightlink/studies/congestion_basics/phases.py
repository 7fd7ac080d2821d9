"""The phases of one flow: connection, slow start, congestion avoidance, loss, timeout."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.experiment.claims import Claim, within
from tightlink.experiment.execute import Task
from tightlink.report import Chart, Section, Table, charts
from tightlink.scenario import Cbr
from tightlink.studies.congestion_basics.document import DOCUMENT, FLOW, RECEIVER, SENDER, scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

RTT_S: Final = 0.1
#: Where slow start ends.
THRESHOLD: Final = 150
#: When others flood the path for a second, so that no ACK comes back and the timer expires.
FLOOD_S: Final = 60
#: Beyond this window packets wait in the queue, and the round trip grows.
_FILLS: Final = 400
_DURATION_S: Final = 80
#: A window that is left with less than this was cut.
_CUT: Final = 0.6
_NAME: Final = "phases"
_SOURCE: Final = f"{DOCUMENT}, phases in a TCP flow; RFC 5681"


def tasks() -> list[Task]:
    """One run, whose path is flooded for a second."""
    flood = Cbr(from_=SENDER, to=RECEIVER, rate="200 Mbit/s", start=f"{FLOOD_S} s", stop=f"{FLOOD_S + 1} s")
    return [
        Task(
            _NAME,
            scenario(
                "50 Mbit/s", RTT_S * 1e3, "0.25 BDP", _DURATION_S, interval_s=RTT_S, more={"flood": flood},
                initial_ssthresh=f"{THRESHOLD} packets", initial_window="1 packets",
            ),
        )
    ]  # fmt: skip


def window(run: Run) -> pl.DataFrame:
    """The congestion window at each round trip."""
    chosen = (pl.col("entity") == FLOW) & (pl.col("metric") == "cwnd_packets")
    return run.series.filter(chosen).select("time_s", pl.col("value").alias("cwnd_packets"))


def phases(run: Run) -> list[tuple[str, float, float]]:
    """The phases: name, begin and end, in seconds."""
    frame = window(run)
    rows = frame.rows()
    connected = run.flows.row(0, named=True)["limited_by_handshake"] * _DURATION_S
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
        ("congestion avoidance after it", again, float(_DURATION_S)),
    ]


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """What RFC 5681 says of each phase."""
    run = runs[_NAME]
    rows = window(run).rows()
    listed = {name: (begin, end) for name, begin, end in phases(run)}

    def sizes(phase: str) -> list[float]:
        begin, end = listed[phase]
        # What is wholly within the phase.
        return [size for time, size in rows if begin + RTT_S < time < end - RTT_S]

    connected = listed["connection"][1]
    yield within("phases.connection", "The connection takes a round trip", _SOURCE, RTT_S, connected, relative=0.01,
                 unit="s")  # fmt: skip
    growing = sizes("slow start")
    yield within(
        "phases.slow-start", "In slow start the window doubles every round trip", _SOURCE, 2,
        (growing[-1] / growing[0]) ** (1 / (len(growing) - 1)), relative=0.02,
    )  # fmt: skip
    steady = [size for size in sizes("congestion avoidance") if size < _FILLS]
    yield within(
        "phases.avoidance", "In congestion avoidance it grows by a packet every round trip", _SOURCE, 1,
        (steady[-1] - steady[0]) / (len(steady) - 1), relative=0.02, unit="packets",
    )  # fmt: skip
    lost = listed["congestion avoidance"][1]
    kept = min(size for time, size in rows if lost < time < lost + 5 * RTT_S)
    yield within("phases.loss", "A loss halves it", _SOURCE, 0.5, kept / _at(rows, lost), relative=0.02)
    after = next(size for time, size in rows if time >= listed["slow start after the timeout"][0])
    yield within("phases.timeout", "A timeout leaves one packet", _SOURCE, 1, after, tolerance=0, unit="packets")
    second, flooded = sizes("congestion avoidance after it")[0], _at(rows, FLOOD_S)
    yield within(
        "phases.threshold", "After it, slow start goes to a threshold that the loss has halved", _SOURCE, 0.5,
        second / flooded, tolerance=0.05,
        reason="Where it ends, over the window when the flood came.",
    )  # fmt: skip


def _steps(rows: list[tuple[float, float]]) -> Iterator[tuple[float, float, float]]:
    """Each sample with the one after it."""
    return ((time, size, after) for (time, size), (_, after) in itertools.pairwise(rows))


def _at(rows: list[tuple[float, float]], time_s: float) -> float:
    """The window at a time."""
    return next(size for time, size in reversed(rows) if time <= time_s)


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    run = runs[_NAME]
    listed = phases(run)
    table = pl.DataFrame(listed, schema=["phase", "begin_s", "end_s"], orient="row")
    chart = charts.line(window(run), "time_s", "cwnd_packets", height=300, x_domain=(0, _DURATION_S))
    finding = (
        f"Slow start takes {listed[1][2] - listed[1][1]:.1f} s to {THRESHOLD} packets; congestion avoidance then adds "
        f"as many in {THRESHOLD * RTT_S:.0f} s. What a loss costs is repaid packet by packet."
    )
    about = (
        f"One Reno flow over 50 Mbit/s and {RTT_S * 1e3:.0f} ms, a queue of 0.25 BDP, an ACK for every packet, a "
        f"threshold of {THRESHOLD} packets. It loses at its own queue; from {FLOOD_S} s on others flood "
        "the path for a second."
    )
    return Section("The phases of a flow", finding, [Chart(chart, about), Table(table)])
