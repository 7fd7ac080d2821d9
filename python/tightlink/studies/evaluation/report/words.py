"""Measures in words and numbers for people.

Example:
    >>> written("ramp_up_s", 1.3), written("utilization", 0.8888), written("jain", 0.99404)
    ('1.3 s', '88.9 %', '0.994')
    >>> titled("queueing_p95_s")
    'p95 queueing delay'
"""

import math
import tomllib
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final, TypeAlias

from tightlink import units
from tightlink.console import rounded
from tightlink.numbers import grouped, interval
from tightlink.studies.evaluation.observe import Mean

#: A unit and how much it is in SI.
Unit: TypeAlias = tuple[str, float]
_TIMES: Final[tuple[Unit, ...]] = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
_RATES: Final[tuple[Unit, ...]] = (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0))
#: Numbers of a unit that several times share, from and below.
_LEAST: Final = 0.1
_MOST: Final = 10_000
_DIGITS: Final = 3
#: Widths below this share of the value are not worth ink.
_NONE: Final = 5e-4
_MEASURES: Final = tomllib.loads(Path(__file__).parents[1].joinpath("measures.toml").read_text(encoding="utf-8"))


def titled(measure: str) -> str:
    """What tables call a measure."""
    return str(_MEASURES[measure]["title"])


def written(measure: str, value: float, unit: Unit | None = None) -> str:
    """A value with its unit, rounded for reading; of a time or a rate, in a unit that it shares with others."""
    if unit is not None:
        number = Decimal(f"{value / unit[1]:.{_DIGITS}g}")
        return grouped(f"{number.normalize():f} {unit[0]}")
    if measure.endswith("_s"):
        return rounded(float(f"{value:.{_DIGITS}g}"), units.format_time)
    if measure.endswith("_bps"):
        return rounded(float(f"{value:.{_DIGITS}g}"), units.format_rate)
    if _MEASURES[measure].keys() & {"share", "ratio"}:
        return units.format_fraction(float(f"{value:.{_DIGITS}g}"))
    return f"{value:.{_DIGITS}f}" if measure == "jain" else f"{value:.{_DIGITS}g}"


def with_width(measure: str, value: float, half_width: float | None, unit: Unit | None = None) -> str:
    """A mean with half its confidence interval.

    >>> with_width("utilization", 0.889, 0.0123), with_width("refill_s", 3.8, None)
    ('88.9 ± 1.2 %', '3.8 s')
    >>> with_width("standard_kept", 1.13, 0.06), with_width("utilization", 0.98, 0.06)
    ('113.0 ± 6.0 %', '98 (92 to 100) %')
    """
    if half_width is None or half_width <= _NONE * abs(value):
        return written(measure, value, unit)
    most = 1.0 if measure == "jain" or _MEASURES[measure].get("share") else math.inf
    return interval(value, half_width, lambda number: written(measure, number, unit), most)


def told_alike(measure: str, means: Sequence[Mean], never: str = "never") -> list[str]:
    """Means of one measure as `told` says them, times in one unit as far as that reads well.

    >>> from tightlink.studies.evaluation.observe import Mean
    >>> told_alike("ramp_up_s", [Mean(1.3), Mean(0.9), Mean(None)])
    ['1.3 s', '0.9 s', 'never']
    >>> told_alike("refill_s", [Mean(1.04, 0.52), Mean(0.006)])
    ['1,040 ± 520 ms', '6 ms']
    >>> told_alike("refill_s", [Mean(18.6), Mean(0.004)]), told_alike("refill_s", [Mean(0.142), Mean(0.0147)])
    (['18.6 s', '4 ms'], ['142 ms', '14.7 ms'])
    """
    unit = _shared_unit([mean.value for mean in means if mean.value]) if measure.endswith("_s") else None
    return [told(measure, mean, never, unit) for mean in means]


def unit_of(measure: str, bound: float) -> Unit | None:
    """The unit that a bound is written in, which values beside it have, too; none of what is no time and no rate.

    >>> unit_of("refill_s", 2.0), unit_of("queueing_mean_s", 0.04), unit_of("throughput_bps", 5e6)
    (('s', 1.0), ('ms', 0.001), ('Mbit/s', 1000000.0))
    """
    units_of = _TIMES if measure.endswith("_s") else _RATES if measure.endswith("_bps") else ()
    return next((unit for unit in units_of if bound >= unit[1]), None)


def _shared_unit(times_s: Sequence[float]) -> Unit | None:
    """The largest unit in which the least of some times is not below 0.1, if the others are not of too many digits."""
    least, most = min(times_s, default=0.0), max(times_s, default=0.0)
    shared = next((unit for unit in _TIMES if least >= _LEAST * unit[1]), None)
    return None if shared is None or most >= _MOST * shared[1] else shared


def told(measure: str, mean: Mean, never: str = "never", unit: Unit | None = None) -> str:
    """A mean with its interval, or what stands there if something did not happen; and with how many seeds not.

    >>> from tightlink.studies.evaluation.observe import Mean
    >>> told("ramp_up_s", Mean(46.1, 9.0)), told("ramp_up_s", Mean(113.0, None, 3, 1)), told("ramp_up_s", Mean(None))
    ('46.1 ± 9.0 s', '113 s (1 of 3 never)', 'never')
    """
    if mean.failed:
        return "failed"
    if mean.value is None:
        return never
    count = f" ({mean.never} of {mean.replications} never)" if mean.never else ""
    return with_width(measure, mean.value, mean.half_width, unit) + count
