"""Step 8: which effects stand out from those that are noise.

Where no factor did anything, effects would be normal, of one spread and of mean zero, and their absolute values
would lie on a line through zero over the medians of as many ordered half-normal values. The slope of that line is the
standard error of an effect (`tightlink.analysis.effects.noise`): by what replications differ by, or Lenth's where there
are none. Those with p < 0.05 stand out.

Example:
    >>> effects = pl.DataFrame({"term": ["a", "b", "c"], "effect": [30.0, -3.0, 2.5], "p": [0.001, 0.3, 0.4]})
    >>> found = half_normal(effects, Noise(3.0, 12, "replications"), runs=16)
    >>> found.standing_out, found.error, round(found.margin, 2)
    (['a'], 1.5, 3.27)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink.analysis.effects.main import WEAK
from tightlink.analysis.effects.noise import Noise
from tightlink.lazy import np, pl

_CONFIDENCE: Final = 1 - WEAK


@dataclass(frozen=True)
class HalfNormal:
    """Effects over half-normal medians, and the line of noise."""

    points: pl.DataFrame
    """From the smallest on: ``term``, ``effect``, ``size`` (its absolute value), ``quantile``, ``stands_out``."""
    error: float
    """Standard error of an effect whose levels have equally many runs, the slope of the line of noise. NaN where there
    are no replications and fewer than three effects."""
    freedom: float
    """Degrees of freedom of the error."""
    test: str
    """What the error is of: "replications", or "Lenth"."""
    margin: float
    """Of error, at 95 % for one effect."""
    margin_of_all: float
    """Of error, at 95 % for all effects at once."""

    @property
    def standing_out(self) -> list[str]:
        """The terms beyond the margin of error, the largest first."""
        return self.points.filter(stands_out=True)["term"].reverse().to_list()


def half_normal(effects: pl.DataFrame, noise: Noise, runs: int) -> HalfNormal:
    """Effects beside what noise would be.

    Args:
        effects: Columns ``term``, ``effect`` and ``p``, one row for each effect that can be told apart.
        noise: What tells them from chance.
        runs: Of how many runs they are.
    """
    from scipy.special import betaincinv, ndtri, stdtrit

    points = effects.reverse().select("term", "effect", size=pl.col("effect").abs(), stands_out=pl.col("p") < WEAK)
    points = points.sort("size", maintain_order=True)
    count = points.height
    place = np.arange(1, count + 1)
    # The median of the i-th of n ordered uniform values is that of a beta variable.
    medians = betaincinv(place, count + 1 - place, 0.5)
    error = noise.error(np.full(runs, 2 / runs))
    margin, of_all = (
        error * float(stdtrit(noise.freedom, (1 + confidence) / 2))
        for confidence in (_CONFIDENCE, _CONFIDENCE ** (1 / count))
    )
    shown = points.select("term", "effect", "size", pl.Series("quantile", ndtri((1 + medians) / 2)), "stands_out")
    return HalfNormal(shown, error, noise.freedom, noise.test, margin, of_all)
