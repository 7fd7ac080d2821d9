"""How a study is run: runs, table, claims, figures, report, in its own folder.

Example:
    >>> import tempfile
    >>> import tightlink as tl
    >>> base = tl.loads('''
    ... duration = "2 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "50 packets" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b", tcp = { window = "8 packets" } }
    ... ''')
    >>> window = tl.Study(
    ...     "window",
    ...     "a window that fills a link",
    ...     tasks=lambda: {"eight": base},
    ...     observe=lambda runs: {"eight.utilization": runs["eight"].links["utilization"][0]},
    ...     claims='''
    ...         [[claims]]
    ...         id = "full"
    ...         statement = "Eight packets fill the link"
    ...         source = "arithmetic"
    ...         origin = "theory"
    ...         observed = "eight.utilization"
    ...         holds = "eight.utilization > 0.95"
    ...     ''',
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = tl.study(window, folder)
    >>> found.claims[0].verdict, found.exit_code
    ('holds', 0)
    >>> round(found.observed["eight.utilization"], 2)
    0.99
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink import arguments, report
from tightlink.calls import answered
from tightlink.checksums import write_table
from tightlink.errors import TightlinkError
from tightlink.experiment import claims as claimed
from tightlink.experiment import claims_file
from tightlink.experiment.campaign import failed
from tightlink.experiment.claims import Claim
from tightlink.experiment.engines import engine
from tightlink.experiment.estimate import of_runs
from tightlink.experiment.execute import Task, attempted
from tightlink.experiment.folder import RUNS, Experiment
from tightlink.experiment.progress import ExperimentProgress
from tightlink.experiment.results import failure, results, write_failures, write_results
from tightlink.experiment.store import Store
from tightlink.experiment.workplace import Workplace, occupied
from tightlink.files import errors_of
from tightlink.laboratory.embedded import Offer
from tightlink.laboratory.engine import check_engine
from tightlink.progress import check_watch, duration
from tightlink.report.failed import failed_runs
from tightlink.studies import named
from tightlink.studies.live import measure_all
from tightlink.studies.study import LIVE, Found, Report, Study

#: Key of the marker of a study's folder for its name.
_STUDY: Final = "study"


@dataclass(frozen=True, repr=False)
class StudyResult:
    """A study that was run: what `tightlink.study` returns. Printed, it is a table of its claims and verdicts."""

    name: str
    folder: Path
    """Where its runs, tables, figures and report are."""
    claims: Sequence[Claim]
    observed: Any
    """What the study observed: its values by name, or more than these."""
    said: Report
    """What the report says of it."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Runs that failed, with their errors, of a study that comes to something without them."""
    total: int = 0
    """How many runs it has in all."""

    @property
    def report(self) -> Path:
        """The report, one HTML file."""
        return self.folder / "report.html"

    @property
    def exit_code(self) -> int:
        """1 if runs failed, 3 if a claim does not hold, else 0."""
        return 1 if self.failures else claimed.exit_code(self.claims)

    @property
    def warnings(self) -> list[str]:
        """What must be read before the results are trusted: runs that failed."""
        return [failed(self.failures, self.total)] if self.failures else []

    @property
    def table(self) -> pl.DataFrame:
        """The claims with their verdicts, a row each, in words."""
        rows = [
            (claim.id, claim.statement, claim.source, claim.compared_text, claim.observed_text, claim.verdict)
            for claim in self.claims
        ]
        return pl.DataFrame(rows, ["id", "statement", "source", "document", "here", "verdict"], orient="row")

    def __str__(self) -> str:
        out = StringIO()
        claimed.print_table(self.claims, out)
        return out.getvalue().rstrip()

    __repr__ = __str__


