"""Cycles of traffic whose periods are known beforehand: the day and the week, and the halves of both.

Smith 2009 names them. Sines with these periods are fitted together with a trend; the power of each is held against
that of its surroundings in the spectrum of what is left (an F test). As noise of traffic is stronger the lower the
frequency, the surroundings are a straight line in logarithms, whose slope other cycles near by hardly move (H. Theil
1950; P. K. Sen, Journal of the American Statistical Association 63(324), 1968). What has a period that is not known
beforehand is found by `tightlink.analysis.traffic.oscillation`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.traffic.values import ROUNDING, at_intervals, mean_of
from tightlink.errors import TightlinkError
from tightlink.lazy import Array, ArrayLike, np, stats
from tightlink.numbers import significant

_DAY_S: Final = 86_400.0
#: In seconds, by name, as Smith 2009 has them (section 2).
PERIODS: Final[Mapping[str, float]] = {
    "week": 7 * _DAY_S,
    "half a week": 3.5 * _DAY_S,
    "day": _DAY_S,
    "half a day": _DAY_S / 2,
}
#: A cycle must be seen so many times.
_TIMES: Final = 2
#: Values in a period.
_LEAST_VALUES: Final = 4
#: Frequencies around that of a cycle that say what is usual there.
_SURROUNDINGS: Final = 20
#: Below this probability a cycle is there.
LEVEL: Final = 0.01
_LN_2: Final = math.log(2)
_DIGITS: Final = 4


@dataclass(frozen=True)
class Cycle:
    """What a series says of one period: an element of what `tightlink.analyze.cycles` returns."""

    name: str
    period_s: float
    amplitude: float
    """Amplitude of the cycle's sine, in the unit of the values."""
    relative_amplitude: float
    """The amplitude over the mean of the values; infinite around zero."""
    peak_s: float
    """When it is highest: time after the begin of a period, where periods are counted from time zero."""
    ratio: float
    """Its power over that of the surroundings."""
    p: float
    """Probability of a ratio as large without such a cycle."""

    @property
    def there(self) -> bool:
        """Whether there is such a cycle."""
        return self.p <= LEVEL

    def at(self, times_s: Array) -> Array:
        """Its sine at some times, which has no mean over a period."""
        sine: Array = self.amplitude * np.cos(2 * np.pi * (times_s - self.peak_s) / self.period_s)
        return sine

    def sentence(self) -> str:
        """The finding, for people."""
        if not self.there:
            return f"{self.name}: no cycle, p = {self.p:.2g}"
        around = f"±{self.amplitude:.{_DIGITS - 1}g} around zero"
        if math.isfinite(self.relative_amplitude):
            around = f"±{significant(100 * self.relative_amplitude, _DIGITS - 1)} % of the mean"
        hour = self.peak_s / 3600
        return f"{self.name}: {around}, highest {hour:.1f} h into it, p = {self.p:.2g}"


def cycles(
    values: ArrayLike, interval_s: float, *, begin_s: float = 0.0, periods: Mapping[str, float] = PERIODS
) -> list[Cycle]:
    """Look for cycles of known periods in a series, such as a day and a week.

    Args:
        values: Counts in each interval, or rates.
        interval_s: Its length, in seconds.
        begin_s: The time of the first, for the times of peaks.
        periods: In seconds, by name; those of which the data hold fewer than two, or that have fewer than four
            values, are left out.

    Returns:
        One for each period that can be looked for, with amplitude, time of the peak and ``p``; ``there`` says whether
        the series has the cycle.

    Raises:
        TightlinkError: No period can be looked for, a value is not finite, or they do not vary.

    Example:
        >>> hours = np.arange(4 * 7 * 24)
        >>> noise = np.random.default_rng(1).normal(size=len(hours))
        >>> found = tl.analyze.cycles(100 + 20 * np.cos(2 * np.pi * (hours - 14) / 24) + noise, interval_s=3600.0)
        >>> [(each.name, round(each.relative_amplitude, 2), round(each.peak_s / 3600)) for each in found if each.there]
        [('day', 0.2, 14)]
    """
    values = at_intervals(values, interval_s, least=_TIMES * _LEAST_VALUES)
    n = len(values)
    possible = {
        name: period
        for name, period in periods.items()
        if n * interval_s >= _TIMES * period and period >= _LEAST_VALUES * interval_s
    }
    if not possible:
        lasts = n * interval_s / _DAY_S
        raise TightlinkError(
            f"{lasts:.3g} days at intervals of {interval_s:g} s: expected two periods at least of one of "
            f"{', '.join(periods)}, with {_LEAST_VALUES} values each"
        )
    if np.ptp(values) == 0:
        raise TightlinkError("the values do not vary")
    times = begin_s + interval_s * np.arange(n)
    angles = [2 * np.pi * times / period for period in possible.values()]
    trend = [np.ones(n), np.linspace(-1, 1, n)]
    design = np.column_stack([*trend, *(part(angle) for angle in angles for part in (np.cos, np.sin))])
    coefficients, *_ = np.linalg.lstsq(design, values, rcond=None)
    left = np.abs(np.fft.rfft(values - design @ coefficients)) ** 2
    removed = {round(n * interval_s / period) for period in possible.values()}
    mean, least = mean_of(values), ROUNDING * float(np.abs(values).max())
    found = []
    for place, (name, period) in enumerate(possible.items()):
        cosine, sine = coefficients[2 + 2 * place : 4 + 2 * place]
        amplitude = float(np.hypot(cosine, sine))
        peak = float(np.arctan2(sine, cosine) % (2 * np.pi)) / (2 * np.pi) * period
        ratio, p = _test(left, removed, n * interval_s / period, n * amplitude / 2) if amplitude > least else (0.0, 1.0)
        found.append(Cycle(name, period, amplitude, amplitude / abs(mean) if mean else np.inf, peak, ratio, p))
    return found


def _test(left: Array, removed: set[int], place: float, height: float) -> tuple[float, float]:
    """The power at a place of the spectrum, of which this is the height, over that around it; and its p."""
    # Where sines were fitted nothing is left.
    usable = np.array([bin_ for bin_ in range(1, len(left) - 1) if bin_ not in removed])
    nearest = usable[np.argsort(np.abs(np.log(usable / place)), kind="stable")[:_SURROUNDINGS]]
    away = np.log(nearest / place)
    # An exact zero would have no logarithm.
    logarithm = np.log(np.maximum(left[nearest], np.finfo(float).tiny))
    # Powers are exponentially distributed: their median is ln 2 of their mean, and the variance of the logarithm of
    # the median of m is 1 / (m ln² 2); the further from the middle of the line, the larger.
    usual = float(np.exp(stats.theilslopes(logarithm, away, method="joint").intercept)) / _LN_2
    variance = (1 / len(away) + away.mean() ** 2 / ((away - away.mean()) ** 2).sum()) / _LN_2**2
    ratio = height**2 / usual
    # The logarithm of a mean of as many degrees of freedom has that variance.
    return ratio, float(stats.f.sf(ratio, 2, 2 / variance))
