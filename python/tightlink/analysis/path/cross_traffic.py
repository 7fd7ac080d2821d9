"""Other people's traffic over the day and the week, and how far a prediction is off because of it.

The sources are those of `tightlink.analysis.path.bulk_path.BulkPath.cross`: they offer a share of the bottleneck in
bursts with a heavy tail. Their mean follows the hour and the day: an assumption, to be replaced by one's own
numbers where there are any. One measurement is made at some time of the week, and nobody knows which.

Example:
    >>> round(share(0.2, hour=15, weekend=False), 3), round(share(0.2, hour=3, weekend=True), 3)
    (0.39, 0.037)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.estimates import CONFIDENCE, Estimate
from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.analysis.path.cells import cell
from tightlink.lazy import np
from tightlink.simulate import simulate

#: Busiest in the afternoon, idlest twelve hours later, by so much of the mean.
_PEAK_HOUR: Final = 15
_SWING: Final = 0.6
_HOURS: Final = 24
#: Working days and days of a weekend, over the week's mean.
_WORKING: Final = 4 / 3
_WEEKEND: Final = 0.5
_DAYS: Final = {False: 5, True: 2}
_WEEK: Final = sum(_DAYS.values())
#: Hours that are simulated, for each kind of day.
SAMPLED: Final = tuple(range(0, _HOURS, 3))
#: Of the cross traffic, at each time.
_SEEDS: Final = (1, 2, 3)
#: More would leave nothing.
_MOST: Final = 0.95


def daily(hour: float) -> float:
    """The traffic at an hour over the day's mean: a cosine, busiest at 15 h.

    >>> round(daily(15), 2), round(daily(3), 2)
    (1.6, 0.4)
    """
    return 1 + _SWING * math.cos(2 * math.pi * (hour - _PEAK_HOUR) / _HOURS)


def weekly(*, weekend: bool) -> float:
    """The traffic of a day over the week's mean: five working days and two quiet ones."""
    scale = _WEEK / (_DAYS[False] * _WORKING + _DAYS[True] * _WEEKEND)
    return scale * (_WEEKEND if weekend else _WORKING)


def share(mean: float, *, hour: float, weekend: bool) -> float:
    """The share of the bottleneck that cross traffic offers at a time, by its mean over the week."""
    return min(_MOST, mean * daily(hour) * weekly(weekend=weekend))


@dataclass(frozen=True)
class Moment:
    """A time of the week, with how often it comes."""

    hour: int
    weekend: bool
    weight: int

    def path(self, path: BulkPath) -> BulkPath:
        """A path at this time; its cross traffic is the week's mean."""
        return path.changed(cross=round(share(path.cross, hour=self.hour, weekend=self.weekend), 6))


MOMENTS: Final = tuple(Moment(hour, weekend, weight) for weekend, weight in _DAYS.items() for hour in SAMPLED)


def spread(values: Sequence[float], weights: Sequence[float]) -> Estimate:
    """The mean of one measurement's goodput, and the interval that holds 95 % of them.

    >>> spread([1.0, 2.0, 3.0], [1, 2, 1])
    Estimate(value=2.0, low=1.0, high=3.0)
    """
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail], weights=weights, method="inverted_cdf")
    return Estimate(float(np.average(values, weights=weights)), float(low), float(high))


def predicted(path: BulkPath, window: int, flows: int, *, jobs: int = 1) -> Estimate:
    """The goodput of one transfer at an unknown time of the week, in bit/s."""

    def one(place: tuple[Moment, int]) -> float:
        moment, seed = place
        then = moment.path(path)
        return cell(simulate(then.scenario(window, flows, seed=seed), threads=1), then)["goodput_bps"]

    places = [(moment, seed) for moment in MOMENTS for seed in _SEEDS]
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(one, places))
    return spread(found, [moment.weight for moment, _ in places])
