"""Which algorithm behaves unlike the others where: condition by condition, response by response.

In each cell, a condition and a response, Grubbs' test asks whether the algorithm that is farthest from the mean is an
outlier (NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.5.17.1). With many algorithms that agree closely
a tiny difference is significant: a filter by relative effect, 10 % or 30 % in NIST 2010, leaves those that matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.responses.compared import compared
from tightlink.lazy import pl, stats

#: Relative effects by which NIST 2010 filters.
EFFECTS: Final = (0.0, 0.1, 0.3)
_FEWEST: Final = 3
#: Deviations of values that should be the same, relatively.
_ROUNDING: Final = 1e-12
_SCHEMA: Final = (
    *("condition", "response", "algorithm", "value", "others_mean", "relative_effect"),
    *("sign", "g", "critical", "p", "outlier"),
)


@dataclass(frozen=True)
class Grubbs:
    """Grubbs' test of the value that is farthest from the mean."""

    #: Which value it is.
    place: int
    #: Its distance from the mean, in standard deviations.
    g: float
    #: What g exceeds with the probability of the test's level, where there is no outlier.
    critical: float
    #: Bound of the probability of so large a g, where there is no outlier.
    p: float

    @property
    def outlier(self) -> bool:
        """Whether the value is an outlier."""
        return self.g > self.critical


def grubbs(
    values: Sequence[float], *, level: float = 0.05, side: Literal["both", "largest", "smallest"] = "both"
) -> Grubbs:
    """Test whether one value of a sample from a normal distribution is an outlier.

    Args:
        values: At least three.
        level: Probability of finding one where there is none.
        side: Whether the value may lie on either side, or is the largest, or the smallest.

    >>> test = grubbs([199.31, 199.53, 200.19, 200.82, 201.92, 201.95, 202.18, 245.57], side="largest")
    >>> round(test.g, 6), round(test.critical, 3), test.outlier
    (2.468765, 2.032, True)
    """
    count = len(values)
    if count < _FEWEST:
        raise MeasurementError(f"{count} values: Grubbs' test takes at least {_FEWEST}")
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    sign = {"both": 0, "largest": 1, "smallest": -1}[side]
    away = [abs(value - mean) if sign == 0 else sign * (value - mean) for value in values]
    place = max(range(count), key=away.__getitem__)
    tails = 2 if side == "both" else 1
    critical = _critical(count, level / tails)
    if deviation <= _ROUNDING * max(map(abs, values)):
        return Grubbs(place, 0.0, critical, 1.0)
    g = away[place] / deviation
    return Grubbs(place, g, critical, _p(g, count, tails))


@cache
def _critical(count: int, level: float) -> float:
    t = float(stats.t.isf(level / count, count - 2))
    return (count - 1) / math.sqrt(count) * math.sqrt(t * t / (count - 2 + t * t))


def _p(g: float, count: int, tails: int) -> float:
    """Bonferroni's bound, which the critical value is made from as well."""
    rest = (count - 1) ** 2 - count * g * g
    # One value apart and all others equal leaves nothing, but for rounding.
    t = math.inf if rest <= _ROUNDING * count**2 else g * math.sqrt(count * (count - 2) / rest)
    return float(min(1.0, tails * count * stats.t.sf(t, count - 2)))


def outliers(
    runs: pl.DataFrame,
    *,
    condition: str | Sequence[str],
    algorithm: str,
    responses: Sequence[str] | None = None,
    level: float = 0.05,
) -> pl.DataFrame:
    """Test, under each condition and in each response, the algorithm that is farthest from the others.

    Args:
        runs: A row a run, or a row for each number in columns ``response`` and ``value``; runs of the same algorithm
            under the same condition are averaged.
        condition: Column, or columns, of the condition.
        algorithm: Column of the algorithm.
        responses: Which responses; without them, all that the table has.
        level: Probability of finding an outlier in a cell that has none.

    Returns:
        A row for each cell in which at least three algorithms have a value: condition, response, algorithm, value,
        others_mean, relative_effect ((value − others_mean) / |others_mean|), sign (+ above the others, − below), g,
        critical, p, outlier.

    Raises:
        MeasurementError: A column is missing, or no cell has three algorithms.

    Example:
        >>> loss = [0.010, 0.011, 0.012, 0.010, 0.011, 0.030]
        >>> runs = pl.DataFrame({"load": ["heavy"] * 6, "tcp": ["bic", "compound", "htcp", "reno", "highspeed", "fast"],
        ...                      "loss": loss})
        >>> found = tl.analyze.outliers(runs, condition="load", algorithm="tcp")
        >>> found.select("algorithm", "outlier", "sign", pl.col("relative_effect").round(2)).rows()
        [('fast', True, '+', 1.78)]
    """
    rows = []
    for name, part in compared(runs, condition, algorithm, responses).items():
        for response, there in part.by_response():
            if len(there) < _FEWEST:
                continue
            test = grubbs([value for _, value in there], level=level)
            who, value = there[test.place]
            rest = [other for place, (_, other) in enumerate(there) if place != test.place]
            others = math.fsum(rest) / len(rest)
            rows.append((name, response, who, value, others, _relative(value, others), "+" if value > others else "−",
                         test.g, test.critical, test.p, test.outlier))  # fmt: skip
    if not rows:
        raise MeasurementError("no response has values of at least three algorithms under one condition")
    return pl.DataFrame(rows, schema=list(_SCHEMA), orient="row")


def effective(found: pl.DataFrame, least: float) -> pl.DataFrame:
    """The outliers whose relative effect is at least so large, on either side."""
    return found.filter(pl.col("outlier") & (pl.col("relative_effect").abs() >= least))


def counts(found: pl.DataFrame) -> pl.DataFrame:
    """How often each algorithm is an outlier: algorithm, least_effect, above, below; most often first."""
    parts = [
        effective(found, least)
        .group_by("algorithm")
        .agg(above=(pl.col("sign") == "+").sum(), below=(pl.col("sign") == "−").sum())
        .with_columns(least_effect=pl.lit(float(least)))
        for least in EFFECTS
    ]
    total = pl.col("above") + pl.col("below")
    return (
        pl.concat(parts)
        .select("algorithm", "least_effect", "above", "below")
        .sort("least_effect", total, "algorithm", descending=[False, True, False])
    )


def _relative(value: float, others: float) -> float:
    if others == 0:
        return math.copysign(math.inf, value) if value else 0.0
    return (value - others) / abs(others)
