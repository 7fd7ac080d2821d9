"""What effects are held against: what replications differ by or, where there are none, the small effects.

With replications it is the variance of runs of equal levels, pooled over the combinations of a design, with as many
degrees of freedom as there are runs beyond the combinations: Student's t tells effects from it, however many of these
are real. In tables of sweeps they are runs of one combination, of which no factor that is left out moves any, and what
a replication does to all combinations is no noise: all have its seed, so that it is in no effect either.
Without, it is the pseudo standard error of Lenth (Technometrics 31, 1989), which large effects hardly move.

Example:
    >>> runs = pl.DataFrame({"queue": [5, 20, 5, 20], "loss": [0.2, 0.1, 0.22, 0.12]})
    >>> found = noise(two_level(runs, ["queue"]), runs["loss"].to_numpy())
    >>> error = found.error(np.array([-0.5, 0.5, -0.5, 0.5]))
    >>> round(error, 4), found.freedom, found.test
    (0.0141, 2, 'replications')
    >>> round(found.p_value(-0.1, error), 4)
    0.0194
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink.analysis.effects.two_level import TwoLevel, two_level
from tightlink.experiment.summary import cell
from tightlink.lazy import Array, NDArray, np, pl

#: Which noise: the values of columns ``test``.
REPLICATIONS: Final = "replications"
LEFT_OUT: Final = "factors left out"
LENTH: Final = "Lenth"
_AGAINST: Final = {
    REPLICATIONS: "what replications differ by",
    LEFT_OUT: "what runs of equal levels differ by: factors that are left out, as there are no replications",
    LENTH: "the small ones of all effects (Lenth's), as no replications differ",
}
#: Of a median of absolute values to the standard deviation of a normal variable, as Lenth rounds it.
_TO_DEVIATION: Final = 1.5
#: Effects beyond so many of the first estimate take no part in the second.
_TRIMMED: Final = 2.5
_FEWEST: Final = 3
#: Differences that are this small beside the values are rounding.
_ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class Noise:
    """How far the values of a response differ by chance."""

    deviation: float
    """Standard deviation of runs of equal levels; without replications, that of runs whose effects by chance would be
    as large as the small ones. NaN where nothing tells it."""
    freedom: float
    """Degrees of freedom of Student's t."""
    test: str
    """"replications", "factors left out", "Lenth", or nothing."""
    least: float = 0.0
    """Effects up to here are what rounding leaves of none."""

    def error(self, weights: Array) -> float:
        """The standard error of an effect in which each run counts for so much."""
        return self.deviation * math.sqrt(float(weights @ weights))

    def p_value(self, effect: float, error: float) -> float:
        """Two-sided, of Student's t; NaN where nothing tells noise, or there is neither noise nor effect."""
        none = abs(effect) <= self.least
        if math.isnan(error) or not error:
            return 0.0 if error == 0 and not none else math.nan
        return 1.0 if none else two_sided(effect / error, self.freedom)


@dataclass(frozen=True)
class Response:
    """A response of the runs that have it, the design of these, and how far chance moves it."""

    values: Array
    design: TwoLevel
    noise: Noise


def two_sided(t: float, freedom: float) -> float:
    """Probability of a value of Student's t that is at least so far from zero.

    >>> round(two_sided(2.0, 10), 4), two_sided(math.nan, 10)
    (0.0734, nan)
    """
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


