"""The parts of the report on the two routers that are measured."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink.analysis.limits.regimes import Regimes
from tightlink.diagnosis.words import sentence
from tightlink.experiment.claims import Claim
from tightlink.measure.forwarding_sender import IN_TRAINS
from tightlink.report import charts
from tightlink.run import Run
from tightlink.studies import report_text
from tightlink.studies.live import Grid, Measurement, machine, measured, medians, tasks_of
from tightlink.studies.live import kernel as router
from tightlink.studies.router_response.live import kernel_router, process_router
from tightlink.studies.router_response.live.process_router import PER_PACKET_S
from tightlink.studies.study import Report


def _of_process(found: Grid) -> dict[str, Any]:
    """The charts and the table of the process that spends the time of each packet, by name."""
    if found.table.is_empty():
        return {"process-probes": None, "process-table": None}
    series = pl.format("{} B, {}", "packet_bytes", "source")
    drawn = found.table.with_columns(series=series, load=pl.col("load") * 100, loss=pl.col("loss") * 100)
    drawn = drawn.sort("packet_bytes", "source", "offered_packets_per_s")
    return {
        "process-probes": [_chart(drawn, "load", "load (%)", "series"), _chart(drawn, "loss", "lost (%)", "series")],
        "process-table": found.table,
    }


def _of_kernel(found: Grid) -> dict[str, Any]:
    """The charts and the table of the machine's own kernel, by name."""
    if found.table.is_empty():
        return {"kernel-probes": None, "kernel-table": None}
    drawn = found.table.with_columns(
        length=pl.format("{} B", "packet_bytes"),
        busy=pl.col("load") * 100,
        cost=pl.col("load") / pl.col("forwarded_packets_per_s") * 1e6,
    )
    ordered = drawn.sort("packet_bytes", "offered_packets_per_s")
    probes = {"busy": "load (%)", "cost": "µs per packet"}
    return {
        "kernel-probes": [_chart(ordered, column, title, "length") for column, title in probes.items()],
        "kernel-table": drawn,
    }


def _finding(regions: Regimes | None, why_not: str) -> str:
    return why_not if regions is None else sentence(f"{regions.sentence()}.")


def _chart(drawn: pl.DataFrame, column: str, title: str, by: str) -> Any:
    return charts.line(
        drawn, "offered_packets_per_s", column, by=by, x_title="packets/s offered", y_title=title, height=280
    )


#: The probes of the process, as they are simulated.
tasks: Final = partial(tasks_of, process_router.PROBES)


def measurements() -> list[Measurement]:
    """The probes through both routers."""
    return [*process_router.measurements(), *kernel_router.measurements()]


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values, and the grid through either router."""
    found = {}
    for name, way in (("through_process", process_router), ("through_kernel", kernel_router)):
        table = medians(way.PROBES, runs)
        regions = way.regions(table)
        found[name] = Grid(way.values(table, regions), table, regions, measured(way.PROBES, runs))
    values = {name: value for grid in found.values() for name, value in grid.values.items()}
    return values | found


def report(observed: Mapping[str, Any], _: Mapping[str, Claim]) -> Report:
    """The sections of ``live.md``, and the tables of probes beside them."""
    process, kernel = observed["through_process"], observed["through_kernel"]
    names = {
        "process": {
            "finding": _finding(process.found, kernel_router.NOT_ENOUGH),
            "machine": machine(process.runs),
            "per_packet_s": PER_PACKET_S,
        },
        "kernel": {
            "finding": _finding(kernel.found, kernel_router.why_not()),
            "machine": router(kernel.runs),
            "in_trains": IN_TRAINS,
        },
    }
    page = report_text.page(Path(__file__).parent.with_suffix(".md"), names, _of_process(process) | _of_kernel(kernel))
    return replace(page, tables={"measured": process.table, "forwarded": kernel.table})
