"""Factors: what an experiment varies. Each is a key of the scenario, or several that change together.

Example:
    >>> Factor.parse("link.bottleneck.queue=5 packets,20 packets").levels
    (('5 packets',), ('20 packets',))
    >>> Factor.parse("link.a.rate & link.a.delay = 1 Mbit/s & 10 ms, 2 Mbit/s & 20 ms").levels
    (('1 Mbit/s', '10 ms'), ('2 Mbit/s', '20 ms'))
    >>> Factor.parse("traffic.a.tcp.window=4 packets,8 packets if traffic.a.tcp.recovery=sack").only
    {'traffic.a.tcp.recovery': ('sack',)}
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Self, TypeAlias

from tightlink import arguments, control, units
from tightlink.errors import Argument, ScenarioError
from tightlink.experiment.levels import KINDS, MOST_LEVELS, Interval, levels, split
from tightlink.scenario import Scenario, parse_value
from tightlink.scenario.overrides import values_at
from tightlink.scenario.table import Table, as_set
from tightlink.scenario.toml import literal
from tightlink.scenario.values import is_control

#: The values of a factor's keys at one of its levels.
Level: TypeAlias = tuple[Any, ...]

_EXAMPLE: Final = 'key=v1,v2,…, such as "link.bottleneck.queue=5 packets,20 packets" or traffic.bulk.flows=1..20'
_FLOWS: Final = re.compile(r"traffic\.([^.]+)\.flows")
_ONLY: Final = re.compile(r"(.*)\sif\s+([^=\s]+)\s*=\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Factor:
    """A key that is varied, or several that change together, with its levels."""

    keys: tuple[str, ...]
    levels: tuple[Level, ...] = ()
    interval: Interval | None = None
    """Instead of levels: values to choose among, for Latin hypercubes."""
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Values that other keys must have for this factor to matter; elsewhere its keys stay as they are."""

    @property
    def name(self) -> str:
        """How the factor is called: its keys."""
        return " & ".join(self.keys)

    @classmethod
    def parse(cls, text: str) -> Self:
        """A factor as it stands in ``--vary``: ``key=v1,v2,…``, a range, with ``if key=value`` at the end."""
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise ScenarioError(_EXAMPLE, value=text, file=Argument("vary"))
        only: dict[str, Any] = {}
        if match := _ONLY.fullmatch(value):
            value, only = match[1], {match[2]: [parse_value(match[3].strip())]}
        try:
            return cls.of(key, value, only)
        except ScenarioError as error:
            raise error.located(Argument("vary")) from None

    @classmethod
    def of(cls, keys: str | Iterable[str], given: object, only: Mapping[str, object] | None = None) -> Self:
        """A factor from Python or TOML.

        Several keys that change together are a tuple, or have ``&`` between them; then each level is a list of their
        values. Levels are given as a list, a text as in `parse`, or a table with ``levels`` and ``if``. ``only`` has
        the values that other keys must have for it to matter.
        """
        if isinstance(keys, str):
            keys = (part.strip() for part in keys.split("&"))
        names = tuple(arguments.text("vary", key, "a dotted key") for key in arguments.several("vary", keys))
        name = " & ".join(names)
        if isinstance(given, Mapping):
            unknown = [key for key in given if key not in ("levels", "if")]
            if unknown or "levels" not in given:
                raise ScenarioError("levels, or a table with levels and if", key=name, value=dict(given))
            table: Mapping[str, Any] = given
            given, only = table["levels"], table.get("if", only)
        try:
            found = _levels(names, given)
        except ScenarioError as error:
            raise ScenarioError(error.expected, key=name, value=error.value, suggestion=error.suggestion) from None
        conditions = {
            key: tuple(value) if isinstance(value, list | tuple) else (value,) for key, value in (only or {}).items()
        }
        if isinstance(found, Interval):
            return cls(names, interval=found, only=conditions)
        seen = set()
        for level in found:
            if (value := _canonical(level)) in seen:
                twice = level[0] if len(level) == 1 else list(level)
                raise ScenarioError("levels that differ", key=name, value=twice)
            seen.add(value)
        return cls(names, tuple(found), only=conditions)

    def matters(self, values: Mapping[str, Any], base: Scenario) -> bool:
        """Whether the other keys have the values that this factor asks for."""
        return all(
            any(same(values[key] if key in values else value_at(base, key), wanted) for wanted in listed)
            for key, listed in self.only.items()
        )


def value_at(scenario: Scenario, key: str) -> Any:
    """The value of a key of a scenario with its defaults; nothing where there is none, or several that differ."""
    found = values_at(scenario.explicit().written(), key)
    flows = _FLOWS.fullmatch(key)
    if all(value is None for value in found) and flows is not None and flows[1] in scenario.traffic:
        # One flow, which without the key has no number in its name: a default that is not written.
        return 1
    return found[0] if found and all(value == found[0] for value in found) else None


def same(one: object, other: object) -> bool:
    """Whether two values are equal, as quantities if they are some.

    >>> same("10 Mbit/s", "10000kbit/s"), same("10 ms", "10 packets"), same(("1 s", 1), ("1000 ms", 1))
    (True, False, True)
    """
    return _canonical(one) == _canonical(other)


def as_text(level: Any) -> str:
    """A level as an option has it: tables, lists and booleans as a scenario file writes them.

    >>> print(as_text({"kind": "uniform", "most": "5 ms"}), as_text("none"), as_text(20), as_text(True))
    { kind = "uniform", most = "5 ms" } none 20 true
    """
    return literal(level) if isinstance(level, dict | list | bool) else str(level)


def _canonical(value: object) -> Hashable:
    """What equal values have in common and others have not."""
    if isinstance(value, list | tuple):
        return tuple(map(_canonical, value))
    if isinstance(value, Mapping):
        return frozenset((key, _canonical(item)) for key, item in value.items())
    if not isinstance(value, str):
        return (type(value) is bool, value)
    try:
        kind, quantity = units.parse(value, *KINDS)
    except ScenarioError:
        return value
    return kind.name, quantity.exact


def _levels(names: tuple[str, ...], given: object) -> list[Level] | Interval:
    if isinstance(given, str):
        if len(names) == 1:
            found = levels(given)
            return found if isinstance(found, Interval) else [(value,) for value in found]
        listed: list[Any] = [[parse_value(part) for part in split(level, "&")] for level in split(given)]
    elif isinstance(given, Interval):
        return given
    elif isinstance(given, Iterable) and not isinstance(given, Table):
        listed = list(islice(given, MOST_LEVELS + 1))
        if len(listed) > MOST_LEVELS:
            raise ScenarioError(f"at most {MOST_LEVELS} levels", value="a longer list")
    else:
        raise ScenarioError("a list of levels", value=given)
    if not listed:
        raise ScenarioError("at least one level", value=listed)
    if len(names) == 1:
        return [(_value(value),) for value in listed]
    for level in listed:
        if not isinstance(level, list | tuple) or len(level) != len(names):
            raise ScenarioError(f"{len(names)} values for each level, one for each key", value=level)
    return [tuple(map(_value, level)) for level in listed]


def _value(given: object) -> Any:
    """A value as a file has it, where Python has objects: tables, classes of congestion controls, numbers of NumPy."""
    return control.given(given) if is_control(given) else as_set(given)
