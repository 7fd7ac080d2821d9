"""The delay of a link: a time, or how it changes, and the jitter that comes on top of it.

Example:
    >>> least_delay(DelayRedraw(shortest="30 ms", longest="50 ms"))
    0.03
"""

from __future__ import annotations

import itertools
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from tightlink import units
from tightlink.scenario.changes import Changing, RampedSchedule, Step, check_step, kinds
from tightlink.scenario.table import tag_of_text_or_kind, wrong
from tightlink.scenario.values import Delay, Period, PropagationDelay, choice, number

_SHAPE: Final = number(lambda value: 1 < value <= 1000, "a number above 1, such as 2.5")  # noqa: PLR2004


class DelayStep(Step):
    """From when on a link has which delay."""

    delay: Delay
    """Propagation delay."""


class DelaySchedule(RampedSchedule):
    """A delay that changes in steps or ramps; no packet overtakes another where it falls."""

    schedule: Annotated[list[DelayStep], Field(min_length=1)]
    """The steps, from "0 s" on; the last one holds to the end, unless there is a period."""

    def values(self) -> list[float]:
        """The delays in seconds."""
        return [units.time(step.delay) for step in self.schedule]

    def least(self) -> float:
        """The smallest delay, in seconds."""
        return min(self.values())


class DelayRedraw(Changing):
    """A delay that is drawn anew at equal times, uniform between two: a path by other satellites, for example."""

    kind: Annotated[Literal["redraw"], choice("redraw")] = "redraw"
    """How the delay changes."""
    shortest: Delay
    """The smallest delay."""
    longest: Delay
    """The largest delay."""
    every: Period = "15 s"
    """For how long a delay holds."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_step(self.every)
        if units.time(self.longest) < units.time(self.shortest):
            raise wrong(f"at least the shortest, which is {self.shortest}", key="longest", value=self.longest)
        return self

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        low, high = units.time(self.shortest), units.time(self.longest)
        return {"kind": self.kind, "every_s": units.time(self.every), "least": low, "most": high}

    def least(self) -> float:
        """The smallest delay, in seconds."""
        return units.time(self.shortest)


class Jitter(Changing):
    """What jitters have in common."""

    correlation: Period | None = None
    """In this time the correlation of the jitter of two packets falls to 1/e (default there is none)."""

    def distribution(self) -> dict[str, Any]:
        """The distribution as the engine reads it."""
        raise NotImplementedError

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        correlation = None if self.correlation is None else units.time(self.correlation)
        return {"distribution": self.distribution(), "correlation_s": correlation}


class UniformJitter(Jitter):
    """Jitter from zero to a largest value, each as likely; packets stay in order."""

    kind: Annotated[Literal["uniform"], choice("uniform")] = "uniform"
    """Distribution of the jitter."""
    most: Period
    """The largest jitter."""

    def distribution(self) -> dict[str, Any]:
        """The distribution as the engine reads it."""
        return {"kind": "uniform", "most_s": units.time(self.most)}


class NormalJitter(Jitter):
    """Jitter with a normal distribution, of which what is below zero is zero; packets stay in order."""

    kind: Annotated[Literal["normal"], choice("normal")] = "normal"
    """Distribution of the jitter."""
    mean: Period
    """Mean of the normal distribution."""
    deviation: Period
    """Its standard deviation."""

    def distribution(self) -> dict[str, Any]:
        """The distribution as the engine reads it."""
        return {"kind": "normal", "mean_s": units.time(self.mean), "deviation_s": units.time(self.deviation)}


class ParetoJitter(Jitter):
    """Jitter with a heavy tail from zero on (Lomax's distribution); packets stay in order."""

    kind: Annotated[Literal["pareto"], choice("pareto")] = "pareto"
    """Distribution of the jitter."""
    mean: Period
    """The mean."""
    shape: Annotated[float, _SHAPE] = 2.5
    """The tail falls as jitter^-shape."""

    def distribution(self) -> dict[str, Any]:
        """The distribution as the engine reads it."""
        return {"kind": "pareto", "mean_s": units.time(self.mean), "shape": self.shape}


class JitterTable(Jitter):
    """Jitter by its quantiles, such as those of a measurement; packets stay in order."""

    kind: Annotated[Literal["quantiles"], choice("quantiles")] = "quantiles"
    """Distribution of the jitter."""
    quantiles: Annotated[list[Delay], Field(min_length=2)]
    """Equally far apart, from the smallest jitter to the largest, with straight lines between them."""

    @model_validator(mode="after")
    def _rise(self) -> Self:
        for place, (before, after) in enumerate(itertools.pairwise(self.quantiles), 1):
            if units.time(after) < units.time(before):
                expected = f"at least the quantile before it, which is {before}"
                raise wrong(expected, key=f"quantiles[{place}]", value=after)
        return self

    def distribution(self) -> dict[str, Any]:
        """The distribution as the engine reads it."""
        return {"kind": "quantiles", "values_s": [units.time(value) for value in self.quantiles]}


_DELAYS: Final = {model.model_fields["kind"].default: model for model in (DelaySchedule, DelayRedraw)}
_JITTERS: Final = {
    model.model_fields["kind"].default: model for model in (UniformJitter, NormalJitter, ParetoJitter, JitterTable)
}

#: A propagation delay, or a table of how it changes.
ChangingDelay = Annotated[
    Annotated[PropagationDelay, Tag("<text>")]
    | Annotated[DelaySchedule, Tag("<schedule>")]
    | Annotated[DelayRedraw, Tag("<redraw>")],
    Discriminator(tag_of_text_or_kind),
    kinds(_DELAYS, {"schedule": "schedule"}),
]
#: What is added to the delay of each packet.
AnyJitter = Annotated[
    Annotated[UniformJitter, Tag("<uniform>")]
    | Annotated[NormalJitter, Tag("<normal>")]
    | Annotated[ParetoJitter, Tag("<pareto>")]
    | Annotated[JitterTable, Tag("<quantiles>")],
    Discriminator(tag_of_text_or_kind),
    kinds(_JITTERS, {"quantiles": "quantiles"}),
]


def least_delay(delay: object) -> float:
    """The smallest delay of a link, in seconds.

    >>> least_delay("20 ms"), least_delay(DelayRedraw(shortest="30 ms", longest="50 ms"))
    (0.02, 0.03)
    """
    return delay.least() if isinstance(delay, DelaySchedule | DelayRedraw) else units.time(delay)
