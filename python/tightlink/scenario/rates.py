"""The rate of a link: a quantity, or how it changes, by a schedule, a trace or a process.

Example:
    >>> rate = RateSchedule(schedule=[{"at": "0 s", "rate": "50 Mbit/s"}, {"at": "10 s", "rate": "10 Mbit/s"}])
    >>> nominal_rate(rate)
    (50000000.0, None)
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario.changes import Changing, RampedSchedule, Step, check_step, kinds
from tightlink.scenario.table import Table, tag_of_text_or_kind, wrong
from tightlink.scenario.values import LineRate, LineRateOrNone, Period, Rate, choice, line_rate, number

#: A trace of a day at 12 Mbit/s has a tenth of them.
_MOST_INSTANTS: Final = 10**9
_LARGEST_TRACE: Final = 512 * 2**20
#: What leaves at each instant of a trace, in bits.
_OPPORTUNITY_BITS: Final = 8 * 1504
_DEVIATION: Final = number(lambda value: 0 < value <= 10, "a number above 0 and up to 10, such as 0.2")  # noqa: PLR2004


class RateStep(Step):
    """From when on a link has which rate."""

    rate: LineRateOrNone
    """Transmission rate; "0 bit/s" is an outage."""


class RateSchedule(RampedSchedule):
    """A rate that changes in steps or ramps; a packet in service goes on at the new rate, as in a modem."""

    schedule: Annotated[list[RateStep], Field(min_length=1)]
    """The steps, from "0 s" on; the last one holds to the end, unless there is a period."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        rates = self.values()
        if not any(rates):
            raise wrong("a rate above zero: else no packet ever leaves", key="schedule[0].rate",
                        value=self.schedule[0].rate)  # fmt: skip
        if self.period is None and rates[-1] == 0:
            expected = "a rate above zero, as the last one holds for ever, or a period"
            raise wrong(expected, key=f"schedule[{len(rates) - 1}].rate", value=self.schedule[-1].rate)
        return self

    def values(self) -> list[float]:
        """The rates in bit/s."""
        return [units.rate(step.rate) for step in self.schedule]

    def nominal(self) -> float:
        """The mean of a period, without one the first rate above zero."""
        rates = self.values()
        if self.period is None:
            return next(rate for rate in rates if rate > 0)
        period = units.time(self.period)
        times: list[float] = self.times()["at_s"]
        ends = [*rates[1:], rates[-1]] if self.linear else rates
        spans = [after - before for before, after in itertools.pairwise([*times, period])]
        return sum(span * (rate + end) / 2 for span, rate, end in zip(spans, rates, ends, strict=True)) / period


class RateTrace(Changing):
    """A trace as mahimahi has it: each line of the file is a millisecond at which 1504 bytes may leave; it wraps.

    A packet counts four bytes more than its own. What an instant leaves over is of use for packets that wait, and lost
    where none does.
    """

    kind: Annotated[Literal["trace"], choice("trace")] = "trace"
    """How the rate changes."""
    trace: str
    """Name of the file, relative to the scenario's."""

    def instants(self) -> tuple[int, ...]:
        """The milliseconds in the file."""
        path = Path(self.trace)
        try:
            found = path.stat()
            return _instants(self.trace, found.st_mtime_ns, found.st_size)
        except OSError as error:
            reason = (error.strerror or "it cannot be read").lower()
            raise _unreadable(self.trace, f"a file that can be read: {reason}") from None

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {"trace_ms": list(self.instants())}

    def nominal(self) -> float:
        """The mean rate."""
        instants = self.instants()
        return len(instants) * _OPPORTUNITY_BITS / (instants[-1] / 1000)


def _unreadable(written: str, expected: str) -> ScenarioError:
    return ScenarioError(expected, key="rate.trace", value=written)


@lru_cache(maxsize=16)
def _instants(name: str, _changed_ns: int, size: int) -> tuple[int, ...]:
    if size > _LARGEST_TRACE:
        raise _unreadable(name, "a file of at most 512 MiB")
    try:
        lines = Path(name).read_text(encoding="ascii").splitlines()
    except UnicodeDecodeError:
        raise _unreadable(name, "a trace: a line with a whole number of milliseconds for each 1504 bytes") from None
    found: list[int] = []
    for number_, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        if not text.isdecimal() or int(text) > _MOST_INSTANTS:
            expected = f"a whole number of milliseconds in each line, not {text[:40]!r} in line {number_}"
            raise _unreadable(name, expected)
        if found and int(text) < found[-1]:
            raise _unreadable(name, f"milliseconds that do not fall, as in line {number_}: {found[-1]}, then {text}")
        found.append(int(text))
    if not found:
        raise _unreadable(name, "a trace with a line for each 1504 bytes, of which there is none")
    if found[-1] == 0:
        raise _unreadable(name, "a trace that ends after 0 ms, when it begins anew")
    return tuple(found)


