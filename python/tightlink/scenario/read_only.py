"""Tables and lists inside a scenario, which are as immutable as the scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

from tightlink.errors import TightlinkError, closest
from tightlink.scenario.attributes import MissingAttributeError


def _refuse(self: ReadOnlyDict | ReadOnlyList, *_: object, **__: object) -> Never:
    raise TightlinkError(f"{self.place} cannot be changed: scenario.set(key, value) returns a changed copy")


class ReadOnlyDict(dict[Any, Any]):
    """A dictionary at a place of a table."""

    place: str

    # Hidden from type checkers, which would take any name for one that there is.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say how what is inside is asked for."""
            place = self.__dict__.get("place", "dict")
            said = f"{place} has no attribute {name!r}"
            raise MissingAttributeError(
                said, lambda: f'{place}["{meant}"]' if (meant := closest(name, map(str, self))) else None
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made at once, as nothing is put in later."""
        return read_only, (dict(self), self.place)

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


class ReadOnlyList(list[Any]):
    """A list at a place of a table."""

    place: str

    def __reduce__(self) -> tuple[Any, ...]:
        """As those of `ReadOnlyDict`."""
        return read_only, (list(self), self.place)

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = _refuse
    insert = pop = remove = reverse = sort = _refuse


def read_only(value: Any, place: str) -> Any:
    """A value of a table, with what it holds, that refuses to be changed and says how a scenario is.

    >>> links = read_only({"wire": [1, 2]}, "Scenario.link")
    >>> links["wire"], links == {"wire": [1, 2]}
    ([1, 2], True)
    >>> links["other"] = 3
    Traceback (most recent call last):
    tightlink.errors.TightlinkError: Scenario.link cannot be changed: scenario.set(key, value) returns a changed copy
    """
    made: ReadOnlyDict | ReadOnlyList
    if type(value) is dict:
        made = ReadOnlyDict({key: read_only(item, place) for key, item in value.items()})
    elif type(value) is list:
        made = ReadOnlyList(read_only(item, place) for item in value)
    else:
        return value
    made.place = place
    return made
