"""What a test of a pack is: settings, each simulated with some seeds, and what is read from the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import polars as pl

from tightlink.experiment.execute import Task
from tightlink.scenario import Scenario
from tightlink.studies.evaluation.setup.subjects import Subject

#: Seeds of the tests in which something is random.
SEEDS: Final = (1, 2, 3)
#: What the runs of a trial are called: that of its subject, and what it is compared with.
_RUNS: Final = ("run", "alone")


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
    """A test of the pack."""

    name: str
    title: str
    about: str
    """What is simulated and measured, in the report."""
    settings: Callable[[], Mapping[str, Any]]
    """By what tables call them."""
    scenarios: Callable[[Any, Any, int], Sequence[Scenario]]
    """What is simulated for a control or a queue, a setting and a seed: one, or one and what it is compared with."""
    measure: Callable[..., Mapping[str, float | None]]
    """From a setting and its runs to values by name, with the unit at its end; none where something did not happen."""
    headlines: Sequence[Headline]
    curve: Callable[..., pl.DataFrame] | None = None
    """From the same to what the report draws over time."""
    random: bool = True
    """Whether anything in it is random, so that one seed is not enough."""
    plane: bool = False
    """Whether the report draws its throughput over its queueing delay, for each setting."""

    @property
    def seeds(self) -> Sequence[int]:
        """What each setting is simulated with."""
        return SEEDS if self.random else (1,)


class Trial(NamedTuple):
    """One setting of a test with one seed, for what is evaluated."""

    subject: Subject
    test: Test
    setting: str
    value: Any
    """Of the setting."""
    seed: int

    def tasks(self) -> list[Task]:
        """Its runs."""
        place = f"{self.subject.label}/{self.test.name}/{self.setting}/{self.seed}"
        scenarios = self.test.scenarios(self.subject.value, self.value, self.seed)
        return [Task(f"{place}/{name}", scenario) for name, scenario in zip(_RUNS, scenarios, strict=False)]
