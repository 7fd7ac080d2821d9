"""Figures of what traffic looks like: bursts, arrivals, sizes, spikes, lags, oscillations, synchronized losses.

Each takes what the module of `tightlink.analysis.traffic` gives, draws into ``ax`` and returns it.
"""

from __future__ import annotations

from typing import Any, Final

from tightlink.analysis.traffic.arrivals import Arrivals
from tightlink.analysis.traffic.burstiness import Burstiness
from tightlink.analysis.traffic.cross_correlation import Lag
from tightlink.analysis.traffic.oscillation import Oscillation
from tightlink.analysis.traffic.sizes import Tail
from tightlink.analysis.traffic.spikes import Spikes
from tightlink.analysis.traffic.synchronization import Synchronization
from tightlink.lazy import Axes
from tightlink.numbers import grouped
from tightlink.plots import labels, palette
from tightlink.plots.figures import plain_powers
from tightlink.plots.style import LEGEND, axes, legend
from tightlink.reduce import largest, smallest
from tightlink.text_table import shortened

#: More periods of an oscillation in one figure are a grey band.
_PERIODS: Final = 20
#: The lowest of so many powers of a spectrum is not looked at.
_SQUEEZED: Final = 50
#: Above the highest of them.
_ROOM: Final = 3
#: Names of more flows cannot be read.
_NAMED: Final = 16


def variance_time(found: Burstiness, *, ax: Axes | None = None) -> Axes:
    """The variance of means over the time that they are of, beside that without memory.

    Args:
        found: What `tightlink.analyze.burstiness` returns.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> counts = np.random.default_rng(1).poisson(100, 1000).astype(float)
        >>> ax = tl.plots.variance_time(tl.analyze.burstiness(counts, interval_s=0.01))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time scale (s)', 'variance / mean²')
    """
    ax = axes(ax)
    scales = found.scales
    time, slope = scales["scale_s"], f"slope of H = {grouped(f'{found.hurst_variance:.2f}')}"
    ax.plot(time, scales["variance"], "o", markersize=3, color=palette.SERIES[0], label="variance")
    ax.plot(time, scales["fit"], color=palette.SERIES[0], linewidth=1, label=slope)
    ax.plot(time, scales["without_memory"], "--", color=palette.NEUTRAL, linewidth=1, label="without memory")
    ax.set(xscale="log", yscale="log", xlabel="time scale (s)", ylabel="variance / mean²")
    return legend(ax)


def interarrival_times(found: Arrivals, *, ax: Axes | None = None) -> Axes:
    """The share of times between arrivals that are longer, beside exponential ones.

    Args:
        found: What `tightlink.analyze.interarrivals` returns.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> times = np.cumsum(np.random.default_rng(1).exponential(0.01, 5000))
        >>> ax = tl.plots.interarrival_times(tl.analyze.interarrivals(times))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time between arrivals (ms)', 'share that is longer')
    """
    ax = axes(ax)
    rows = found.distribution
    up = labels.axis("time_between_arrivals_s", rows["time_s"][-1])
    time = rows["time_s"] * up.factor
    ax.plot(time, rows["longer"], color=palette.SERIES[0], label="observed")
    ax.plot(time, rows["exponential"], "--", color=palette.NEUTRAL, label="exponential")
    least = 0.5 / found.arrivals
    ax.set(yscale="log", ylim=(least, 1.2), xlabel=up.title, ylabel="share that is longer")
    return legend(ax)


def size_tail(found: Tail, *, column: str = "size", ax: Axes | None = None) -> Axes:
    """The share of flows that are larger, with the tail that was fitted.

    Args:
        found: What `tightlink.analyze.tail` returns.
        column: What the sizes are, for the axis.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> sizes = (1 - np.random.default_rng(1).random(5000)) ** (-1 / 1.2) * 1000
        >>> ax = tl.plots.size_tail(tl.analyze.tail(sizes))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('size', 'share that is larger')
    """
    ax = axes(ax)
    rows = found.distribution
    ax.plot(rows["size"], rows["larger"], ".", markersize=3, color=palette.SERIES[0], label="flows")
    fitted, alpha = rows.drop_nulls("fit"), f"α = {found.alpha.value:.2f}"
    ax.plot(fitted["size"], fitted["fit"], color=palette.SERIES[1], linewidth=1.2, label=alpha)
    ax.set(xscale="log", yscale="log", xlabel=labels.words(column), ylabel="share that is larger")
    return legend(ax)


