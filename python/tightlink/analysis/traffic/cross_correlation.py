"""Two series and the lag between them: which of two links has what the other has later, and is that chance?

Series that are correlated with themselves are correlated with each other by chance more often than their number of
values says. So the second is held against series that vary as the first does and know nothing of it: the first and
its mirror image, with the same spectrum and random phases (J. Theiler and others: Testing for Nonlinearity in Time
Series: the Method of Surrogate Data, Physica D 58, 1992). Of each, the largest correlation at any lag counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tightlink.analysis.traffic.by_chance import p_value, portions
from tightlink.analysis.traffic.values import at_intervals, numbers, positive
from tightlink.errors import TightlinkError
from tightlink.lazy import Array, ArrayLike, np, pl
from tightlink.numbers import grouped

LEAST_VALUES: Final = 64
#: Below this probability a correlation is not chance.
LEVEL: Final = 0.01
#: Series that know nothing of the second: enough for the ends of p at `LEVEL`.
SIMULATIONS: Final = 999
#: Lags up to this share of the series.
_LONGEST: Final = 1 / 4
_CONFIDENCE: Final = 0.95
#: Of the random phases: the same series have the same p.
_SEED: Final = 1
#: So many of them are kept at most, of 16 bytes each.
_MOST_KEPT: Final = 1_000_000


@dataclass(frozen=True)
class Lag:
    """How two series go together: what `tightlink.analyze.cross_correlation` returns."""

    samples: int
    interval_s: float
    lag_s: float
    """Lag of the largest correlation, in seconds: above zero, the second follows the first."""
    correlation: float
    """The correlation at that lag."""
    at_once: float
    """The correlation without lag."""
    limit: float
    """What the correlation without lag, or at any one, stays within by chance, with 95 %."""
    p: float
    """Probability that chance gives so large a correlation at any of the lags."""
    critical: float
    """What the largest correlation at any lag stays within by chance, with 99 %."""
    correlations: pl.DataFrame
    """``lag_s``, ``correlation``."""

    @property
    def together(self) -> bool:
        """Whether they go together."""
        return self.p <= LEVEL

    def sentence(self, first: str = "the first", second: str = "the second") -> str:
        """The finding, for people, with the names of both."""
        said = f"correlation {grouped(f'{self.correlation:.2f}')}, p = {self.p:.2g}"
        if not self.together:
            chance = f"{100 * LEVEL:.0f} % of unrelated series that vary as these do reach {self.critical:.2f}"
            return f"{first} and {second} do not go together beyond chance: largest {said}; {chance}"
        if self.lag_s == 0:
            return f"{first} and {second} go together without lag: {said}"
        leads, follows = (first, second) if self.lag_s > 0 else (second, first)
        return f"{follows} follows {leads} by {abs(self.lag_s):.4g} s: {said}"


def lag(first: ArrayLike, second: ArrayLike, interval_s: float, *, longest_s: float = math.inf) -> Lag:
    """Look for the lag between two series.

    Args:
        first: Values at equal intervals.
        second: Those of the other, at the same times.
        interval_s: The interval, in seconds.
        longest_s: The longest lag to look at; at most a quarter of the series.

    Returns:
        The lag of the largest correlation (``lag_s``: above zero, the second follows the first), that correlation and
        its ``p``, and the correlation at each lag (``correlations``); ``together`` says whether it is more than chance.

    Raises:
        TightlinkError: They differ in length, are too short, have a value that is not finite, or one does not vary.

    Example:
        >>> first = np.random.default_rng(1).normal(size=1000)
        >>> second = np.roll(first, 7) + np.random.default_rng(2).normal(size=1000)
        >>> found = tl.analyze.cross_correlation(first, second, interval_s=0.1)
        >>> print(found.sentence())
        the second follows the first by 0.7 s: correlation 0.69, p = 0.001
    """
    positive("longest_s", longest_s, endless=True)
    x, y = numbers(first), numbers(second)
    n = len(x)
    if len(y) != n or n < LEAST_VALUES:
        raise TightlinkError(f"{n} and {len(y)} values: expected as many, and at least {LEAST_VALUES}")
    x, y = (at_intervals(values, interval_s, least=LEAST_VALUES) for values in (x, y))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise TightlinkError("one of the two does not vary")
    most = max(1, min(int(n * _LONGEST), int(min(longest_s / interval_s, n))))
    across = _correlation(x, y, most)
    lags = np.arange(-most, most + 1)
    place = int(np.abs(across).argmax())
    chance, without = [], []
    for phases in _kept_phases(n) if SIMULATIONS * n <= _MOST_KEPT else _phases(n):
        found = np.abs(_correlation(_unrelated(x, phases), y, most))
        chance.append(found.max(axis=-1))
        without.append(found[:, most])
    largest = np.concatenate(chance)
    return Lag(
        n,
        interval_s,
        float(lags[place] * interval_s),
        float(across[place]),
        float(across[most]),
        float(np.quantile(np.concatenate(without), _CONFIDENCE)),
        p_value(abs(across[place]), largest),
        float(np.quantile(largest, 1 - LEVEL, method="higher")),
        pl.DataFrame({"lag_s": lags * interval_s, "correlation": across}),
    )


def _phases(values: int) -> Iterator[Array]:
    """Random phases for series of so many values with their mirror images, a row for each simulated one."""
    random = np.random.default_rng(_SEED)
    for series in portions(SIMULATIONS, values):
        phases = np.exp(2j * np.pi * random.random((series, values + 1)))
        phases[:, [0, -1]] = 1
        yield phases


@lru_cache(maxsize=1)
def _kept_phases(values: int) -> tuple[Array, ...]:
    """The same for all pairs of a run: to draw them takes half of the time."""
    return tuple(_phases(values))


def _unrelated(x: Array, phases: Array) -> Array:
    """Rows that vary as a series does, at other times. Its mirror image keeps ends that differ from being a jump."""
    spectrum = np.fft.rfft(np.concatenate([x, x[::-1]]) - x.mean())
    return np.fft.irfft(spectrum * phases, axis=-1)[:, : len(x)]


def _correlation(x: Array, y: Array, most: int) -> Array:
    """The correlation of x, or of each row of it, with what y is later, at lags from −most to most."""
    from scipy import fft

    n = len(y)
    size = fft.next_fast_len(n + most, real=True)
    a, b = (fft.rfft(values - values.mean(axis=-1, keepdims=True), size) for values in (x, y))
    product = fft.irfft(np.conj(a) * b, size)
    both = np.concatenate([product[..., -most:], product[..., : most + 1]], axis=-1)
    correlation: Array = both / (n * x.std(axis=-1, keepdims=True) * y.std())
    return correlation
