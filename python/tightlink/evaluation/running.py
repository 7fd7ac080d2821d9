"""Running the pack into a folder: runs, measures, report; resumed where it was interrupted."""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tightlink.evaluation.found import Evaluation, measures
from tightlink.experiment.execute import Task, execute
from tightlink.experiment.results import column, results, write_results
from tightlink.experiment.store import Store
from tightlink.experiment.workplace import occupied
from tightlink.files import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    import polars as pl

    from tightlink.evaluation.controls import Control
    from tightlink.evaluation.pack import Case, Test
    from tightlink.experiment.progress import ExperimentProgress
    from tightlink.run import Run

MARKER: Final = "evaluation.json"


class Trial(NamedTuple):
    """A case of a test for a control."""

    control: Control
    test: Test
    case: Case

    def tasks(self) -> dict[str, Task]:
        """Its runs, by the names that the case gives them."""
        place = f"{self.control.label}/{self.test.name}/{self.case.setting}/{self.case.seed}"
        return {name: Task(f"{place}/{name}", scenario) for name, scenario in self.case.scenarios.items()}


def trials(controls: Sequence[Control], tests: Sequence[Test]) -> list[Trial]:
    """Everything that an evaluation does."""
    return [Trial(control, test, case) for control in controls for test in tests for case in test.cases(control)]


def run(
    controls: Sequence[Control],
    tests: Sequence[Test],
    output: str | os.PathLike[str] | None = None,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
) -> Evaluation:
    """Put controls through tests, or finish that: runs that are in the folder are not run again.

    Args:
        controls: To evaluate.
        tests: Of the pack.
        output: Folder for the results; without it, one that goes when the evaluation that is returned goes.
        jobs: Runs to simulate at a time.
        cluster: Address of a Dask scheduler to simulate them instead.
        watch: Told after every run how far it is.

    Raises:
        TightlinkError: The folder holds something else, another process works in it, or runs failed.
    """
    folder = Path(tempfile.mkdtemp(prefix="tightlink-") if output is None else output)
    with occupied(folder, MARKER, "evaluation") as place:
        if not (folder / MARKER).exists():
            write_text(folder / MARKER, "{}\n")
        planned = trials(controls, tests)
        tasks = [task for trial in planned for task in trial.tasks().values()]
        store = Store(folder / "runs", place)
        runs = execute(tasks, store, jobs=jobs, cluster=cluster, watch=watch)
        place.check()
        write_results(folder / "runs.parquet", results({task.name: task.scenario for task in tasks}, runs))
        evaluation = replace(_evaluated(controls, tests, planned, runs, folder), damaged=store.damaged)
        _write(evaluation)
    if output is None:
        weakref.finalize(evaluation, shutil.rmtree, folder, ignore_errors=True)
    return evaluation


def _evaluated(
    controls: Sequence[Control],
    tests: Sequence[Test],
    planned: Sequence[Trial],
    runs: dict[str, Run],
    folder: Path,
) -> Evaluation:
    rows: list[tuple[Any, ...]] = []
    curves: dict[tuple[str, str, str], pl.DataFrame] = {}
    for trial in planned:
        control, test, case = trial
        # Taken out, so that the tables of runs that were read do not fill the memory.
        own = {name: runs.pop(task.name) for name, task in trial.tasks().items()}
        place = (control.label, test.name, case.setting)
        rows += [(*place, case.seed, name, value) for name, value in case.measure(own).items()]
        if case.curve is not None and place not in curves:
            curves[place] = case.curve(own)
    return Evaluation(controls, tests, measures(rows), curves, folder)


def _write(evaluation: Evaluation) -> None:
    table = evaluation.measures
    columns = {name: column(table[name].to_list()) for name in table.columns}
    write_results(evaluation.folder / "measures.parquet", columns)
    text = json.dumps(evaluation.described(), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(evaluation.folder / MARKER, text + "\n")
