"""What the tables have in common that say how a quantity of a link changes.

Example:
    >>> from tightlink.scenario import DelaySchedule
    >>> DelaySchedule(schedule=[{"at": "0 s", "delay": "5 ms"}, {"at": "10 s", "delay": "9 ms"}]).times()
    {'kind': 'schedule', 'at_s': [0.0, 10.0], 'period_s': None}
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StrictBool

from tightlink import units
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.values import Delay, Period, ensured, in_si, seconds

#: Times in seconds, and the values from then on in SI units.
Course: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]

#: Takes a table away that is written elsewhere, such as in the forward direction.
Nothing = Annotated[Literal["none"], BeforeValidator(ensured(lambda word: word == "none", 'a table, or "none"'))]


class Changing(Table):
    """What tables of a quantity that changes have in common."""

    def written(self) -> dict[str, Any]:
        """The table with its defaults."""
        return self.complete()

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return in_si(self)

    def nominal(self) -> float:
        """What stands for a quantity that changes where one value is asked for, in SI units."""
        raise NotImplementedError

    def least_value(self) -> float:
        """The smallest value in SI units."""
        raise NotImplementedError


class Timed(Changing):
    """A quantity with values from given times on."""

    if TYPE_CHECKING:
        period: Period | None

    def course(self) -> Course:
        """Times in seconds and values in SI units."""
        raise NotImplementedError

    def times(self) -> dict[str, Any]:
        """The kind and the times as the engine reads them."""
        return {"kind": "schedule", "at_s": list(self.course()[0]), "period_s": seconds(self.period)}


class Ramped(Timed):
    """A quantity that changes in steps or ramps."""

    linear: StrictBool = False
    """Whether it goes straight from each value to the next."""

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return self.times() | {"values": list(self.course()[1]), "linear": self.linear}

    def least_value(self) -> float:
        """The smallest value in SI units."""
        return min(self.course()[1])


class Step(Table):
    """What steps of a schedule have in common."""

    at: Delay
    """When it begins to hold."""

    def value(self) -> float:
        """The value that holds, in SI units."""
        raise NotImplementedError


class Schedule(Timed):
    """A quantity that changes in steps."""

    kind: Literal["schedule"] = "schedule"
    """How it changes."""
    schedule: Annotated[list[Any], Field(min_length=1)]
    """The steps, from "0 s" on; the last one holds to the end, unless there is a period."""
    period: Period | None = None
    """After how long the schedule begins anew (default never)."""

    def course(self) -> Course:
        """Times in seconds and values in SI units."""
        return tuple(units.time(step.at) for step in self.schedule), tuple(step.value() for step in self.schedule)

    def _check(self) -> None:
        times, _ = self.course()
        if times[0] > 0:
            expected = '"0 s": the schedule says what holds from the start'
            raise wrong(expected, key="schedule[0].at", value=self.schedule[0].at)
        for place, (before, after) in enumerate(itertools.pairwise(times), 1):
            if after <= before:
                expected = f"a time after that of the step before it, which is {self.schedule[place - 1].at}"
                raise wrong(expected, key=f"schedule[{place}].at", value=self.schedule[place].at)
        if self.period is not None and units.time(self.period) <= times[-1]:
            expected = f"a time after the last step, which is at {self.schedule[-1].at}"
            raise wrong(expected, key="period", value=self.period)


def mean_of(times: Sequence[float], values: Sequence[float], end: float, *, linear: bool) -> float:
    """The mean of values in steps or ramps, from the first time to ``end``.

    >>> mean_of([0.0, 1.0], [4.0, 1.0], 3.0, linear=False), mean_of([0.0, 1.0], [4.0, 1.0], 3.0, linear=True)
    (2.0, 1.5)
    """
    afters = [*values[1:], values[-1]] if linear else values
    spans = [after - before for before, after in itertools.pairwise([*times, end])]
    return sum(span * (value + after) / 2 for span, value, after in zip(spans, values, afters, strict=True)) / end
