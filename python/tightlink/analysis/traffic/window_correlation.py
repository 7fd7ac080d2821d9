"""Congestion windows of flows that share a link: do they rise and fall together?

Appenzeller, Keslassy and McKeown 2004 size the buffer of a router by the sum of windows: of n desynchronized flows its
standard deviation shrinks as 1/√n, so that a buffer of a bandwidth-delay product over √n is enough. Of flows in step
it does not shrink at all.

Example:
    >>> times, phase = np.arange(100.0), np.arange(100) % 10
    >>> first = pl.DataFrame({"time_s": times, "entity": "a", "metric": "cwnd_packets", "value": 10.0 + phase})
    >>> both = pl.concat([first, first.with_columns(entity=pl.lit("b"))])
    >>> found = windows(both, ["a", "b"])
    >>> found.correlation, found.variation == found.in_step
    (1.0, True)
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from tightlink.lazy import np, pl
from tightlink.numbers import grouped, percent

_METRIC: Final = "cwnd_packets"
#: Of fewer samples a correlation says nothing.
LEAST_SAMPLES: Final = 10


@dataclass(frozen=True)
class Windows:
    """How far the congestion windows of flows rise and fall together."""

    flows: int
    samples: int
    """Times at which each of the flows has a window."""
    correlation: float
    """Pearson's r, the mean of all pairs of flows."""
    variation: float
    """Standard deviation of the sum of all windows over its mean."""
    independent: float
    """The same if windows varied as they do, without regard to each other."""
    in_step: float
    """The same if all varied in step."""

    def sentence(self) -> str:
        """The finding, for people."""
        correlation = grouped(f"{self.correlation:.2f}")
        total, independent, in_step = (percent(each, 1) for each in (self.variation, self.independent, self.in_step))
        return (
            f"congestion windows of {self.flows} flows: mean correlation {correlation}; the standard deviation of "
            f"their sum is {total} of its mean, {independent} if they were independent, {in_step} if in step"
        )


def windows(
    series: pl.DataFrame, flows: Collection[str], *, begin_s: float = 0.0, end_s: float = math.inf
) -> Windows | None:
    """Look at the congestion windows of flows, at the times at which each of them has one.

    Returns:
        Nothing where fewer than two windows vary, or have fewer than 10 samples in common.
    """
    own = series.filter(
        pl.col("metric") == _METRIC,
        pl.col("entity").is_in(list(flows)),
        pl.col("time_s").is_between(begin_s, end_s),
    )
    if own.is_empty():
        return None
    together = own.pivot("entity", index="time_s", values="value").drop("time_s").drop_nulls()
    values = together.to_numpy()
    values = values[:, np.ptp(values, axis=0) > 0] if len(values) >= LEAST_SAMPLES else values[:, :0]
    samples, count = values.shape
    if count < 2:  # noqa: PLR2004  # pairs are of two
        return None
    deviations, total = values.std(axis=0), values.sum(axis=1)
    # The variance of the sum of n standardized windows is n + n (n − 1) times their mean correlation.
    scaled = (values / deviations).sum(axis=1).var()
    mean = float(total.mean())
    return Windows(
        flows=count,
        samples=samples,
        correlation=round(float((scaled - count) / (count * (count - 1))), 12),
        variation=float(total.std()) / mean,
        independent=math.sqrt(float((deviations**2).sum())) / mean,
        in_step=float(deviations.sum()) / mean,
    )
