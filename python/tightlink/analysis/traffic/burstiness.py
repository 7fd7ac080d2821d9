"""Burstiness: how fast the variance of traffic falls when it is averaged over longer times.

Of arrivals without memory the variance of means over m intervals falls as 1/m, and the Hurst parameter H is 0.5;
of self-similar traffic it falls as m^(2H − 2), with H up to 1: bursts at all time scales (Leland, Taqqu, Willinger,
Wilson 1994). H is estimated from the spectrum at low frequencies by the local Whittle estimator (Robinson 1995),
whose interval comes from how sharp the minimum of its contrast is; the slope of the variance-time plot gives a second
one, to look at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.estimates import Estimate
from tightlink.analysis.traffic.values import at_intervals, mean_of
from tightlink.errors import TightlinkError
from tightlink.lazy import Array, ArrayLike, np, pl
from tightlink.numbers import grouped, significant

#: With fewer values there are too few low frequencies.
LEAST_VALUES: Final = 256
#: Of the frequencies, n to this power are low: Robinson's choice between bias and variance.
_LOW: Final = 0.65
#: And these are the lowest: memory that ends, as of a Markov chain, may reach up to the others.
_LOWEST: Final = 0.4
#: H is looked for between these.
_LEAST_H: Final = 0.001
_MOST_H: Final = 1.5
#: Low frequencies with less than this share of all power have none but for rounding.
_ROUNDING: Final = 1e-20
#: Half a 95 % interval, in standard deviations.
_NORMAL: Final = 1.96
#: Means over the longest time: so many are left.
_LEAST_MEANS: Final = 20
#: Times that the variance is looked at, from one interval to the longest.
_SCALES: Final = 30
#: H beyond this is no self-similar traffic, but a trend or a shift.
_DRIFT: Final = 0.99
_HALF: Final = 0.5


@dataclass(frozen=True)
class Burstiness:
    """What the variance at all time scales says: what `tightlink.analyze.burstiness` returns."""

    samples: int
    interval_s: float
    mean: float
    peak_over_mean: float
    hurst: Estimate
    """Hurst parameter by the spectrum at low frequencies, with its 95 % interval."""
    hurst_lowest: Estimate
    """Hurst parameter by the spectrum at the lowest frequencies alone."""
    hurst_variance: float
    """Hurst parameter by the slope of the variance-time plot, over the longer half of its scales (in logarithms)."""
    dispersion: float
    """Variance over mean of the values: 1 of a Poisson process, if they are counts."""
    scales: pl.DataFrame
    """``scale_s``, ``variance`` (of means over that time, over the squared mean), ``dispersion`` (of sums over that
    time), ``without_memory`` (the variance if it fell as 1/m), ``fit``."""

    @property
    def bursty(self) -> bool:
        """Whether the variance falls more slowly than without memory, at the longest times, too."""
        return self.hurst.low > _HALF and self.hurst_lowest.low > _HALF

    @property
    def variation(self) -> float:
        """Standard deviation over mean of the values."""
        return math.sqrt(self.dispersion / self.mean)

    def sentence(self) -> str:
        """The finding, for people."""
        h = self.hurst
        variance = grouped(f"{self.hurst_variance:.2f}")
        also = f"{self.hurst_lowest.value:.2f} at the lowest frequencies, {variance} by the variance"
        found = f"H = {h.value:.2f} ({h.low:.2f} to {h.high:.2f}; {also})"
        spread = f"the standard deviation is {significant(100 * self.variation, 3)} % of the mean"
        if h.value >= _DRIFT and h.low > _HALF:
            return f"a trend or a shift: {found}, which self-similar traffic does not have; {spread}"
        if self.bursty:
            return f"bursts at long time scales: {found}; {spread}"
        if h.low > _HALF:
            return f"bursts, but none beyond chance at the longest time scales: {found}; {spread}"
        if self.hurst.high < _HALF:
            return f"smoother than chance at long time scales: {found}; {spread}"
        return f"no bursts beyond chance at long time scales: {found}; {spread}"


def burstiness(values: ArrayLike, interval_s: float) -> Burstiness:
    """Look at the variance of a series at all time scales: is it long-range dependent?

    Args:
        values: Packets or bytes in each interval.
        interval_s: Its length, in seconds.

    Returns:
        The Hurst parameter (``hurst``, with its 95 % interval), peak over mean, dispersion and the variance at each
        time scale (``scales``); ``bursty`` says whether bursts last longer than by chance.

    Raises:
        TightlinkError: There are too few values, some that are not finite, or they do not vary, or only at the end.

    Example:
        >>> counts = np.random.default_rng(1).poisson(100, 10_000)
        >>> found = tl.analyze.burstiness(counts.astype(float), interval_s=0.01)
        >>> print(found.sentence().partition(";")[0])
        no bursts beyond chance at long time scales: H = 0.50 (0.45 to 0.55
    """
    values = at_intervals(values, interval_s, least=LEAST_VALUES)
    mean = mean_of(values)
    if np.ptp(values) == 0 or mean == 0:
        raise TightlinkError("the values do not vary, or are zero on average")
    scales, slope = _scales(values, interval_s)
    return Burstiness(
        len(values),
        interval_s,
        mean,
        float(values.max() / mean),
        hurst(values),
        hurst(values, _LOWEST),
        1 + slope / 2,
        float(values.var(ddof=1) / mean),
        scales,
    )


def hurst(values: ArrayLike, power: float = _LOW) -> Estimate:
    """Estimate the Hurst parameter H of a series by the local Whittle estimator, with its 95 % interval.

    Args:
        values: What was sent in each of equal intervals, such as packets or bytes.
        power: Of n values, the lowest n^power frequencies count.

    Returns:
        H: 0.5 without memory, nearer to 1 the longer bursts last; ``low`` and ``high`` are the ends of the interval.

    Raises:
        TightlinkError: There are too few values, some that are not finite, or they do not vary.

    Example:
        >>> round(tl.analyze.hurst(np.random.default_rng(1).normal(size=10_000)).value, 1)
        0.5
    """
    from scipy.optimize import minimize_scalar

    if not 0 < power < 1:
        raise TightlinkError(f"power = {power!r}: expected a number between 0 and 1")
    values = at_intervals(values, least=LEAST_VALUES)
    if np.ptp(values) == 0:
        raise TightlinkError("the values do not vary")
    n = len(values)
    count = int(n**power)
    spectrum = np.abs(np.fft.rfft(values - values.mean())[1 : count + 1]) ** 2
    frequency = np.arange(1, count + 1) / n
    if spectrum.sum() <= _ROUNDING * n**2 * float(values.var()):
        # As of values that repeat, whose means over longer times vary as 1 / m²: what rounding leaves has any H.
        return Estimate(_LEAST_H, _LEAST_H, _LEAST_H)
    # Only ratios matter, and an exact zero would have no logarithm.
    spectrum = spectrum / spectrum.mean() + np.finfo(float).tiny
    logarithms = np.log(frequency).mean()

    def contrast(h: float) -> float:
        power = 2 * h - 1
        return math.log(float((frequency**power * spectrum).mean())) - power * float(logarithms)

    value = float(minimize_scalar(contrast, bounds=(_LEAST_H, _MOST_H), method="bounded").x)
    # The contrast's second derivative is four times the weighted variance of the logarithms, which is 1 where
    # frequencies are many (Robinson 1995, theorem 2) and less where they are few.
    weights = frequency ** (2 * value - 1) * spectrum
    information = float(np.cov(np.log(frequency), aweights=weights, ddof=0))
    half = _NORMAL / (2 * math.sqrt(count * information)) if information > 0 else math.inf
    return Estimate(value, max(value - half, _LEAST_H), min(value + half, _MOST_H))


def _scales(values: Array, interval_s: float) -> tuple[pl.DataFrame, float]:
    n = len(values)
    lengths = np.unique(np.geomspace(1, n // _LEAST_MEANS, _SCALES).astype(int))
    variances = np.array([values[: n // m * m].reshape(-1, m).mean(axis=1).var(ddof=1) for m in lengths])
    mean = values.mean()
    longer = (lengths >= math.sqrt(float(lengths[-1]))) & (variances > 0)
    if longer.sum() < 2:  # noqa: PLR2004
        # What is left over at the end is in no mean over a longer time.
        raise TightlinkError("the values vary at their end alone: expected some that vary over longer times")
    slope, height = np.polyfit(np.log(lengths[longer]), np.log(variances[longer]), 1)
    square = mean**2
    return pl.DataFrame({
        "scale_s": lengths * interval_s,
        "variance": variances / square,
        "dispersion": lengths * variances / mean,
        "without_memory": variances[0] / lengths / square,
        "fit": np.exp(height) * lengths**slope / square,
    }), float(slope)  # fmt: skip
