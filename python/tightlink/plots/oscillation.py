"""Figures of an oscillation: the series, and its spectrum above that of noise.

Both take what `tightlink.analysis.traffic.oscillation.oscillation` gives, draw into ``ax`` and return it.
"""

from __future__ import annotations

from typing import Final

from tightlink.analysis.traffic.oscillation import Oscillation
from tightlink.lazy import Axes
from tightlink.plots import labels, palette
from tightlink.plots.figures import plain_powers
from tightlink.plots.style import axes, legend
from tightlink.reduce import largest, smallest

#: More of them in one figure are a grey band.
_PERIODS: Final = 20
#: The lowest of so many powers is not looked at.
_SQUEEZED: Final = 50
#: Above the highest.
_ROOM: Final = 3


def oscillation_series(found: Oscillation, *, column: str = "value", ax: Axes | None = None) -> Axes:
    """The series over time with its mean: of an oscillation, twenty periods from the middle.

    Args:
        found: What was tested.
        column: What it is, for the axis.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> windows = 30 + 9 * np.sin(2 * np.pi * np.arange(1200) / 16)
        >>> found = tl.analyze.oscillation(windows, interval_s=0.05, simulations=19)
        >>> ax = tl.plots.oscillation_series(found, column="cwnd_packets")
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time (s)', 'congestion window (packets)')
    """
    ax = axes(ax)
    series = found.series
    if found.significant:
        middle = (series["time_s"][0] + series["time_s"][-1]) / 2
        half = _PERIODS / 2 * found.period_s
        series = series.filter((series["time_s"] - middle).abs() <= half)
    up = labels.axis(column, labels.largest(series, "value"))
    ax.plot(series["time_s"], series["value"] * up.factor, color=palette.SERIES[0], linewidth=1)
    ax.axhline(found.mean * up.factor, color=palette.NEUTRAL, linestyle="--", linewidth=1, label="mean")
    ax.set(xlabel="time (s)", ylabel=up.title)
    if smallest(series["value"]) >= 0:
        ax.set_ylim(bottom=0)
    ax.margins(x=0)
    return legend(ax)


def oscillation_spectrum(found: Oscillation, *, ax: Axes | None = None) -> Axes:
    """The spectrum, that of noise without a period, and what the highest peak of such noise stays below.

    Args:
        found: What was tested.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> windows = 30 + 9 * np.sin(2 * np.pi * np.arange(1200) / 16)
        >>> found = tl.analyze.oscillation(windows, interval_s=0.05, simulations=19)
        >>> ax = tl.plots.oscillation_spectrum(found)
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('frequency (Hz)', 'variance at the frequency')
    """
    ax = axes(ax)
    spectrum = found.spectrum
    ax.set(xlabel="frequency (Hz)", ylabel="variance at the frequency")
    if spectrum.is_empty():
        ax.text(0.5, 0.5, "nothing varies", transform=ax.transAxes, ha="center", color=palette.NEUTRAL)
        return ax
    frequency, power, threshold = (spectrum[name] for name in ("frequency_hz", "power", "threshold"))
    chance = f"its peaks exceed this in {100 * found.level:g} %"
    ax.plot(frequency, power, color=palette.SERIES[0], linewidth=0.7, label="spectrum")
    ax.plot(frequency, spectrum["background"], color=palette.SERIES[1], label="noise without a period")
    ax.plot(frequency, threshold, color=palette.SERIES[1], linestyle="--", label=chance)
    if found.significant:
        ax.axvline(1 / found.period_s, color=palette.NEUTRAL, linestyle=":", linewidth=1,
                   label=f"period {found.period_s:.3g} s")  # fmt: skip
    ax.set(xscale="log", yscale="log")
    # Single frequencies have next to nothing: they would squeeze what matters into the upper half.
    ax.set_ylim(power.sort()[power.len() // _SQUEEZED], _ROOM * max(largest(power), largest(threshold)))
    plain_powers(ax.xaxis)
    ax.margins(x=0)
    return legend(ax)
