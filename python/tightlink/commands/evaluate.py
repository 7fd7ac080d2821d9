"""The command ``tightlink evaluate``: congestion controls, or queues, through one pack of tests, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tightlink.commands.analyze_output import Json  # cyclopts evaluates it
from tightlink.commands.controls import Controls, define
from tightlink.commands.options import Cluster, Jobs, Output, WithLab  # cyclopts evaluates them
from tightlink.console import print_json, print_text

if TYPE_CHECKING:
    from tightlink.studies.evaluation.observe import Evaluation
    from tightlink.studies.study import Study


def evaluate(
    *names: str,
    queues: Annotated[bool, Parameter(negative="")] = False,
    test: Annotated[list[str] | None, Parameter(negative="")] = None,
    pack: str | None = None,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    output: Output = None,
    json_: Json = False,
    controls: Controls = None,
    with_lab: WithLab = False,
) -> int:
    """Put congestion controls, or queues, through one pack of tests, and print them side by side.

    Parameters
    ----------
    names
        Congestion controls, as "tightlink list congestion" names them; with options, such as "fast:alpha=50 packets".
    queues
        The names are queues, as "tightlink list queues" has them, and the tests those of RFC 7928; with options, such
        as "codel:target=2 ms".
    test
        Test to make instead of all, such as ramp-up; may be repeated.
    pack
        Named pack of tests to make instead: rfc9743, what is asked of a new control, or wireless, after RFC 8869; with
        a verdict on each requirement.
    output
        Folder for the results, in which an interrupted evaluation continues (default: results/evaluation, with --queues
        results/queues).
    controls
        Python file with congestion controls of your own, which it runs; may be repeated.
    """
    from tightlink.console import say, watching
    from tightlink.studies.evaluation import evaluate as put_through
    from tightlink.studies.evaluation import of

    define(controls)
    folder = output or Path("results") / ("queues" if queues else "evaluation")
    _say_how_long(of(names, test, queues=queues, pack=pack), folder, jobs, cluster)
    with watching() as watch:
        evaluation = put_through(
            names,
            queues=queues,
            tests=test,
            pack=pack,
            output=folder,
            jobs=jobs,
            cluster=cluster,
            with_lab=with_lab,
            progress=say,
            watch=watch,
        )
    report = folder / "report.html"
    if json_:
        print_json(evaluation.described(), allow_nan=False)
        say(f"report: {report}")
    else:
        (_print_headlines if pack is None else _print_verdicts)(evaluation)
        print_text(f"\nreport: {report}")
    return 0


def _say_how_long(planned: Study, folder: Path, jobs: int, cluster: str | None) -> None:
    from tightlink.console import say
    from tightlink.experiment.claims import MARKER
    from tightlink.experiment.engines import engine
    from tightlink.experiment.estimate import of_runs
    from tightlink.experiment.store import Store
    from tightlink.experiment.workplace import check_folder
    from tightlink.progress import duration

    check_folder(folder, MARKER, "study")
    places = engine(jobs).places
    if cluster is None and not Store(folder / "runs").count():
        # Equal runs are made once.
        scenarios = list({repr(task.scenario.written()): task.scenario for task in planned.all_tasks()}.values())
        seconds = of_runs(scenarios, places)
        say(f"{len(scenarios)} runs" + ("" if seconds is None else f", about {duration(seconds)}"))


def _print_headlines(evaluation: Evaluation) -> None:
    """A row for each measure, a column for each control or queue."""
    from tightlink.console import print_table
    from tightlink.studies.evaluation.report.words import told

    labels = [label for label, _ in evaluation.subjects]
    rows = [
        [headline.title, *(told(headline.measure, means[label], headline.never) for label in labels)]
        for _, headline, means in evaluation.headlines()
    ]
    print_table(["", *labels], rows)


def _print_verdicts(evaluation: Evaluation) -> None:
    """A row for each requirement of the pack, with what it asks for, and a column for each control."""
    from tightlink.console import print_table
    from tightlink.studies.evaluation.report.verdicts import verdict_table

    for name, pack in evaluation.judged():
        if name == evaluation.pack:
            frame = verdict_table(evaluation, name, pack)
            print_table(frame.columns, [list(row) for row in frame.rows()])
