"""The part of the report on flows with company."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.report import Block, Chart, Format, Row, Section, Table, Text, charts
from tightlink.studies.one_flow.observe.company import beside_long
from tightlink.studies.one_flow.setup.company import COMPANY_X
from tightlink.studies.words import kbit, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run
    from tightlink.studies.one_flow.observe.company import Company


def sections(company: Company, runs: Mapping[str, Run]) -> list[Section]:
    """TCP beside TCP, TCP beside UDP, UDP beside UDP, unequal flows, and peaks against means."""
    return [
        _many(company.many),
        _beside(company.beside),
        _unresponsive(company.udp),
        _unequal(company.sizes, company.trips),
        _peaks(company.curve, runs[COMPANY_X]),
    ]


def _many(frame: pl.DataFrame) -> Section:
    last, uneven = frame.row(-1, named=True), frame.sort("jain").row(0, named=True)
    busy = min(frame["utilization"].to_list())
    finding = (
        f"From one flow to {last['flows']} the link is never less than {percent(busy)} busy; loss rises to "
        f"{percent(last['loss'])} and a flow's peaks to {last['peak_over_mean']:.1f} times its mean. The least even "
        f"shares are those of {uneven['flows']} flows (Jain's index {uneven['jain']:.2f}), by the phase effects below."
    )
    table = frame.select(
        "flows",
        (pl.col("goodput_bps") / 1e3).alias("goodput of all, kbit/s"),
        (pl.col("utilization") * 100).alias("link busy %"),
        (pl.col("loss") * 100).alias("lost %"),
        pl.col("jain").alias("Jain's index"),
        (pl.col("least_share") * 100).alias("least share %"),
        (pl.col("greatest_share") * 100).alias("greatest share %"),
        pl.col("peak_over_mean").alias("a flow's peak / mean"),
        pl.col("link_peak_over_mean").alias("the link's peak / mean"),
    )
    caption = (
        "Reno flows with windows of 20 packets and equal round trips over the document's link, started within a "
        "second; means over five seeds. Peaks are the greatest throughput in 100 ms."
    )
    return Section("Many TCP flows", finding, [Table(table, caption, _formats(table))])


def _beside(frame: pl.DataFrame) -> Section:
    at = {row["offered_percent"]: row for row in frame.iter_rows(named=True)}
    finding = (
        f"TCP takes what UDP leaves, {kbit(at[50]['tcp_bps'])} beside UDP at half the link's rate, and nothing from "
        f"100 % on ({kbit(at[150]['tcp_bps'])}), while UDP itself loses {percent(at[150]['udp_loss'])} at 150 %."
    )
    chart = charts.line(
        beside_long(frame),
        "offered_percent",
        "throughput_bps",
        by="flow",
        x_title="UDP offers (% of the link)",
        height=240,
    )
    table = frame.select(
        pl.col("offered_percent").alias("UDP offers %"),
        (pl.col("tcp_bps") / 1e3).alias("TCP kbit/s"),
        (pl.col("udp_bps") / 1e3).alias("UDP kbit/s"),
        (pl.col("udp_loss") * 100).alias("UDP loss %"),
    )
    blocks: list[Block] = [
        Chart(chart, "Throughput, headers included; means over five seeds."),
        Table(table, formats=_formats(table)),
    ]
    return Section("TCP beside UDP", finding, blocks)


def _unresponsive(frame: pl.DataFrame) -> Section:
    constant = frame.filter(pl.col("kind") == "constant")
    ten = constant.row(-1, named=True)
    finding = (
        f"Unresponsive flows that offer 150 % keep the link {percent(ten['utilization'])} busy and lose "
        f"{percent(ten['loss'])}, as they must; but who loses is decided by phase: among ten constant ones, some lose "
        f"nothing and some {percent(ten['loss_greatest'])}, where sources that go on and off at random share the loss."
    )
    table = frame.select(
        "kind",
        "flows",
        (pl.col("utilization") * 100).alias("link busy %"),
        (pl.col("loss") * 100).alias("lost %"),
        (pl.col("loss_least") * 100).alias("least loss of a flow %"),
        (pl.col("loss_greatest") * 100).alias("greatest loss of a flow %"),
        pl.col("jain").alias("Jain's index"),
        pl.col("link_peak_over_mean").alias("the link's peak / mean"),
    )
    caption = "UDP flows of 1000 B over the document's link, at 150 % of its rate together; means over five seeds."
    return Section("Unresponsive flows", finding, [Table(table, caption, _formats(table))])


def _unequal(small: pl.DataFrame, far: pl.DataFrame) -> Section:
    first, last = small.row(0, named=True), far.row(-1, named=True)
    finding = (
        f"Packets of {first['setting']} B get {percent(first['share'], 1)} beside packets of 1000 B (the response "
        f"function says {percent(first['predicted'], 1)}), and a path {last['setting']} times as long gets "
        f"{percent(1 - last['share'], 1)} ({percent(1 - last['predicted'], 1)})."
    )
    text = (
        "Two Reno flows with open windows over the document's link for 200 s, beside 5 % of random traffic, without "
        "which phase effects would decide; five seeds. Predicted: equal loss for both, throughput proportional to "
        "packet size over round trip, the queue's delay included."
    )
    tables = [
        _shares(small, "small packets B", "The share of the flow with the smaller packets."),
        _shares(far, "far path / near path", "The share of the near flow."),
    ]
    return Section("Small beside large, near beside far", finding, [Text(text), *tables])


def _shares(frame: pl.DataFrame, heading: str, caption: str) -> Table:
    names = {
        "share": "share %",
        "share_least": "least of the seeds %",
        "share_greatest": "greatest %",
        "predicted": "predicted %",
    }
    table = frame.select(
        pl.col("setting").alias(heading), *((pl.col(key) * 100).alias(name) for key, name in names.items())
    )
    return Table(table, caption, _formats(table))


def _formats(frame: pl.DataFrame) -> dict[str, Format]:
    """Percentages with one decimal, rates with none, the rest with three."""
    decimals = {"%": 1, "s": 0}
    return {name: f".{decimals.get(name[-1], 3)}f" for name, dtype in frame.schema.items() if dtype.is_float()}


def _peaks(curve: pl.DataFrame, run: Run) -> Section:
    mean, busy = float(curve["system_bps"][-1]), float(run.links["utilization"][0])
    finding = (
        "Twenty sources that talk seldom and fast show peaks at 10 Mbit/s beside a system throughput of "
        f"{kbit(mean)}, on a link that is busy {percent(busy)} of the time and loses "
        f"{run.flows['packets_dropped'].sum()} packets: peaks far above the mean are what idle time looks like, and "
        "say nothing of congestion."
    )
    text = (
        "The document shows peaks of 9000 kbit/s beside 695 kbit/s in a company's 10 Mbit/s network and takes the "
        "difference for waste by aggressive protocols. Its capture was not published; this is a network that would "
        "look the same."
    )
    shown = curve.with_columns(pl.col("smoothed_bps") / 1e3, pl.col("system_bps") / 1e3)
    row = [
        charts.line(
            shown,
            "time_s",
            column,
            title=title,
            x_title="time (s)",
            y_title="kbit/s",
            height=160,
            y_domain=(0, 10_500),
            most=1200,
        )
        for column, title in (
            ("smoothed_bps", "instant throughput, smoothed (α = 0.95)"),
            ("system_bps", "system throughput"),
        )
    ]
    return Section("Peaks and means", finding, [Text(text), Row(row)])
