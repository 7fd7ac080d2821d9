"""Two series and the lag between them: which of two links has what the other has later, and is that chance?

Series that are correlated with themselves are correlated with each other by chance more often than their number of
values says; Bartlett's formula takes that into account. The lag with the largest correlation is held against all lags
that were looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tightlink.errors import TightlinkError
from tightlink.lazy import Array, np, pl, stats

LEAST_VALUES: Final = 64
#: Below this probability a correlation is not chance.
LEVEL: Final = 0.01
#: Lags up to this share of the series.
_LONGEST: Final = 1 / 4
_CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Lag:
    """How two series go together."""

    samples: int
    interval_s: float
    lag_s: float
    """Of the largest correlation: above zero, the second follows the first."""
    correlation: float
    """There."""
    at_once: float
    """The correlation without lag."""
    limit: float
    """What the correlation at one lag stays within by chance, with 95 %."""
    p: float
    """Probability that chance gives so large a correlation at any of the lags."""
    correlations: pl.DataFrame
    """``lag_s``, ``correlation``."""

    @property
    def together(self) -> bool:
        """Whether they go together."""
        return self.p <= LEVEL

    def sentence(self, first: str = "the first", second: str = "the second") -> str:
        """The finding, for people, with the names of both."""
        said = f"correlation {self.correlation:.2f}, p = {self.p:.2g}"
        if not self.together:
            return f"{first} and {second} do not go together beyond chance: largest {said}"
        if self.lag_s == 0:
            return f"{first} and {second} go together without lag: {said}"
        leads, follows = (first, second) if self.lag_s > 0 else (second, first)
        return f"{follows} follows {leads} by {abs(self.lag_s):.4g} s: {said}"


def lag(first: Array, second: Array, interval_s: float, *, longest_s: float = math.inf) -> Lag:
    """Look for the lag between two series.

    Args:
        first: Values at equal intervals.
        second: Those of the other, at the same times.
        interval_s: The interval, in seconds.
        longest_s: The longest lag to look at; at most a quarter of the series.

    Raises:
        TightlinkError: They differ in length, are too short, or one does not vary.

    Example:
        >>> first = np.random.default_rng(1).normal(size=1000)
        >>> second = np.roll(first, 7) + np.random.default_rng(2).normal(size=1000)
        >>> found = tl.analyze.cross_correlation(first, second, interval_s=0.1)
        >>> print(found.sentence())
        the second follows the first by 0.7 s: correlation 0.69, p = 1.8e-80
    """
    x, y = (np.asarray(values, dtype=float) for values in (first, second))
    n = len(x)
    if len(y) != n or n < LEAST_VALUES:
        raise TightlinkError(f"{n} and {len(y)} values: expected as many, and at least {LEAST_VALUES}")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise TightlinkError("one of the two does not vary")
    most = max(1, min(int(n * _LONGEST), int(min(longest_s / interval_s, n))))
    across = _correlation(x, y, most)
    own = _correlation(x, x, most) * _correlation(y, y, most)
    # Bartlett's formula; noise in it must not promise more than independent values.
    deviation = math.sqrt(max(float(own.sum()), 1.0) / n)
    lags = np.arange(-most, most + 1)
    place = int(np.abs(across).argmax())
    p_one = 2 * float(stats.norm.sf(abs(across[place]) / deviation))
    return Lag(
        n,
        interval_s,
        float(lags[place] * interval_s),
        float(across[place]),
        float(across[most]),
        float(stats.norm.isf((1 - _CONFIDENCE) / 2)) * deviation,
        min(1.0, p_one * len(lags)),
        pl.DataFrame({"lag_s": lags * interval_s, "correlation": across}),
    )


def _correlation(x: Array, y: Array, most: int) -> Array:
    """The correlation of x with what y is later, at lags from −most to most."""
    n = len(x)
    size = 1 << (2 * n - 1).bit_length()
    a, b = (np.fft.rfft(values - values.mean(), size) for values in (x, y))
    product = np.fft.irfft(np.conj(a) * b, size)
    both = np.concatenate([product[-most:], product[: most + 1]])
    return both / (n * float(x.std()) * float(y.std()))
