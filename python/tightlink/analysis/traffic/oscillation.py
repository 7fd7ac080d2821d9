"""Oscillation: whether a window, a queue or losses go up and down with a period, how much, and how sure that is.

A peak in the spectrum is held against noise without a period (see `red_noise`): p is the probability that the largest
of all peaks of such noise stands out as far. A series oscillates where p is small and what goes up and down is not a
negligible part of the mean: FAST's windows in a large buffer have a period too, of some thousandths of a packet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.traffic.by_chance import p_value
from tightlink.analysis.traffic.red_noise import LEAST_CYCLES, Spectrum, largest_ratios
from tightlink.analysis.traffic.values import ROUNDING, at_intervals, mean_of
from tightlink.lazy import Array, ArrayLike, np, pl
from tightlink.numbers import grouped

#: From here on an amplitude counts: this share of the mean.
LEAST_AMPLITUDE: Final = 0.1
#: Below this probability a peak is not noise.
LEVEL: Final = 0.01
#: Series of noise that are simulated: enough for the ends of p at `LEVEL`.
SIMULATIONS: Final = 999
#: Of the noise: the same series has the same p.
_SEED: Final = 1
#: Fewer values have too few frequencies to tell a peak from its surroundings.
LEAST_VALUES: Final = 32
#: An oscillation in bursts has nearly as much power at multiples of its frequency: up to this one, a peak at a
#: divisor with at least half the power is the oscillation itself.
_MULTIPLES: Final = 6
#: So is any divisor with half the power where as much is at all multiples between; beyond that one, at half of them.
_BETWEEN: Final = 0.5


@dataclass(frozen=True)
class Oscillation:
    """What the spectrum of one series says: what `tightlink.analyze.oscillation` returns."""

    samples: int
    interval_s: float
    mean: float
    period_s: float
    """Of the strongest peak, or of the one that it is a multiple of, between two frequencies of the spectrum; NaN where
    nothing varies but a trend."""
    period_round_trips: float
    """The period in round-trip times; NaN where these are not known."""
    amplitude: float
    """Amplitude of the sine with the variance of the octave around the peak, less what noise puts there."""
    relative_amplitude: float
    """The amplitude over the size of the mean; infinite around zero."""
    ratio: float
    """The largest power in units of the noise at its frequency."""
    critical_ratio: float
    """What the largest ratio of noise exceeds with the probability of the test's level."""
    correlation: float
    """Lag-one correlation."""
    p: float
    """Probability that noise has a ratio as large, at any frequency."""
    level: float
    """Level of the test: how often noise may pass for an oscillation."""
    series: pl.DataFrame
    """time_s, value."""
    spectrum: pl.DataFrame
    """frequency_hz, power (variance at the frequency), background (the same of the noise), threshold."""

    @property
    def significant(self) -> bool:
        """Whether there is a peak that noise would not have."""
        return self.p <= self.level

    @property
    def rises(self) -> bool:
        """Whether nothing is left of the values without their trend, though they vary."""
        return self.spectrum.is_empty() and not _constant(self.series["value"].to_numpy())

    @property
    def oscillates(self) -> bool:
        """Whether such a peak is there and has an amplitude that counts."""
        return self.significant and self.relative_amplitude >= LEAST_AMPLITUDE

    def sentence(self) -> str:
        """The finding, for people."""
        if math.isnan(self.period_s):
            return f"no oscillation: the values {'lie on a straight line' if self.rises else 'do not vary'}"
        period = f"{_rounded(self.period_s)} s"
        if not math.isnan(self.period_round_trips):
            period += f" ({_rounded(self.period_round_trips)} round trips)"
        if not self.significant:
            return f"no oscillation: the largest peak, at {period}, has p = {self.p:.2g}"
        percent = 100 * self.relative_amplitude
        amplitude = f"{percent:{'.0f' if percent >= 1 else '.1g'}} % of the mean"
        if math.isinf(percent):
            amplitude = f"{self.amplitude:.3g} around zero"
        if not self.oscillates:
            return (
                f"no oscillation that counts: a period of {period}, but an amplitude of {amplitude}, p = {self.p:.2g}"
            )
        return f"oscillates with a period of {period} and an amplitude of {amplitude}, p = {self.p:.2g}"


