"""How often a link whose rate changes carries less than what comes, by what the scenario says of its rate.

Example:
    >>> rate = {"kind": "markov", "values": [100e6, 6e6], "mean_s": [3.0, 1.0]}
    >>> share_below(rate, 15e6, (0.0, 20.0)), *(quantile(rate, share, (0.0, 20.0)) for share in (0.05, 0.95))
    (0.25, 6000000.0, 100000000.0)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from statistics import NormalDist
from typing import Any, Final

#: A trace is looked at in equal parts of about so many milliseconds, and a ramp in so many steps.
_TRACE_MS, _STEPS = 100, 20
#: What leaves at each instant of a trace, in bits.
_OPPORTUNITY_BITS: Final = 8 * 1504
_GAUSSIAN: Final = "ornstein-uhlenbeck"
_Times = tuple[float, float]


def share_below(rate: Mapping[str, Any], bps: float, times_s: _Times) -> float:
    """The share of a time in which a rate is below another one; none where that is not known."""
    if rate.get("kind") == _GAUSSIAN:
        return NormalDist(rate["mean"], rate["deviation"]).cdf(bps) if bps > rate["least"] else 0.0
    parts = list(_parts(rate, times_s))
    whole = math.fsum(lasts for _, lasts in parts)
    return math.fsum(lasts for value, lasts in parts if value < bps) / whole if whole else 0.0


def mean(course: Mapping[str, Any], times_s: _Times) -> float:
    """The mean over a time of what changes by a schedule, as rates and losses do."""
    parts = list(_scheduled(course, times_s))
    whole = math.fsum(lasts for _, lasts in parts)
    return math.fsum(value * lasts for value, lasts in parts) / whole if whole else float(course["values"][0])


def peak(rate: Mapping[str, Any]) -> float:
    """The highest rate of a schedule or a trace; zero where there is none.

    >>> peak({"trace_ms": [1]}), peak({"kind": "schedule", "values": [1e6, 3e6]})
    (12032000.0, 3000000.0)
    """
    values = rate.get("values") or [value for value, _ in (_parts(rate, (0.0, 0.0)) if "trace_ms" in rate else ())]
    return float(max(values, default=0.0))


def bound(rate: Mapping[str, Any]) -> float:
    """The highest rate that there can be, of all kinds that change by a course; infinite where there is no bound.

    >>> bound({"kind": "random-walk", "start": 1e6, "least": 1e5, "most": 4e6}), bound({"kind": "ornstein-uhlenbeck"})
    (4000000.0, inf)
    """
    return float(rate.get("most", math.inf)) if "values" not in rate else peak(rate)


def quantile(rate: Mapping[str, Any], share: float, times_s: _Times) -> float | None:
    """The rate that is not exceeded for a share of a time; nothing where that is not known."""
    if rate.get("kind") == _GAUSSIAN:
        return float(max(rate["least"], NormalDist(rate["mean"], rate["deviation"]).inv_cdf(share)))
    parts = sorted(_parts(rate, times_s))
    until_s = share * math.fsum(lasts for _, lasts in parts)
    reached = itertools.accumulate(lasts for _, lasts in parts)
    return next((value for (value, _), at_s in zip(parts, reached, strict=True) if at_s > until_s), None)


def _parts(rate: Mapping[str, Any], times_s: _Times) -> Iterator[tuple[float, float]]:
    """Values of a rate, each with how much of a time it has."""
    if "trace_ms" in rate:
        length_ms = max(rate["trace_ms"][-1], 1)
        counts = [0] * max(1, round(length_ms / _TRACE_MS))
        for instant in rate["trace_ms"]:
            counts[min(instant * len(counts) // length_ms, len(counts) - 1)] += 1
        yield from ((count * _OPPORTUNITY_BITS * 1000 * len(counts) / length_ms, 1.0) for count in counts)
    elif "mean_s" in rate:
        yield from zip(rate["values"], rate["mean_s"], strict=True)
    elif "at_s" in rate:
        yield from _scheduled(rate, times_s)


def _scheduled(rate: Mapping[str, Any], times_s: _Times) -> Iterator[tuple[float, float]]:
    """Values of a schedule, a ramp in steps, with how much of a time each has."""
    (start_s, stop_s), period_s = times_s, rate["period_s"]
    rounds = math.ceil(stop_s / period_s) if period_s else 1
    first = [(at_s + number * (period_s or 0.0), value) for number in range(rounds)
             for at_s, value in zip(rate["at_s"], rate["values"], strict=True)]  # fmt: skip
    for (from_s, value), (until_s, following) in itertools.pairwise(
        [*first, (max(stop_s, first[-1][0]), first[-1][1])]
    ):
        count = _STEPS if rate["linear"] else 1
        for step in range(count):
            begins, ends = (from_s + (until_s - from_s) * part / count for part in (step, step + 1))
            lasts = min(ends, stop_s) - max(begins, start_s)
            if lasts > 0:
                yield value + (following - value) * (step + 0.5) / count if rate["linear"] else value, lasts
