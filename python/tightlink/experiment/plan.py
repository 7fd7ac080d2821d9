"""The plan of an experiment: a scenario, what is varied, how, and how often; from Python or from TOML.

The file of an experiment stands beside the scenario that it names::

    scenario = "dumbbell.toml"
    replications = 5
    [vary]
    "topology.net.bottleneck.queue" = ["5 packets", "20 packets"]
    "traffic.bulk.flows" = "1..20"

Example:
    >>> import tightlink as tl
    >>> base = tl.network("dsl").set("duration", "1 s")
    >>> plan = Plan.of(base, {"link.access.queue": ["5 packets", "20 packets"]}, replications=3)
    >>> [task.name for task in plan.tasks()]
    ['0/0', '0/1', '0/2', '1/0', '1/1', '1/2']
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from tightlink import arguments
from tightlink.errors import Argument, ScenarioError, TightlinkError, in_quotes, located, one_of
from tightlink.experiment import designs
from tightlink.experiment.cells import Cell, cells
from tightlink.experiment.designs import Design
from tightlink.experiment.execute import Task
from tightlink.experiment.factors import Factor, as_text
from tightlink.experiment.precision import FEWEST, MOST_REPLICATIONS, Precision
from tightlink.experiment.size import MOST_RUNS, check_runs, counted
from tightlink.scenario import Scenario, load, loads
from tightlink.scenario.toml import parse, read

#: Keys of the file of an experiment, beside those of `Settings`.
_SCENARIO: Final = "scenario"
_VARY: Final = "vary"
_SET: Final = "set"


@dataclass(frozen=True)
class Settings:
    """What an experiment does beyond its factors; keys of its file and options of the command."""

    design: str = designs.FULL
    """Kind of design, or the name of a CSV file with the combinations."""
    replications: int | None = None
    """Runs of each cell, with seeds from the scenario's on (default 1; with a precision, 5 to begin with)."""
    resolution: int | None = None
    """Resolution of a fractional design."""
    runs: int | None = None
    """Combinations of a Latin hypercube; the most of a fractional design."""
    design_seed: int | None = None
    """Seed of the choice that a Latin hypercube makes (default 1)."""
    precision: str | None = None
    """Metric and half width of its confidence interval, such as "goodput_bps=5 %", to replicate until it is met."""
    max_replications: int | None = None
    """Replications of a cell at most where a precision is asked for (default 100)."""
    max_runs: int = MOST_RUNS
    """Runs that there may be; what would make more is refused before it begins."""

    def __post_init__(self) -> None:
        least = {"replications": 1, "runs": 1, "resolution": 3, "max_replications": 2, "design_seed": 0, "max_runs": 1}
        for name, smallest in least.items():
            if (value := getattr(self, name)) is not None:
                arguments.whole(name, value, least=smallest)
        for name in ("design", "precision"):
            text = getattr(self, name)
            if text is not None and not isinstance(text, str):
                raise ScenarioError("text", key=name, value=text)
        if self.max_replications is not None and self.precision is None:
            raise ScenarioError(
                "nothing here: only a precision has it", key="max_replications", value=self.max_replications
            )


_NAMES: Final = [field.name for field in fields(Settings)]


@contextmanager
def _of_arguments(names: Collection[str]) -> Iterator[None]:
    """Within it, errors of some settings are of arguments, which the command has as options, others of a file."""
    try:
        yield
    except ScenarioError as error:
        if error.key in _NAMES:
            error.key = Argument(error.key) if error.key in names else str(error.key)
        raise


