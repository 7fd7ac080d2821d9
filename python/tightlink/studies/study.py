"""What a study is, and how one is run: runs, table, claims, figures, report, in a folder of its own.

A study says what to simulate and what that means; everything else is here and below.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from tightlink.errors import ScenarioError, TightlinkError
from tightlink.experiment import claims as claimed
from tightlink.experiment.execute import execute
from tightlink.experiment.results import metrics, results, write_results
from tightlink.experiment.store import Store
from tightlink.files import write_bytes, write_text
from tightlink.studies.live import measure_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.execute import Task
    from tightlink.report import Section
    from tightlink.run import Run
    from tightlink.studies.live import Live, LiveFindings

_MARKER: Final = "study.json"


@dataclass(frozen=True)
class Findings:
    """What a study found: its claims, and its report."""

    title: str
    lead: str
    claims: Sequence[Claim]
    sections: Sequence[Section]
    draw: Callable[[Path], Sequence[Path]]
    """Writes the figures for papers into a folder."""
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """What was found in numbers, by the name of its Parquet file."""

    def beside(self, live: LiveFindings) -> Findings:
        """The same with what was measured."""
        return replace(
            self,
            claims=[*self.claims, *live.claims],
            sections=[*self.sections, *live.sections],
            tables={**self.tables, **live.tables},
        )


@dataclass(frozen=True)
class Study:
    """A study: what it simulates, and what it makes of it."""

    name: str
    help: str
    tasks: Callable[[], Sequence[Task]]
    findings: Callable[[Mapping[str, Run]], Findings]
    measure: Callable[[Run], Mapping[str, float | str]] = metrics
    """What ``runs.parquet`` says of a run."""
    command: str = ""
    """Options with which the study was called, as on a command line."""
    adapt: Callable[[Mapping[str, str]], Study] | None = None
    """The study with other options than its own, by name; none if it has no options."""
    live: Live | None = None
    """The part of it that can be measured."""

    def with_options(self, options: Mapping[str, str]) -> Study:
        """The study as it is with these options.

        Raises:
            ScenarioError: It has no such option, or the value is none.
        """
        if not options:
            return self
        if self.adapt is None:
            name, value = next(iter(options.items()))
            raise ScenarioError("nothing here: this study has one size", key=f"--{name}", value=value)
        return self.adapt(options)


def run_study(  # noqa: PLR0913
    study: Study,
    folder: Path,
    jobs: int,
    progress: Callable[[str], None],
    *,
    cluster: str | None = None,
    watch: Callable[[object], None] | None = None,
    live: bool = False,
) -> int:
    """Run a study, or finish one that was interrupted: runs that are there are not run again.

    Args:
        study: What to run.
        folder: For its results.
        jobs: Runs to simulate at a time.
        progress: Told, line by line, what it is doing.
        cluster: Address of a Dask scheduler to simulate the runs instead.
        watch: Told after every run how far it is.
        live: Whether to measure what of it can be measured, too.

    Returns:
        The exit code: 0, or 3 if a claim does not hold.

    Raises:
        ScenarioError: Nothing of it can be measured.
        TightlinkError: The folder holds something else.
    """
    if live and study.live is None:
        raise ScenarioError("nothing here: nothing of this study is measured", key="--live", value=study.name)
    _claim_folder(study, folder)
    measured_tasks = list(study.live.tasks()) if live and study.live is not None else []
    tasks = [*study.tasks(), *measured_tasks]
    store = Store(folder / "runs")
    if store.count():
        progress(f"{store.count()} runs are in {store.folder} already")
    runs = execute(tasks, store, jobs=jobs, cluster=cluster, progress=watch)
    scenarios = {task.name: task.scenario for task in tasks}
    write_results(folder / "runs.parquet", results(scenarios, runs, study.measure))
    measured = measure_all(measured_tasks, folder, progress, watch)
    progress("analysing")
    found = study.findings(runs)
    if live and study.live is not None:
        found = found.beside(study.live.findings(measured, runs))
    claimed.save(found.claims, folder / "claims.json")
    progress("drawing figures and report")
    figures = found.draw(folder / "figures")
    for name, table in found.tables.items():
        write_bytes(folder / f"{name}.parquet", _parquet(table))
    from tightlink import report

    report.write(
        folder / "report.html",
        title=found.title,
        lead=found.lead,
        claims=found.claims,
        sections=found.sections,
        figures=figures,
        seeds=[task.scenario.seed for task in tasks],
        command=f"tightlink study {study.name}{study.command}{' --live' if live else ''}",
    )
    return claimed.exit_code(found.claims)


def _parquet(table: pl.DataFrame) -> bytes:
    import io

    content = io.BytesIO()
    table.write_parquet(content, compression="zstd")
    return content.getvalue()


def _claim_folder(study: Study, folder: Path) -> None:
    """Make the folder this study's, unless it holds something else."""
    marker = folder / _MARKER
    if folder.exists() and not folder.is_dir():
        raise TightlinkError(f"{folder}: expected a folder, and it is a file")
    if marker.exists():
        try:
            held = json.loads(marker.read_text(encoding="utf-8"))["study"]
        except (ValueError, KeyError, TypeError, OSError):
            raise TightlinkError(f"{marker}: cannot be read; choose another folder") from None
        if held != study.name:
            raise TightlinkError(f"{folder}: holds the study {held}; choose another folder for {study.name}")
    elif folder.exists() and any(folder.iterdir()):
        raise TightlinkError(f"{folder}: the folder is not empty and holds no study; choose another one")
    else:
        write_text(marker, json.dumps({"study": study.name}) + "\n")
