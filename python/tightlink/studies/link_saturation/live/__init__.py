"""What is measured: the sweep between two real hosts, and through this machine's own kernel.

Tolerances that are not the document's are this study's, and were set before anything was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tightlink.experiment.claims import Claim
from tightlink.run import Run
from tightlink.studies.link_saturation.live import hosts, kernel
from tightlink.studies.live import Measurement
from tightlink.studies.study import Report


@dataclass(frozen=True)
class Observed:
    """What both sweeps show."""

    values: Mapping[str, object]
    hosts: hosts.Observed
    kernel: kernel.Observed


def measurements() -> list[Measurement]:
    """Both sweeps, one size after the other."""
    return [*hosts.measurements(), *kernel.measurements()]


def observe(runs: Mapping[str, Run]) -> Observed:
    """From runs to values and tables."""
    between, through = hosts.observe(runs), kernel.observe(runs)
    return Observed({**between.values, **through.values}, between, through)


def report(observed: Observed, _: Mapping[str, Claim]) -> Report:
    """A section and a table of each."""
    return Report(
        sections=[hosts.section(observed.hosts), kernel.section(observed.kernel)],
        tables={"measured": observed.hosts.table, "forwarded": observed.kernel.table},
    )
