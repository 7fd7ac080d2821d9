"""Commands that test a change of a run's scenario: the file of the scenario, what was changed already, and the change.

Example:
    >>> import tightlink as tl
    >>> scenario = tl.load("examples/one-flow.toml", set={"duration": "5 s"})
    >>> print(Changed(scenario).command({"link.bottleneck.queue": {"kind": "fq-codel"}}))
    tightlink run examples/one-flow.toml --set duration="5 s" --set link.bottleneck.queue="{ kind = 'fq-codel' }"
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any, Final

from tightlink.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.scenario import Scenario

#: What a shell takes as it is between double quotes.
_PLAIN: Final = re.compile(r"[^\"\\$`!\n]*")
#: How files of stored runs end, which hold more than a scenario.
_STORED: Final = ".parquet"


class Changed:
    """The changes of a scenario that can be suggested.

    Args:
        scenario: That of the run.
        typed: What was typed to make the run, to which the changes are added; without it the scenario's file and what
            was changed of it are named.
        small: Whether resolving it takes no time to speak of: then every suggestion is tried as far as that.
    """

    def __init__(self, scenario: Scenario, typed: str | None = None, *, small: bool = True) -> None:
        self._scenario = scenario
        self._typed = typed
        self._small = small

    def command(self, changes: Mapping[str, object]) -> str:
        """What to type to run the scenario with keys changed; empty if the scenario does not allow the change."""
        try:
            changed = self._scenario.set_all(changes)
            if self._small:
                changed.resolve()
        except ScenarioError:
            return ""
        options = [option(key, value) for key, value in changes.items()]
        if self._typed is not None:
            return " ".join([self._typed, *options])
        if self._scenario.file is None or self._scenario.file.endswith(_STORED):
            written = ", ".join(f"{key!r}: {value!r}" for key, value in changes.items())
            return f"tl.simulate(run.scenario.set_all({{{written}}})).why()"
        before = {key: self._value(key) for key in self._scenario.changed if key not in changes}
        known = [option(key, value) for key, value in before.items() if value is not None]
        return " ".join(["tightlink run", shlex.quote(self._scenario.file), *known, *options])

    def _value(self, key: str) -> object:
        """The value of a key that was changed when the scenario was loaded; nothing where it was removed."""
        found: Any = self._scenario.written()
        for step in re.split(r"\.(?![^\[]*\])", key):
            name, _, index = step.partition("[")
            found = found.get(name) if isinstance(found, dict) else None
            if found is None:
                return None
            if index == "*]":
                found = next(iter(found.values() if isinstance(found, dict) else found), None)
            elif index:
                found = found[int(index[:-1])]
        value: object = found
        return value


def option(key: str, value: object) -> str:
    """An option that changes a key of a scenario, as it is typed.

    >>> option("duration", "5 s"), option("link[*].loss", 0.1)
    ('--set duration="5 s"', '--set "link[*].loss=0.1"')
    """
    text = value if isinstance(value, str) else _toml(value)
    if _PLAIN.fullmatch(text):
        if "[" in key:
            return f'--set "{key}={text}"'
        return f"--set {key}=" + (f'"{text}"' if re.search(r"[^\w.+-]", text) else text)
    return f"--set {shlex.quote(f'{key}={text}')}"


def _toml(value: object) -> str:
    """A value as TOML, texts in single quotes: a shell takes them between double ones."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}'"
        case dict():
            return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case _:
            return repr(value)
