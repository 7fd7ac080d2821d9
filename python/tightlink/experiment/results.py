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
from typing import TYPE_CHECKING, Any, Final

from tightlink.checksums import write_table
from tightlink.tables import counted, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from tightlink.run import Run
    from tightlink.scenario import Scenario

#: Tables over time of traffic that is no single flows.
OVER_TIME: Final[tuple[str, ...]] = ("users", "scatter")
#: Columns of a run's flows that add up.
_SUMS: Final = ("goodput_bps", "throughput_bps", "packets_sent", "packets_dropped", "packets_retransmitted", "timeouts")
#: Columns of a run's flows of which the mean over the flows is taken.
_MEANS: Final = ("latency_mean_s", "jitter_mean_s")


def varied(scenarios: Sequence[Scenario]) -> dict[str, list[Any]]:
    """The keys that differ between scenarios, by dotted path, with the value in each; None where it lacks it.

    A scenario is taken with the defaults of its profile. Keys of which all scenarios that have them
    agree are left out, as is the seed.
    """
    return _differing([scenario.explicit().written() for scenario in scenarios])


def metrics(run: Run) -> dict[str, float]:
    """What came out of a run, over all of its flows, or of all of its users and datagrams, as numbers.

    ``loss`` is packets dropped / packets sent, of users 1 − packets delivered / packets sent; ``utilization`` and
    ``queue_mean_packets`` are those of the busiest link.
    """
    over_time = {name: summed(run.table(name).lazy(), name)[()] for name in OVER_TIME if name in run.tables}
    flows = None if over_time else run.flows
    return metrics_of(flows, run.links, over_time)


def summed(table: pl.LazyFrame, name: str, by: Sequence[str] = ()) -> dict[tuple[Any, ...], dict[str, float]]:
    """Of a table over time: what is counted added up, what is measured as its mean over time, by run.

    Args:
        table: Rows of intervals, of one label or of several, which are added.
        name: Which table it is.
        by: Columns that tell runs apart.
    """
    import polars as pl

    counts, means = counted(name), measured(name)
    rows = table.group_by(*by, "label", maintain_order=True).agg(pl.col(counts).sum(), pl.col(means).drop_nulls())
    runs: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for row in rows.collect().iter_rows(named=True):
        values = runs.setdefault(tuple(row[key] for key in by), {column: [] for column in (*counts, *means)})
        for column in counts:
            values[column].append(row[column])
        for column in means:
            values[column].append(_mean(row[column]))
    return {run: {column: _together(column, of_labels) for column, of_labels in values.items()}
            for run, values in runs.items()}  # fmt: skip


def _together(column: str, of_labels: Sequence[float]) -> float:
    """What all labels have: the sum, or the mean of what is a mean already."""
    if "_mean" not in column:
        return math.fsum(of_labels)
    return _mean([value for value in of_labels if not math.isnan(value)])


def _mean(values: Sequence[float]) -> float:
    """The mean, of an exact sum: a rounded one depends on the order in which rows are read."""
    return math.fsum(values) / len(values) if values else math.nan


def metrics_of(
    flows: pl.DataFrame | None, links: pl.DataFrame, over_time: Mapping[str, dict[str, float]]
) -> dict[str, float]:
    """The same from the tables of a run.

    Args:
        flows: Its flows; nothing where its traffic is counted by intervals.
        links: Its links.
        over_time: By name, what `summed` found.
    """
    busiest = links.sort("utilization", descending=True, maintain_order=True).row(0, named=True)
    values = _of_flows(flows) if flows is not None else {}
    for name, row in over_time.items():
        got = row["packets_sent"] - row["packets_dropped"] if name == "scatter" else row["packets_delivered"]
        loss = 1 - got / row["packets_sent"] if row["packets_sent"] else math.nan
        prefix = "" if len(over_time) == 1 else f"{name}_"
        values |= {prefix + key: value for key, value in (row | {"loss": loss}).items()}
    values["utilization"] = float(busiest["utilization"])
    values["queue_mean_packets"] = float(busiest["queue_mean_packets"])
    return values


def _of_flows(flows: pl.DataFrame) -> dict[str, float]:
    values = {name: float(flows[name].sum()) for name in _SUMS}
    values["loss"] = values["packets_dropped"] / values["packets_sent"] if values["packets_sent"] else math.nan
    for name in (*_MEANS, *(column for column in flows.columns if column.startswith("limited_by_"))):
        mean = flows[name].mean()
        values[name] = float(mean) if isinstance(mean, int | float) else math.nan
    return values


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
    for name in rows[0] if rows else ():
        columns[name] = [row[name] for row in rows]
    columns["identity"] = [runs[name].manifest["identity"] for name in scenarios]
    return columns


def write_results(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write the table as Parquet, whole or not at all."""
    import numpy as np

    write_table(path, {
        name: list(values) if isinstance(values[0], str) else np.asarray(values) for name, values in columns.items()
    })  # fmt: skip


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
