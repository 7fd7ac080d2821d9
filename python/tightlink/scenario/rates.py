"""The rate of a link: a quantity, or how it changes, by a schedule, a trace or a process.

Example:
    >>> rate = RateSchedule(schedule=[{"at": "0 s", "rate": "50 Mbit/s"}, {"at": "10 s", "rate": "10 Mbit/s"}])
    >>> nominal_rate(rate)
    (50000000.0, None)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.files import check_stored
from tightlink.scenario.changes import Changing, Course, Ramped, Schedule, Step, mean_of
from tightlink.scenario.course_files import CourseTable
from tightlink.scenario.forms import Forms
from tightlink.scenario.problems import why_unreadable
from tightlink.scenario.processes import Jumps, Returning, State, Walk
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.values import Burst, LineRate, LineRateOrNone, Rate, ShortPeriod, line_rate

#: A trace of a day at 12 Mbit/s has a tenth of them.
_MOST_INSTANTS: Final = 10**9
_MOST_DIGITS: Final = 100
#: What leaves at each instant of a trace, in bits.
_OPPORTUNITY_BITS: Final = 8 * 1504


class _HasRate(Table):
    """What a step and a state of a rate have in common."""

    rate: LineRateOrNone
    """Transmission rate; "0 bit/s" is an outage."""

    def value(self) -> float:
        """The rate in bit/s."""
        return units.rate(self.rate)


class RateStep(_HasRate, Step):
    """From when on a link has which rate."""


class RateSchedule(Ramped, Schedule):
    """A rate that changes in steps or ramps; a packet in service continues at the new rate, as in a modem."""

    schedule: Annotated[list[RateStep], Field(min_length=1)]
    """The steps, from "0 s" on; the last one holds to the end, unless there is a period."""

    def _check(self) -> None:
        super()._check()
        _, rates = self.course()
        if not any(rates):
            raise wrong("a rate above zero: else no packet ever leaves", key="schedule[0].rate",
                        value=self.schedule[0].rate)  # fmt: skip
        if self.period is None and rates[-1] == 0:
            expected = "a rate above zero, as the last one holds for ever, or a period"
            raise wrong(expected, key=f"schedule[{len(rates) - 1}].rate", value=self.schedule[-1].rate)

    def nominal(self) -> float:
        """The mean of a period, without one the first rate above zero."""
        times, rates = self.course()
        if self.period is None:
            return next(rate for rate in rates if rate > 0)
        return mean_of(times, rates, units.time(self.period), linear=self.linear)


class RateTrace(Changing):
    """A trace as mahimahi has it: each line of the file is a millisecond at which 1504 bytes may leave; it wraps.

    A packet counts four bytes more than its own. What an instant leaves over is of use for packets that wait, and lost
    where none does.
    """

    kind: Literal["trace"] = "trace"
    """How the rate changes."""
    trace: str
    """Name of the file, relative to the scenario's."""

    def instants(self) -> tuple[int, ...]:
        """The milliseconds in the file."""
        try:
            found = check_stored(self.trace)
            return _instants(self.trace, found.st_mtime_ns, found.st_size)
        except (OSError, ValueError) as error:
            raise _unreadable(self.trace, f"a file that can be read: {why_unreadable(error)}") from None

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {"trace_ms": list(self.instants())}

    def nominal(self) -> float:
        """The mean rate of the trace, in bit/s."""
        instants = self.instants()
        return len(instants) * _OPPORTUNITY_BITS / (instants[-1] / 1000)


def _unreadable(written: str, expected: str) -> ScenarioError:
    return ScenarioError(expected, key="rate.trace", value=written)


@lru_cache(maxsize=16)
def _instants(name: str, _changed_ns: int, _size: int) -> tuple[int, ...]:
    try:
        lines = Path(name).read_text(encoding="ascii").splitlines()
    except UnicodeDecodeError:
        raise _unreadable(name, "a trace: a line with a whole number of milliseconds for each 1504 bytes") from None
    found: list[int] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        # Python makes no number of thousands of digits.
        if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) > _MOST_INSTANTS:
            expected = f"a whole number of milliseconds in each line, not {text[:40]!r} in line {number}"
            raise _unreadable(name, expected)
        if found and int(text) < found[-1]:
            raise _unreadable(name, f"milliseconds that do not fall, as in line {number}: {found[-1]}, then {text}")
        found.append(int(text))
    if not found:
        raise _unreadable(name, "a trace with a line for each 1504 bytes, of which there is none")
    if found[-1] == 0:
        raise _unreadable(name, "a trace that ends after 0 ms, when it begins anew")
    return tuple(found)


