"""Figures of what traffic looks like: variance over time scales, arrivals, sizes, spikes, lags.

Each takes what the module of `tightlink.analysis.traffic` gives, draws into ``ax`` and returns it.
"""

from __future__ import annotations

from typing import Any

from tightlink.analysis.traffic.arrivals import Arrivals
from tightlink.analysis.traffic.burstiness import Burstiness
from tightlink.analysis.traffic.cross_correlation import Lag
from tightlink.analysis.traffic.sizes import Tail
from tightlink.analysis.traffic.spikes import Spikes
from tightlink.lazy import Axes
from tightlink.numbers import grouped
from tightlink.plots import labels, palette
from tightlink.plots.style import LEGEND, axes, legend


def variance_time(found: Burstiness, *, ax: Axes | None = None) -> Axes:
    """The variance of means over the time that they are of, beside that without memory.

    Args:
        found: What was found.
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
        found: What was found.
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
        found: What was found.
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
        found: What was found.
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
        found: What was found.
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
