"""Time series of a run, and the times that follow from them.

Example:
    >>> rows = [(0.0, 1.0), (1.0, 9.0), (2.0, 4.0), (3.0, 9.5), (4.0, 9.2)]
    >>> first_above(rows, 9.0), first_that_stays(rows, lambda value: value > 9.1, 1.0)
    (1.0, 3.0)
"""

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import polars as pl

from tightlink.reduce import jain, median_of
from tightlink.run import Run

Rows: TypeAlias = "Sequence[tuple[float, float]]"
#: Samples at whole seconds belong to the second that ends there.
_TINY: Final = 1e-6


def series(run: Run, metric: str, entities: Sequence[str]) -> pl.DataFrame:
    """One metric over time: ``time_s``, ``entity``, and the metric under its name."""
    frame = run.series.filter((pl.col("metric") == metric) & pl.col("entity").is_in(entities))
    return frame.select("time_s", "entity", pl.col("value").alias(metric))


def smoothed(frame: pl.DataFrame, metric: str, over_s: float) -> pl.DataFrame:
    """Means of the last column of `series` over the time before each sample, for each entity by itself."""
    times = frame["time_s"].unique().sort()
    step = float(times[1] - times[0]) if times.len() > 1 else over_s
    size = max(1, round(over_s / step))
    return frame.sort("time_s").with_columns(pl.col(metric).rolling_mean(size, min_samples=1).over("entity"))


def each_second(frame: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Means over each second, for each entity by itself."""
    ends = frame.with_columns(time_s=pl.col("time_s").sub(_TINY).floor() + 1)
    return ends.group_by("time_s", "entity", maintain_order=True).agg(pl.col(metric).mean())


def mean_after(run: Run, metric: str, entity: str, begin_s: float, end_s: float = float("inf")) -> float:
    """Mean of a metric over the samples after one time and up to another."""
    frame = series(run, metric, [entity]).filter((pl.col("time_s") > begin_s) & (pl.col("time_s") <= end_s))
    mean = frame[metric].mean()
    return float(mean) if isinstance(mean, int | float) else float("nan")


def evenness(run: Run, labels: Sequence[str], begin_s: float, over_s: float) -> Rows:
    """Jain's index of flows' goodputs, each over the time before, from when all of them are there."""
    frame = smoothed(series(run, "goodput_bps", labels), "goodput_bps", over_s).filter(pl.col("time_s") > begin_s)
    grouped = frame.group_by("time_s", maintain_order=True).agg("goodput_bps")
    return [(time, jain(shares)) for time, shares in grouped.iter_rows()]


def flows_of(run: Run, group: str) -> pl.DataFrame:
    """The totals of a group of flows, or of the flow of this name."""
    return run.flows.filter(pl.col("label").str.replace(r"\[.*", "") == group)


def loss_of(run: Run, group: str) -> float:
    """The share of the packets of a group of flows that were lost."""
    flows = flows_of(run, group)
    return float(flows["packets_dropped"].sum()) / float(flows["packets_sent"].sum())


def completions(run: Run, flows: int, size: int) -> dict[str, float | None]:
    """How long the short flows took, and how many did not come to an end, which are slower than all that did."""
    short, took = flows_of(run, "short"), pl.col("stop_s") - pl.col("start_s")
    times = short.filter((pl.col("goodput_bps") * took / 8).round() >= size).select(took).to_series()
    unfinished = flows - times.len()
    every = pl.concat([times, pl.repeat(math.inf, unfinished, eager=True)])
    quantiles = {"completion_median_s": median_of(every), "completion_p95_s": every.quantile(0.95)}
    return {
        **{name: value if value is not None and math.isfinite(value) else None for name, value in quantiles.items()},
        "unfinished": float(unfinished),
    }


def first_above(rows: Rows, level: float) -> float | None:
    """The first time at which a value is at or above a level."""
    return next((time for time, value in rows if value >= level), None)


def refill_s(run: Run, metric: str, entity: str, full: float, *, since_s: float, over_s: float) -> float | None:
    """How long after a time a metric, as means over some time, takes to be at what counts as full."""
    rows = smoothed(series(run, metric, [entity]), metric, over_s).select("time_s", metric)
    filled = first_above(rows.filter(pl.col("time_s") >= since_s + over_s).rows(), full)
    return None if filled is None else filled - since_s


def first_that_stays(rows: Rows, holds: Callable[[float], bool], stay_s: float) -> float | None:
    """The first time from which on a condition holds for so long without a break."""
    since = None
    for time, value in rows:
        since = (time if since is None else since) if holds(value) else None
        if since is not None and time - since >= stay_s:
            return since
    return None
