"""The command ``tightlink evaluate``: congestion controls through one pack of tests, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tightlink.commands.controls import Controls, define
from tightlink.console import print_json, print_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tightlink.evaluation.found import Evaluation
    from tightlink.evaluation.running import Trial


def evaluate(
    *names: str,
    test: Annotated[list[str] | None, Parameter(negative="")] = None,
    jobs: Annotated[int, Parameter(name=["--jobs", "-j"])] = 1,
    cluster: str | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
    controls: Controls = None,
) -> int:
    """Put congestion controls through one pack of tests, and print them side by side.

    Parameters
    ----------
    names
        Congestion controls, as "tightlink list congestion" names them; with options, such as "fast:alpha=50 packets".
    test
        Test to make instead of all, such as ramp-up; may be repeated.
    jobs
        Runs to execute at a time; the results do not depend on it.
    cluster
        Address of a Dask scheduler to execute them instead, such as tcp://10.0.0.1:8786.
    output
        Folder for the results, in which an interrupted evaluation goes on (default: results/evaluation).
    json_
        Print what was found as JSON.
    controls
        Python file with congestion controls of your own, which it runs; may be repeated.
    """
    from tightlink.console import INTERRUPTED, say, watching
    from tightlink.evaluation.controls import controls as read
    from tightlink.evaluation.pack import chosen
    from tightlink.evaluation.running import run, trials

    define(controls)
    wanted, tests, folder = read(names), chosen(test), output or Path("results") / "evaluation"
    _say_how_long(trials(wanted, tests), folder, jobs, cluster)
    try:
        with watching() as watch:
            evaluation = run(wanted, tests, folder, jobs=jobs, cluster=cluster, watch=watch)
    except KeyboardInterrupt:
        say("interrupted; what is finished is kept, and the same command goes on from there")
        return INTERRUPTED
    for error in evaluation.damaged:
        say(error.mended)
    if json_:
        print_json(evaluation.described(), allow_nan=False)
    else:
        _print_headlines(evaluation)
    _report(evaluation, quiet=json_)
    return 0


def _say_how_long(planned: Sequence[Trial], folder: Path, jobs: int, cluster: str | None) -> None:
    from tightlink.console import say
    from tightlink.evaluation.estimate import seconds
    from tightlink.evaluation.running import MARKER
    from tightlink.experiment.engines import engine
    from tightlink.experiment.store import Store
    from tightlink.experiment.workplace import check_folder
    from tightlink.progress import duration

    check_folder(folder, MARKER, "evaluation")
    places = engine(jobs).places
    count = sum(len(trial.case.scenarios) for trial in planned)
    there = Store(folder / "runs").count()
    if there or cluster is not None:
        say(f"{count} runs" + (f"; {there} are in {folder / 'runs'} already" if there else ""))
    else:
        say(f"{count} runs, about {duration(seconds(planned, places))}")


def _print_headlines(evaluation: Evaluation) -> None:
    """A row for each measure, a column for each control."""
    from tightlink.console import print_table
    from tightlink.evaluation.words import told

    labels = [control.label for control in evaluation.controls]
    rows = [
        [headline.title, *(told(headline.measure, means[label], headline.never) for label in labels)]
        for _, headline, means in evaluation.headlines()
    ]
    print_table(["", *labels], rows)


def _report(evaluation: Evaluation, *, quiet: bool) -> None:
    from tightlink.console import say
    from tightlink.evaluation.report import write

    place = write(evaluation)
    if quiet:
        say(f"report: {place}")
    else:
        print_text(f"\nreport: {place}")