class RandomWalk(Changing):
    """A rate that wanders: each step multiplies it by a random factor, between two rates that throw it back."""

    kind: Annotated[Literal["random-walk"], choice("random-walk")] = "random-walk"
    """How the rate changes."""
    start: Rate
    """The first rate."""
    least: Rate
    """The smallest rate."""
    most: Rate
    """The largest rate."""
    every: Period = "100 ms"
    """Length of a step."""
    deviation: Annotated[float, _DEVIATION] = 0.1
    """Standard deviation of the logarithm of a step's factor."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_step(self.every)
        if not units.rate(self.least) <= units.rate(self.start) <= units.rate(self.most):
            raise wrong(f"a rate from least to most, {self.least} to {self.most}", key="start", value=self.start)
        return self

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {
            "kind": self.kind,
            "start": units.rate(self.start),
            "every_s": units.time(self.every),
            "deviation": self.deviation,
            "least": units.rate(self.least),
            "most": units.rate(self.most),
        }

    def nominal(self) -> float:
        """The first rate."""
        return units.rate(self.start)


class RateState(Table):
    """A state of a rate that jumps."""

    rate: LineRateOrNone
    """Transmission rate; "0 bit/s" is an outage."""
    mean: Period
    """How long the state lasts in the mean, with an exponential distribution."""


class Markov(Changing):
    """A rate that jumps between states: each lasts a random time, then comes another one, each as likely."""

    kind: Annotated[Literal["markov"], choice("markov")] = "markov"
    """How the rate changes."""
    states: Annotated[list[RateState], Field(min_length=2)]
    """The states, of which it begins in any."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not any(units.rate(state.rate) for state in self.states):
            raise wrong("a rate above zero: else no packet ever leaves", key="states[0].rate",
                        value=self.states[0].rate)  # fmt: skip
        return self

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {
            "kind": self.kind,
            "values": [units.rate(state.rate) for state in self.states],
            "mean_s": [units.time(state.mean) for state in self.states],
        }

    def nominal(self) -> float:
        """The mean rate."""
        rates, means_s = ([float(value) for value in self.spec()[key]] for key in ("values", "mean_s"))
        return sum(rate * mean_s for rate, mean_s in zip(rates, means_s, strict=True)) / sum(means_s)


class OrnsteinUhlenbeck(Changing):
    """A rate that is pulled back to its mean: normal noise with an exponential memory (Ornstein and Uhlenbeck 1930)."""

    kind: Annotated[Literal["ornstein-uhlenbeck"], choice("ornstein-uhlenbeck")] = "ornstein-uhlenbeck"
    """How the rate changes."""
    mean: Rate
    """The mean, which is the first rate."""
    deviation: Rate
    """Standard deviation in the long run."""
    memory: Period = "1 s"
    """In this time a distance from the mean shrinks to 1/e."""
    every: Period = "10 ms"
    """Length of a step, in which the rate stays."""
    least: Rate
    """The smallest rate: what would be below it is it."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_step(self.every)
        if units.rate(self.least) > units.rate(self.mean):
            raise wrong(f"at most the mean, which is {self.mean}", key="least", value=self.least)
        return self

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {
            "kind": self.kind,
            "mean": units.rate(self.mean),
            "deviation": units.rate(self.deviation),
            "time_s": units.time(self.memory),
            "every_s": units.time(self.every),
            "least": units.rate(self.least),
        }

    def nominal(self) -> float:
        """The mean rate."""
        return units.rate(self.mean)


_RATES: Final = {
    model.model_fields["kind"].default: model
    for model in (RateSchedule, RateTrace, RandomWalk, Markov, OrnsteinUhlenbeck)
}
#: A rate, or a table of how it changes.
ChangingRate = Annotated[
    Annotated[LineRate, Tag("<text>")]
    | Annotated[RateSchedule, Tag("<schedule>")]
    | Annotated[RateTrace, Tag("<trace>")]
    | Annotated[RandomWalk, Tag("<random-walk>")]
    | Annotated[Markov, Tag("<markov>")]
    | Annotated[OrnsteinUhlenbeck, Tag("<ornstein-uhlenbeck>")],
    Discriminator(tag_of_text_or_kind),
    kinds(_RATES, {"schedule": "schedule", "trace": "trace"}),
]


def nominal_rate(rate: object) -> tuple[float, float | None]:
    """The rate of a link in bit/s, and in packets/s where that limits it; its mean or its first one, if it changes.

    >>> nominal_rate("2 Mbit/s")
    (2000000.0, None)
    """
    if isinstance(rate, RateSchedule | RateTrace | RandomWalk | Markov | OrnsteinUhlenbeck):
        return rate.nominal(), None
    return line_rate(rate)