class RateTable(Ramped, CourseTable):
    """A rate by a table in a file, CSV or Parquet: ``time_s`` and ``rate_bps`` (or ``rate_kbps``, ``rate_mbps``)."""

    quantity: ClassVar[str] = "rate"
    columns: ClassVar[Mapping[str, float]] = {"rate_bps": 1.0, "rate_kbps": 1e3, "rate_mbps": 1e6}

    def course(self) -> Course:
        """Times in seconds and rates in bit/s."""
        times, rates = super().course()
        if self.period is None and rates[-1] == 0:
            expected = "a last rate above zero, as it holds for ever, or a period"
            raise ScenarioError(expected, key="rate.table", value=self.table)
        if not any(rates):
            raise ScenarioError("a rate above zero: else no packet ever leaves", key="rate.table", value=self.table)
        return times, rates

    def nominal(self) -> float:
        """The mean rate, of a table that does not begin anew up to its last row."""
        times, rates = self.course()
        end = times[-1] if self.period is None else units.time(self.period)
        return (mean_of(times, rates, end, linear=self.linear) if end > 0 else rates[0]) or max(rates)


class AggregatingRate(Changing):
    """A medium that is waited for before each burst of packets, as stations of a Wi-Fi network wait for it.

    A burst lasts as long as a packet waits when the one before it has left, up to a number. It is no model of 802.11:
    no collisions, no other stations but in the distribution of the wait, and no rate adaptation.
    """

    kind: Literal["aggregating"] = "aggregating"
    """How the rate changes."""
    rate: Rate
    """Rate at which a packet is transmitted in a burst."""
    access: ShortPeriod
    """How long the medium is waited for in the mean, with an exponential distribution."""
    burst: Burst = "64 packets"
    """Most packets of a burst."""

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {"access_s": units.time(self.access), "burst_packets": units.packets(self.burst)}

    def nominal(self) -> float:
        """The rate in a burst, as the engine wants it."""
        return units.rate(self.rate)


class RandomWalk(Walk):
    """A rate that wanders: each step multiplies it by a random factor, between two rates that throw it back."""

    start: Rate
    """The first rate."""
    least: Rate
    """The smallest rate."""
    most: Rate
    """The largest rate."""


class RateState(_HasRate, State):
    """A state of a rate that jumps."""


class Markov(Jumps):
    """A rate that jumps between states: each lasts a random time, then comes another one, each as likely."""

    states: Annotated[list[RateState], Field(min_length=2)]
    """The states, of which it begins in each as often as that holds."""

    def _check(self) -> None:
        if not any(state.value() for state in self.states):
            raise wrong("a rate above zero: else no packet ever leaves", key="states[0].rate",
                        value=self.states[0].rate)  # fmt: skip


class OrnsteinUhlenbeck(Returning):
    """A rate that is pulled back to its mean: normal noise with an exponential memory (Ornstein and Uhlenbeck 1930)."""

    mean: Rate
    """The mean, which is the first rate; where ``least`` cuts off much, the rate is higher in the mean."""
    deviation: Rate
    """Standard deviation in the long run."""
    least: Rate
    """The smallest rate: what would be below it is it."""


#: A rate, or a table of how it changes.
ChangingRate = Annotated[
    LineRate | RateSchedule | RateTrace | RateTable | AggregatingRate | RandomWalk | Markov | OrnsteinUhlenbeck,
    Forms({"schedule": "schedule", "trace": "trace", "table": "table"}),
]


def nominal_rate(rate: object) -> tuple[float, float | None]:
    """The rate of a link in bit/s, and in packets/s where that limits it; its mean or its first one, if it changes.

    >>> nominal_rate("2 Mbit/s")
    (2000000.0, None)
    """
    if isinstance(rate, Changing):
        return rate.nominal(), None
    return line_rate(rate)
