"""Levels of a factor as text: lists, and ranges of numbers or of quantities.

Example:
    >>> levels("5 packets, 20 packets")
    ['5 packets', '20 packets']
    >>> levels("1..5"), levels("10 ms..30 ms:10 ms"), levels("1..16:x2")
    ([1, 2, 3, 4, 5], ['10 ms', '20 ms', '30 ms'], [1, 2, 4, 8, 16])
    >>> levels('{ kind = "drop-tail", limit = "5 packets" }, 20 packets')
    [{'kind': 'drop-tail', 'limit': '5 packets'}, '20 packets']
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Self

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario import parse_value

#: Kinds of quantities that a level may be.
KINDS: Final = (
    units.RATE,
    units.PACKET_RATE,
    units.ARRIVAL_RATE,
    units.TIME,
    units.SIZE,
    units.PACKETS,
    units.FRACTION,
    units.BDP,
)
_RANGE: Final = re.compile(r"\s*([^\"'\[{]+?)\s*\.\.\s*([^\"'\[{]+?)\s*(?::\s*(.+?)\s*)?")
#: Levels of one range.
MOST_LEVELS: Final = 100_000
_EXAMPLE: Final = 'a range such as "1..20", "10 ms..50 ms:10 ms" or "1..1024:x2"'


@dataclass(frozen=True)
class Interval:
    """All values from one to another, numbers or quantities, for designs that choose among them.

    Example:
        >>> Interval.of("10 ms", "50 ms").at(0.25), Interval.of(1, 20).at(0.999)
        ('20 ms', 20)
    """

    low: Fraction
    high: Fraction
    unit: str
    """Of quantities; of plain numbers it is empty."""
    whole: bool

    @classmethod
    def of(cls, low: object, high: object) -> Self:
        """From the values that stand at its ends.

        Raises:
            ScenarioError: They are no numbers or quantities of one kind, or out of order.
        """
        kind, first = _number(low)
        other, last = _number(high)
        if kind is not other or first.exact > last.exact:
            what, meant = "is below the first", None
            if kind is not other:
                unit, what = first.unit or last.unit, "is of another kind"
                # Who writes 1..10 Mbit/s leaves the unit out once.
                meant = f'"{first.number} {unit}..{last.number} {unit}"' if None in {kind, other} else None
            raise ScenarioError(f"{_EXAMPLE}: the second value {what}", value=f"{low}..{high}", suggestion=meant)
        whole = kind is units.PACKETS or (kind is None and isinstance(low, int) and isinstance(high, int))
        # One packet is written by itself.
        unit = first.unit if kind is None else kind.spellings[first.unit]
        return cls(first.exact, last.exact, unit, whole)

    def at(self, share: float) -> int | float | str:
        """The value at a share of the way from the lower end to the upper one, both included."""
        span = self.high - self.low
        if self.whole:
            return self.write(self.low + min(int(Fraction(share) * (span + 1)), int(span)))
        return self.write(Fraction(f"{float(self.low + span * Fraction(share)):.6g}"))

    def write(self, value: Fraction) -> int | float | str:
        """A value as a scenario has it."""
        if not self.unit:
            return int(value) if self.whole else float(value)
        number = value / next(kind.units[self.unit] for kind in KINDS if self.unit in kind.units)
        shown = str(number.numerator) if number.denominator == 1 else f"{float(number):.12g}"
        return str(units.parse(f"{shown} {self.unit}", *KINDS)[1])


def levels(text: str) -> list[object] | Interval:
    """The levels that a text lists; an interval where it is a range of quantities without a step."""
    parts = split(text)
    if len(parts) == 1 and (match := _RANGE.fullmatch(parts[0])):
        interval = _interval(match)
        if match[3] is None and not interval.whole:
            return interval
    return [level for part in parts for level in _levels(part)]


def split(text: str, separator: str = ",") -> list[str]:
    """The parts of a text between separators that stand in no quotes and no brackets.

    >>> split('a, "b, c", [1, 2]')
    ['a', '"b, c"', '[1, 2]']
    """
    parts, depth, quote = [""], 0, ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        else:
            depth += (c in "[{") - (c in "]}")
        if c == separator and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def _levels(part: str) -> Iterator[object]:
    match = _RANGE.fullmatch(part)
    if match is None:
        if not part:
            raise ScenarioError("a level between two commas", value=part)
        yield parse_value(part)
        return
    interval = _interval(match)
    step = match[3] or "1"
    times = step.startswith("x")
    number = _number(parse_value(step.removeprefix("x")))[1].exact
    if number <= (1 if times else 0):
        raise ScenarioError(_EXAMPLE, value=part)
    if match[3] is None and not interval.whole:
        raise ScenarioError(f"{_EXAMPLE}: this one needs a step", value=part)
    # From one whole number to another in parts, as a share from 0 to 1.
    parts = replace(interval, whole=False) if number.denominator != 1 else interval
    value = interval.low
    if times and value <= 0:
        raise ScenarioError(f"{_EXAMPLE}: one that is multiplied begins above zero", value=part)
    for _ in range(MOST_LEVELS):
        yield (interval if value.denominator == 1 else parts).write(value)
        value = value * number if times else value + number
        if value > interval.high:
            return
    raise ScenarioError(f"a range of at most {MOST_LEVELS} levels", value=part)


def _interval(match: re.Match[str]) -> Interval:
    return Interval.of(parse_value(match[1]), parse_value(match[2]))


def _number(value: object) -> tuple[units.Kind | None, units.Quantity]:
    """The kind of a quantity, or none of a plain number, and its value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return None, units.Quantity(str(value), "", units.exact(value))
    try:
        return units.parse(value, *KINDS)
    except ScenarioError:
        raise ScenarioError(_EXAMPLE, value=value) from None