class Plan:
    """What an experiment will run: its cells are made and checked at once."""

    def __init__(self, scenario: Scenario, factors: Iterable[Factor], settings: Settings) -> None:
        self.scenario = scenario
        self.settings = settings
        self.precision = (
            None
            if settings.precision is None
            else Precision.parse(settings.precision, settings.max_replications or MOST_REPLICATIONS)
        )
        first = 1 if self.precision is None else min(FEWEST, self.precision.most)
        self.replications = settings.replications or first
        replicated = self.replications > 1 or self.precision is not None
        options = designs.Options(settings.resolution, settings.runs, settings.design_seed, replicated, self._check)
        self.design: Design = designs.make(list(factors), settings.design, options)
        self._check(len(self.design.rows))
        if replicated:
            for factor in self.design.factors:
                if "seed" in factor.keys:
                    message = "no factor seed beside replications, which are runs with other seeds"
                    raise ScenarioError(message, key="seed", file=Argument("vary"))

    def _check(self, combinations: int) -> None:
        times = f" of {counted(self.replications)} replications" if self.replications > 1 else ""
        made_of = f"{counted(combinations)} combinations{times}"
        check_runs(combinations * self.replications, self.settings.max_runs, made_of)

    @classmethod
    def of(
        cls, scenario: Scenario, vary: Mapping[Any, object] | Iterable[Factor] | None = None, **settings: Any
    ) -> Self:
        """A plan from Python: of levels by key, as `Factor.of` takes them, or of factors; and of `Settings`."""
        if vary is None:
            factors = []
        elif isinstance(vary, Mapping):
            factors = [Factor.of(key, given) for key, given in vary.items()]
        else:
            those: object = vary
            factors = list(vary) if isinstance(those, Iterable) else []
            if not isinstance(those, Iterable) or not all(isinstance(factor, Factor) for factor in factors):
                raise TightlinkError('vary: expected levels by key, such as {"traffic.bulk.flows": [1, 2, 4]}')
        chosen = {name: arguments.plain(value) for name, value in settings.items()}
        with _of_arguments(_NAMES):
            return cls(scenario, factors, Settings(**chosen))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        vary: Iterable[Factor] = (),
        changes: Mapping[str, object] | None = None,
        **settings: Any,
    ) -> Self:
        """A plan from the file of an experiment, or from that of a scenario.

        Factors are beside or instead of those of the file, ``changes`` are of the scenario's keys, by dotted path, and
        settings those of `Settings`, of which None leaves the file's as they are.
        """
        file = Path(path)
        chosen = {name: value for name, value in settings.items() if value is not None}
        with located(str(file)):
            # Once: a pipe, as that of <(…), is empty afterwards.
            data = parse(text := read(file))
        if _SCENARIO not in data:
            return cls.of(loads(text, set=changes, file=str(file)), list(vary), **chosen)
        with located(str(file)), _of_arguments(()):
            own, factors = _settings(data), _factors(data)
        if str(own.design).endswith(".csv"):
            own = replace(own, design=str(file.parent / own.design))
        scenario = load(file.parent / str(data[_SCENARIO]), set={**data.get(_SET, {}), **(changes or {})})
        given = list(vary)
        replaced = {key for factor in given for key in factor.keys}
        kept = [factor for factor in factors if not replaced & set(factor.keys)]
        try:
            with _of_arguments(chosen):
                return cls(scenario, [*kept, *given], replace(own, **chosen))
        except ScenarioError as error:
            raise error if error.file or error.key in chosen else error.located(str(file)) from None

    @cached_property
    def cells(self) -> list[Cell]:
        """The combinations, each with its scenario."""
        return cells(self.scenario, self.design)

    @cached_property
    def notes(self) -> list[str]:
        """What must be known of the design, and which factors are varied in no combination."""
        found = list(self.design.notes)
        for factor in self.design.factors:
            if factor.only and not any(factor.matters(cell.values, self.scenario) for cell in self.cells):
                met = " and ".join(f"{key} = {' or '.join(map(as_text, given))}" for key, given in factor.only.items())
                found.append(f"{factor.name} is not varied: no combination has {met}")
        return found

    def tasks(self) -> Iterator[Task]:
        """The runs, cell by cell, without those that a precision adds."""
        for cell in self.cells:
            yield from self.tasks_of(cell, 0, self.replications)

    @staticmethod
    def tasks_of(cell: Cell, first: int, last: int) -> Iterator[Task]:
        """The runs of some replications of a cell; the last one is not among them."""
        for number in range(first, last):
            yield Task(f"{cell.number}/{number}", cell.replication(number))


def _settings(data: Mapping[str, Any]) -> Settings:
    known = [_SCENARIO, _SET, _VARY, *_NAMES]
    for key in data:
        if key not in known:
            raise ScenarioError(f"unknown key; expected {one_of(known)}", key=key,
                                suggestion=in_quotes(key, known), statement=True)  # fmt: skip
    if not isinstance(data[_SCENARIO], str):
        raise ScenarioError('the file of a scenario, such as "dumbbell.toml"', key=_SCENARIO, value=data[_SCENARIO])
    for key in (_SET, _VARY):
        if not isinstance(data.get(key, {}), dict):
            raise ScenarioError("a table of dotted keys in quotes", key=key, value=data[key])
    return Settings(**{name: data[name] for name in _NAMES if name in data})


def _factors(data: Mapping[str, Any]) -> list[Factor]:
    try:
        return [Factor.of(key, given) for key, given in data.get(_VARY, {}).items()]
    except TightlinkError as error:
        if isinstance(error, ScenarioError) and error.key:
            error.key = f"{_VARY}.{error.key}"
        raise
