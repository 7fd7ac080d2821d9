"""What is simulated: each case of each test, for each control or queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tightlink.experiment.execute import Task
from tightlink.studies.evaluation.setup.pack import Case, Subject, Test


class Trial(NamedTuple):
    """A case of a test for what is evaluated."""

    control: Subject
    test: Test
    case: Case

    def tasks(self) -> dict[str, Task]:
        """Its runs, by the names that the case gives them."""
        place = f"{self.control.label}/{self.test.name}/{self.case.setting}/{self.case.seed}"
        return {name: Task(f"{place}/{name}", scenario) for name, scenario in self.case.scenarios.items()}


def trials(controls: Sequence[Subject], tests: Sequence[Test]) -> list[Trial]:
    """Everything that an evaluation does."""
    return [Trial(control, test, case) for control in controls for test in tests for case in test.cases(control)]
