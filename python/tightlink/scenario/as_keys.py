"""Keys of a scenario that were given as arguments of a function: what to write instead.

Example:
    >>> import tightlink as tl
    >>> tl.simulate(tl.network("dsl"), duration="5 s")
    Traceback (most recent call last):
    tightlink.errors.CallError: tl.simulate: duration is a key of the scenario; write \
tl.simulate(scenario.set("duration", "5 s"))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tightlink.calls import Hint
from tightlink.errors import show


def as_keys(one: str, several: str = "") -> Hint:
    """What to write for an argument that is a key of the scenario.

    ``one`` sets it, with {key} and {value}; ``several`` varies it, where the argument has a list of values.
    """

    def hint(name: str, value: object, given: Sequence[object]) -> str | None:
        key = _key(name, given)
        if key is None:
            return None
        write = several if several and isinstance(value, list | tuple | range) else one
        shown = show(list(value) if isinstance(value, range) else value, in_python=True)
        return f"{name} is a key of the scenario; write {write.format(key=show(key), value=shown)}"

    return hint


def _key(name: str, given: Sequence[object]) -> str | None:
    """The dotted path that was meant, as the scenario among the arguments has it."""
    from tightlink.scenario.model import Scenario

    if name in Scenario.model_fields or "." in name:
        return name
    scenario = next((each for each in given if isinstance(each, Scenario)), None)
    paths = () if scenario is None else _paths(scenario.written())
    return next((path for path in paths if path.rpartition(".")[2] == name), None)


def _paths(table: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """The dotted paths of all keys of a table, of tables in it, too."""
    for key, value in table.items():
        yield before + key
        if isinstance(value, Mapping):
            yield from _paths(value, f"{before}{key}.")
