"""Opposite effects: a response that rises with a factor at one level of another factor, and falls at another level.

The mean over the levels of the other factor shows neither.

Example:
    >>> runs = pl.DataFrame({
    ...     "run": ["0/0", "1/0", "2/0", "3/0"], "queue": [20, 80, 20, 80], "delay": ["5 ms", "5 ms", "80 ms", "80 ms"],
    ...     "replication": [0] * 4, "jain": [0.9, 0.5, 0.5, 0.7],
    ... })
    >>> found = opposite(runs, "queue", "delay", "jain")
    >>> found.levels, found.rises, found.falls
    ((20, 80), ('80 ms', 0.5, 0.7), ('5 ms', 0.9, 0.5))
    >>> opposite(runs.with_columns(jain=pl.Series([0.9, 0.5, 0.8, 0.7])), "queue", "delay", "jain") is None
    True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, TypeAlias

from tightlink.analysis.effects.factors import in_si
from tightlink.analysis.effects.levels import by_replication
from tightlink.experiment.precision import half_width
from tightlink.lazy import np, pl

#: The smaller of two opposite effects, as a share of the range of all means, and of the largest of them, at least.
_OF_RANGE: Final = 0.25
_OF_LARGEST: Final = 0.05

#: Means at the levels of a factor, by replication.
_Means: TypeAlias = Mapping[Any, Mapping[int, float]]


@dataclass(frozen=True)
class Opposite:
    """Two effects of a factor on a response, one the opposite of the other."""

    factor: str
    other: str
    response: str
    others: tuple[Any, ...]
    """All levels of the other factor, in their order."""
    levels: tuple[Any, Any]
    """Of the factor, between which the smaller of the two effects is largest."""
    rises: tuple[Any, float, float]
    """The level of the other factor at which the response rises most, and its means at the two levels."""
    falls: tuple[Any, float, float]
    """The level at which it falls most."""
    size: float
    """The smaller of the two effects, as a share of the range of all means."""


def opposite(runs: pl.DataFrame, factor: str, other: str, response: str) -> Opposite | None:
    """Two opposite effects of a factor at two levels of another factor, if there are any that are not small or chance.

    Each level of the other factor meets each of the factor's in the table of runs of a sweep.

    Returns:
        What is largest; nothing where some combination has no number, or no effect is beyond a quarter of the range of
        all means and a twentieth of the largest mean, and beyond its confidence interval where there are replications.
    """
    levels, others = (_ordered(runs[name].unique(maintain_order=True).to_list()) for name in (factor, other))
    each = {level: by_replication(runs.filter(pl.col(other).eq_missing(level)), factor, response) for level in others}
    if not all(each[level].get(own) for level in others for own in levels):
        return None
    means = np.array([[np.mean([*each[level][own].values()]) for own in levels] for level in others])
    spread = float(np.ptp(means))
    least = max(_OF_RANGE * spread, _OF_LARGEST * float(np.abs(means).max()))
    found: Opposite | None = None
    for one, two in combinations(range(len(levels)), 2):
        effects = means[:, two] - means[:, one]
        most = _most(effects), _most(-effects)
        size = min(effects[most[0]], -effects[most[1]])
        ends = levels[one], levels[two]
        if size <= least or (found is not None and size <= found.size * spread):
            continue
        if any(abs(effects[place]) <= _noise(each[others[place]], *ends) for place in most):
            continue
        rises, falls = ((others[place], float(means[place, one]), float(means[place, two])) for place in most)
        found = Opposite(factor, other, response, tuple(others), ends, rises, falls, float(size) / spread)
    return found


def _most(values: Any) -> int:
    return int(np.argmax(values))


def _ordered(levels: list[Any]) -> list[Any]:
    numbers = in_si(levels)
    return levels if numbers is None else [levels[place] for place in np.argsort(numbers[1], kind="stable")]


def _noise(means: _Means, one: Any, two: Any) -> float:
    """What a difference must be beyond to be none of chance, where there are replications."""
    differences = [means[two][number] - means[one][number] for number in means[one] if number in means[two]]
    return half_width(differences) if len(differences) > 1 else 0.0
