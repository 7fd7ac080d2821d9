"""Volume spikes: short times with much more traffic than around them.

What is usual is the median of the surroundings. How far values usually are from it, quantiles of their distances say,
so that neither a spike itself nor the hour of the day decides what a spike is: the one that makes most of them, as the
median distance of counts may be zero, and that of values with a longer tail than normal ones says little of the tail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink.analysis.traffic.values import at_intervals
from tightlink.lazy import ArrayLike, np, pl
from tightlink.numbers import significant

#: Standard deviations above what is usual, if values around it were normal.
THRESHOLD: Final = 6.0
#: Quantiles of distances, in percent, and what these are in standard deviations of a normal distribution.
_NORMAL: Final = {50: 0.6745, 75: 1.1503, 90: 1.6449}
LEAST_VALUES: Final = 64
#: So many values that are not as usual are usual, too.
_EVENTS: Final = 8
#: Surroundings: this share of all values, but no fewer than the other.
_SURROUNDINGS: Final = 1 / 20
_LEAST_SURROUNDINGS: Final = 31


@dataclass(frozen=True)
class Spikes:
    """The spikes of a series: what `tightlink.analyze.spikes` returns."""

    samples: int
    interval_s: float
    spikes: pl.DataFrame
    """``begin_s``, ``duration_s``, ``peak``, ``usual`` (at the peak), ``ratio`` (peak over usual), ``volume`` (above
    what is usual)."""
    series: pl.DataFrame
    """``time_s``, ``value``, ``usual``, ``threshold``."""
    volume_share: float
    """What spikes have above what is usual, over all that there is."""
    time_share: float

    def sentence(self) -> str:
        """The finding, for people."""
        if self.spikes.is_empty():
            return "no spikes"
        count = f"{self.spikes.height} spike{'s' if self.spikes.height > 1 else ''}"
        time, volume = (f"{significant(100 * share, 2)} %" for share in (self.time_share, self.volume_share))
        largest = max(self.spikes["ratio"].drop_nulls().to_list(), default=None)
        ending = "" if largest is None else f"; the largest is {significant(largest, 3)} times what is usual"
        return f"{count}: {time} of the time, {volume} of the volume above what is usual{ending}"


def spikes(values: ArrayLike, interval_s: float, *, begin_s: float = 0.0, threshold: float = THRESHOLD) -> Spikes:
    """Find the spikes of a series.

    Args:
        values: Packets or bytes in each interval.
        interval_s: Its length, in seconds.
        begin_s: The time of the first.
        threshold: How far above what is usual a spike begins, in standard deviations.

    Returns:
        A row for each spike (``spikes``), the series with what is usual and the threshold (``series``), and the shares
        of time and volume.

    Raises:
        TightlinkError: There are too few values, or some that are not finite.

    Example:
        >>> counts = np.random.default_rng(1).poisson(100, 1000).astype(float)
        >>> counts[500:503] += 400
        >>> found = tl.analyze.spikes(counts, interval_s=1.0)
        >>> print(found.sentence())
        1 spike: 0.3 % of the time, 1.2 % of the volume above what is usual; the largest is 5.04 times what is usual
        >>> found.spikes.select("begin_s", "duration_s").rows()
        [(500.0, 3.0)]
    """
    from scipy.ndimage import median_filter, percentile_filter

    values = at_intervals(values, interval_s, least=LEAST_VALUES)
    n = len(values)
    width = max(_LEAST_SURROUNDINGS, int(n * _SURROUNDINGS)) // 2 * 2 + 1
    usual = median_filter(values, size=width, mode="reflect")
    away = np.abs(values - usual)
    spread = np.maximum.reduce(
        [percentile_filter(away, share, size=width, mode="reflect") / normal for share, normal in _NORMAL.items()]
    )
    # Where nearly all values are alike, those that are not say it or, if they are few, the deviation of all.
    events = away[away > 0]
    others = float(np.median(events)) if len(events) >= _EVENTS else float(np.sqrt((away**2).mean()))
    spread = np.where(spread > 0, spread, others)
    limit = usual + threshold * spread
    time = begin_s + interval_s * np.arange(n)
    above = np.concatenate([[False], values > limit, [False]])
    edges = np.flatnonzero(np.diff(above.astype(np.int8)))
    rows = []
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        peak = first + int(values[first:last].argmax())
        ratio = values[peak] / usual[peak] if usual[peak] > 0 else None
        volume = (values[first:last] - usual[first:last]).sum()
        rows.append((time[first], (last - first) * interval_s, values[peak], usual[peak], ratio, volume))
    names = ("begin_s", "duration_s", "peak", "usual", "ratio", "volume")
    found = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Float64), orient="row")
    total = float(values.sum())
    return Spikes(
        n,
        interval_s,
        found,
        pl.DataFrame({"time_s": time, "value": values, "usual": usual, "threshold": limit}),
        float(found["volume"].sum()) / total if total else 0.0,
        float(above.sum() / n),
    )
