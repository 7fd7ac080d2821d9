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
from tightlink.analysis.traffic.red_noise import Spectrum, largest_ratios
from tightlink.analysis.traffic.values import at_intervals
from tightlink.lazy import Array, ArrayLike, np, pl

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
#: What varies less than this share of its size is constant but for rounding.
_CONSTANT: Final = 1e-12
#: An oscillation in bursts has nearly as much power at multiples of its frequency: up to this one, a peak at a
#: divisor with at least half the power is the oscillation itself.
_MULTIPLES: Final = 6


@dataclass(frozen=True)
class Oscillation:
    """What the spectrum of one series says."""

    samples: int
    interval_s: float
    mean: float
    period_s: float
    """Of the strongest peak; NaN where nothing varies."""
    period_round_trips: float
    """The same in round-trip times; NaN where these are not known."""
    amplitude: float
    """Of the sine with the variance of the octave around the peak, less what noise puts there."""
    relative_amplitude: float
    """The same over the size of the mean."""
    ratio: float
    """The largest power in units of the noise at its frequency."""
    critical_ratio: float
    """What the largest ratio of noise exceeds with the probability of the test's level."""
    correlation: float
    """Lag-one correlation."""
    p: float
    """Probability that noise has a ratio as large, at any frequency."""
    level: float
    """Of the test."""
    series: pl.DataFrame
    """time_s, value."""
    spectrum: pl.DataFrame
    """frequency_hz, power (variance at the frequency), background (the same of the noise), threshold."""

    @property
    def significant(self) -> bool:
        """Whether there is a peak that noise would not have."""
        return self.p <= self.level

    @property
    def oscillates(self) -> bool:
        """Whether such a peak is there and has an amplitude that counts."""
        return self.significant and self.relative_amplitude >= LEAST_AMPLITUDE

    def sentence(self) -> str:
        """The finding, for people."""
        if math.isnan(self.period_s):
            return "no oscillation: the values do not vary"
        period = f"{_rounded(self.period_s)} s"
        if not math.isnan(self.period_round_trips):
            period += f" ({_rounded(self.period_round_trips)} round trips)"
        if not self.significant:
            return f"no oscillation: the largest peak, at {period}, has p = {self.p:.2g}"
        percent = 100 * self.relative_amplitude
        amplitude = f"{percent:{'.0f' if percent >= 1 else '.1g'}} % of the mean"
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
        values: At equal intervals, at least `LEAST_VALUES`; all finite.
        interval_s: Between two of them; a period can be told from twice this on.
        begin_s: Time of the first.
        round_trip_s: Unit of the period, where it is known.
        level: Probability with which noise may pass for an oscillation.
        simulations: Series of noise to compare with; the least p is 1 / (simulations + 1).

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
    values = at_intervals(values, interval_s, least=LEAST_VALUES)
    count, mean = len(values), float(values.mean())
    series = pl.DataFrame({"time_s": begin_s + interval_s * np.arange(count), "value": values})
    if np.ptp(values) <= _CONSTANT * np.abs(values).max():
        nothing: Array = np.empty(0)
        return Oscillation(count, interval_s, mean, math.nan, math.nan, 0.0, 0.0, 0.0, math.nan, math.nan, 1.0, level,
                           series, _frame(nothing, nothing, nothing, math.nan))  # fmt: skip
    spectrum = Spectrum.of(values, interval_s)
    correlation, ratio = float(spectrum.correlation), float(spectrum.ratio.max())
    noise = largest_ratios(int(spectrum.noise), count, simulations, _SEED)
    p = p_value(ratio, noise)
    critical = float(np.quantile(noise, 1 - level, method="higher"))
    period = 1 / float(spectrum.frequency_hz[_peak(spectrum, critical)])
    amplitude = _amplitude(spectrum, 1 / period)
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
    step = spectrum.frequency_hz[1] - spectrum.frequency_hz[0]
    for multiple in range(_MULTIPLES, 1, -1):
        near = np.abs(spectrum.frequency_hz * multiple - spectrum.frequency_hz[strongest]) <= multiple * step
        if near.any() and power[near].sum() >= power[strongest] / 2:
            return int(np.where(near, power, 0.0).argmax())
    return strongest


def _rounded(value: float) -> str:
    return f"{value:.4g}"