def oscillation(
    values: ArrayLike,
    interval_s: float,
    *,
    begin_s: float = 0.0,
    round_trip_s: float = math.nan,
    level: float = LEVEL,
    simulations: int = SIMULATIONS,
) -> Oscillation:
    """Test a series for oscillation.

    Args:
        values: Values at equal intervals, at least 32 (`LEAST_VALUES`); all finite.
        interval_s: The interval, in seconds; periods longer than twice this can be told.
        begin_s: Time of the first value.
        round_trip_s: Round-trip time, where it is known, in which the period is told as well.
        level: Probability with which noise may pass for an oscillation.
        simulations: Series of noise to compare with; the least p is 1 / (simulations + 1).

    Returns:
        The period, amplitude and ``p`` of the strongest peak of the spectrum; ``oscillates`` says whether it is one and
        has an amplitude that counts.

    Raises:
        TightlinkError: There are too few values, or some that are not finite.

    Example:
        >>> times = np.arange(0, 60, 0.05)
        >>> noise = np.random.default_rng(1).normal(size=len(times))
        >>> windows = 30 + 9 * np.sin(2 * np.pi * times / 0.8) + noise
        >>> found = tl.analyze.oscillation(windows, interval_s=0.05, round_trip_s=0.2)
        >>> print(found.sentence())
        oscillates with a period of 0.8 s (4 round trips) and an amplitude of 30 % of the mean, p = 0.001
        >>> tl.analyze.oscillation(30 + noise, interval_s=0.05).oscillates
        False
    """
    from scipy.signal import detrend

    values = at_intervals(values, interval_s, least=LEAST_VALUES)
    count, mean = len(values), mean_of(values)
    series = pl.DataFrame({"time_s": begin_s + interval_s * np.arange(count), "value": values})
    if _constant(values) or np.abs(detrend(values)).max() <= ROUNDING * np.abs(values).max():
        nothing: Array = np.empty(0)
        return Oscillation(count, interval_s, mean, math.nan, math.nan, 0.0, 0.0, 0.0, math.nan, math.nan, 1.0, level,
                           series, _frame(nothing, nothing, nothing, math.nan))  # fmt: skip
    spectrum = Spectrum.of(values, interval_s)
    correlation, ratio = float(spectrum.correlation), float(spectrum.ratio.max())
    noise = largest_ratios(int(spectrum.noise), count, simulations, _SEED)
    p = p_value(ratio, noise)
    critical = float(np.quantile(noise, 1 - level, method="higher"))
    peak = _peak(spectrum, critical)
    period = 1 / _between(spectrum, peak)
    # Where there is a peak, a filter's hump must not take a part of it for noise.
    plain = Spectrum.of(values, interval_s, smoothed=False) if spectrum.smoothed.any() else spectrum
    amplitude = _amplitude(plain, float(spectrum.frequency_hz[peak]))
    return Oscillation(
        samples=count,
        interval_s=interval_s,
        mean=mean,
        period_s=period,
        period_round_trips=period / round_trip_s,
        amplitude=amplitude,
        relative_amplitude=amplitude / abs(mean) if mean else math.inf,
        ratio=ratio,
        critical_ratio=critical,
        correlation=correlation,
        p=p,
        level=level,
        series=series,
        spectrum=_frame(spectrum.frequency_hz, spectrum.power, spectrum.background, critical),
    )


def _constant(values: Array) -> bool:
    return bool(np.ptp(values) <= ROUNDING * np.abs(values).max())


def _frame(frequency: Array, power: Array, background: Array, critical: float) -> pl.DataFrame:
    columns = {"power": power, "background": background, "threshold": background * critical}
    return pl.DataFrame({"frequency_hz": frequency} | columns)


def _amplitude(spectrum: Spectrum, frequency_hz: float) -> float:
    """Of the octave around a frequency, above the noise that most of the other frequencies tell of."""
    around = np.abs(np.log(spectrum.frequency_hz / frequency_hz)) <= math.log(2) / 2
    # Half of an exponential distribution is below ln 2 of its mean; a few multiples of the frequency do not move it.
    noise = float(np.median(spectrum.ratio[~around])) / math.log(2) if not around.all() else 0.0
    excess = float((spectrum.power - noise * spectrum.background)[around].sum())
    return math.sqrt(2 * max(excess, 0.0))


def _peak(spectrum: Spectrum, critical: float) -> int:
    """Where the oscillation is: of the significant frequencies the strongest, unless that is a multiple of another.

    The largest ratio alone would not do: a sawtooth's power falls with frequency as that of red noise does.
    """
    significant = spectrum.ratio >= critical
    if not significant.any():
        return int(spectrum.ratio.argmax())
    power = np.where(significant, spectrum.power, 0.0)
    strongest = int(power.argmax())
    cycles, half, count = strongest + LEAST_CYCLES, power[strongest] / 2, len(power)
    # A peak between two frequencies has half its height at each.
    likely = np.where(spectrum.ratio >= critical / 2, spectrum.power, 0.0)
    for multiple in range(cycles // LEAST_CYCLES + 1, 1, -1):
        near = _near(cycles / multiple, count)
        if likely[near].sum() < half:
            continue
        few = multiple <= _MULTIPLES
        # There is none between the first and the second; the third is next.
        others = [times * cycles / multiple for times in range(2, multiple)] or [3 * cycles / multiple]
        found = sum(likely[_near(other, count)].sum() >= half for other in others)
        if found >= (1 if few else _BETWEEN) * len(others) or (few and power[near].sum() >= half):
            return int(near.start + likely[near].argmax())
    return strongest


def _near(cycles: float, count: int) -> slice:
    """The frequencies of the spectrum within a step of one, which is in cycles of the series."""
    first, last = math.ceil(cycles - 1) - LEAST_CYCLES, math.floor(cycles + 1) - LEAST_CYCLES
    return slice(max(first, 0), min(max(last + 1, 0), count))


def _between(spectrum: Spectrum, peak: int) -> float:
    """The frequency of a peak, which lies between two of the spectrum.

    A sine between two frequencies has amplitudes at these in inverse proportion to how far it is from each (D. C. Rife,
    G. A. Vincent: Use of the Discrete Fourier Transform in the Measurement of Frequencies and Levels of Tones, Bell
    System Technical Journal 49(2), 1970).
    """
    power, frequency = spectrum.power, spectrum.frequency_hz
    sides = [place for place in (peak - 1, peak + 1) if 0 <= place < len(power)]
    side = max(sides, key=lambda place: float(power[place]))
    apart = math.sqrt(power[side] / power[peak]) if power[peak] else 0.0
    # Where a peak is told by its ratio, the neighbour may be the larger one: then it is in the middle at most.
    return float(frequency[peak] + (frequency[side] - frequency[peak]) * min(apart / (1 + apart), 0.5))


def _rounded(value: float) -> str:
    # A period is known to some hundredths of a step of the spectrum.
    return grouped(f"{value:.{max(3, 1 + math.floor(math.log10(value)))}g}")
