"""What a test of a pack is: settings, each simulated with some seeds, what is read from the runs, and words of it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from tightlink.experiment.execute import Task
from tightlink.scenario import Scenario
from tightlink.studies.evaluation.setup.subjects import Subject
from tightlink.studies.expressions import fill

#: What the tests are called, and say, in the order of the report.
TABLE: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).parents[1].joinpath("tests.toml").read_text(encoding="utf-8")
)
#: Seeds of the tests in which something is random.
SEEDS: Final = (1, 2, 3)
#: What the runs of a trial are called: that of its subject, and what it is compared with.
_RUNS: Final = ("run", "alone")


class Made(NamedTuple):
    """How a test is made."""

    settings: Callable[[], Mapping[str, Any]]
    """By what tables call them."""
    scenarios: Callable[[Any, Any, int], Sequence[Scenario]]
    """What is simulated for a control or a queue, a setting and a seed: one, or one and what it is compared with."""
    measure: Callable[..., Mapping[str, float | None]]
    """From a setting and its runs to values by name, with the unit at its end; none where something did not happen."""
    curve: Callable[..., pl.DataFrame] | None = None
    """From the same to what the report draws over time."""


@dataclass(frozen=True)
class Headline:
    """A column of the table of all subjects."""

    title: str
    measure: str
    setting: str | None = None
    """Without it, the mean over all settings."""
    never: str = "never"
    """What stands there if it did not happen in the simulated time."""


@dataclass(frozen=True)
class Test:
    """A test of the pack, as ``tests.toml`` describes it."""

    name: str
    title: str
    about: str
    """What is simulated and measured, in the report."""
    made: Made
    headlines: Sequence[Headline]
    random: bool = True
    plane: bool = False
    others: bool = False

    @property
    def seeds(self) -> Sequence[int]:
        """What each setting is simulated with."""
        return SEEDS if self.random else (1,)


def tests(made: Mapping[str, Made], constants: Mapping[str, object]) -> dict[str, Test]:
    """The tests of a module, by name, whose texts name its constants."""
    found = {}
    for name, own in made.items():
        entry = TABLE[name]
        columns = [{key: fill(text, constants) for key, text in column.items()} for column in entry["headlines"]]
        words = {"about": fill(entry["about"], constants), "headlines": [Headline(**column) for column in columns]}
        found[name] = Test(name, made=own, **entry | words)
    return found


class Trial(NamedTuple):
    """One setting of a test with one seed, for what is evaluated."""

    subject: Subject
    test: Test
    setting: str
    value: Any
    """Of the setting."""
    seed: int

    def tasks(self) -> list[Task]:
        """The simulations that the test needs."""
        place = f"{self.subject.label}/{self.test.name}/{self.setting}/{self.seed}"
        scenarios = self.test.made.scenarios(self.subject.value, self.value, self.seed)
        return [Task(f"{place}/{name}", scenario) for name, scenario in zip(_RUNS, scenarios, strict=False)]
