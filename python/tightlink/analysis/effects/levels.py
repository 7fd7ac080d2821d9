"""Means of metrics at the levels of a factor, with confidence intervals.

The replications of all combinations have the same seeds, so that what chance does to one it does to the others, too:
what is known of a mean over combinations, and of the difference of two, is how it varies between replications.

Example:
    >>> runs = pl.DataFrame({
    ...     "run": ["0/0", "0/1", "1/0", "1/1"], "status": ["done"] * 4, "replication": [0, 1, 0, 1],
    ...     "flows": [8, 8, 2, 2], "loss": [0.1, 0.3, 0.0, 0.2],
    ... })
    >>> over_levels(runs, "flows", ["loss"]).with_columns(pl.col("loss_half_width").round(3)).rows()
    [(2, 2, 0.1, 1.271), (8, 2, 0.2, 1.271)]
    >>> by_replication(runs, "flows", "loss")
    {8: {0: 0.1, 1: 0.3}, 2: {0: 0.0, 1: 0.2}}
    >>> geometric([10, 20, 40, 80]), geometric([1, 2, 5, 10]), geometric([1, 2, 3, 4]), geometric([5, 20])
    (True, True, False, False)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final

from tightlink.analysis.effects.factors import in_si
from tightlink.experiment.precision import half_width
from tightlink.experiment.summary import cell, width_of
from tightlink.lazy import pl

#: Levels of a geometric factor at least, and how far apart the first and the last.
_FEWEST: Final = 3
_LEAST_RATIO: Final = 4
_CELL: Final = "cell"


def over_levels(runs: pl.DataFrame, key: str, metrics: Sequence[str], copies: Sequence[str] = ()) -> pl.DataFrame:
    """A row for each level of a factor: means over the combinations that have it, and half their confidence intervals.

    What other factors do is no noise. There is no interval where a combination has one run, or ``copies`` of one run.

    Returns:
        The key, ``runs``, each metric and what `width_of` names; levels in the order of their numbers in SI, else as
        they come.
    """
    done = _done(runs)
    cells = done.group_by(key, _CELL, maintain_order=True).agg(*(pl.col(name).mean() for name in metrics), pl.len())
    found = cells.group_by(key, maintain_order=True).agg(
        pl.col("len").sum().cast(pl.Int64).alias("runs"), *(pl.col(name).mean() for name in metrics)
    )
    copied = set(done.filter(pl.col(_CELL).is_in(copies))[key].to_list())
    for name in metrics:
        values = by_replication(runs, key, name)
        widths = [
            None if level in copied or not math.isfinite(width := half_width([*values[level].values()])) else width
            for level in found[key].to_list()
        ]
        found = found.with_columns(pl.Series(width_of(name), widths, dtype=pl.Float64))
    found = found.select(key, "runs", *(column for name in metrics for column in (name, width_of(name))))
    numbers = in_si(found[key].to_list())
    return found if numbers is None else found[[place for place, _ in sorted(enumerate(numbers[1]), key=itemgetter(1))]]


def by_replication(runs: pl.DataFrame, key: str, metric: str) -> dict[Any, dict[int, float]]:
    """By level of a factor and replication, the mean over the combinations that have it, where none lacks one."""
    done = _done(runs)
    there = done.filter(pl.col(metric).is_not_null() & pl.col(metric).cast(pl.Float64).is_not_nan())
    cells = dict(there.group_by(key).agg(pl.col(_CELL).n_unique()).iter_rows())
    found: dict[Any, dict[int, float]] = {level: {} for level in done[key].unique(maintain_order=True)}
    each = there.group_by(key, "replication").agg(pl.col(metric).mean(), pl.len()).sort("replication")
    for level, number, mean, count in each.iter_rows():
        if count == cells[level]:
            found[level][number] = mean
    return found


def _done(runs: pl.DataFrame) -> pl.DataFrame:
    done = runs.filter(pl.col("status") == "done") if "status" in runs.columns else runs
    return done.with_columns(cell().alias(_CELL))


def geometric(levels: Sequence[float]) -> bool:
    """Whether numbers in ascending order are nearer to equal ratios than to equal steps."""
    if len(levels) < _FEWEST or levels[0] <= 0 or levels[-1] < _LEAST_RATIO * levels[0]:
        return False
    ratios = [high / low - 1 for low, high in pairwise(levels)]
    steps = [high - low for low, high in pairwise(levels)]
    return max(ratios) * min(steps) < max(steps) * min(ratios)
