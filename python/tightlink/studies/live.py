"""Studies measured: what of a study runs over the machine's own transports, beside being simulated.

Measurements are kept as the folders of runs; what is there is not measured again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tightlink.run import MEASUREMENT, Run, is_there, open_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.execute import Task
    from tightlink.report import Section
    from tightlink.scenario import Scenario

#: How often a measurement is tried where the machine is too busy.
_TRIES: Final = 3


@dataclass(frozen=True)
class LiveFindings:
    """What was found by measuring: more claims, sections and tables of the study."""

    claims: Sequence[Claim]
    sections: Sequence[Section]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """What was found in numbers, by the name of its Parquet file."""


@dataclass(frozen=True)
class Live:
    """The part of a study that is measured."""

    tasks: Callable[[], Sequence[Task]]
    """Scenarios to measure, which are simulated as well; their names differ from those of the study's own."""
    findings: Callable[[Mapping[str, Run], Mapping[str, Run]], LiveFindings]
    """From the measurements, and the study's simulated runs with those of the same names among them."""


def measure_all(
    tasks: Sequence[Task],
    folder: Path,
    progress: Callable[[str], None],
    watch: Callable[[object], None] | None = None,
) -> dict[str, Run]:
    """Measure every task, or find its measurement in a folder.

    Args:
        tasks: Scenarios, with names.
        folder: Where measurements are kept, a folder each.
        progress: Told, line by line, what is being measured.
        watch: Told now and then how far it is.

    Returns:
        The runs by the names of their tasks.

    Raises:
        SpoiledError: The machine was too busy; what is finished is kept.
        TightlinkError: The machine lacks something, or a folder holds something else.
    """
    from tightlink.measure.measuring import measure

    found = {}
    for number, task in enumerate(tasks, 1):
        target = folder / task.name
        kept = _kept(target, task.scenario)
        if kept is None:
            # Looked at before: a wrong folder is not worth waiting for.
            is_there(target, {"identity": "", "source": MEASUREMENT}, [])
            progress(f"measuring {task.name} ({number} of {len(tasks)}, {task.scenario.duration})")
            kept = measure(task.scenario, tries=_TRIES, watch=watch)
            kept.save(target)
        found[task.name] = kept
    return found


def _kept(folder: Path, scenario: Scenario) -> Run | None:
    """The measurement of a scenario, if it is there."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    run = open_run(folder)
    wanted = json.loads(json.dumps(scenario.explicit().written()))
    return run if run.source == MEASUREMENT and run.manifest["scenario"] == wanted else None
