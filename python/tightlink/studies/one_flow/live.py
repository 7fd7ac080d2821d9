"""The seven cases measured: Linux's Reno over the document's link in real time, beside profile ``linux`` and ns-2.

Packets are as large as the document's, ACKs as frequent, the first window as small; the window of 20 packets is
exact. What is not ns-2's is Linux: timestamps, its recovery, its timer.

Example:
    >>> scenario(BASE).traffic["ftp"].tcp.payload
    '988 B'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.experiment.claims import Claim, exact, holds_if, within
from tightlink.experiment.execute import Task
from tightlink.report import Row, Section, Table, Text, charts
from tightlink.scenario import Bulk, Scenario, Tcp
from tightlink.studies.live import Live, LiveFindings
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

__all__ = ["BASE", "CASES", "LIVE", "scenario"]

#: The short queue is where senders differ: how each repairs its losses decides.
_LOSSY: Final = "queue-5"
#: IP 20, TCP 20 and timestamps 12: what Linux adds where ns-2 adds 40.
_HEADER_BYTES: Final = 52
_ETHERNET: Final = 1500
_MS: Final = 1e-3
_KBIT: Final = 1e3
_HERE: Final = "measured here"
_MEASURED: Final = "measured"
_SIMULATED: Final = "simulated"
_HEIGHT: Final = 140
_MOST_POINTS: Final = 300


def name(case: Case) -> str:
    """The name of the task of a case."""
    return f"live/{case.name}"


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
    """The seven cases."""
    return [Task(name(case), scenario(case), trace=True) for case in CASES]


def findings(measured: Mapping[str, Run], runs: Mapping[str, Run]) -> LiveFindings:
    """Claims, a section and a table, of measurements and of the same simulated."""
    live = {case.name: measure(case, measured[name(case)]) for case in CASES}
    same = {case.name: measure(case, runs[name(case)]) for case in CASES}
    table = pl.DataFrame([_row(case, live[case.name], same[case.name]) for case in CASES])
    claims = list(_claims(live, same))
    return LiveFindings(claims, [_section(live, same, table, measured)], {"live": table})


def _claims(live: Mapping[str, Measured], same: Mapping[str, Measured]) -> Iterator[Claim]:
    for case in CASES:
        published, found, place = PUBLISHED[case.name], live[case.name], f"{DOCUMENT}, {case.title}"
        if case.name == _LOSSY:
            yield from _of_losses(found, live["base"], place)
            continue
        yield exact(f"live.{case.name}.dropped", f"{case.title}, measured: no losses", place, 0, found.dropped)
        yield within(
            f"live.{case.name}.sent", f"{case.title}, measured: packets sent", place, published.sent, found.sent,
            relative=0.02,
        )  # fmt: skip
        yield within(
            f"live.{case.name}.latency", f"{case.title}, measured: the window alone gives the latency",
            "RTT = max(W·S/R, path)", round(window.latency_s(case) / _MS, 6), found.latency_s / _MS, relative=0.03,
            unit="ms",
        )  # fmt: skip
    for case in CASES:
        found, simulated = live[case.name], same[case.name]
        yield within(
            f"live.{case.name}.simulated-goodput", f"{case.title}: profile linux gives the goodput of Linux", _HERE,
            simulated.flow["goodput_bps"] / _KBIT, found.flow["goodput_bps"] / _KBIT, relative=0.02, unit="kbit/s",
        )  # fmt: skip
        yield within(
            f"live.{case.name}.simulated-latency", f"{case.title}: profile linux gives the latency of Linux", _HERE,
            simulated.latency_s / _MS, found.latency_s / _MS, relative=0.03, unit="ms",
        )  # fmt: skip


def _of_losses(found: Measured, base: Measured, place: str) -> Iterator[Claim]:
    published = PUBLISHED[_LOSSY]
    title = BY_NAME[_LOSSY].title
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


def _row(case: Case, live: Measured, same: Measured) -> dict[str, Any]:
    published = PUBLISHED[case.name]
    return {
        "case": case.title,
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


def _section(
    live: Mapping[str, Measured], same: Mapping[str, Measured], table: pl.DataFrame, runs: Mapping[str, Run]
) -> Section:
    ratio = pl.col("goodput_measured_bps") / pl.col("goodput_simulated_bps") - 1
    worst = float(table.select(ratio.abs().max()).item())
    late = max(run.manifest["relay"]["lateness"]["p99_s"] for run in runs.values())
    host = next(iter(runs.values())).manifest["host"]
    text = (
        "Linux's own TCP Reno, with the document's packets and its window of 20, sends over the document's link in "
        f"real time, and is simulated under profile linux. Kernel {host['kernel']}; in the worst case 99 % "
        f"of the packets were handed on at most {late / _MS:.2g} ms late."
    )
    return Section(
        "Measured",
        f"Measured and simulated goodput differ by {percent(worst, 1)} at most.",
        [Text(text), Table(table), Row(_latencies(live, same), "Latency of each packet, measured and simulated.")],
    )


def _latencies(live: Mapping[str, Measured], same: Mapping[str, Measured]) -> list[alt.Chart]:
    drawn = []
    for case in CASES:
        parts = [
            found.trips.select(time_s="arrived_s", latency_ms=pl.col("latency_s") / _MS, source=pl.lit(source))
            for source, found in ((_MEASURED, live[case.name]), (_SIMULATED, same[case.name]))
        ]
        drawn.append(
            charts.line(
                pl.concat(parts), "time_s", "latency_ms", by="source", title=case.title, x_title="time (s)",
                y_title="latency (ms)", height=_HEIGHT, x_domain=(0, STOP_S), most=_MOST_POINTS,
            )
        )  # fmt: skip
    return drawn


LIVE: Final = Live(tasks, findings)
