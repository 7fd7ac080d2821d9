"""What analyses answer with: a value with its interval, a place between two probes, how well a model fits.

Example:
    >>> Estimate.of(25_000.0, [24_000.0, 25_000.0, 26_000.0])
    Estimate(value=25000.0, low=24050.0, high=25950.0)
    >>> str(Bracket(3333.0, 5000.0))
    'between 3,333 and 5,000'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink.lazy import NDArray, np, stats
from tightlink.numbers import NONE, grouped

#: Intervals hold the middle 95 % of what resampling gives.
CONFIDENCE: Final = 0.95
#: Samples for an interval, unless a caller asks for more: enough for its ends at 95 %.
RESAMPLES: Final = 999
#: A point where a line breaks counts as three parameters in BIC: its place is searched for, and a search
#: finds breaks in noise. A. R. Hall, D. R. Osborn, N. Sakkas: Inference on Structural Breaks using
#: Information Criteria, The Manchester School 81(S3), 2013.
BREAK: Final = 3
#: Residuals below this share say nothing any more: simulated tables fit to the last packet counted.
_FINEST: Final = 1e-6


@dataclass(frozen=True)
class Estimate:
    """An estimated value with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of_share(cls, hits: int, tries: int) -> Estimate:
        """A share with its exact interval (Clopper and Pearson 1934).

        >>> round(Estimate.of_share(2, 1767).high, 5), Estimate.of_share(0, 10).low, Estimate.of_share(10, 10).high
        (0.00408, 0.0, 1.0)
        """
        tail = (1 - CONFIDENCE) / 2
        low = stats.beta.ppf(tail, hits, tries - hits + 1) if hits else 0.0
        high = stats.beta.ppf(1 - tail, hits + 1, tries - hits) if hits < tries else 1.0
        return cls(hits / tries, float(low), float(high))

    @classmethod
    def of(cls, value: float, samples: Sequence[float] | NDArray[Any]) -> Estimate:
        """The value with the interval between the outer percentiles of its resampled versions."""
        tail = 100 * (1 - CONFIDENCE) / 2
        low, high = np.percentile(np.asarray(samples, dtype=float), [tail, 100 - tail])
        return cls(float(value), float(low), float(high))

    def times(self, factor: float) -> Estimate:
        """The same in another unit."""
        low, high = sorted((self.low * factor, self.high * factor))
        return Estimate(self.value * factor, low, high)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __format__(self, spec: str) -> str:
        """The value and its interval, each in the same format; a dash for an interval that nothing tells.

        >>> f"{Estimate(1.0, 0.5, 2.0):.1f}", f"{Estimate(1.0, math.nan, math.nan):.1f}"
        ('1.0 (0.5 to 2.0)', '1.0 (–)')
        """
        if math.isnan(self.low):
            return f"{self.value:{spec}} ({NONE})"
        return f"{self.value:{spec}} ({self.low:{spec}} to {self.high:{spec}})"


@dataclass(frozen=True)
class Bracket:
    """Something begins between two probes; no end where there was no probe on that side."""

    low: float | None
    high: float | None

    @property
    def middle(self) -> float | None:
        """The geometric mean of the ends, where there are two that are positive."""
        return math.sqrt(self.low * self.high) if self.low and self.high else None

    def times(self, factor: float) -> Bracket:
        """The same in another unit."""
        return Bracket(*(None if end is None else end * factor for end in (self.low, self.high)))

    def __str__(self) -> str:
        if self.low is None:
            return "nowhere" if self.high is None else f"below {_whole(self.high)}"
        low = _whole(self.low)
        return f"above {low}" if self.high is None else f"between {low} and {_whole(self.high)}"


def _whole(number: float) -> str:
    return grouped(f"{number:.0f}")


@dataclass(frozen=True)
class Fit:
    """How well a model fits: the residuals' sum of squares, and what it cost in parameters."""

    squares: float
    points: int
    parameters: int
    """Free parameters, the variance of the residuals among them."""
    breaks: int = 0
    """How many of the parameters are places of breaks."""
    finest: float = _FINEST
    """Residuals below this are rounding."""

    @classmethod
    def least_squares(cls, columns: NDArray[Any], y: NDArray[Any], breaks: int = 0) -> tuple[NDArray[Any], Fit]:
        """Coefficients of the columns, which come nearest to y, and how well they fit."""
        solution, *_ = np.linalg.lstsq(columns, y)
        squares = float(((y - columns @ solution) ** 2).sum())
        return solution, cls(squares, len(y), columns.shape[1] + 1 + breaks, breaks)

    @property
    def deviation(self) -> float:
        """Standard deviation of the residuals, corrected for the parameters that were fitted."""
        return math.sqrt(self.squares / max(self.points - self.parameters + 1, 1))

    @property
    def aic(self) -> float:
        """Akaike's information criterion for normal residuals; the least is best."""
        return self._deviance + 2 * self.parameters

    @property
    def aicc(self) -> float:
        """AIC corrected for few points (Hurvich and Tsai, Biometrika 76(2), 1989)."""
        left = self.points - self.parameters - 1
        return self.aic + 2 * self.parameters * (self.parameters + 1) / left if left > 0 else math.inf

    @property
    def bic(self) -> float:
        """Schwarz's criterion, in which a break counts as three parameters."""
        return self._deviance + (self.parameters + (BREAK - 1) * self.breaks) * math.log(self.points)

    @property
    def _deviance(self) -> float:
        return self.points * math.log(max(self.squares / self.points, self.finest**2))


def power_law(x: Sequence[float] | NDArray[Any], y: Sequence[float] | NDArray[Any]) -> tuple[float, float]:
    """Exponent and factor of a power law through points, by least squares of the logarithms.

    >>> [round(each, 3) for each in power_law([1.0, 2.0, 4.0], [3.0, 12.0, 48.0])]
    [2.0, 3.0]
    """
    exponent, level = np.polyfit(np.log(x), np.log(y), 1)
    return float(exponent), float(np.exp(level))


def redrawn(residuals: NDArray[Any], parameters: int, samples: int, seed: int) -> NDArray[Any]:
    """Rows of residuals drawn anew, wide enough for the percentiles of what is fitted to them to be an interval.

    Fitting made them smaller than errors are, and percentiles know nothing of the uncertainty of their spread: both are
    corrected as in T. C. Hesterberg: What Teachers Should Know About the Bootstrap, The American Statistician 69(4),
    2015, section 4.2. The variance of the residuals counts as one of the parameters that were fitted.
    """
    count = len(residuals)
    freedom = max(count - parameters + 1, 1)
    tail = (1 + CONFIDENCE) / 2
    width = math.sqrt(count / freedom) * float(stats.t.ppf(tail, freedom) / stats.norm.ppf(tail))
    centred = (residuals - residuals.mean()) * width
    return np.random.default_rng(seed).choice(centred, size=(samples, count))
