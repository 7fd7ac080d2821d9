"""Outages of a link: when it is down, and what becomes of what waits.

Example:
    >>> Outages(schedule=[{"at": "10 s", "for": "2 s"}], flush=True).spec()
    {'times': {'at_s': [10.0], 'for_s': [2.0], 'period_s': None}, 'flush': True}
"""

from __future__ import annotations

import itertools
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool

from tightlink import units
from tightlink.scenario.changes import Changing, Nothing
from tightlink.scenario.forms import Forms
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.toml import literal
from tightlink.scenario.values import Delay, Period, in_si, seconds


class Outage(Table):
    """An outage of a link."""

    at: Delay
    """When it begins."""
    for_: Annotated[Period, Field(alias="for")]
    """How long it lasts."""


class AnyOutage(Changing):
    """What tables of outages have in common."""

    flush: StrictBool = False
    """Whether what waits, is on the line or comes is lost when the link is down (default: it waits)."""
    kind: str
    """When the link is down."""

    def times(self) -> dict[str, Any]:
        """The times as the engine reads them."""
        return in_si(self, "kind", "flush")

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {"times": self.times(), "flush": self.flush}


class Outages(AnyOutage):
    """Outages of a link at times that are written down."""

    kind: Literal["schedule"] = "schedule"
    schedule: Annotated[list[Outage], Field(min_length=1)]
    """The outages, one after another."""
    period: Period | None = None
    """After how long the schedule begins anew (default never)."""

    def _check(self) -> None:
        ends = [units.time(outage.at) + units.time(outage.for_) for outage in self.schedule]
        for place, (end_s, outage) in enumerate(itertools.pairwise([*zip(ends, self.schedule, strict=True)]), 1):
            if units.time(outage[1].at) <= end_s[0]:
                expected = f"a time after the end of the outage before it, which is at {end_s[0]:g} s"
                raise wrong(expected, key=f"schedule[{place}].at", value=outage[1].at)
        if self.period is not None and units.time(self.period) < ends[-1]:
            expected = f"at least the end of the last outage, which is at {ends[-1]:g} s"
            raise wrong(expected, key="period", value=self.period)
        up_first = units.time(self.schedule[0].at) > 0
        if self.period is not None and units.time(self.period) == ends[-1] and not up_first and len(ends) == 1:
            raise wrong("a longer one: else the link is never up", key="period", value=self.period)

    def times(self) -> dict[str, Any]:
        """The times as the engine reads them."""
        return {
            "at_s": [units.time(outage.at) for outage in self.schedule],
            "for_s": [units.time(outage.for_) for outage in self.schedule],
            "period_s": seconds(self.period),
        }


class RandomOutages(AnyOutage):
    """Outages of a link that fails and is repaired at random, both directions at once; it is up at first."""

    kind: Literal["random"] = "random"
    up: Period
    """How long it is up in the mean, with an exponential distribution."""
    down: Period
    """How long it is down in the mean, with an exponential distribution."""


def _in_a_table(value: object) -> object:
    """Refuse a list of outages, which stands in a table."""
    if isinstance(value, list | tuple) and all(isinstance(each, dict) for each in value):
        meant = f"{{ schedule = {literal([*map(dict, value)])} }}"
        raise wrong('a table, or "none"', value=[*value], suggestion=meant)
    return value


#: When a link is down.
LinkOutages = Annotated[
    Nothing | Outages | RandomOutages,
    Forms({"schedule": "schedule", "up": "random", "down": "random"}),
    BeforeValidator(_in_a_table),
]
