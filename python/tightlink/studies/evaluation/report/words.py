"""Measures in words and numbers for people.

Example:
    >>> written("ramp_up_s", 1.3), written("utilization", 0.8888), written("jain", 0.99404)
    ('1.3 s', '88.9 %', '0.994')
    >>> titled("queueing_p95_s")
    'p95 queueing delay'
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Final

from tightlink import units
from tightlink.console import rounded
from tightlink.numbers import interval
from tightlink.studies.evaluation.observe import Mean

_DIGITS: Final = 3
#: Widths below this share of the value are not worth ink.
_NONE: Final = 5e-4
_MEASURES: Final = tomllib.loads(Path(__file__).parents[1].joinpath("measures.toml").read_text(encoding="utf-8"))


def titled(measure: str) -> str:
    """What tables call a measure."""
    return str(_MEASURES[measure]["title"])


def written(measure: str, value: float) -> str:
    """A value with its unit, rounded for reading."""
    if measure.endswith("_s"):
        return rounded(float(f"{value:.{_DIGITS}g}"), units.format_time)
    if measure.endswith("_bps"):
        return rounded(float(f"{value:.{_DIGITS}g}"), units.format_rate)
    if _MEASURES[measure].keys() & {"share", "ratio"}:
        return units.format_fraction(float(f"{value:.{_DIGITS}g}"))
    return f"{value:.{_DIGITS}f}" if measure == "jain" else f"{value:.{_DIGITS}g}"


def with_width(measure: str, value: float, half_width: float | None) -> str:
    """A mean with half its confidence interval.

    >>> with_width("utilization", 0.889, 0.0123), with_width("refill_s", 3.8, None)
    ('88.9 ± 1.2 %', '3.8 s')
    >>> with_width("standard_kept", 1.13, 0.06), with_width("utilization", 0.98, 0.06)
    ('113.0 ± 6.0 %', '98 (92 to 100) %')
    """
    if half_width is None or half_width <= _NONE * abs(value):
        return written(measure, value)
    most = 1.0 if measure == "jain" or _MEASURES[measure].get("share") else math.inf
    return interval(value, half_width, lambda number: written(measure, number), most)


def told(measure: str, mean: Mean, never: str = "never") -> str:
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
    return with_width(measure, mean.value, mean.half_width) + count