@answered()
def study(  # noqa: PLR0913
    what: str | os.PathLike[str] | Study,
    output: str | os.PathLike[str] | None = None,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    options: Mapping[str, str] | None = None,
    with_lab: bool = False,
    progress: Callable[[str], None] | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
) -> StudyResult:
    """Run a study, or finish one that was interrupted: runs that are in its folder are not run again.

    Args:
        what: Name of a study, as `tightlink.studies.names` lists them, a Python file that defines one, or a `Study`.
        output: Folder for runs, tables, claims, figures and report; without it, results/NAME.
        jobs: Runs to simulate at a time; the results do not depend on it.
        cluster: Address of a Dask scheduler to simulate the runs instead.
        options: What the study is asked for, by name: "live", or those of `Study.options`.
        with_lab: Whether the report opens the scenarios in the lab, for which it contains the engine.
        progress: Told, line by line, what it is doing.
        watch: Told after every run how far it is.

    Returns:
        The claims with their verdicts, what was observed, and where the report is.

    Raises:
        ScenarioError: There is no such study, or it has no such option.
        TightlinkError: The folder holds something else, another process works in it, runs failed, the machine cannot
            measure what is to be measured, or the engine for browsers is not installed.

    Example:
        >>> import tempfile
        >>> import tightlink as tl
        >>> example = Path(tl.__file__).parent / "examples" / "new_study.py"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tl.study(example, folder).table["verdict"].to_list()
        ['holds', 'holds']
    """
    check_watch(watch)
    given = {} if options is None else arguments.table("options", options, 'a table, such as {"tests": "queues"}')
    asked = named(what).with_options(given)
    folder = Path("results") / (asked.folder or asked.name) if output is None else Path(output)
    tell = progress or (lambda _: None)
    if with_lab:
        check_engine()
    # Before anything takes its time: what is wrong with its table of claims.
    asked.table()
    wanted = list(asked.measured())
    if wanted:
        _can_measure()
    with occupied(folder, claims_file.MARKER, "study") as place:
        store = Store(folder / "runs", place)
        place.claim({_STUDY: asked.name}, _STUDY, lambda held: f"the study {held[_STUDY]}", store.recognised)
        with errors_of(Path(asked.file)):
            tasks = asked.all_tasks()
        if outdated := store.outdated():
            tell(f"{folder}: {outdated}")
        if there := store.count() - outdated.runs:
            tell(f"{there} runs are in {store.folder} already")
        elif progress is not None and cluster is None:
            tell(_how_long(tasks, jobs))
        runs, failures = attempted(tasks, store, jobs=jobs, cluster=cluster, watch=watch)
        for error in store.damaged:
            tell(error.mended)
        place.check()
        scenarios = {task.name: task.scenario for task in tasks}
        with errors_of(Path(asked.file)):
            rows = results(scenarios, runs, asked.measure)
        write_failures(folder, [failure(name, scenarios[name], error) for name, error in failures.items()])
        write_results(folder / RUNS, rows)
        if failures and not (asked.partial and runs):
            raise TightlinkError(failed(failures, len(tasks)))
        real = measure_all(wanted, folder / LIVE, jobs, tell) if wanted else {}
        tell("analysing")
        with errors_of(Path(asked.file)):
            found = asked.found({**runs, **{f"{LIVE}/{name}": run for name, run in real.items()}})
        place.check()
        section = failed_runs(Experiment(folder, store).failures)
        if section is not None:
            found = found._replace(report=replace(found.report, sections=[*found.report.sections, section]))
        _write(asked, found, place, tell, tasks, with_lab=with_lab)
    claims = claims_file.load(folder / "claims.json")
    return StudyResult(asked.name, folder, claims, found.observed, found.report, failures, len(tasks))


def _how_long(tasks: Sequence[Task], jobs: int) -> str:
    # Equal runs are made once.
    scenarios = list({repr(task.scenario.written()): task.scenario for task in tasks}.values())
    seconds = of_runs(scenarios, engine(jobs).places)
    return f"{len(scenarios)} runs" + ("" if seconds is None else f", about {duration(seconds)}")


def _write(
    study: Study, found: Found, place: Workplace, tell: Callable[[str], None], tasks: Sequence[Task], *, with_lab: bool
) -> None:
    folder, (claims, said, _) = place.folder, found
    # Without the checksum of the claims until they are there.
    place.mark({_STUDY: study.name})
    claims_file.save(claims, folder / "claims.json")
    place.mark({_STUDY: study.name, "claims": claims_file.checksum_of(claims)})
    tell("drawing figures and report")
    figures = said.draw(folder / "figures")
    for name, table in said.tables.items():
        write_table(folder / f"{name}.parquet", table)
    report.write(
        folder / "report.html",
        title=said.title,
        lead=said.lead,
        claims=claims,
        picture=said.shown(),
        sections=said.sections,
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
