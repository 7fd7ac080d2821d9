"""Measures in words and numbers for people.

Example:
    >>> written("ramp_up_s", 1.3), written("utilization", 0.8888), written("jain", 0.99404)
    ('1.3 s', '88.9 %', '0.994')
    >>> titled("queueing_p95_s")
    'p95 queueing delay'
"""

from __future__ import annotations

from typing import Final

from tightlink import units
from tightlink.console import rounded
from tightlink.studies.evaluation.observe import Mean

_DIGITS: Final = 3
#: Widths below this share of the value are not worth ink.
_NONE: Final = 5e-4
_SHARES: Final = (
    "utilization", "loss", "time_even", "kept_of_half", "standard_kept", "long_over_short", "scavenger_share",
    "stream_loss", "voice_loss",
)  # fmt: skip
_TITLES: Final = {
    "utilization": "utilization",
    "loss": "loss",
    "ramp_up_s": "time to fill 90 % of the link",
    "convergence_s": "time until shares are even",
    "time_even": "share of the time in which shares are even",
    "jain": "Jain's index",
    "standard_kept": "goodput that standard TCP keeps",
    "own_goodput_bps": "goodput of a flow of the control",
    "standard_goodput_bps": "goodput of a flow of standard TCP",
    "long_over_short": "goodput of the longer path over that of the shorter",
    "loss_at_first": "loss in the first 2 s without half of the link",
    "kept_of_half": "use of the half that the stream leaves",
    "refill_s": "time to fill the link again",
    "queueing_mean_s": "mean queueing delay",
    "queueing_p95_s": "p95 queueing delay",
    "throughput_bps": "throughput of all flows",
    "completion_median_s": "median completion time",
    "completion_p95_s": "p95 completion time",
    "completion_alone_s": "median completion time without the long flow",
    "unfinished": "flows that did not complete",
    "goodput_bps": "goodput of all flows",
    "aggressive_over_standard": "goodput of an aggressive flow over that of a standard one",
    "scavenger_share": "share of the goodput that a less-than-best-effort flow takes",
    "short_over_long_rtt": "goodput of the shorter round trip over that of the longer",
    "stream_loss": "loss of the stream that does not answer",
    "voice_delay_p95_s": "p95 one-way delay of a sparse flow",
    "voice_loss": "loss of a sparse flow",
    "queueing_p99_s": "p99 queueing delay",
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
    ('88.9 ± 1.2 %', '3.8 s')
    """
    if half_width is None or half_width <= _NONE * abs(value):
        return written(measure, value)
    return units.format_interval(value, half_width, lambda number: written(measure, number))


def told(measure: str, mean: Mean, never: str = "never") -> str:
    """A mean with its interval, or what stands there if something did not happen; and with how many seeds not.

    >>> from tightlink.studies.evaluation.observe import Mean
    >>> told("ramp_up_s", Mean(46.1, 62.0)), told("ramp_up_s", Mean(113.0, None, 3, 1)), told("ramp_up_s", Mean(None))
    ('46 ± 62 s', '113 s (1 of 3 never)', 'never')
    """
    if mean.value is None:
        return never
    count = f" ({mean.never} of {mean.replications} never)" if mean.never else ""
    return with_width(measure, mean.value, mean.half_width) + count
