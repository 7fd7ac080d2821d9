"""Measures in words and numbers for people.

Example:
    >>> written("ramp_up_s", 1.3), written("utilization", 0.8888), written("jain", 0.99404)
    ('1.3 s', '88.9 %', '0.994')
    >>> titled("queueing_p95_s")
    'queueing, 95th percentile'
"""

from __future__ import annotations

from typing import Final

from tightlink import units
from tightlink.console import rounded

_DIGITS: Final = 3
#: Widths below this share of the value are not worth ink.
_NONE: Final = 5e-4
_SHARES: Final = ("utilization", "loss", "time_even", "kept_of_half", "standard_kept", "long_over_short")
_TITLES: Final = {
    "utilization": "utilization",
    "loss": "loss",
    "ramp_up_s": "ramp-up",
    "convergence_s": "converges after",
    "time_even": "share of the time even",
    "jain": "Jain's index",
    "standard_kept": "standard TCP keeps",
    "own_goodput_bps": "goodput of a flow of the control",
    "standard_goodput_bps": "goodput of a flow of standard TCP",
    "long_over_short": "longer over shorter path",
    "loss_at_first": "loss as half goes",
    "kept_of_half": "uses of the half",
    "refill_s": "refills after",
    "queueing_mean_s": "queueing, mean",
    "queueing_p95_s": "queueing, 95th percentile",
    "completion_median_s": "completion, median",
    "completion_p95_s": "completion, 95th percentile",
    "completion_alone_s": "completion without the long flow, median",
    "unfinished": "unfinished",
}


def titled(measure: str) -> str:
    """What tables call a measure."""
    return _TITLES[measure]


def written(measure: str, value: float) -> str:
    """A value with its unit, rounded for reading."""
    if measure.endswith("_s"):
        return rounded(float(f"{value:.{_DIGITS}g}"), units.format_time)
    if measure.endswith("_bps"):
        return rounded(float(f"{value:.{_DIGITS}g}"), units.format_rate)
    if measure.startswith(_SHARES):
        return units.format_fraction(float(f"{value:.{_DIGITS}g}"))
    return f"{value:.{_DIGITS}f}" if measure == "jain" else f"{value:.{_DIGITS}g}"


def with_width(measure: str, value: float, half_width: float | None) -> str:
    """A mean with half its confidence interval.

    >>> with_width("utilization", 0.889, 0.0123), with_width("refill_s", 3.8, None)
    ('88.9 % ± 1.2 %', '3.8 s')
    """
    if half_width is None or half_width <= _NONE * abs(value):
        return written(measure, value)
    return f"{written(measure, value)} ± {written(measure, float(f'{half_width:.2g}'))}"
