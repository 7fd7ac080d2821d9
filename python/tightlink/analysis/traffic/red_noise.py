"""Noise without a period: what a series would look like if it only remembered, and what peaks its spectrum has.

The null hypothesis of a test for oscillation is noise whose spectrum has no peak: it remembers over one or two times,
as a queue and a mean over it do, x(t) = (ρ + σ) x(t − 1) − ρ σ x(t − 2) + noise, and white noise may be added, as
measurements have it. Where ρ is below zero its spectrum rises instead of falling. Or such noise came through a filter,
such as a running mean (see `smoothing`). Of some thousand such noises, the one is taken whose logarithm is next to that
of the estimated powers (J. Geweke, S. Porter-Hudak: The Estimation and Application of Long Memory Time Series Models,
Journal of Time Series Analysis 4(4), 1983): a peak, however high, hardly moves it.

Each estimated power is random: the largest of thousands stands out from the spectrum by a factor of ten. How large the
largest gets is found by simulation: noise of the same spectrum and length goes through the same estimates, so that the
number of frequencies, the removed trend and the error of what was fitted are counted (M. R. Allen, L. A. Smith: Monte
Carlo SSA, Journal of Climate 9(12), 1996, with noise of first order).

Example:
    >>> spectrum = Spectrum.of(np.sin(2 * np.pi * np.arange(400) / 16), interval_s=0.1)
    >>> float(spectrum.frequency_hz[spectrum.ratio.argmax()]), round(float(spectrum.ratio.max()))
    (0.625, 199)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tightlink.analysis.traffic.by_chance import portions
from tightlink.analysis.traffic.smoothing import expected_response, filters, power_response
from tightlink.lazy import Array, NDArray, np

#: What has come and gone fewer times than this is a trend.
LEAST_CYCLES: Final = 3
#: Candidates: times over which noise remembers, from half an interval to the whole series;
_TIMES: Final = 28
#: a second time, as a share of the first;
_SECOND: Final = (0.0, 0.03, 0.1, 0.25, 0.5, 1.0)
#: correlations of noise that goes up and down from value to value;
_BELOW_ZERO: Final = (-0.9, -0.75, -0.6, -0.45, -0.3, -0.15)
#: and the share of white noise.
_WHITE: Final = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.06, 0.1, 0.17, 0.25, 0.4, 0.55, 0.75, 0.95)
#: Of noise that was smoothed: its memory before, as a share of the filter's length, and the share of white noise.
_BEFORE: Final = (0.0, 0.1, 0.3, 1.0, 3.0)
_WHITE_SMOOTHED: Final = (0.0, 1e-4, 1e-3, 0.01, 0.03, 0.1)
#: So many of the lowest frequencies are fitted one by one, the others in as many groups as the second number says.
_SINGLE: Final = 20
_GROUPS: Final = 60
#: Less power than this share of the largest is rounding.
_NOTHING: Final = 1e-30


@dataclass(frozen=True)
class Candidates:
    """The noises that a series of some length is compared with, a row each."""

    count: int
    """Of the series' values."""
    first: Array
    """Correlation ρ of the slower memory."""
    second: Array
    """Correlation σ of the faster one."""
    white: Array
    """Share of white noise in the power of all frequencies."""
    filter: NDArray[np.int64]
    """Which of `filters` it came through; −1 where it was not smoothed."""
    size: Array
    """Mean over all frequencies of the spectrum of the memory alone, as `_memory` gives it."""
    groups: Array
    """The first frequency of each group of neighbours."""
    members: Array
    """How many frequencies each group has."""
    logarithm: Array
    """Of the spectrum in each group, less its mean over all frequencies."""
    square: Array
    """Sum of its squares over all frequencies."""

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, count: int) -> Candidates:
        """Those for so many values."""
        rows = [(rho, 0.0, 0.0) for rho in (0.0, *_BELOW_ZERO)]
        for time in np.geomspace(0.5, count, _TIMES):
            seconds = [float(np.exp(-1 / (share * time))) if share else 0.0 for share in _SECOND]
            rows += [(float(np.exp(-1 / time)), second, white) for second in seconds for white in _WHITE]
        first, second, white = np.array(rows).T
        frequencies = _frequencies(count)
        single = min(_SINGLE, len(frequencies))
        groups = np.unique(np.concatenate([
            np.arange(single), np.geomspace(single, len(frequencies), _GROUPS).astype(int)[:-1]
        ]))  # fmt: skip
        members = np.diff(groups, append=len(frequencies))
        memory = _memory(first, second, np.add.reduceat(frequencies, groups) / members)
        size = memory @ members / len(frequencies)
        logarithm = np.log(white[:, None] + (1 - white[:, None]) * memory / size[:, None])
        which = np.full(len(rows), -1)
        parts: list[tuple[Array, ...]] = [(first, second, white, which, size, logarithm)]
        parts += [_smoothed(number, weights, count, groups) for number, weights in enumerate(_filters(count))]
        first, second, white, which, size, logarithm = (np.concatenate(part) for part in zip(*parts, strict=True))
        logarithm -= (logarithm @ members / len(frequencies))[:, None]
        return cls(count, first, second, white, which, size, groups, members, logarithm, logarithm**2 @ members)

    def best(self, power: Array, *, smoothed: bool = True) -> Array:
        """The row next to the powers at all frequencies, whatever the variance: least squares of the logarithms.

        Several series are rows of powers. Noise that came through a filter is among the candidates where it may be
        smoothed.
        """
        logarithm = np.log(np.maximum(power, _NOTHING * power.max(axis=-1, keepdims=True)))
        grouped: Array = np.add.reduceat(logarithm, self.groups.tolist(), axis=-1)
        some = slice(None) if smoothed else slice(int((self.filter < 0).sum()))
        # In place: with thousands of series and of candidates, each copy takes a fifth of the time of the product.
        distance: Array = -2 * grouped @ self.logarithm[some].T
        distance += self.square[some]
        best: Array = distance.argmin(axis=-1)
        return best

    def expected(self, row: Array) -> Array:
        """The spectrum of a row or of several, up to a factor, as a series of this length has it in the mean."""
        cycles = _frequencies(self.count)
        return self._spectrum(row, cycles, lambda weights: expected_response(weights, self.count))

    def _spectrum(self, row: Array, cycles: Array, response: Callable[[Array], Array]) -> Array:
        white, size = self.white[row][..., None], self.size[row][..., None]
        memory = _memory(self.first[row], self.second[row], cycles)
        smoothed = self.filter[row]
        for number in np.unique(smoothed[smoothed >= 0]):
            memory[smoothed == number] *= response(_filters(self.count)[number])[1 : len(cycles) + 1]
        spectrum: Array = white + (1 - white) * memory / size
        return spectrum

    def series(self, row: int, series: int, random: np.random.Generator) -> Array:
        """Rows of such noise, cut from longer ones that come round to where they began."""
        from scipy import fft

        longer = fft.next_fast_len(2 * self.count, real=True)
        cycles = np.arange(1, (longer + 1) // 2) / longer
        waves = random.standard_normal((series, 2 * len(cycles))).view(complex)
        waves *= np.sqrt(self._spectrum(np.array([row]), cycles, lambda weights: power_response(weights, longer)))
        mean = np.zeros((series, 1))
        noise: Array = fft.irfft(np.concatenate([mean, waves], axis=-1), longer, axis=-1)[:, : self.count]
        return noise


@dataclass(frozen=True)
class Spectrum:
    """The power of one series, or of several of one length, and of the noise that is most like each."""

    frequency_hz: Array
    """From `LEAST_CYCLES` in the series to half the sampling rate, both ends of a band of equal steps."""
    power: Array
    """Variance at each frequency."""
    background: Array
    """The same for the noise."""
    noise: Array
    """The row of the noise in `Candidates`."""
    smoothed: NDArray[np.bool_]
    """Whether that noise came through a filter."""
    correlation: Array
    """Lag-one correlation of the series without its trend, corrected for bias."""

    @classmethod
    def of(cls, values: Array, interval_s: float = 1.0, *, smoothed: bool = True) -> Spectrum:
        """The spectrum without mean and trend; several series of one length are rows.

        The noise may have come through a filter (``smoothed``).
        """
        from scipy import fft

        count = values.shape[-1]
        tilt = np.arange(count) - (count - 1) / 2
        centred = values - values.mean(axis=-1, keepdims=True)
        centred -= (centred @ tilt / (tilt @ tilt))[..., None] * tilt
        lagged = np.mean(centred[..., 1:] * centred[..., :-1], axis=-1) * (1 - 1 / count)
        cycles = _frequencies(count)
        power = 2 * np.abs(fft.rfft(centred, axis=-1)[..., 1 : len(cycles) + 1]) ** 2 / count**2
        candidates = Candidates.of(count)
        noise = candidates.best(power, smoothed=smoothed)
        # Series of simulated noise share a few rows: each is computed once.
        rows, places = np.unique(noise, return_inverse=True)
        shape = candidates.expected(rows)[places.reshape(noise.shape)]
        background = shape * (power / shape).mean(axis=-1)[..., None]
        kept = slice(LEAST_CYCLES - 1, None)
        # M. G. Kendall: Note on Bias in the Estimation of Autocorrelation, Biometrika 41(3–4), 1954.
        correlation = np.clip((count * lagged / np.mean(centred**2, axis=-1) + 1) / (count - 4), -1, 1)
        through = candidates.filter[noise] >= 0
        return cls(cycles[kept] / interval_s, power[..., kept], background[..., kept], noise, through, correlation)

    @property
    def ratio(self) -> Array:
        """Power over background: of noise, exponentially distributed with mean 1 as far as the noise is known."""
        return self.power / self.background


@lru_cache(maxsize=256)
def largest_ratios(noise: int, count: int, simulations: int, seed: int) -> Array:
    """The largest ratio of each of many series of one noise of `Candidates`, ascending.

    Kept: series of one run are as long as each other, and few noises are like many of them.
    """
    random = np.random.default_rng(seed)
    found = []
    for rows in portions(simulations, count):
        series = Candidates.of(count).series(noise, rows, random)
        found.append(Spectrum.of(series).ratio.max(axis=-1))
    largest = np.sort(np.concatenate(found))
    largest.setflags(write=False)
    return largest


def _frequencies(count: int) -> Array:
    """In cycles per value; that at half the sampling rate has one degree of freedom instead of two, and is left out."""
    return np.arange(1, (count + 1) // 2) / count


@lru_cache(maxsize=8)
def _filters(count: int) -> tuple[Array, ...]:
    return tuple(filters(count))


def _smoothed(number: int, weights: Array, count: int, groups: Array) -> tuple[Array, ...]:
    """The rows of `Candidates` of noise that came through one filter."""
    frequencies = _frequencies(count)
    response = expected_response(weights, count)[1 : len(frequencies) + 1]
    times = len(weights) * np.array(_BEFORE)
    before = np.where(times > 0, np.exp(-1 / np.maximum(times, 1e-9)), 0.0)
    first, white = (axis.ravel() for axis in np.meshgrid(before, _WHITE_SMOOTHED, indexing="ij"))
    memory = _memory(first, np.zeros(len(first)), frequencies) * response
    size = memory.mean(axis=-1)
    logarithm = np.log(np.maximum(white[:, None] + (1 - white[:, None]) * memory / size[:, None], _NOTHING))
    grouped = np.add.reduceat(logarithm, groups.tolist(), axis=-1) / np.diff(groups, append=len(frequencies))
    return first, np.zeros(len(first)), white, np.full(len(first), number), size, grouped


def _memory(first: Array, second: Array, cycles: Array) -> Array:
    """The spectrum of noise that remembers, up to a factor, at frequencies in cycles per value."""
    cosine = np.cos(2 * np.pi * cycles)
    slower, faster = ((1 - one[..., None]) ** 2 / (1 + one[..., None] ** 2 - 2 * one[..., None] * cosine)
                      for one in (first, second))  # fmt: skip
    return slower * faster
