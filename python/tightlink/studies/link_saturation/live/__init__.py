"""What is measured: the sweep between two real hosts, and through this machine's own kernel.

Tolerances that are not the document's are this study's, and were set before anything was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tightlink.experiment.claims import Claim
from tightlink.run import Run
from tightlink.studies.link_saturation.live import hosts, kernel
from tightlink.studies.live import Measurement
from tightlink.studies.study import Report


def measurements() -> list[Measurement]:
    """Both sweeps, one size after the other."""
    return [*hosts.measurements(), *kernel.measurements()]


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values, and both sweeps."""
    between, through = hosts.observe(runs), kernel.observe(runs)
    return {**between.values, **through.values, "between": between, "through": through}


def report(observed: Mapping[str, Any], _: Mapping[str, Claim]) -> Report:
    """A section and a table of each."""
    between, through = observed["between"], observed["through"]
    tables = {"measured": between.table, "forwarded": through.table}
    return Report(sections=[hosts.section(between), kernel.section(through)], tables=tables)
