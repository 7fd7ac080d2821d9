"""The seven cases measured: Linux's Reno over the document's emulated link, beside profile ``linux`` and ns-2.

Packets are as large as the document's, ACKs as frequent, the first window as small; the window of 20 packets is
exact. What is not ns-2's is Linux: timestamps, its recovery, its timer.

Example:
    >>> from tightlink.studies.one_flow.setup import BASE
    >>> scenario(BASE).traffic["ftp"].tcp.payload
    '988 B'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink.experiment.claims import Claim
from tightlink.experiment.execute import Task
from tightlink.lazy import alt
from tightlink.reduce import largest
from tightlink.report import charts
from tightlink.run import Run
from tightlink.scenario import Bulk, Scenario, Tcp
from tightlink.studies import report_text
from tightlink.studies.live import Measurement, machine
from tightlink.studies.one_flow.observe.cases import Measured, measure
from tightlink.studies.one_flow.setup import CASES, RECEIVER, SENDER, START_S, STOP_S, Case, link
from tightlink.studies.study import Report
from tightlink.studies.words import MS, percent

#: IP 20, TCP 20 and timestamps 12: what Linux adds where ns-2 adds 40.
_HEADER_BYTES: Final = 52


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
    if size > 1500:
        wire = wire.model_copy(update={"mtu": f"{size} B"})
    ftp = Bulk(from_=SENDER, to=RECEIVER, start=f"{START_S} s", tcp=tcp)
    return Scenario(profile="linux", duration=f"{STOP_S} s", link={"bottleneck": wire}, traffic={"ftp": ftp})


def tasks() -> list[Task]:
    """The seven cases, simulated under profile ``linux``."""
    return [Task(f"linux/{case.name}", scenario(case), trace=True) for case in CASES]


def measurements() -> list[Measurement]:
    """The same, to be measured."""
    return [Measurement(case.name, scenario(case), trace=True) for case in CASES]


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values named live.CASE.… and linux.CASE.…, and ``pairs``: each case as measured and as simulated."""
    values: dict[str, object] = {}
    pairs = []
    for case in CASES:
        if f"live/{case.name}" in runs:
            live, same = (measure(case, runs[f"{kind}/{case.name}"]) for kind in ("live", "linux"))
            values |= {f"live.{case.name}": live.names, f"linux.{case.name}": same.names}
            pairs.append((live, same))
    return values | {"pairs": pairs}


def report(observed: Mapping[str, Any], claims: Mapping[str, Claim]) -> Report:
    """The section of ``live.md``, and the table beside the report, of those cases that were measured."""
    pairs = observed["pairs"]
    table = pl.DataFrame([_row(live, same, claims) for live, same in pairs])
    finding = "The machine was too busy for all of it."
    if pairs:
        ratio = table["goodput_measured_bps"] / table["goodput_simulated_bps"] - 1
        finding = f"Measured and simulated goodput differ by {percent(largest(ratio.abs()), 1)} at most."
    page = report_text.page(
        Path(__file__).with_suffix(".md"),
        {"finding": finding, "machine": machine([live.run for live, _ in pairs])},
        {"cases": table if pairs else None, "latencies": [_latencies(*pair) for pair in pairs] or None},
    )
    return replace(page, tables={"measured": table} if pairs else {})


def _row(live: Measured, same: Measured, claims: Mapping[str, Claim]) -> dict[str, Any]:
    return {
        "case": live.case.title,
        "sent_document": claims[f"{live.case.name}.packets-sent"].expected,
        "sent_measured": live.sent,
        "sent_simulated": same.sent,
        "dropped_document": claims[f"{live.case.name}.packets-dropped"].expected,
        "dropped_measured": live.dropped,
        "dropped_simulated": same.dropped,
        "goodput_measured_bps": live.flow["goodput_bps"],
        "goodput_simulated_bps": same.flow["goodput_bps"],
        "latency_measured_s": live.latency_s,
        "latency_simulated_s": same.latency_s,
    }


def _latencies(live: Measured, same: Measured) -> alt.Chart:
    parts = [
        each.trips.select(time_s="arrived_s", latency_ms=pl.col("latency_s") / MS, source=pl.lit(source))
        for source, each in (("measured", live), ("simulated", same))
    ]
    return charts.line(
        pl.concat(parts), "time_s", "latency_ms", by="source", title=live.case.title, x_title="time (s)",
        y_title="latency (ms)", height=140, x_domain=(0, STOP_S), most=300,
    )  # fmt: skip
