"""Processes by which a rate or a delay changes: what those of rates and those of delays have in common.

Example:
    >>> from tightlink.scenario import RandomWalk
    >>> RandomWalk(start="5 Mbit/s", least="1 Mbit/s", most="20 Mbit/s").least_value()
    1000000.0
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tightlink import units
from tightlink.scenario.changes import Changing
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.values import Period, Update, above


class Process(Changing):
    """A quantity that changes at random."""


def _si(value: object) -> float:
    """A rate in bit/s, or a time in seconds."""
    return float(units.parse(value, units.RATE, units.TIME)[1].exact)


class Walk(Process):
    """A quantity that wanders: each step multiplies it by a random factor, between two values that throw it back."""

    kind: Literal["random-walk"] = "random-walk"
    """How it changes."""
    start: Any
    """The first value."""
    least: Any
    """The smallest value."""
    most: Any
    """The largest value."""
    every: Update = "100 ms"
    """Length of a step."""
    deviation: Annotated[float, above(0, 10, 0.2)] = 0.1
    """Standard deviation of the logarithm of a step's factor."""

    def _check(self) -> None:
        if not self.least_value() <= _si(self.start) <= _si(self.most):
            raise wrong(f"from least to most, {self.least} to {self.most}", key="start", value=self.start)

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        values = {key: _si(getattr(self, key)) for key in ("start", "least", "most")}
        return {"kind": self.kind, "every_s": units.time(self.every), "deviation": self.deviation} | values

    def least_value(self) -> float:
        """The smallest value in SI units."""
        return _si(self.least)

    def nominal(self) -> float:
        """The first value in SI units."""
        return _si(self.start)


class State(Table):
    """A state of a quantity that jumps."""

    mean: Period
    """How long the state lasts in the mean, with an exponential distribution."""

    def value(self) -> float:
        """The value that holds, in SI units."""
        raise NotImplementedError


class Jumps(Process):
    """A quantity that jumps between states: each lasts a random time, then comes another one, each as likely."""

    kind: Literal["markov"] = "markov"
    """How it changes."""
    states: Annotated[list[Any], Field(min_length=2)]
    """The states, of which it begins in each as often as that holds."""

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {
            "kind": self.kind,
            "values": [state.value() for state in self.states],
            "mean_s": [units.time(state.mean) for state in self.states],
        }

    def least_value(self) -> float:
        """The smallest value in SI units."""
        return min(float(state.value()) for state in self.states)

    def nominal(self) -> float:
        """The mean in SI units."""
        values, means_s = ([float(value) for value in self.spec()[key]] for key in ("values", "mean_s"))
        return sum(value * mean_s for value, mean_s in zip(values, means_s, strict=True)) / sum(means_s)


class Returning(Process):
    """A quantity that is pulled back to its mean: noise with an exponential memory (Ornstein and Uhlenbeck 1930)."""

    kind: Literal["ornstein-uhlenbeck"] = "ornstein-uhlenbeck"
    """How it changes."""
    mean: Any
    """The mean, which is the first value."""
    deviation: Any
    """Standard deviation in the long run."""
    memory: Period = "1 s"
    """In this time a distance from the mean shrinks to 1/e."""
    every: Update = "10 ms"
    """Length of a step, in which it stays."""
    least: Any
    """The smallest value: what would be below it is it."""

    def _check(self) -> None:
        if self.least_value() > _si(self.mean):
            raise wrong(f"at most the mean, which is {self.mean}", key="least", value=self.least)

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        times = {"time_s": units.time(self.memory), "every_s": units.time(self.every)}
        return {"kind": self.kind} | times | {key: _si(getattr(self, key)) for key in ("mean", "deviation", "least")}

    def least_value(self) -> float:
        """The smallest value in SI units."""
        return _si(self.least)

    def nominal(self) -> float:
        """The mean in SI units."""
        return _si(self.mean)
