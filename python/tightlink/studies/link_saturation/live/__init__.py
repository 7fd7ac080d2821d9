"""What is measured: the sweep between two real hosts, and through this machine's own kernel.

Tolerances that are not the document's are this study's, and were set before anything was measured.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from tightlink.experiment.claims import Claim
from tightlink.run import Run
from tightlink.studies import report_text
from tightlink.studies.link_saturation.live import hosts, kernel
from tightlink.studies.live import Measurement, machine, tasks_of
from tightlink.studies.live import kernel as router
from tightlink.studies.study import Report

#: The sweep between hosts, as it is simulated.
tasks: Final = partial(tasks_of, hosts.POINTS)


def measurements() -> list[Measurement]:
    """Both sweeps, one size after the other."""
    return [*hosts.measurements(), *kernel.measurements()]


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values, and both sweeps."""
    between, through = hosts.observe(runs), kernel.observe(runs)
    return {**between.values, **through.values, "between": between, "through": through}


def report(observed: Mapping[str, Any], _: Mapping[str, Claim]) -> Report:
    """The sections of ``live.md``, and the table of each sweep."""
    between, through = observed["between"], observed["through"]
    names = {
        "hosts": {"finding": hosts.finding(between), "machine": machine(between.runs)},
        "kernel": {"finding": kernel.finding(through), "machine": router(through.runs), **kernel.RATES},
    }
    page = report_text.page(
        Path(__file__).parent.with_suffix(".md"), names, hosts.blocks(between) | kernel.blocks(through)
    )
    return replace(page, tables={"measured": between.table, "forwarded": through.table})
