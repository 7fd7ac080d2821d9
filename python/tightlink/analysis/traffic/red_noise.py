"""Red noise: what a series would look like if it only remembered its last value, and what peaks its spectrum has.

The null hypothesis of a test for oscillation is a process of first order, x(t) = ρ x(t − 1) + noise, with the lag-one
correlation ρ and the variance of the series. Its spectrum falls from low to high frequencies without any peak, but
each estimated power is random: the largest of thousands stands out from the spectrum by a factor of ten. How large the
largest gets is found by simulation: series of the same length and correlation go through the same estimates, so that
the number of frequencies, the removed trend and the error of ρ itself are counted.

The background is that of M. R. Allen, L. A. Smith: Monte Carlo SSA, Journal of Climate 9(12), 1996, and of C. Torrence,
G. P. Compo: A Practical Guide to Wavelet Analysis, Bulletin of the AMS 79(1), 1998, equation 16.

Example:
    >>> spectrum = Spectrum.of(np.sin(2 * np.pi * np.arange(400) / 16), interval_s=0.1)
    >>> float(spectrum.frequency_hz[spectrum.ratio.argmax()]), round(float(spectrum.ratio.max()))
    (0.625, 187)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink.lazy import Array, np

#: What has come and gone fewer times than this is a trend.
LEAST_CYCLES: Final = 3
#: Numbers that are simulated at a time.
_CHUNK: Final = 2_000_000
#: A random walk has 1; its spectrum has no level.
_REDDEST: Final = 0.9999


@dataclass(frozen=True)
class Spectrum:
    """The power of one series, or of several of one length, and of the noise that is most like each."""

    frequency_hz: Array
    """From `LEAST_CYCLES` in the series to half the sampling rate, both ends of a band of equal steps."""
    power: Array
    """Variance at each frequency."""
    background: Array
    """The same for noise of the same correlation and variance."""
    correlation: Array
    """Lag-one correlation of the series without its trend, corrected for bias."""

    @classmethod
    def of(cls, values: Array, interval_s: float = 1.0) -> Spectrum:
        """The spectrum without mean and trend; several series are rows."""
        from scipy import fft

        count = values.shape[-1]
        tilt = np.arange(count) - (count - 1) / 2
        centred = values - values.mean(axis=-1, keepdims=True)
        centred -= (centred @ tilt / (tilt @ tilt))[..., None] * tilt
        variance = np.mean(centred**2, axis=-1)
        lagged = np.sum(centred[..., 1:] * centred[..., :-1], axis=-1) / (count * variance)
        # The frequency at half the sampling rate has one degree of freedom instead of two.
        bins = np.arange(1, (count + 1) // 2)
        power = 2 * np.abs(fft.rfft(centred, axis=-1)[..., bins]) ** 2 / count**2
        shape = _shape(lagged, bins / count)
        background = shape * (power.sum(axis=-1) / shape.sum(axis=-1))[..., None]
        kept = slice(LEAST_CYCLES - 1, None)
        # M. G. Kendall: Note on Bias in the Estimation of Autocorrelation, Biometrika 41(3–4), 1954.
        correlation = np.clip((count * lagged + 1) / (count - 4), -_REDDEST, _REDDEST)
        frequency = bins[kept] / (count * interval_s)
        return cls(frequency, power[..., kept], background[..., kept], correlation)

    @property
    def ratio(self) -> Array:
        """Power over background: of noise, exponentially distributed with mean 1 as far as ρ is known."""
        return self.power / self.background


def largest_ratios(correlation: float, count: int, simulations: int, seed: int) -> Array:
    """The largest ratio of each of many series of noise, ascending."""
    random = np.random.default_rng(seed)
    at_once = max(_CHUNK // count, 1)
    found = []
    for done in range(0, simulations, at_once):
        noise = series(correlation, (min(at_once, simulations - done), count), random)
        found.append(Spectrum.of(noise).ratio.max(axis=-1))
    return np.sort(np.concatenate(found))


def series(correlation: float, shape: tuple[int, int], random: np.random.Generator) -> Array:
    """Rows of noise of first order, with variance 1 from the first number on."""
    from scipy import signal

    steps = random.standard_normal(shape) * np.sqrt(1 - correlation**2)
    steps[:, 0] /= np.sqrt(1 - correlation**2)
    noise: Array = signal.lfilter([1.0], [1.0, -correlation], steps, axis=-1)
    return noise


def _shape(correlation: Array, cycles: Array) -> Array:
    """The spectrum of noise of first order, up to a factor; ``cycles`` are those per sample."""
    rho = np.asarray(correlation)[..., None]
    shape: Array = (1 - rho**2) / (1 + rho**2 - 2 * rho * np.cos(2 * np.pi * cycles))
    return shape
