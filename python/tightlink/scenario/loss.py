"""The key of a link's losses: a fraction, or a table of a model.

Example:
    >>> LossPattern(packets=[3, 7, 8]).spec()
    {'kind': 'pattern', 'packets': [3, 7, 8], 'every': None, 'from_s': 0.0, 'until_s': None}
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from tightlink import units
from tightlink.errors import ScenarioError, closest
from tightlink.scenario.changes import Changing, Schedule, Step
from tightlink.scenario.course_files import CourseTable
from tightlink.scenario.forms import Forms, by_kind
from tightlink.scenario.table import wrong
from tightlink.scenario.values import Delay, Fraction, Period, ensured, seconds

#: Packets are counted in as many bits.
_MOST: Final = 2**53
_NUMBER: Final = BeforeValidator(
    ensured(lambda number: type(number) is int and 0 < number <= _MOST, "the number of a packet, from 1")
)


class LossModel(Changing):
    """What the models of a wire's losses have in common."""

    kind: str
    """Model of the losses."""


class GilbertElliott(LossModel):
    """Losses in bursts: two states, between which each packet may change (Gilbert 1960, Elliott 1963).

    A visit to the bad state lasts 1 / ``to_good`` packets in the mean, and ``to_bad`` / (``to_bad`` + ``to_good``)
    of the packets find it.
    """

    kind: Literal["gilbert-elliott"] = "gilbert-elliott"
    to_bad: Fraction
    """Probability that the packet after one in the good state finds the bad one."""
    to_good: Fraction
    """Probability that the packet after one in the bad state finds the good one."""
    loss_good: Fraction = 0.0
    """Probability that a packet is lost in the good state."""
    loss_bad: Fraction = 1.0
    """Probability that a packet is lost in the bad state."""

    def _check(self) -> None:
        if units.fraction(self.to_bad) == 0:
            raise wrong("a fraction above 0: else the bad state is never found", key="to_bad", value=self.to_bad)
        if units.fraction(self.to_good) == 0:
            raise wrong("a fraction above 0: else the bad state is never left", key="to_good", value=self.to_good)


class BitErrors(LossModel):
    """Losses by wrong bits, of which one on the line loses a packet: long packets are lost more often."""

    kind: Literal["bit-errors"] = "bit-errors"
    rate: Fraction
    """Probability that a bit is wrong."""

    def _check(self) -> None:
        if not 0 < units.fraction(self.rate) < 1:
            raise wrong("a probability above 0 and below 1, such as 1e-6", key="rate", value=self.rate)


_RISING: Final = AfterValidator(
    ensured(
        lambda numbers: all(before < after for before, after in itertools.pairwise(numbers)),
        "numbers that rise, such as [3, 7, 8]",
    )
)


class LossPattern(LossModel):
    """Losses of exactly these packets, counted in the order of their transmission: for tests and teaching.

    Without ``packets`` and ``every`` it loses all whose transmission begins in the span of time.
    """

    kind: Literal["pattern"] = "pattern"
    packets: Annotated[list[Annotated[int, _NUMBER]], Field(min_length=1), _RISING] | None = None
    """Numbers of the packets that are lost, rising, from 1 for the first in the span."""
    every: Annotated[int, _NUMBER] | None = None
    """N, where every N-th packet of the span is lost."""
    from_: Annotated[Delay | None, Field(alias="from")] = None
    """When counting begins (default "0 s")."""
    to: Period | None = None
    """When it ends (default never)."""

    def _check(self) -> None:
        if not any((self.packets, self.every, self.from_, self.to)):
            raise wrong("packets, every, from or to")
        if self.to is not None and units.time(self.to) <= units.time(self.from_ or "0 s"):
            raise wrong(f"a time after from, which is {self.from_}", key="to", value=self.to)

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {
            "kind": self.kind,
            "packets": self.packets or [],
            "every": self.every,
            "from_s": units.time(self.from_ or "0 s"),
            "until_s": seconds(self.to),
        }


class LossStep(Step):
    """From when on packets are lost with which probability."""

    loss: Fraction
    """Probability that a packet is lost."""

    def value(self) -> float:
        """The probability that a packet is lost."""
        return units.fraction(self.loss)


class LossSchedule(Schedule, LossModel):
    """Losses with a probability that changes in steps."""

    schedule: Annotated[list[LossStep], Field(min_length=1)]
    """The steps, from "0 s" on; the last one holds to the end, unless there is a period."""

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return self.times() | {"loss": list(self.course()[1])}


class LossTable(CourseTable, LossModel):
    """Losses by a table in a file, CSV or Parquet, in steps: ``time_s`` and ``loss``, a probability."""

    quantity: ClassVar[str] = "loss"
    columns: ClassVar[Mapping[str, float]] = {"loss": 1.0}

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        losses = self.course()[1]
        if max(losses) > 1:
            expected = f"probabilities from 0 to 1, of which {max(losses):g} is none"
            raise ScenarioError(expected, key="loss.table", value=self.table)
        return self.times() | {"loss": list(losses)}


_Loss = Fraction | GilbertElliott | BitErrors | LossPattern | LossSchedule | LossTable
_KINDS: Final = tuple(by_kind(_Loss))
#: Keys that say the kind by themselves.
_KIND_OF_KEY: Final = {"schedule": "schedule", "table": "table"} | dict.fromkeys(
    ("packets", "every", "from", "from_", "to"), "pattern"
)


def _no_kind_alone(value: object) -> object:
    if isinstance(value, str) and (kind := closest(value, _KINDS)):
        raise wrong('a fraction from 0 to 1, or such as "1 %", or a table with a kind', value=value,
                    suggestion=f'{{ kind = "{kind}", ... }}')  # fmt: skip
    return value


#: A fraction of packets, each lost whatever becomes of the others, or a table.
Loss = Annotated[_Loss, Forms(_KIND_OF_KEY), BeforeValidator(_no_kind_alone)]


def loss_spec(loss: object) -> float | dict[str, Any]:
    """The losses of a link as the engine reads them.

    >>> loss_spec("1 %"), loss_spec(BitErrors(rate=1e-6))
    (0.01, {'kind': 'bit-errors', 'rate': 1e-06})
    """
    return loss.spec() if isinstance(loss, LossModel) else units.fraction(loss)


def loses_nothing(loss: object) -> bool:
    """Whether a key of losses says that nothing is lost, or there is none.

    >>> loses_nothing("0 %"), loses_nothing(BitErrors(rate=1e-6))
    (True, False)
    """
    return loss is None or (not isinstance(loss, LossModel) and units.fraction(loss) == 0)
