"""Means of metrics at the levels of a factor, with confidence intervals.

Example:
    >>> from tightlink.experiment.summary import summary
    >>> runs = pl.DataFrame({
    ...     "run": ["0/0", "0/1", "1/0", "1/1"], "status": ["done"] * 4, "flows": [8, 8, 2, 2],
    ...     "loss": [0.1, 0.3, 0.0, 0.2],
    ... })
    >>> over_levels(summary(runs, ["flows"]), "flows", ["loss"]).with_columns(pl.col("loss_half_width").round(3)).rows()
    [(2, 2, 0.1, 1.271), (8, 2, 0.2, 1.271)]
    >>> geometric([10, 20, 40, 80]), geometric([1, 2, 5, 10]), geometric([1, 2, 3, 4]), geometric([5, 20])
    (True, True, False, False)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Final

from tightlink.analysis.effects.main import in_si
from tightlink.experiment.summary import width_of
from tightlink.lazy import pl

#: Levels of a geometric factor at least, and how far apart the first and the last.
_FEWEST: Final = 3
_LEAST_RATIO: Final = 4


def over_levels(cells: pl.DataFrame, key: str, metrics: Sequence[str]) -> pl.DataFrame:
    """A row for each level of a factor: means over the cells that have it, and half their confidence intervals.

    The intervals are those of replications alone: what other factors do is no noise to it. They are missing where a
    cell has one run.

    Returns:
        The key, ``runs``, each metric and what `width_of` names; levels in the order of their numbers in SI, else as
        they come.
    """
    widths = [pl.col(width_of(name)) for name in metrics]
    # Independent means of equal weight: half widths add up as standard errors do.
    together = (
        pl.when(width.is_null().any() | width.is_nan().any()).then(None).otherwise((width**2).sum().sqrt() / pl.len())
        for width in widths
    )
    found = cells.group_by(key, maintain_order=True).agg(
        pl.col("runs").sum(),
        *(pl.col(name).mean() for name in metrics),
        *(expression.alias(width_of(name)) for name, expression in zip(metrics, together, strict=True)),
    )
    numbers = in_si(found[key].to_list())
    return found if numbers is None else found[[place for place, _ in sorted(enumerate(numbers[1]), key=itemgetter(1))]]


def geometric(levels: Sequence[float]) -> bool:
    """Whether numbers in ascending order are nearer to equal ratios than to equal steps."""
    if len(levels) < _FEWEST or levels[0] <= 0 or levels[-1] < _LEAST_RATIO * levels[0]:
        return False
    ratios = [high / low - 1 for low, high in pairwise(levels)]
    steps = [high - low for low, high in pairwise(levels)]
    return max(ratios) * min(steps) < max(steps) * min(ratios)
