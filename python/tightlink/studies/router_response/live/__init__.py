"""The parts of the report on the two routers that are measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tightlink.analysis.limits.regimes import Regimes
from tightlink.experiment.claims import Claim
from tightlink.measure.forwarding_sender import IN_TRAINS
from tightlink.report import Row, Section, Table, Text, charts
from tightlink.run import Run
from tightlink.studies.live import Grid, Measurement, machine, measured, medians
from tightlink.studies.live import kernel as kernel_of
from tightlink.studies.router_response.live import kernel_router, process_router
from tightlink.studies.router_response.live.process_router import PER_PACKET_S, tasks
from tightlink.studies.study import Report
from tightlink.studies.words import per_s


def process(found: Grid) -> Section:
    """Of the process that spends the time of each packet."""
    title = "A router whose time is really spent"
    if found.table.is_empty():
        return Section(title, kernel_router.NOT_ENOUGH, [])
    text = (
        "Between two hosts of this machine stands a process that forwards packets, and for each of them works for "
        f"{PER_PACKET_S * 1e6:.0f} µs: what a router takes that is full at the document's mean onset. Its input ring "
        "is a device of the kernel, its load is what the kernel's scheduler counts, and the sender's and the "
        "receiver's stacks are Linux's. So what was found by simulation is found again where nothing is simulated but "
        "the line of 2 Mbit/s: load follows packets; losses begin at the line's bit rate, and for all lengths alike "
        f"once the processor is full. {machine(found.runs)}"
    )
    series = pl.format("{} B, {}", "packet_bytes", "source")
    drawn = found.table.with_columns(series=series, load=pl.col("load") * 100, loss=pl.col("loss") * 100)
    drawn = drawn.sort("packet_bytes", "source", "offered_packets_per_s")
    shown = found.table.select(
        "packet_bytes", "source", "offered_packets_per_s", (pl.col("load") * 100).alias("load %"),
        (pl.col("lost_input_ring") * 100).alias("lost, input ring %"),
        (pl.col("lost_output_ring") * 100).alias("lost, output ring %"),
    )  # fmt: skip
    charted = [_chart(drawn, "load", "load (%)", "series"), _chart(drawn, "loss", "lost (%)", "series")]
    return Section(
        title,
        _finding(found.found, kernel_router.NOT_ENOUGH),
        [
            Text(text),
            Row(charted, "Measured and simulated, for each packet length."),
            Table(shown, "", {"load %": ".1f", "lost, input ring %": ".1f", "lost, output ring %": ".1f"}),
        ],
    )


def kernel(found: Grid) -> Section:
    """Of the machine's own kernel."""
    title = "This machine's own kernel as the router"
    if found.table.is_empty():
        return Section(title, kernel_router.why_not(), [])
    text = (
        "Three hosts in a row, of which that in the middle is a router: the Linux kernel of this machine. What arrives "
        "waits in a ring of 256 packets for a thread of the kernel, which has its own processor and does all that "
        "forwarding takes; its load is the share of the time for which the kernel's scheduler ran it. The line behind "
        f"it is never full. Up to {per_s(IN_TRAINS)} packets come one by one, beyond in trains of sixteen. "
        f"{kernel_of(found.runs)}"
    )
    drawn = found.table.with_columns(
        length=pl.format("{} B", "packet_bytes"),
        busy=pl.col("load") * 100,
        cost=pl.col("load") / pl.col("forwarded_packets_per_s") * 1e6,
    )
    shown = drawn.select(
        "packet_bytes", "times", "offered_packets_per_s", "forwarded_packets_per_s", pl.col("busy").alias("load %"),
        pl.col("cost").alias("µs per packet"), (pl.col("loss") * 100).alias("lost %"),
    )  # fmt: skip
    formats = {"load %": ".1f", "µs per packet": ".2f", "lost %": ".2f", "offered_packets_per_s": ",.0f",
               "forwarded_packets_per_s": ",.0f"}  # fmt: skip
    drawn = drawn.sort("packet_bytes", "offered_packets_per_s")
    charted = [_chart(drawn, "busy", "load (%)", "length"), _chart(drawn, "cost", "µs per packet", "length")]
    return Section(
        title,
        _finding(found.found, kernel_router.why_not()),
        [
            Text(text),
            Row(charted, "For each packet length: what the scheduler says, and what that makes for each packet."),
            Table(shown, "", formats),
        ],
    )


def _finding(regions: Regimes | None, why_not: str) -> str:
    return why_not if regions is None else f"{regions.sentence()[0].upper()}{regions.sentence()[1:]}."


def _chart(drawn: pl.DataFrame, column: str, title: str, by: str) -> Any:
    return charts.line(
        drawn, "offered_packets_per_s", column, by=by, x_title="packets/s offered", y_title=title, height=280
    )


__all__ = ["measurements", "observe", "report", "tasks"]


def measurements() -> list[Measurement]:
    """The probes through both routers."""
    return [*process_router.measurements(), *kernel_router.measurements()]


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values, and the grid through either router."""
    found = {}
    for name, router in (("through_process", process_router), ("through_kernel", kernel_router)):
        table = medians(router.PROBES, runs)
        regions = router.regions(table)
        found[name] = Grid(router.values(table, regions), table, regions, measured(router.PROBES, runs))
    values = {name: value for grid in found.values() for name, value in grid.values.items()}
    return values | found


def report(observed: Mapping[str, Any], _: Mapping[str, Claim]) -> Report:
    """The parts of the report, and the tables of probes beside it."""
    through_process, through_kernel = observed["through_process"], observed["through_kernel"]
    tables = {"measured": through_process.table, "forwarded": through_kernel.table}
    return Report(sections=[process(through_process), kernel(through_kernel)], tables=tables)