def noise(design: TwoLevel, values: Array, cells: NDArray[np.int64] | None = None) -> Noise:
    """The noise of a response, by the runs of a design that have it.

    Runs of equal levels that are equal are copies and no replications; where there are too few effects for Lenth's
    method, they say that nothing is left to chance. ``cells`` are the combination and the replication of each run
    (`cells_of`), where other columns may tell these than the factors of the design.
    """
    least = _ROUNDING * float(np.abs(values).max())
    groups = {REPLICATIONS: design.signs if cells is None else np.column_stack([design.signs, cells[:, 0]])}
    groups |= {} if cells is None else {LEFT_OUT: design.signs}
    freedom = 0
    for test, rows in groups.items():
        _, group = np.unique(rows, axis=0, return_inverse=True)
        means = np.bincount(group, weights=values) / np.bincount(group)
        left, freedom = values - means[group], len(values) - len(means)
        if cells is not None and test == REPLICATIONS:
            left, freedom = _without_blocks(left, freedom, group, cells[:, 1], least)
        if np.abs(left).max() > least:
            return Noise(math.sqrt(float(left @ left) / freedom), freedom, test, least)
    weights = np.array([design.weights(term.factors) for term in design.terms()]).reshape(-1, len(values))
    # Beside what the effect of one run would be, as effects that overlap are not equally sure.
    sizes = np.abs(weights @ values) / np.linalg.norm(weights, axis=1)
    deviation, of_error = lenth(sizes[np.isfinite(sizes)])
    if math.isnan(deviation):
        return Noise(0.0, freedom, REPLICATIONS, least) if freedom else Noise(math.nan, math.nan, "")
    return Noise(deviation, of_error, LENTH, least)


def _without_blocks(
    left: Array, freedom: int, group: NDArray[np.int64], blocks: NDArray[np.int64], least: float
) -> tuple[Array, int]:
    """What runs differ by from the mean of their combination, less what all runs of a replication have in common.

    Where that leaves nothing, as of two combinations that differ by a constant, the former alone.
    """
    each = (blocks[:, None] == np.unique(blocks)).astype(float)
    means = np.array([np.bincount(group, weights=column) for column in each.T]) / np.bincount(group)
    each -= means.T[group]
    rest = left - each @ np.linalg.lstsq(each, left, rcond=None)[0]
    rank = int(np.linalg.matrix_rank(each))
    return (rest, freedom - rank) if freedom > rank and np.abs(rest).max() > least else (left, freedom)


def cells_of(runs: pl.DataFrame) -> NDArray[np.int64] | None:
    """The combination and the replication of each run of a sweep, by names CELL/REPLICATION; nothing of other names.

    >>> cells_of(pl.DataFrame({"run": ["4/0", "4/1", "7/0"], "replication": [0, 1, 0]})).tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    if not {"run", "replication"} <= set(runs.columns) or runs["run"].dtype != pl.String:
        return None
    named = pl.col("run").str.ends_with(pl.format("/{}", "replication"))
    if not runs.select(named.all()).item():
        return None
    return runs.select(cell().rank("dense").cast(pl.Int64) - 1, pl.col("replication").cast(pl.Int64)).to_numpy()


def against(test: str, *freedom: float) -> str:
    """What effects are held against, in words, with the degrees of freedom or the least and the most of them.

    >>> print(against(REPLICATIONS, 16))
    what replications differ by, 16 degrees of freedom
    >>> print(against(LENTH, 7 / 3, 5))
    the small ones of all effects (Lenth's), as no replications differ, 2.33 to 5 degrees of freedom
    """
    ends = " to ".join(dict.fromkeys(f"{each:.3g}" for each in freedom))
    return f"{_AGAINST[test]}, {ends} degree{'' if ends == '1' else 's'} of freedom"


def lenth(sizes: Array) -> tuple[float, float]:
    """The pseudo standard error of effects of these sizes, and its degrees of freedom."""
    if len(sizes) < _FEWEST:
        return math.nan, 1.0
    kept = sizes[sizes < _TRIMMED * _TO_DEVIATION * np.median(sizes)]
    return _TO_DEVIATION * float(np.median(kept)) if kept.size else 0.0, len(sizes) / 3


def of_responses(
    runs: pl.DataFrame, factors: Sequence[str], pairs: Sequence[tuple[Any, Any]], columns: Mapping[str, Array]
) -> dict[str, Response]:
    """Each response with its design and its noise; runs without a value, which is NaN, are no part of either."""
    whole, cells = two_level(runs, factors, pairs), cells_of(runs)
    found = {}
    for name, column in columns.items():
        there = ~np.isnan(column)
        if not there.any():
            found[name] = Response(column[there], whole, Noise(math.nan, math.nan, ""))
            continue
        design = whole if there.all() else two_level(runs.filter(pl.Series(there)), factors, pairs)
        known = noise(design, column[there], None if cells is None else cells[there])
        found[name] = Response(column[there], design, known)
    return found
