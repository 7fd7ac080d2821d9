"""What a study is, and how one is run: runs, table, claims, figures, report, in a folder of its own.

A study says what to simulate and what that means; everything else is here and below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from tightlink.checksums import DamagedError, read_json, write_table
from tightlink.errors import ScenarioError, TightlinkError, closest
from tightlink.experiment import claims as claimed
from tightlink.experiment.execute import Task, execute
from tightlink.experiment.metrics import metrics
from tightlink.experiment.results import results, write_results
from tightlink.experiment.store import Store
from tightlink.experiment.workplace import occupied
from tightlink.laboratory.embedded import Offer
from tightlink.laboratory.engine import check_engine
from tightlink.report.blocks import Chart, Row, Section, Table
from tightlink.studies.claims_table import ClaimsTable
from tightlink.studies.live import measure_all

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import polars as pl

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.progress import ExperimentProgress
    from tightlink.experiment.workplace import Workplace
    from tightlink.run import Run
    from tightlink.scenario import Scenario
    from tightlink.studies.live import Measurement

#: The option that asks for measurements.
LIVE: Final = "live"


class Observed(Protocol):
    """What a study observed: more than this, if its report needs it."""

    @property
    def values(self) -> Mapping[str, object]:
        """By name: what claims compare."""


@dataclass(frozen=True)
class Report:
    """What a study says of what it found."""

    title: str = ""
    lead: str = ""
    sections: Sequence[Section] = ()
    draw: Callable[[Path], Sequence[Path]] = lambda _: ()
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

    def behind(self, first: Report) -> Report:
        """This report behind the sections of another one, with its figures and tables, too.

        >>> own, first = (Report(draw=lambda folder, name=name: [f"{folder}/{name}"]) for name in ("own", "first"))
        >>> own.behind(first).draw("figures")
        ['figures/own', 'figures/first']
        """
        return replace(
            self,
            sections=[*first.sections, *self.sections],
            draw=lambda folder: [*self.draw(folder), *first.draw(folder)],
            tables={**self.tables, **first.tables},
        )


@dataclass(frozen=True)
class Live:
    """What a study measures on real hosts, beside what it simulates."""

    tasks: Callable[[], Sequence[Task]]
    """What is simulated for it."""
    measurements: Callable[[], Sequence[Measurement]]
    observe: Callable[[Mapping[str, Run]], Any]
    """From runs to what was observed; it gets those measurements that there are, too, NAME as live/NAME."""
    report: Callable[[Any, Mapping[str, Claim]], Report]
    """Its sections come first, as who measures asks for it."""


@dataclass(frozen=True)
class Study:
    """A study: what it simulates, what it observes of that, what it claims, and what it makes of it."""

    name: str
    help: str
    tasks: Callable[[], Sequence[Task] | Mapping[str, Scenario]]
    """What to simulate: scenarios by name, or tasks."""
    observe: Callable[[Mapping[str, Run]], Any] | None = None
    """From runs, by the names of their tasks, to values by name that claims compare, or an `Observed`."""
    claims: Path | str | None = None
    """The table of claims (`tightlink.studies.claims_table`): its file, or its text."""
    report: Callable[[Any, Mapping[str, Claim]], Report] | None = None
    """From what was observed, and the claims by id, to the report; without it, a table of the values."""
    parts: Collection[str] | None = None
    """Which of its parts are run, by what the ids of their claims begin with; without it, all are."""
    measure: Callable[[Run], Mapping[str, float | str]] = metrics
    """What ``runs.parquet`` says of a run."""
    command: str = ""
    """Options with which the study was called, as on a command line."""
    file: str = ""
    """The file that defines it, if it does not come with Tightlink."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What it can be asked for, by name, with a line of help."""
    adapt: Callable[[Mapping[str, str]], Study] | None = None
    """The study with such options."""
    measured: Callable[[], Sequence[Measurement]] = tuple
    """What it measures on real hosts."""
    live: Live | Callable[[], Study] | None = None
    """What it can measure, or the study with measurements; none if it measures nothing."""

    def with_options(self, options: Mapping[str, str]) -> Study:
        """The study as it is with these options.

        Raises:
            ScenarioError: It has no such option, or the value is none.
            TightlinkError: It measures nothing.
        """
        if not options:
            return self
        if LIVE in options:
            others = {name: value for name, value in options.items() if name != LIVE}
            return self._measuring().with_options(others)
        for name, value in options.items():
            if name not in self.options or self.adapt is None:
                known = [*self.options, *([] if self.live is None else [LIVE])]
                expected = f"no such option: study {self.name} has " + (
                    ", ".join(f"--{each}" for each in known) if known else "none of its own"
                )
                raise ScenarioError(expected, key=f"--{name}", value=value, suggestion=closest(name, known))
        return self if self.adapt is None else self.adapt(options)

    def _measuring(self) -> Study:
        """The study with its measurements."""
        if self.live is None:
            raise TightlinkError(f"--{LIVE}: study {self.name} measures nothing")
        if not isinstance(self.live, Live):
            return self.live()
        return replace(self, measured=self.live.measurements, command=f" --{LIVE}")

    def all_tasks(self) -> list[Task]:
        """What is simulated, for its measurements too if it makes any."""
        beside = self.live.tasks() if isinstance(self.live, Live) and self.measured is not tuple else ()
        own = self.tasks()
        listed = [Task(name, scenario) for name, scenario in own.items()] if isinstance(own, Mapping) else own
        return [*listed, *beside]

    def table(self) -> ClaimsTable:
        """The claims of what is run, before anything was observed.

        Raises:
            TightlinkError: It has none, or an entry is not a claim.
        """
        if self.claims is None:
            raise TightlinkError(f"study {self.name}: its claims are not in a table")
        whole = ClaimsTable.parsed(self.claims) if isinstance(self.claims, str) else ClaimsTable.read(self.claims)
        return whole if self.parts is None else whole.of(self.parts)

    def found(self, runs: Mapping[str, Run]) -> tuple[list[Claim], Report]:
        """The claims with their verdicts, and the report.

        Raises:
            TightlinkError: The table of claims is none, or names what is not observed.
        """
        table, observed = self.table(), {} if self.observe is None else self.observe(runs)
        values = observed if isinstance(observed, Mapping) else observed.values
        claims = table.judged(values)
        report = (self.report or self._plain_report)(observed, {claim.id: claim for claim in claims})
        if not isinstance(self.live, Live) or self.measured is tuple:
            return claims, report
        measured = self.live.observe(runs)
        claims += table.judged_live({**values, **measured.values})
        return claims, report.behind(self.live.report(measured, {claim.id: claim for claim in claims}))

    def _plain_report(self, observed: Any, _: Mapping[str, Claim]) -> Report:
        """What was observed, as it is."""
        import polars as pl

        values = observed if isinstance(observed, Mapping) else observed.values
        shown = pl.DataFrame({"observed": list(values), "value": [claimed.number(value) for value in values.values()]})
        title = self.help[:1].upper() + self.help[1:]
        return Report(title, sections=[Section("What was observed", blocks=[Table(shown)])])


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
        tasks = study.all_tasks()
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
        claims, report = study.found({**runs, **{f"{LIVE}/{name}": run for name, run in real.items()}})
        place.check()
        _write(study, claims, report, place, progress, tasks, with_lab=with_lab)
    return claimed.exit_code(claims)


def _write(  # noqa: PLR0913, PLR0917
    study: Study,
    claims: Sequence[Claim],
    found: Report,
    place: Workplace,
    progress: Callable[[str], None],
    tasks: Sequence[Task],
    *,
    with_lab: bool,
) -> None:
    folder = place.folder
    claimed.save(claims, folder / "claims.json")
    place.mark({"study": study.name, "claims": claimed.checksum_of(claims)})
    progress("drawing figures and report")
    figures = found.draw(folder / "figures")
    for name, table in found.tables.items():
        write_table(folder / f"{name}.parquet", table)
    from tightlink import report

    report.write(
        folder / "report.html",
        title=found.title,
        lead=found.lead,
        claims=claims,
        picture=found.shown(),
        sections=found.sections,
        figures=figures,
        seeds=[task.scenario.seed for task in tasks],
        command=f"tightlink study {study.file or study.name}{study.command}",
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
