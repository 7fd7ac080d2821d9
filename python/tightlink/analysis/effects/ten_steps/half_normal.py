"""Step 8: which effects stand out from those that are noise.

Where no factor did anything, effects would be normal, of one spread and of mean zero, and their absolute values
would lie on a line through zero over the medians of as many ordered half-normal values. The slope of that line is
Lenth's pseudo standard error (Technometrics 31, 1989), which large effects hardly move; those beyond his margin of
error stand out. Of fewer than seven effects it says little; there noise is what replications differ by, if there
are any.

Example:
    >>> effects = pl.DataFrame({"term": list("abcdefg"), "effect": [30.0, -3.0, 2.5, 2.0, -1.5, 1.0, 0.5]})
    >>> found = half_normal(effects)
    >>> found.standing_out
    ['a']
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tightlink.lazy import Array, np, pl

_CONFIDENCE: Final = 0.95
#: Of a median of absolute values to the standard deviation of a normal variable, as Lenth rounds it.
_TO_DEVIATION: Final = 1.5
#: Effects beyond so many of the first estimate take no part in the second.
_TRIMMED: Final = 2.5
_FEWEST: Final = 3
#: Of so many effects or more the small ones say what noise is.
_ENOUGH: Final = 7
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class HalfNormal:
    """Effects over half-normal medians, and the line of noise."""

    points: pl.DataFrame
    """From the smallest on: ``term``, ``effect``, ``size`` (its absolute value), ``quantile``, ``stands_out``."""
    error: float
    """Standard error of an effect, the slope of the line of noise: Lenth's, or that of replications. NaN where there
    are no replications and fewer than three effects."""
    replicated: bool
    """Whether it is that of replications."""
    margin: float
    """Of error, at 95 % for one effect."""
    margin_of_all: float
    """Of error, at 95 % for all effects at once."""

    @property
    def standing_out(self) -> list[str]:
        """The terms beyond the margin of error, the largest first."""
        return self.points.filter(stands_out=True)["term"].reverse().to_list()


def half_normal(effects: pl.DataFrame, replications: tuple[float, int] | None = None) -> HalfNormal:
    """Effects beside what noise would be.

    Args:
        effects: Columns ``term`` and ``effect``, one for each effect that can be told apart.
        replications: Standard error of an effect by what replications differ by, and its degrees of freedom.
    """
    from scipy.special import betaincinv, ndtri, stdtrit

    points = effects.reverse().select("term", "effect", size=pl.col("effect").abs())
    points = points.sort("size", maintain_order=True)
    sizes = points["size"].to_numpy()
    count = len(sizes)
    place = np.arange(1, count + 1)
    # The median of the i-th of n ordered uniform values is that of a beta variable.
    medians = betaincinv(place, count + 1 - place, 0.5)
    replicated = replications is not None and count < _ENOUGH
    error, freedom = replications if replications is not None and replicated else lenth(sizes)
    margin, of_all = (
        error * float(stdtrit(freedom, (1 + confidence) / 2))
        for confidence in (_CONFIDENCE, _CONFIDENCE ** (1 / count))
    )
    # What rounding leaves of effects that are none does not stand out, even where all others are none.
    least = _ROUNDING * float(sizes[-1])
    shown = points.with_columns(quantile=ndtri((1 + medians) / 2), stands_out=pl.Series(sizes > max(margin, least)))
    return HalfNormal(shown, error, replicated, margin, of_all)


def lenth(sizes: Array) -> tuple[float, float]:
    """The pseudo standard error of effects of these sizes, and its degrees of freedom."""
    if len(sizes) < _FEWEST:
        return math.nan, 1.0
    kept = sizes[sizes < _TRIMMED * _TO_DEVIATION * np.median(sizes)]
    return _TO_DEVIATION * float(np.median(kept)) if kept.size else 0.0, len(sizes) / 3
