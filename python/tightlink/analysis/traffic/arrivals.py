"""Arrivals against a Poisson process: are the times between them exponential, and do they not depend on each other?

Both are tested, as Paxson and Floyd (1995) do: the distribution by Anderson and Darling's statistic for exponential
times of unknown mean (Stephens 1974), dependence by the correlation of neighbours. A Poisson process passes both in
95 % of cases.

A clock that ticks lets arrivals share a time, which exponential times between them never do, and the statistic weighs
the shortest times most. Of a Poisson process the arrivals within a tick lie anywhere in it, independently: times of a
clock are spread over their ticks, which makes it a Poisson process again. Where more or fewer pairs share a tick than
of such a process, as of bursts or of sources in step, they are left as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tightlink import units
from tightlink.analysis.traffic.values import numbers
from tightlink.errors import TightlinkError
from tightlink.lazy import Array, ArrayLike, np, pl, stats
from tightlink.numbers import grouped

LEAST_ARRIVALS: Final = 50
#: What the statistic exceeds with probability 2.5 %, of exponential times with unknown mean (Stephens 1974).
CRITICAL: Final = 1.606
#: What a correlation exceeds with 2.5 %, times the root of the number of pairs.
_CORRELATION: Final = 2.2414
#: Points of the distribution that are kept for a figure.
_POINTS: Final = 500
#: Ticks of clocks, in seconds, the longest first.
_TICKS: Final = tuple(10.0**-digits for digits in range(10))
#: How far a time may lie beside a tick, in ticks: of times of no clock hardly any fifty lie so near.
_BESIDE: Final = 0.25
#: Of a Poisson process as many share a time, in all but this share of cases; others are left as they are.
_RARELY: Final = 0.001
#: Of the spreading: the same arrivals have the same answer.
_SEED: Final = 1


@dataclass(frozen=True)
class Arrivals:
    """What the times between arrivals say: what `tightlink.analyze.interarrivals` returns."""

    arrivals: int
    rate_per_s: float
    mean_s: float
    variation: float
    """Standard deviation over mean of the times between arrivals: 1 of a Poisson process."""
    statistic: float
    """A², corrected for the number of times."""
    correlation: float
    """Correlation of a time between arrivals with the next one."""
    correlation_limit: float
    """What it stays within without dependence, with 97.5 %."""
    distribution: pl.DataFrame
    """``time_s``, ``longer`` (share of times between arrivals that are longer), ``exponential`` (the same if they were
    exponential)."""
    tick_s: float = 0.0
    """Of the clock, where arrivals share a time of it: they are spread over its ticks."""

    @property
    def exponential(self) -> bool:
        """Whether the times can be exponential."""
        return self.statistic <= CRITICAL

    @property
    def independent(self) -> bool:
        """Whether neighbours can be without dependence."""
        return abs(self.correlation) <= self.correlation_limit

    @property
    def poisson(self) -> bool:
        """Whether it can be a Poisson process."""
        return self.exponential and self.independent

    def sentence(self) -> str:
        """The finding, for people."""
        correlation = grouped(f"{self.correlation:.2f}")
        tests = f"A² = {self.statistic:.3g} (critical {CRITICAL}), correlation of neighbours {correlation}"
        if self.tick_s:
            tests += f"; times are told in steps of {units.format_time(self.tick_s)}, and were spread over them"
        rate = f"{self.rate_per_s:.4g} arrivals/s"
        if self.poisson:
            return f"like a Poisson process of {rate}: {tests}"
        spread = "more" if self.variation > 1 else "less"
        why = (
            [] if self.exponential else [f"times vary {spread} than exponential ones (variation {self.variation:.3g})"]
        )
        why += [] if self.independent else ["they depend on each other"]
        return f"not a Poisson process: of {rate}, {' and '.join(why)}; {tests}"


def interarrivals(times_s: ArrayLike) -> Arrivals:
    """Test whether arrivals can be a Poisson process.

    Args:
        times_s: When they came, in seconds, in any order.

    Returns:
        The rate, variation and correlation of the times between arrivals, and A², Anderson and Darling's statistic
        against exponential times; ``poisson`` says whether both tests pass.

    Raises:
        TightlinkError: There are too few, or all came at once.

    Example:
        >>> times = np.cumsum(np.random.default_rng(1).exponential(0.01, 5000))
        >>> print(tl.analyze.interarrivals(times).sentence())
        like a Poisson process of 100.5 arrivals/s: A² = 0.34 (critical 1.606), correlation of neighbours −0.01
    """
    times = np.sort(numbers(times_s))
    if len(times) < LEAST_ARRIVALS:
        raise TightlinkError(f"{len(times)} arrivals: expected at least {LEAST_ARRIVALS}")
    if not np.isfinite(times).all():
        raise TightlinkError("a time is missing: expected a number for every arrival")
    if times[0] == times[-1]:
        raise TightlinkError("all arrivals are at one time")
    tick = _tick(times)
    if tick:
        within = np.random.default_rng(_SEED).random(len(times))
        times = np.sort(np.rint((times - times[0]) / tick) + within) * tick
    between = np.diff(times)
    mean = float(between.mean())
    deviations = between - mean
    varies = np.ptp(between) > 0
    correlation = float((deviations[1:] * deviations[:-1]).sum() / (deviations**2).sum()) if varies else 1.0
    return Arrivals(
        len(times),
        1 / mean,
        mean,
        float(between.std(ddof=1) / mean),
        _anderson_darling(between / mean),
        correlation,
        _CORRELATION / math.sqrt(len(between)),
        _distribution(between),
        tick,
    )


def _tick(times: Array) -> float:
    """The tick of the clock that told these times, ascending, where as many share one as by chance; else nothing."""
    distinct, sharing = np.unique(times, return_counts=True)
    pairs = float((sharing * (sharing - 1)).sum()) / 2
    if not pairs:
        return 0.0
    # Doubles are exact enough for microseconds since 1970, hardly so.
    precision = float(np.spacing(np.abs(times).max()))
    since, shortest = times - times[0], float(np.diff(distinct).min())
    told = (tick for tick in _TICKS if precision <= _BESIDE * tick and (1 - 2 * _BESIDE) * tick <= shortest)
    tick = next((tick for tick in told if np.abs(since / tick - np.rint(since / tick)).max() <= _BESIDE), 0.0)
    if not tick:
        return 0.0
    # Any two of them share a tick with the same probability, and independently of any other two.
    expected = len(times) * (len(times) - 1) / 2 * tick / (float(since[-1]) + tick)
    low, high = stats.poisson.ppf([_RARELY / 2, 1 - _RARELY / 2], expected)
    return tick if low <= pairs <= high else 0.0


def _anderson_darling(scaled: Array) -> float:
    """A² of times over their mean against the exponential distribution, corrected for their number."""
    x = np.sort(scaled)
    n = len(x)
    # Arrivals at one time have probability zero.
    below = np.log(-np.expm1(-x).clip(max=-np.finfo(float).tiny))
    weights = 2 * np.arange(1, n + 1) - 1
    statistic = -n - float((weights * (below - x[::-1])).sum()) / n
    return statistic * (1 + 0.6 / n)


def _distribution(between: Array) -> pl.DataFrame:
    x = np.sort(between)
    n = len(x)
    places = np.unique(np.linspace(0, n - 1, min(n, _POINTS)).astype(int))
    return pl.DataFrame(
        {"time_s": x[places], "longer": 1 - (places + 0.5) / n, "exponential": np.exp(-x[places] / between.mean())}
    )
