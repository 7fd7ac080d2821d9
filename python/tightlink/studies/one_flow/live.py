"""The seven cases measured: Linux's Reno over the document's link in real time, beside profile ``linux`` and ns-2.

Packets are as large as the document's, ACKs as frequent, the first window as small; the window of 20 packets is
exact. What is not ns-2's is Linux: timestamps, its recovery, its timer.

Example:
    >>> scenario(BASE).traffic["ftp"].tcp.payload
    '988 B'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.experiment.claims import Claim, exact, holds_if, untestable, within
from tightlink.experiment.execute import Task
from tightlink.report import Row, Section, Table, Text, charts
from tightlink.scenario import Bulk, Scenario, Tcp
from tightlink.studies.live import Measurement, machine
from tightlink.studies.one_flow import window
from tightlink.studies.one_flow.cases import (
    BASE,
    BY_NAME,
    CASES,
    DOCUMENT,
    RECEIVER,
    SENDER,
    START_S,
    STOP_S,
    Case,
    link,
)
from tightlink.studies.one_flow.counts import PUBLISHED
from tightlink.studies.one_flow.measures import Measured, measure
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import altair as alt

    from tightlink.run import Run

__all__ = ["BASE", "findings", "measurements", "scenario", "tasks"]

#: The short queue is where senders differ: how each repairs its losses decides.
_LOSSY: Final = "queue-5"
#: IP 20, TCP 20 and timestamps 12: what Linux adds where ns-2 adds 40.
_HEADER_BYTES: Final = 52
_ETHERNET: Final = 1500
_MS: Final = 1e-3
_KBIT: Final = 1e3
_HERE: Final = "measured here"
_BUSY: Final = "The machine was too busy to measure it."
_MEASURED: Final = "measured"
_SIMULATED: Final = "simulated"
_HEIGHT: Final = 140
_MOST_POINTS: Final = 300


@dataclass(frozen=True)
class _Pair:
    """A case, measured and simulated."""

    live: Measured
    same: Measured


def scenario(case: Case) -> Scenario:
    """A case for Linux: packets, ACKs and windows as the document has them."""
    size = case.packet_bytes
    tcp = Tcp(
        congestion="reno",
        payload=f"{size - _HEADER_BYTES} B",
        window="20 packets",
        initial_window="2 packets",
        delayed_acks=False,
    )
    wire = link(case)
    if size > _ETHERNET:
        wire = wire.model_copy(update={"mtu": f"{size} B"})
    ftp = Bulk(from_=SENDER, to=RECEIVER, start=f"{START_S} s", tcp=tcp)
    return Scenario(profile="linux", duration=f"{STOP_S} s", link={"bottleneck": wire}, traffic={"ftp": ftp})


def tasks() -> list[Task]:
    """The seven cases, simulated under profile ``linux``."""
    return [Task(f"linux/{case.name}", scenario(case), trace=True) for case in CASES]


def measurements() -> list[Measurement]:
    """The same, to be measured."""
    return [Measurement(case.name, scenario(case), trace=True) for case in CASES]


def findings(runs: Mapping[str, Run]) -> tuple[list[Claim], Section, pl.DataFrame]:
    """Claims, a section and a table, of those cases that were measured."""
    measured = {case.name: runs[f"live/{case.name}"] for case in CASES if f"live/{case.name}" in runs}
    found = {
        case.name: _Pair(measure(case, measured[case.name]), measure(case, runs[f"linux/{case.name}"]))
        for case in CASES
        if case.name in measured
    }
    table = pl.DataFrame([_row(pair) for pair in found.values()])
    return list(_claims(found)), _section(found, table, list(measured.values())), table


def _claims(found: Mapping[str, _Pair]) -> Iterator[Claim]:
    base = found.get(BASE.name)
    for case in CASES:
        pair = found.get(case.name)
        if pair is None or (case.name == _LOSSY and base is None):
            yield untestable(f"live.{case.name}", f"{case.title}, measured", f"{DOCUMENT}, {case.title}", _BUSY)
            continue
        if case.name == _LOSSY and base is not None:
            yield from _of_losses(pair.live, base.live)
        else:
            yield from _of_document(case, pair.live)
        yield from _of_simulation(case, pair)


def _of_document(case: Case, live: Measured) -> Iterator[Claim]:
    published, place = PUBLISHED[case.name], f"{DOCUMENT}, {case.title}"
    yield exact(f"live.{case.name}.dropped", f"{case.title}, measured: no losses", place, 0, live.dropped)
    yield within(
        f"live.{case.name}.sent", f"{case.title}, measured: packets sent", place, published.sent, live.sent,
        relative=0.02,
    )  # fmt: skip
    yield within(
        f"live.{case.name}.latency", f"{case.title}, measured: the window alone gives the latency",
        "RTT = max(W·S/R, path)", round(window.latency_s(case) / _MS, 6), live.latency_s / _MS, relative=0.03,
        unit="ms",
    )  # fmt: skip


def _of_simulation(case: Case, pair: _Pair) -> Iterator[Claim]:
    live, same = pair.live, pair.same
    yield within(
        f"live.{case.name}.simulated-goodput", f"{case.title}: profile linux gives the goodput of Linux", _HERE,
        same.flow["goodput_bps"] / _KBIT, live.flow["goodput_bps"] / _KBIT, relative=0.02, unit="kbit/s",
    )  # fmt: skip
    yield within(
        f"live.{case.name}.simulated-latency", f"{case.title}: profile linux gives the latency of Linux", _HERE,
        same.latency_s / _MS, live.latency_s / _MS, relative=0.03, unit="ms",
    )  # fmt: skip


def _of_losses(found: Measured, base: Measured) -> Iterator[Claim]:
    published, title = PUBLISHED[_LOSSY], BY_NAME[_LOSSY].title
    place = f"{DOCUMENT}, {title}"
    yield holds_if(
        f"live.{_LOSSY}.dropped", f"{title}, measured: packets are lost", place, found.dropped, found.dropped > 0
    )
    yield holds_if(
        f"live.{_LOSSY}.goodput", f"{title}, measured: the flow carries less than with a queue of 20", place,
        found.flow["goodput_bps"] / base.flow["goodput_bps"],
        found.flow["goodput_bps"] < base.flow["goodput_bps"],
    )  # fmt: skip
    yield holds_if(
        f"live.{_LOSSY}.recovery", f"{title}: Linux's recovery sends more than the document's Reno", place,
        found.sent, found.sent > published.sent,
        f"{found.sent} packets against {published.sent}: selective ACKs repair in a round trip what took a timeout.",
    )  # fmt: skip


def _row(pair: _Pair) -> dict[str, Any]:
    live, same = pair.live, pair.same
    published = PUBLISHED[live.case.name]
    return {
        "case": live.case.title,
        "sent_document": published.sent,
        "sent_measured": live.sent,
        "sent_simulated": same.sent,
        "dropped_document": published.dropped,
        "dropped_measured": live.dropped,
        "dropped_simulated": same.dropped,
        "goodput_measured_bps": live.flow["goodput_bps"],
        "goodput_simulated_bps": same.flow["goodput_bps"],
        "latency_measured_s": live.latency_s,
        "latency_simulated_s": same.latency_s,
    }


def _section(found: Mapping[str, _Pair], table: pl.DataFrame, runs: list[Run]) -> Section:
    if not runs:
        return Section("Measured", "The machine was too busy for all of it.")
    ratio = pl.col("goodput_measured_bps") / pl.col("goodput_simulated_bps") - 1
    worst = float(table.select(ratio.abs().max()).item())
    text = (
        "Linux's own TCP Reno, with the document's packets and its window of 20, sends over the document's link in "
        f"real time, and is simulated under profile linux. {machine(runs)}"
    )
    drawn = [_latencies(pair) for pair in found.values()]
    return Section(
        "Measured",
        f"Measured and simulated goodput differ by {percent(worst, 1)} at most.",
        [Text(text), Table(table), Row(drawn, "Latency of each packet, measured and simulated.")],
    )


def _latencies(pair: _Pair) -> alt.Chart:
    parts = [
        each.trips.select(time_s="arrived_s", latency_ms=pl.col("latency_s") / _MS, source=pl.lit(source))
        for source, each in ((_MEASURED, pair.live), (_SIMULATED, pair.same))
    ]
    return charts.line(
        pl.concat(parts), "time_s", "latency_ms", by="source", title=pair.live.case.title, x_title="time (s)",
        y_title="latency (ms)", height=_HEIGHT, x_domain=(0, STOP_S), most=_MOST_POINTS,
    )  # fmt: skip
