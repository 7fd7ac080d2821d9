"""The table of an experiment: a row for each run, with what was varied and what came out.

Example:
    >>> import tightlink as tl
    >>> base = tl.loads('''
    ... profile = "ns2"
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> varied([base, base.set("link.wire.delay", "20 ms")])
    {'link.wire.delay': ['10 ms', '20 ms']}
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from tightlink.checksums import write_table
from tightlink.experiment.metrics import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tightlink.run import Run
    from tightlink.scenario import Scenario


def varied(scenarios: Sequence[Scenario]) -> dict[str, list[Any]]:
    """The keys that differ between scenarios, by dotted path, with the value in each; None where it lacks it.

    A scenario is taken with the defaults of its profile. Keys of which all scenarios that have them
    agree are left out, as is the seed.
    """
    return _differing([scenario.explicit().written() for scenario in scenarios])


def results(
    scenarios: Mapping[str, Scenario],
    runs: Mapping[str, Run],
    measure: Callable[[Run], Mapping[str, float | str]] = metrics,
) -> dict[str, list[Any]]:
    """The columns of ``runs.parquet``: run, replication, seed, status, what was varied, metrics, identity.

    Runs whose scenarios differ in nothing but the seed are replications, numbered from 0.

    Args:
        scenarios: By the names of the runs.
        runs: What came out, by the same names.
        measure: What to say of a run, numbers and words, the same for all.
    """
    seen: dict[str, int] = {}
    columns: dict[str, list[Any]] = {"run": list(scenarios), "replication": [], "seed": [], "status": []}
    for scenario in scenarios.values():
        key = json.dumps(scenario.written() | {"seed": None}, sort_keys=True)
        columns["replication"].append(seen.get(key, 0))
        columns["seed"].append(scenario.seed)
        columns["status"].append("done")
        seen[key] = seen.get(key, 0) + 1
    # Of the manifests: to fill in the defaults again takes longer than to read the runs.
    for key, values in _differing([runs[name].manifest["scenario"] for name in scenarios]).items():
        columns[key] = column(values)
    rows = [measure(runs[name]) for name in scenarios]
    # Of what some runs have no word or number, such as a traffic group, it is missing there.
    for name in dict.fromkeys(name for row in rows for name in row):
        columns[name] = column([row.get(name) for row in rows])
    columns["identity"] = [runs[name].manifest["identity"] for name in scenarios]
    return columns


def write_results(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write the table as Parquet, whole or not at all."""
    import numpy as np

    # There are no runs where a study takes what is stored.
    texts = {name: bool(values) and isinstance(values[0], str) for name, values in columns.items()}
    write_table(path, {name: list(values) if texts[name] else np.asarray(values) for name, values in columns.items()})


def _differing(written: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    flat = [dict(_leaves(table)) for table in written]
    columns: dict[str, list[Any]] = {}
    for key in dict.fromkeys(key for leaves in flat for key in leaves if key != "seed"):
        values = [leaves.get(key) for leaves in flat]
        if len({repr(value) for value in values if value is not None}) > 1:
            columns[key] = values
    return columns


def column(values: Sequence[Any]) -> list[Any]:
    """Values of a key as a column: numbers, or words where some value is no number."""
    there = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in there):
        if all(isinstance(value, int) for value in values):
            return list(values)
        return [math.nan if value is None else float(value) for value in values]
    return ["" if value is None else str(value) for value in values]


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
