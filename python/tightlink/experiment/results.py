"""The table of an experiment: a row for each run, with what was varied and what came out.

Example:
    >>> differing([{"seed": 1, "link": {"wire": {"delay": delay}}} for delay in ("10 ms", "20 ms")])
    {'link.wire.delay': ['10 ms', '20 ms']}
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tightlink.checksums import with_checksum, write_table
from tightlink.experiment.factors import as_text
from tightlink.experiment.folder import COMPACT, FAILURES, RUNS
from tightlink.experiment.metrics import metrics
from tightlink.experiment.workplace import Workplace
from tightlink.files import write_text
from tightlink.lazy import np, pl
from tightlink.run import Run
from tightlink.scenario import Scenario

#: Tables with a few rows for each run.
SMALL: Final = ("flows", "links", "nodes", "completion_times")
#: Tables of all runs that stand below each other.
COMPACTED: Final = (*SMALL, "series")


@dataclass(frozen=True)
class Row:
    """A run, as the table of an experiment has it."""

    run: str
    replication: int
    seed: int
    varied: Mapping[str, Any]
    metrics: Mapping[str, float | str | None]
    """Nothing of one that failed."""
    identity: str
    """Nothing likewise."""


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The columns of ``runs.parquet``: run, replication, seed, status, what was varied, metrics, identity."""
    found: dict[str, list[Any]] = {
        name: [getattr(row, name) for row in rows] for name in ("run", "replication", "seed")
    }
    found["status"] = ["done" if row.identity else "failed" for row in rows]
    # Of what some runs have no word or number, such as a traffic group, it is missing there.
    for part in ("varied", "metrics"):
        for name in dict.fromkeys(name for row in rows for name in getattr(row, part)):
            found[name] = _column([getattr(row, part).get(name) for row in rows])
    found["identity"] = [row.identity for row in rows]
    return found


def results(
    scenarios: Mapping[str, Scenario],
    runs: Mapping[str, Run],
    measure: Callable[[Run], Mapping[str, float | str]] = metrics,
) -> dict[str, list[Any]]:
    """The columns of ``runs.parquet`` of runs that are no replications by design, such as those of a study, by name.

    Of those that failed there is nothing. Runs whose scenarios differ in nothing but the seed are replications,
    numbered from 0.
    """
    seen: dict[str, int] = {}
    rows: list[Row] = []
    # Of the manifests: to fill in the defaults again takes longer than to read the runs.
    differences = differing([
        runs[name].manifest["scenario"] if name in runs else scenario.written() for name, scenario in scenarios.items()
    ])  # fmt: skip
    for place, (name, scenario) in enumerate(scenarios.items()):
        key = json.dumps(scenario.written() | {"seed": None}, sort_keys=True)
        varied = {key: values[place] for key, values in differences.items()}
        found, identity = (measure(runs[name]), runs[name].manifest["identity"]) if name in runs else ({}, "")
        rows.append(Row(name, seen.get(key, 0), scenario.seed, varied, found, identity))
        seen[key] = seen.get(key, 0) + 1
    return columns(rows)


def write_results(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write the table as Parquet, whole or not at all."""
    # There are no runs where a study takes what is stored.
    texts = {name: bool(values) and isinstance(values[0], str) for name, values in columns.items()}
    write_table(path, {name: list(values) if texts[name] else np.asarray(values) for name, values in columns.items()})


def write_experiment(
    place: Workplace,
    rows: Sequence[Row],
    tables: Mapping[str, pl.DataFrame | pl.LazyFrame],
    failures: Sequence[Mapping[str, Any]],
    description: Mapping[str, Any],
    *,
    design: str = "",
) -> None:
    """Write what a sweep or a grid of measurements came to, in place of what is there of another one.

    All runs' tables are below each other, as thousands of small files are slow to search.
    """
    folder = place.folder
    # Tables of two experiments are never taken for one: without this file a folder holds no finished one.
    (folder / RUNS).unlink(missing_ok=True)
    write_failures(folder, failures)
    if design:
        write_text(folder / "design.csv", design)
    for name in COMPACTED:
        file = folder / COMPACT / f"{name}.parquet"
        if name in tables:
            write_table(file, tables[name])
        else:
            file.unlink(missing_ok=True)
    place.mark(description)
    write_results(folder / RUNS, columns(rows))


def write_failures(folder: Path, failures: Sequence[Mapping[str, Any]]) -> None:
    """Write why runs failed, each with its scenario, in place of what is there of others."""
    if failures:
        listed = [with_checksum(failure) for failure in failures]
        write_text(folder / FAILURES, json.dumps(listed, indent=2, ensure_ascii=False) + "\n")
    else:
        (folder / FAILURES).unlink(missing_ok=True)


def failure(run: str, scenario: Scenario, error: str) -> dict[str, Any]:
    """What is written of a run that failed, from which it can be simulated alone."""
    return {"run": run, "seed": scenario.seed, "error": error, "scenario": scenario.to_toml()}


def differing(written: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The keys that differ between scenarios, by dotted path, with the value in each; None where it lacks it.

    Keys of which all scenarios that have them agree are left out, as is the seed.
    """
    flat = [dict(_leaves(table)) for table in written]
    columns: dict[str, list[Any]] = {}
    for key in dict.fromkeys(key for leaves in flat for key in leaves if key != "seed"):
        values = [leaves.get(key) for leaves in flat]
        if len({repr(value) for value in values if value is not None}) > 1:
            columns[key] = values
    return columns


def _column(values: Sequence[Any]) -> list[Any]:
    """Values of a key as a column: numbers, or words where some value is no number."""
    there = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in there):
        if all(isinstance(value, int) for value in values):
            return list(values)
        return [math.nan if value is None else float(value) for value in values]
    return ["" if value is None else as_text(value) for value in values]


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
