"""What a study is, and how one is run: runs, table, claims, figures, report, in a folder of its own.

A study says what to simulate and what that means; everything else is here and below.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tightlink.checksums import DamagedError, read_json, write_table
from tightlink.errors import ScenarioError, TightlinkError
from tightlink.experiment import claims as claimed
from tightlink.experiment.execute import execute
from tightlink.experiment.metrics import metrics
from tightlink.experiment.results import results, write_results
from tightlink.experiment.store import Store
from tightlink.experiment.workplace import occupied
from tightlink.laboratory.embedded import Offer
from tightlink.laboratory.engine import check_engine
from tightlink.report.blocks import Chart, Row
from tightlink.studies.live import measure_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.execute import Task
    from tightlink.experiment.progress import ExperimentProgress
    from tightlink.experiment.workplace import Workplace
    from tightlink.report import Section
    from tightlink.run import Run
    from tightlink.studies.live import Measurement

#: The option that asks for measurements.
LIVE: Final = "live"


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
    picture: str = ""
    """Title of the section whose first chart shows the finding; without it, the first chart of all."""

    def shown(self) -> Chart | Row | None:
        """What shows the finding, beside the lead."""
        wanted = [section for section in self.sections if self.picture in {"", section.title}]
        drawn = (block for section in wanted for block in section.blocks if isinstance(block, Chart | Row))
        return next(drawn, None)


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
    measured: Callable[[], Sequence[Measurement]] = tuple
    """What it measures on real hosts; `findings` gets those runs that there are, too, NAME as live/NAME."""
    live: Callable[[], Study] | None = None
    """The study with measurements; none if it has none."""

    def with_options(self, options: Mapping[str, str]) -> Study:
        """The study as it is with these options.

        Raises:
            ScenarioError: It has no such option, or the value is none.
            TightlinkError: It measures nothing.
        """
        if not options:
            return self
        if LIVE in options:
            if self.live is None:
                raise TightlinkError(f"--{LIVE}: study {self.name} measures nothing")
            others = {name: value for name, value in options.items() if name != LIVE}
            return self.live().with_options(others)
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
    watch: Callable[[ExperimentProgress], None] | None = None,
    with_lab: bool = False,
) -> int:
    """Run a study, or finish one that was interrupted: runs that are there are not run again.

    Args:
        study: What to run.
        folder: For its results.
        jobs: Runs to simulate at a time.
        progress: Told, line by line, what it is doing.
        cluster: Address of a Dask scheduler to simulate the runs instead.
        watch: Told after every run how far it is.
        with_lab: Whether the report opens the scenarios in the lab.

    Returns:
        The exit code: 0, or 3 if a claim does not hold.

    Raises:
        TightlinkError: The folder holds something else, another process works in it, the machine cannot measure
            what is to be measured, or the engine for browsers is not installed.
    """
    if with_lab:
        check_engine()
    wanted = list(study.measured())
    if wanted:
        _can_measure()
    with occupied(folder, claimed.MARKER, "study") as place:
        store = Store(folder / "runs", place)
        _claim(study, store, place)
        tasks = list(study.tasks())
        if store.count():
            progress(f"{store.count()} runs are in {store.folder} already")
        runs = execute(tasks, store, jobs=jobs, cluster=cluster, watch=watch)
        for error in store.damaged:
            progress(error.mended)
        place.check()
        scenarios = {task.name: task.scenario for task in tasks}
        write_results(folder / "runs.parquet", results(scenarios, runs, study.measure))
        real = measure_all(wanted, folder / LIVE, jobs, progress) if wanted else {}
        progress("analysing")
        found = study.findings({**runs, **{f"{LIVE}/{name}": run for name, run in real.items()}})
        place.check()
        _write(study, found, place, progress, tasks, with_lab=with_lab)
    return claimed.exit_code(found.claims)


def _write(
    study: Study,
    found: Findings,
    place: Workplace,
    progress: Callable[[str], None],
    tasks: Sequence[Task],
    *,
    with_lab: bool,
) -> None:
    folder = place.folder
    claimed.save(found.claims, folder / "claims.json")
    place.mark({"study": study.name, "claims": claimed.checksum_of(found.claims)})
    progress("drawing figures and report")
    figures = found.draw(folder / "figures")
    for name, table in found.tables.items():
        write_table(folder / f"{name}.parquet", table)
    from tightlink import report

    report.write(
        folder / "report.html",
        title=found.title,
        lead=found.lead,
        claims=found.claims,
        picture=found.shown(),
        sections=found.sections,
        figures=figures,
        seeds=[task.scenario.seed for task in tasks],
        command=f"tightlink study {study.name}{study.command}",
        laboratories=_offers(tasks) if with_lab else (),
    )


def _offers(tasks: Sequence[Task]) -> list[Offer]:
    """The scenarios of a study for its laboratories: of replications, which differ in their seeds, the first."""
    first: dict[str, Offer] = {}
    for task in tasks:
        first.setdefault(repr(task.scenario.written() | {"seed": 0}), Offer(task.name, task.scenario))
    return list(first.values())


def _can_measure() -> None:
    """Find out whether this machine can measure, before anything takes its time."""
    from tightlink.measure.machine import missing

    if (why := missing("tun")) is not None:
        raise TightlinkError(f"--{LIVE}: {why}; without it the study is simulated only")


def _claim(study: Study, store: Store, place: Workplace) -> None:
    """Make the folder this study's, unless it holds that of another one."""
    marker, held = place.folder / claimed.MARKER, {"study": study.name}
    if marker.exists():
        try:
            held = read_json(marker, needed=False)
        except DamagedError as error:
            if not store.recognised(error):
                raise
    if "study" not in held:
        raise DamagedError(marker, "it does not say of which study")
    if held["study"] != study.name:
        raise TightlinkError(
            f"{marker.parent}: holds the study {held['study']}; choose another folder for {study.name}"
        )
    # Without the checksum of claims, which come at the end.
    place.mark({"study": study.name})
