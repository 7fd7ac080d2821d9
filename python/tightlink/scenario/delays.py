"""The delay of a link: a time, or how it changes, and the jitter that comes on top of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, StrictBool

from tightlink import units
from tightlink.scenario.changes import Changing, Nothing, Ramped, Schedule, Step
from tightlink.scenario.course_files import CourseTable
from tightlink.scenario.forms import Forms
from tightlink.scenario.processes import Jumps, Returning, State, Walk
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.values import (
    Delay,
    Period,
    PropagationDelay,
    ShortPeriod,
    Update,
    between,
    in_si,
    number,
    seconds,
)

_SHAPE: Final = number(lambda value: 1 < value <= 1000, "a number above 1, such as 2.5")  # noqa: PLR2004


class _HasDelay(Table):
    """What a step and a state of a delay have in common."""

    delay: Delay
    """Propagation delay."""

    def value(self) -> float:
        """The delay in seconds."""
        return units.time(self.delay)


class DelayStep(_HasDelay, Step):
    """From when on a link has which delay."""


class _Delay(Changing):
    """What delays that change have in common."""

    reorder: StrictBool = False
    """Whether packets overtake each other where it falls; else they stay in order."""


class DelaySchedule(_Delay, Ramped, Schedule):
    """A delay that changes in steps or ramps."""

    schedule: Annotated[list[DelayStep], Field(min_length=1)]
    """The steps, from "0 s" on; the last one holds to the end, unless there is a period."""


class DelayTable(_Delay, Ramped, CourseTable):
    """A delay by a table in a file, CSV or Parquet: ``time_s`` and ``delay_s`` (or ``delay_ms``)."""

    quantity: ClassVar[str] = "delay"
    columns: ClassVar[Mapping[str, float]] = {"delay_s": 1.0, "delay_ms": 1e-3}


class DelayRandomWalk(_Delay, Walk):
    """A delay that wanders: each step multiplies it by a random factor, between two delays that throw it back."""

    start: ShortPeriod
    """The first delay."""
    least: ShortPeriod
    """The smallest delay."""
    most: ShortPeriod
    """The largest delay."""


class DelayState(_HasDelay, State):
    """A state of a delay that jumps."""


class DelayMarkov(_Delay, Jumps):
    """A delay that jumps between states, such as routes: each lasts a random time, then comes another one."""

    states: Annotated[list[DelayState], Field(min_length=2)]
    """The states, of which it begins in each as often as that holds."""


class DelayOrnsteinUhlenbeck(_Delay, Returning):
    """A delay that is pulled back to its mean: noise with an exponential memory (Ornstein and Uhlenbeck 1930)."""

    mean: ShortPeriod
    """The mean, which is the first delay; where ``least`` cuts off much, the delay is longer in the mean."""
    deviation: ShortPeriod
    """Standard deviation in the long run."""
    least: Delay
    """The smallest delay: what would be below it is it."""


class DelayRedraw(_Delay):
    """A delay that is drawn anew at equal times, uniform between two: a path by other satellites, for example."""

    kind: Literal["redraw"] = "redraw"
    """How the delay changes."""
    shortest: Delay
    """The smallest delay."""
    longest: Delay
    """The largest delay."""
    every: Update = "15 s"
    """For how long a delay holds."""

    def _check(self) -> None:
        if units.time(self.longest) < units.time(self.shortest):
            raise wrong(f"at least the shortest, which is {self.shortest}", key="longest", value=self.longest)

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        low, high = units.time(self.shortest), units.time(self.longest)
        return {"kind": self.kind, "every_s": units.time(self.every), "least": low, "most": high}

    def least_value(self) -> float:
        """The smallest delay, in seconds."""
        return units.time(self.shortest)


class LeoDelay(DelayRedraw):
    """The delay by satellites in a low orbit: a new path at equal times, for both directions, after a short outage.

    The defaults are those of Starlink: a terminal is given a satellite for 15 s (Huston 2024), and the round trip to
    the Internet takes 30 ms in the median and 42 ms at the 95th percentile (SpaceX to the FCC, September 2020); at the
    change it takes 30 to 50 ms longer (Huston 2024, "A transport protocol's view of Starlink").
    """

    kind: Literal["leo"] = "leo"  # type: ignore[assignment]  # another of the kinds
    """How the delay changes."""
    shortest: Delay = "10 ms"
    """The smallest delay."""
    longest: Delay = "21 ms"
    """The largest delay."""
    outage: Delay = "40 ms"
    """How long the link is down before each new path; what waits is kept."""

    def _check(self) -> None:
        super()._check()
        if units.time(self.outage) >= units.time(self.every):
            raise wrong(f"less than a path holds, which is {self.every}", key="outage", value=self.outage)

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return super().spec() | {"kind": "redraw"}

    def outages(self) -> dict[str, Any] | None:
        """When the link is down, as the engine reads it."""
        every_s, outage_s = units.time(self.every), units.time(self.outage)
        if outage_s == 0:
            return None
        return {"times": {"at_s": [every_s - outage_s], "for_s": [outage_s], "period_s": every_s}, "flush": False}


class Jitter(Changing):
    """What jitters have in common."""

    correlation: Period | None = None
    """In this time the correlation of two values of the normal process falls to 1/e (default there is none)."""
    reorder: StrictBool = False
    """Whether a packet overtakes another of which the jitter is larger; else packets stay in order."""
    kind: str
    """Distribution of the jitter."""

    def distribution(self) -> dict[str, Any]:
        """The distribution as the engine reads it."""
        return in_si(self, "correlation", "reorder")

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {"distribution": self.distribution(), "correlation_s": seconds(self.correlation)}


class UniformJitter(Jitter):
    """Jitter from zero to a largest value, each as likely."""

    kind: Literal["uniform"] = "uniform"
    most: ShortPeriod
    """The largest jitter."""


class NormalJitter(Jitter):
    """Jitter with a normal distribution, of which what is below zero is zero."""

    kind: Literal["normal"] = "normal"
    mean: ShortPeriod
    """Mean of the normal distribution, which is cut off at zero, so that the mean of the jitter is larger."""
    deviation: ShortPeriod
    """Its standard deviation."""


class ParetoJitter(Jitter):
    """Jitter with a heavy tail from zero on (Lomax's distribution)."""

    kind: Literal["pareto"] = "pareto"
    mean: ShortPeriod
    """The mean."""
    shape: Annotated[float, _SHAPE] = 2.5
    """The tail falls as jitter^-shape."""


class GammaJitter(Jitter):
    """Jitter with a gamma distribution."""

    kind: Literal["gamma"] = "gamma"
    mean: ShortPeriod
    """The mean."""
    shape: Annotated[float, between(0.1, 1000, 2)] = 2.0
    """Its deviation is the mean divided by the square root of this; 1 is an exponential distribution."""


class JitterTable(Jitter):
    """Jitter by its quantiles, such as those of a measurement."""

    kind: Literal["quantiles"] = "quantiles"
    quantiles: Annotated[list[Delay], Field(min_length=2)]
    """Equally far apart, from the smallest jitter to the largest, with straight lines between them."""

    def _check(self) -> None:
        for place, (before, after) in enumerate(itertools.pairwise(self.quantiles), 1):
            if units.time(after) < units.time(before):
                expected = f"at least the quantile before it, which is {before}"
                raise wrong(expected, key=f"quantiles[{place}]", value=after)

    def distribution(self) -> dict[str, Any]:
        """The distribution as the engine reads it."""
        return {"kind": "quantiles", "values_s": [units.time(value) for value in self.quantiles]}


#: A propagation delay, or a table of how it changes.
ChangingDelay = Annotated[
    PropagationDelay
    | DelaySchedule
    | DelayTable
    | DelayRandomWalk
    | DelayMarkov
    | DelayOrnsteinUhlenbeck
    | DelayRedraw
    | LeoDelay,
    Forms({"schedule": "schedule", "table": "table"}),
]
#: What is added to the delay of each packet.
AnyJitter = Annotated[
    Nothing | UniformJitter | NormalJitter | ParetoJitter | GammaJitter | JitterTable, Forms({"quantiles": "quantiles"})
]


def least_delay(delay: object, profile: str = "rfc") -> float:
    """The smallest delay of a link, in seconds.

    >>> least_delay("20 ms"), least_delay(DelayRedraw(shortest="30 ms", longest="50 ms"))
    (0.02, 0.03)
    """
    if isinstance(delay, Changing):
        return delay.least_value()
    return units.time_as_ns2(delay) if profile == "ns2" else units.time(delay)
