"""What was measured, beside the same cells simulated: a section, a figure and the table of cells."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tightlink.studies.bulk_throughput.report import linux
from tightlink.studies.live import machine
from tightlink.studies.study import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.bulk_throughput.live.observe import Observed


def report(observed: Observed, _: Mapping[str, Claim]) -> Report:
    """Those parts of the report that who measures asks for."""
    points = observed.points
    where = machine(observed.measured) if observed.measured else ""
    return Report(
        sections=[linux.section("Linux measured, beside the simulation", points, where)],
        draw=partial(linux.draw, points=points),
        tables={"measured": points},
    )
