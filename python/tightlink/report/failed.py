"""The section of a report about runs that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tightlink.numbers import several
from tightlink.report.blocks import Details, Section

_MOST: Final = 20


def failed_runs(failures: Mapping[str, Mapping[str, Any]]) -> Section | None:
    """What failed, as `Experiment.failures` has it: each with its error and its scenario; nothing where nothing did."""
    if not failures:
        return None
    shown = list(failures.items())[:_MOST]
    blocks = [Details(f"{name}: {entry['error']}", entry["scenario"]) for name, entry in shown]
    return Section("Failed", f"{several(len(failures), 'run')} failed.", blocks)
