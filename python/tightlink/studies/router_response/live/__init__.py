"""What is measured: a router that is a process of this machine, and one that is the machine's own kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tightlink.studies.live import repeats
from tightlink.studies.router_response.live import kernel_router, process_router, sections
from tightlink.studies.router_response.live.process_router import tasks
from tightlink.studies.study import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tightlink.analysis.regimes import Regimes
    from tightlink.experiment.claims import Claim
    from tightlink.run import Run
    from tightlink.studies.live import Measurement

__all__ = ["measurements", "observe", "report", "tasks"]


@dataclass(frozen=True)
class Measured:
    """The grid through one router."""

    table: pl.DataFrame
    """A row for each probe."""
    regions: Regimes | None
    runs: list[Run]


@dataclass(frozen=True)
class Observed:
    """The grid through both routers."""

    values: Mapping[str, object]
    process: Measured
    kernel: Measured


def measurements() -> list[Measurement]:
    """The probes through both routers."""
    return [*process_router.measurements(), *kernel_router.measurements()]


def observe(runs: Mapping[str, Run]) -> Observed:
    """From runs to values and tables."""
    values: dict[str, object] = {}
    both = []
    for router in (process_router, kernel_router):
        table = router.table(runs)
        regions = router.regions(table)
        values |= router.values(table, regions)
        own = [run for probe in router.PROBES for run in repeats(runs, f"live/{probe.name}")]
        both.append(Measured(table, regions, own))
    return Observed(values, *both)


def report(observed: Observed, _: Mapping[str, Claim]) -> Report:
    """The parts of the report, and the tables of probes beside it."""
    return Report(
        sections=[sections.process(observed.process), sections.kernel(observed.kernel)],
        tables={"measured": observed.process.table, "forwarded": observed.kernel.table},
    )
