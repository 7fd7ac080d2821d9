"""The command ``tightlink sweep``: a scenario at many levels of what is varied."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from tightlink.analysis.effects.factors import called
from tightlink.commands.controls import Controls, alone, define
from tightlink.commands.options import Cluster, Jobs, JsonOf, Output, Set, changes  # cyclopts evaluates them
from tightlink.commands.sweep_columns import by_importance, columns_of, possible_headers
from tightlink.commands.table_options import with_table_options
from tightlink.console import (
    FAILED,
    WRONG,
    check_columns,
    largest,
    print_json,
    print_table,
    print_text,
    print_verbatim,
    quantity,
    say,
    warned,
    watching,
)
from tightlink.errors import ScenarioError, TightlinkError
from tightlink.experiment.engines import engine
from tightlink.experiment.estimate import of_runs
from tightlink.experiment.factors import Factor, as_text, value_at
from tightlink.experiment.folder import Experiment
from tightlink.experiment.invalid import CHECK_FIRST_S, invalid
from tightlink.experiment.plan import Plan
from tightlink.experiment.running import run
from tightlink.experiment.store import Store
from tightlink.experiment.summary import censored, copied, width_of
from tightlink.laboratory.engine import check_engine
from tightlink.lazy import pl
from tightlink.numbers import NONE, TOO_FEW, UNKNOWN, interval, several
from tightlink.plots import labels
from tightlink.progress import duration
from tightlink.report.sweep import Found, write_found
from tightlink.shell import joined

_MOST_ALIASES: Final = 20
#: How long combinations are checked where nothing else is done.
_CHECK_ONLY_S: Final = 20.0


@with_table_options
def sweep(
    file: Path,
    *,
    vary: Annotated[list[str] | None, Parameter(negative="")] = None,
    design: str | None = None,
    replications: int | None = None,
    resolution: int | None = None,
    runs: int | None = None,
    design_seed: int | None = None,
    precision: str | None = None,
    max_replications: int | None = None,
    set_: Set = None,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    output: Output = None,
    dry_run: Annotated[bool, Parameter(name=["--dry-run", "-n"], negative="")] = False,
    yes: Annotated[bool, Parameter(negative="")] = False,
    controls: Controls = None,
    with_lab: Annotated[bool, Parameter(negative="")] = False,
    json_: JsonOf = False,
) -> int:
    """Simulate a scenario at many levels of what is varied, and print what came out.

    Args:
        file: Scenario or experiment, a TOML file.
        vary: key=v1,v2,… or a range key=1..20, of a key by its dotted path; may be repeated. Without it, the scenario
            with --replications other seeds.
        design: Which combinations: full, two-level, fractional, one-at-a-time, latin-hypercube, or a CSV file (default:
            full).
        replications: Runs of each combination, with seeds from the scenario's on (default: 1).
        resolution: Least resolution of a fractional design, such as 4; the runs that it takes may have a higher one.
        runs: Combinations of a Latin hypercube; the most of a fractional design.
        design_seed: Seed of the choice that a Latin hypercube makes (default: 1).
        precision: metric=SHARE, such as "goodput_bps=5 %": replicate until half the 95 % confidence interval is that
            narrow.
        max_replications: Replications of a combination at most, with --precision (default: 100).
        output: Folder for the results, in which an interrupted sweep continues (default: results/FILE-sweep).
        dry_run: Print the combinations, which of them cannot be simulated and how long they will take, and stop.
        yes: Allow more than 100,000 runs.
        with_lab: Put a laboratory into the report, with a slider for each key that is varied.
        json_: Print the means of all combinations as JSON, with half their 95 % confidence intervals;
            with --dry-run the combinations, what of them cannot be simulated, and the seconds that they will take.
    """
    define(controls)
    if with_lab:
        check_engine()
    settings = {
        "design": design, "replications": replications, "resolution": resolution, "runs": runs,
        "design_seed": design_seed, "precision": precision, "max_replications": max_replications,
    }  # fmt: skip
    factors = [Factor.parse(text) for text in vary or []]
    plan = Plan.load(file, factors, changes(set_), **settings, max_runs=sys.maxsize if yes else None)
    if dry_run:
        if not json_:
            _print_plan(plan, jobs)
        errors = _say_invalid(plan, _CHECK_ONLY_S)
        if json_:
            print_json(_planned(plan, jobs, errors), named=True)
        return WRONG if errors else 0
    check_columns(lambda: possible_headers(plan))
    command = _command(file, vary=vary, **settings, set=set_, controls=controls)
    folder = output or Path("results") / f"{file.stem}-sweep"
    _say_invalid(plan, CHECK_FIRST_S)
    return _warned(_run(plan, folder, jobs, cluster, command, with_lab=with_lab, json_=json_), plan, controls)


def _command(file: Path, **options: object) -> str:
    """What makes the same results again, wherever they are made and put."""
    words = ["tightlink", "sweep", str(file)]
    for name, value in options.items():
        for each in value if isinstance(value, list) else [] if value is None else [value]:
            words += [f"--{name.replace('_', '-')}", str(each)]
    return joined(words)


def _run(
    plan: Plan, folder: Path, jobs: int, cluster: str | None, command: str, *, with_lab: bool, json_: bool
) -> Experiment:
    if outdated := Store(folder / "runs").outdated():
        say(f"{folder}: {outdated}")
    with watching() as watch:
        experiment = run(plan, folder, jobs=jobs, cluster=cluster, watch=watch, command=command)
    for note in plan.notes[len(plan.design.notes) :]:
        say(note)
    for error in experiment.store.damaged:
        say(error.mended)
    status = experiment.runs.select("status").collect()["status"]
    done = (status == "done").sum()
    if (there := done - experiment.store.simulated) > 0:
        say(f"{there} of {status.len()} runs were there already")
    if (others := experiment.store.count() - outdated.runs - done) > 0:
        of_what = "of other levels" if outdated.whole else "of other levels or engines"
        say(f"{others} more runs are kept there, {of_what}: table and report are of what this command names")
    cells = experiment.summary
    found = Found(experiment)
    finding = found.sentence
    if not json_:
        _print_cells(cells, experiment.varied, found.most)
    report = write_found(found, folder / "report.html", name=folder.resolve().name, with_lab=with_lab)
    if json_:
        print_json({"finding": finding, "report": str(report), "cells": cells})
    else:
        print_text(f"\n{finding}")
        print_verbatim(f"\nreport: {report}\n")
    return experiment


def _levels(plan: Plan) -> list[dict[str, Any]]:
    """The combinations with the level of each key that varies."""
    keys = [key for factor in plan.design.factors for key in factor.keys]
    own = {key: value_at(plan.scenario, key) for key in keys}
    return [{"cell": str(cell.number)} | {key: cell.values.get(key, own[key]) for key in keys} for cell in plan.cells]


def _expected_s(plan: Plan, jobs: int) -> float | None:
    seconds = of_runs([cell.scenario for cell in plan.cells], engine(jobs).places)
    return None if seconds is None else seconds * plan.replications


def _planned(plan: Plan, jobs: int, errors: Mapping[int, TightlinkError]) -> dict[str, Any]:
    return {
        "runs": len(plan.cells) * plan.replications,
        "expected_s": _expected_s(plan, jobs),
        "cells": _levels(plan),
        "invalid": [{"cell": str(number), "error": str(_of_command(error))} for number, error in errors.items()],
    }


def _print_plan(plan: Plan, jobs: int) -> None:
    rows = _levels(plan)
    print_table(list(rows[0]), [list(map(shown, row.values())) for row in rows])
    for note in plan.notes:
        say(note)
    for group in plan.design.aliases[:_MOST_ALIASES]:
        say(f"cannot be told apart: {' = '.join(group)}")
    if len(plan.design.aliases) > _MOST_ALIASES:
        say(f"… and {len(plan.design.aliases) - _MOST_ALIASES} more groups")
    count = len(plan.cells) * plan.replications
    seconds = _expected_s(plan, jobs)
    about = "" if seconds is None else f", about {duration(seconds)}"
    more = "" if plan.precision is None else f", and more until {plan.precision} is met"
    times = "" if plan.replications == 1 else f" of {several(len(plan.cells), 'combination')}"
    say(f"{several(count, 'run')}{times}{about}{more}")


def _of_command(error: TightlinkError) -> TightlinkError:
    return error.of_command() if isinstance(error, ScenarioError) else error


def _say_invalid(plan: Plan, within_s: float) -> Mapping[int, TightlinkError]:
    """Say which combinations cannot be simulated, of as many as there is time for: errors by number."""
    found = invalid(plan.cells, within_s=within_s)
    for line in found.sentences(_of_command):
        say(line)
    return found.errors


def _print_cells(frame: pl.DataFrame, keys: list[str], most: str) -> None:
    """A row for each combination: means over its replications, with confidence intervals where there are several.

    ``most`` is the metric that changes most, which a narrow terminal shows, too.
    """
    printed, more = columns_of(frame, keys)
    columns = printed | more
    replicated = frame["runs"].max() != 1
    # A key may be called like a metric: link.wire.loss.
    short = labels.shortest([*keys, *columns])
    named = [short[key] for key in keys]
    header = ["cell" if replicated else "run", *named, *(["runs"] if replicated else []), *columns.values()]
    rows = [
        [
            row["cell"] if replicated else f"{row['cell']}/0",
            *(NONE if row[key] is None else called(row[key]) for key in keys),
            *([str(row["runs"])] if replicated else []),
            *(_cell(metric, row[metric], row[width_of(metric)]) for metric in columns),
        ]
        for row in frame.iter_rows(named=True)
    ]
    drop = [printed[metric] for metric in by_importance(list(printed), most)]
    lines = print_table(header, rows, drop=drop[:0:-1], more=list(more.values()), kept=1 + len(keys))
    if any(f"± {UNKNOWN}" in line for line in lines):
        say(TOO_FEW)


def _cell(column: str, value: float | None, half_width: float | None) -> str:
    # Of a traffic group: GROUP.METRIC.
    metric = column.rpartition(".")[2]
    if value is None or half_width is None or not (math.isfinite(value) and math.isfinite(half_width)):
        return quantity(metric, value)
    return interval(value, half_width, lambda number: quantity(metric, number), largest(metric))


def _warned(experiment: Experiment, plan: Plan, controls: list[Path] | None) -> int:
    code = warned(experiment.warnings)
    if copies := experiment.description["copies"]:
        say(copied(copies, len(plan.cells)))
    if text := censored(experiment.runs.collect()):
        say(text)
    if failures := experiment.failures:
        say(alone(experiment.folder, next(iter(failures)), controls))
        code = FAILED
    return code


def shown(value: object) -> str:
    """A value of a table for people."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return as_text(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