def spikes_over_time(found: Spikes, *, column: str = "value", ax: Axes | None = None) -> Axes:
    """The series with what is usual, the threshold, and its spikes.

    Args:
        found: What `tightlink.analyze.spikes` returns.
        column: What the values are, for the axis.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> counts = np.random.default_rng(1).poisson(100, 1000).astype(float)
        >>> ax = tl.plots.spikes_over_time(tl.analyze.spikes(counts, interval_s=0.1))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time (s)', 'value')
    """
    ax = axes(ax)
    rows = found.series
    up = labels.axis(column, labels.largest(rows, "value"))
    lines: tuple[tuple[str, dict[str, Any]], ...] = (
        ("value", {"color": palette.SERIES[0], "linewidth": 0.8}),
        ("usual", {"color": palette.NEUTRAL, "linewidth": 1}),
        ("threshold", {"color": palette.NEUTRAL, "linewidth": 0.8, "linestyle": "--"}),
    )
    for name, style in lines:
        ax.plot(rows["time_s"], rows[name] * up.factor, label=name, **style)
    if found.spikes.height:
        begins, peaks = found.spikes["begin_s"], found.spikes["peak"] * up.factor
        ax.scatter(begins, peaks, s=14, color=palette.SERIES[1], zorder=3, label="spikes")
    ax.set(xlabel="time (s)", ylabel=up.title)
    ax.margins(x=0)
    return legend(ax)


def correlation_over_lag(found: Lag, *, ax: Axes | None = None) -> Axes:
    """The correlation at each lag, with what chance stays within.

    Args:
        found: What `tightlink.analyze.cross_correlation` returns.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> first = np.random.default_rng(1).normal(size=1000)
        >>> found = tl.analyze.cross_correlation(first, np.roll(first, 7), interval_s=0.1)
        >>> ax = tl.plots.correlation_over_lag(found)
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('lag of the second behind the first (s)', 'correlation')
    """
    ax = axes(ax)
    rows = found.correlations
    ax.plot(rows["lag_s"], rows["correlation"], color=palette.SERIES[0], linewidth=1)
    for side in (found.limit, -found.limit):
        ax.axhline(side, color=palette.NEUTRAL, linestyle="--", linewidth=0.8)
    if found.together:
        ax.axvline(found.lag_s, color=palette.SERIES[1], linestyle=":", linewidth=1, label=f"{found.lag_s:.4g} s")
        ax.legend(**LEGEND)
    ax.set(xlabel="lag of the second behind the first (s)", ylabel="correlation")
    ax.margins(x=0)
    return ax


def oscillation_series(found: Oscillation, *, column: str = "value", ax: Axes | None = None) -> Axes:
    """The series over time with its mean: of an oscillation, twenty periods from the middle.

    Args:
        found: What `tightlink.analyze.oscillation` returns.
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
        found: What `tightlink.analyze.oscillation` returns.
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


def losses_by_flow(found: Synchronization, *, ax: Axes | None = None) -> Axes:
    """The congestion events in which each flow lost packets: columns of dots are flows that lost together.

    Args:
        found: What `tightlink.analyze.synchronization` found at one link.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> scenario = tl.network("dsl").set("duration", "20 s").set("traffic.download.flows", 2)
        >>> found = tl.analyze.synchronization(tl.simulate(scenario, trace=True))
        >>> ax = tl.plots.losses_by_flow(next(iter(found.values())))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time (s)', 'flow')
    """
    ax = axes(ax)
    names = found.flows["flow"].to_list()
    place = {name: row for row, name in enumerate(names)}
    rows = [place[name] for name in found.losses["flow"]]
    ax.scatter(
        found.losses["begin_s"], rows, s=max(4.0, 160 / max(len(names), 10)), color=palette.SERIES[0], linewidths=0
    )
    readable = len(names) <= _NAMED
    ylabel = "flow" if readable else f"{len(names)} flows"
    ax.set(xlabel="time (s)", ylabel=ylabel, ylim=(len(names) - 0.5, -0.5))
    shown = list(map(shortened, names)) if readable else []
    ax.set_yticks(range(len(shown)), shown)
    return ax


def synchronization_over_time(found: Synchronization, *, ax: Axes | None = None) -> Axes:
    """The share of the active flows that lost packets in each congestion event, beside that by chance.

    Args:
        found: What `tightlink.analyze.synchronization` found at one link.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> scenario = tl.network("dsl").set("duration", "20 s").set("traffic.download.flows", 2)
        >>> found = tl.analyze.synchronization(tl.simulate(scenario, trace=True))
        >>> ax = tl.plots.synchronization_over_time(next(iter(found.values())))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time (s)', 'share of flows that lost packets')
    """
    ax = axes(ax)
    events = found.events
    blue, orange = palette.SERIES[:2]
    ax.scatter(events["begin_s"], events["share"], s=12, color=blue, linewidths=0, label="event")
    ax.axhline(found.rate.value, color=blue, linewidth=1.2, label="mean")
    if not found.retransmitted:
        ax.axhline(found.by_chance, color=orange, linewidth=1.2, linestyle="--", label="by chance")
    lost = "retransmitted" if found.retransmitted else "lost packets"
    ax.set(xlabel="time (s)", ylabel=f"share of flows that {lost}", ylim=(0, 1.05))
    return legend(ax)
