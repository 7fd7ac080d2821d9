"""What a study is: what to simulate and to measure, what to observe, what to claim, what to report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from tightlink.diagnosis.words import sentence
from tightlink.errors import Argument, ScenarioError, TightlinkError, closest
from tightlink.experiment import claims as claimed
from tightlink.experiment.claims import Claim
from tightlink.experiment.execute import Task
from tightlink.experiment.metrics import metrics
from tightlink.report.blocks import Chart, Row, Section, Table
from tightlink.run import Run
from tightlink.scenario import Scenario
from tightlink.shell import quoted
from tightlink.studies import names
from tightlink.studies.claims_table import ClaimsTable
from tightlink.studies.expressions import Names
from tightlink.studies.live import Measurement

#: The option that asks for measurements.
LIVE: Final = "live"


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
    summary: pl.DataFrame | None = None
    """What a terminal shows of it, beside the claims."""
    described: Mapping[str, Any] = field(default_factory=dict)
    """What ``--json`` prints of it, beside the claims."""
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


class Found(NamedTuple):
    """What the runs of a study come to."""

    claims: list[Claim]
    """With their verdicts."""
    report: Report
    observed: Any
    """What `Study.observe` gave."""


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
    """A study: what it simulates, observes of that, claims and reports; `tightlink.study` runs it."""

    name: str
    help: str
    tasks: Callable[[], Sequence[Task] | Mapping[str, Scenario]]
    """What to simulate: scenarios by name, or tasks."""
    observe: Callable[[Mapping[str, Run]], Any] | None = None
    """From runs, by the names of their tasks, to what claims name: values, or an object that has them."""
    claims: Path | str | None = None
    """The table of claims (`tightlink.studies.claims_table`): its file, or its text."""
    report: Callable[[Any, Mapping[str, Claim]], Report] | None = None
    """From what was observed, and the claims by id, to the report; without it, a table of the values."""
    parts: Collection[str] | None = None
    """Which of its parts are run, by what the ids of their claims begin with; without it, all are."""
    measure: Callable[[Run], Mapping[str, float | str]] = metrics
    """What ``runs.parquet`` says of a run."""
    folder: str = ""
    """Name of the folder of its results where none is asked for; without it, its own."""
    command: str = ""
    """Options with which the study was called, as `typed` writes them; without it, those that `adapt` was given."""
    file: str = ""
    """The file that defines it, if it does not come with Tightlink."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What it can be asked for, by name, with a line of help."""
    adapt: Callable[[Mapping[str, str]], Study] | None = None
    """The study with such options."""
    live: Live | None = None
    """What it can measure on real hosts; none if it measures nothing."""
    measuring: bool = False
    """Whether it measures that now."""
    partial: bool = False
    """Whether it comes to something without runs that failed, of which `observe` gets none; else it fails with them."""

    def __post_init__(self) -> None:
        called: tuple[tuple[str, Callable[..., Any] | None, tuple[str, ...]], ...] = (
            ("tasks", self.tasks, ()),
            ("observe", self.observe, ("runs",)),
            ("report", self.report, ("what was observed", "claims")),
        )
        for key, function, arguments in called:
            of = f"of {' and '.join(arguments)}" if arguments else "without arguments"
            expected = f"study {self.name}: {key} must be a function {of}"
            if key == "tasks" or function is not None:
                if not callable(function):
                    raise TightlinkError(f"{expected}, not {type(function).__name__}")
                try:
                    signature(function).bind(*arguments)
                except TypeError as error:
                    raise TightlinkError(f"{expected}: {error}") from None
        if not isinstance(self.claims, Path | str | None):
            raise TightlinkError(
                f"study {self.name}: claims must be a text or a path, not {type(self.claims).__name__}"
            )

    @classmethod
    def shipped(cls, file: str, **others: Any) -> Study:
        """A study that comes with Tightlink, by the file of its package.

        What is not given stands there: the table of claims, and ``setup``, ``observe``, ``report`` and ``live``.
        """
        folder = Path(file).parent
        name = folder.name.replace("_", "-")
        own: dict[str, Any] = {"claims": folder / "claims.toml"}
        for module, part in (("setup", "tasks"), ("observe", "observe"), ("report", "report")):
            own[part] = others.get(part) or getattr(import_module(f"{__package__}.{folder.name}.{module}"), part)
        if (folder / "live.md").exists():
            live = import_module(f"{__package__}.{folder.name}.live")
            own["live"] = Live(live.tasks, live.measurements, live.observe, live.report)
        return cls(name, dict(names())[name], **own | others)

    def with_options(self, options: Mapping[str, str]) -> Study:
        """The study as it is with these options.

        Raises:
            ScenarioError: It has no such option, or the value is none.
            TightlinkError: It measures nothing.
        """
        own = {name: value for name, value in options.items() if name != LIVE}
        for name, value in own.items():
            if name not in self.options or self.adapt is None:
                known = [*self.options, *([] if self.live is None else [LIVE])]
                expected = f"no such option: study {self.name} has " + (
                    ", ".join(f"--{each}" for each in known) if known else "none"
                )
                raise ScenarioError(expected, key=Argument(name), value=value, suggestion=closest(name, known))
        adapted = self
        if own and self.adapt is not None:
            adapted = self.adapt(own)
            adapted = replace(adapted, file=self.file, command=adapted.command or typed(own))
        if LIVE not in options:
            return adapted
        if adapted.live is None:
            raise TightlinkError(f"--{LIVE}: study {self.name} measures nothing")
        return replace(adapted, measuring=True, command=f"{adapted.command} --{LIVE}")

    def measured(self) -> Sequence[Measurement]:
        """What it measures; nothing if it is not asked to."""
        return self.live.measurements() if self.live is not None and self.measuring else ()

    def all_tasks(self) -> list[Task]:
        """What is simulated, for its measurements too if it makes any."""
        beside = self.live.tasks() if self.live is not None and self.measuring else ()
        own: Any = self.tasks()
        if isinstance(own, Mapping):
            own = [Task(name, scenario) for name, scenario in own.items()]
        for task in own if isinstance(own, Sequence) else [own]:
            if not isinstance(task, Task) or not isinstance(task.scenario, Scenario):
                found = (
                    f"task {task.name} of {type(task.scenario).__name__}"
                    if isinstance(task, Task)
                    else type(task).__name__
                )
                raise TightlinkError(
                    f"{self._place}: tasks must return scenarios by their names, or tasks, not {found}"
                )
        return [*own, *beside]

    def table(self) -> ClaimsTable:
        """The claims of what is run, before anything was observed; none where it has no table of them.

        Raises:
            TightlinkError: An entry is not a claim.
        """
        if self.claims is None:
            return ClaimsTable("", ())
        if isinstance(self.claims, str):
            whole = ClaimsTable.parsed(self.claims, self.file or "claims.toml")
        else:
            whole = ClaimsTable.read(self.claims)
        return whole if self.parts is None else whole.of(self.parts)

    def found(self, runs: Mapping[str, Run]) -> Found:
        """What the runs come to.

        Raises:
            TightlinkError: The table of claims is none, or names what is not observed.
        """
        table, observed = self.table(), {} if self.observe is None else self.observe(runs)
        if isinstance(observed, pl.DataFrame) or not (isinstance(observed, Mapping) or hasattr(observed, "__dict__")):
            kind = type(observed).__name__
            raise TightlinkError(f"{self._place}: observe must return values by their names, not {kind}")
        claims = table.judged(_values(observed)) if table.statements else []
        report = (self.report or self._plain_report)(observed, {claim.id: claim for claim in claims})
        if not isinstance(report, Report):
            raise TightlinkError(
                f"{self._place}: report must return a Report, as page() makes it, not {type(report).__name__}"
            )
        if self.live is None or not self.measuring:
            return Found(claims, report, observed)
        measured = self.live.observe(runs)
        claims += table.judged_live(Names(_values(measured), _values(observed)))
        first = self.live.report(measured, {claim.id: claim for claim in claims})
        return Found(claims, report.behind(first), observed)

    @property
    def _place(self) -> str:
        """Where a mistake is."""
        return self.file or f"study {self.name}"

    def _plain_report(self, observed: Any, _: Mapping[str, Claim]) -> Report:
        """What was observed, as it is."""
        values = _values(observed)
        shown = pl.DataFrame({"observed": list(values), "value": [claimed.number(value) for value in values.values()]})
        title = sentence(self.help)
        return Report(title, sections=[Section("What was observed", blocks=[Table(shown)])])


def typed(options: Mapping[str, str]) -> str:
    """Options with their values as on a command line, each behind a space.

    >>> typed({"duration": "25 min", "routers": "1/3"})
    " --duration '25 min' --routers 1/3"
    """
    return "".join(f" --{name} {quoted(value)}" for name, value in options.items())


def _values(observed: Any) -> Mapping[str, Any]:
    """What claims compare, by name."""
    return observed if isinstance(observed, Mapping) else Names(getattr(observed, "values", {}), observed)
