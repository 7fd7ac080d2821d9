"""The sliders of a laboratory: keys of its scenario, and the values that each can be moved to.

Example:
    >>> scenario = tl.loads('''
    ... profile = "ns2"
    ... duration = "2 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> slider = Slider.parse("link.wire.rate=1 Mbit/s,4 Mbit/s", scenario)
    >>> slider.values, slider.start
    (('1 Mbit/s', '2 Mbit/s', '4 Mbit/s'), 1)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from tightlink import units
from tightlink.errors import Argument, ScenarioError
from tightlink.experiment.factors import Factor, same, value_at
from tightlink.experiment.levels import KINDS
from tightlink.scenario import Scenario

#: Positions of a slider over an interval, and the most that one can have.
_POSITIONS: Final = 41
_MOST_POSITIONS: Final = 200


@dataclass(frozen=True)
class Slider:
    """A key of the scenario and the values that it can have."""

    key: str
    values: tuple[Any, ...]
    """As the scenario writes them."""
    start: int
    """Which of them the scenario has."""

    @classmethod
    def of(cls, key: str, values: Sequence[Any], scenario: Scenario) -> Self:
        """A slider over some values and the one that the scenario has, in order if they are quantities.

        Raises:
            ScenarioError: The scenario has no such key, or several values of it.
        """
        own = value_at(scenario, key)
        if own is None:
            own = _counted(key, values, scenario)
        values = [_share(value) if key.endswith(".loss") else value for value in values]
        found = [value for value in values if not same(value, own)]
        kind, size = _measured(own)
        if kind is not None and all(_measured(value)[0] == kind for value in found):
            place = sum(_measured(value)[1] < size for value in found)
            found.sort(key=lambda value: _measured(value)[1])
        else:
            place = next((index for index, value in enumerate(values) if same(value, own)), 0)
        found.insert(place, own)
        if len(found) > _MOST_POSITIONS:
            raise ScenarioError(
                f"at most {_MOST_POSITIONS} values, not {len(found)}", value=key, file=Argument("slider")
            )
        return cls(key, tuple(found), place)

    @classmethod
    def parse(cls, text: str, scenario: Scenario) -> Self:
        """A slider as it stands in ``--slider``: ``key=v1,v2,…`` or a range, as in ``--vary``.

        Raises:
            ScenarioError: It cannot be understood, or the scenario has no such key.
        """
        try:
            factor = Factor.parse(text)
        except ScenarioError as error:
            error.file = Argument("slider")
            raise
        if len(factor.keys) > 1 or factor.only:
            raise ScenarioError("one key and its values", value=text, file=Argument("slider"))
        if factor.interval is None:
            return cls.of(factor.keys[0], [level[0] for level in factor.levels], scenario)
        shares = [position / (_POSITIONS - 1) for position in range(_POSITIONS)]
        return cls.of(factor.keys[0], list(dict.fromkeys(map(factor.interval.at, shares))), scenario)

    @property
    def texts(self) -> list[str]:
        """What is shown for each value."""
        return [self._text(value) for value in self.values]

    def _text(self, value: Any) -> str:
        if isinstance(value, dict):
            return str(value["kind"])
        is_share = self.key.endswith(".loss") and isinstance(value, int | float)
        return units.format_fraction(value) if is_share else str(value)

    def place(self, value: object) -> int | None:
        """The position of a value; nothing where it has none."""
        return next((index for index, own in enumerate(self.values) if same(own, value)), None)

    @property
    def is_choice(self) -> bool:
        """Whether its values are words rather than quantities."""
        return any(_measured(value)[0] is None for value in self.values)


def _counted(key: str, values: Sequence[Any], scenario: Scenario) -> int:
    """The number of flows of traffic that has no such key; of others without a value there is none to begin with."""
    is_count = key.startswith("traffic.") and key.endswith(".flows")
    try:
        # Its own sentence where there is no such key.
        scenario.set(key, values[0] if values and not is_count else 1).explicit()
    except ScenarioError as error:
        error.file = Argument("slider")
        raise
    if not is_count:
        raise ScenarioError(
            "a key that has one value in the scenario, as set gives it", value=key, file=Argument("slider")
        )
    return 1


def _share(value: Any) -> Any:
    """A fraction as the scenario holds it; what is none stays, as its position says why."""
    try:
        return units.fraction(value)
    except ScenarioError:
        return value


def _measured(value: object) -> tuple[str | None, float]:
    """The kind of a number or a quantity, and its size; nothing of words."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number", float(value)
    try:
        kind, quantity = units.parse(value, *KINDS) if isinstance(value, str) else (None, None)
    except ScenarioError:
        return None, 0.0
    return (None, 0.0) if kind is None or quantity is None else (kind.name, float(quantity.exact))
