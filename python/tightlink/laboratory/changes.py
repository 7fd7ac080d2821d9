"""What each position of each slider changes in the resolved scenario, so that the engine can make any combination.

A resolved scenario whose quantities that depend on others are still open is changed place by place; what is relative
the engine finds afterwards (`tightlink._core.fill` here, the same code in the browser). Sliders that depend on each
other in what is left are told of each of their combinations.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import Any, Final, TypeAlias

from tightlink.errors import Argument, ScenarioError
from tightlink.laboratory.resolved import Change, OtherLinksError, Resolved
from tightlink.laboratory.sliders import Slider
from tightlink.scenario import Scenario

#: Combinations of sliders that depend on each other, at most, and of all sliders that are checked beyond pairs.
_MOST_COMBINATIONS: Final = 1000
_CHECKED: Final = 12

Positions: TypeAlias = tuple[int, ...]


class Document:
    """A scenario and the changes that sliders make in it, for the engine of a laboratory.

    Raises:
        ScenarioError: The scenario itself is wrong, or too many combinations of sliders would have to be told.
    """

    def __init__(self, scenario: Scenario, sliders: Sequence[Slider], resolved: Resolved | None = None) -> None:
        self.base = scenario
        self.sliders = list(sliders)
        try:
            self._make(resolved or Resolved(scenario))
        except OtherLinksError:
            self._make(Resolved(scenario, by_wires=False))

    def _make(self, resolved: Resolved) -> None:
        self._resolved = resolved
        self._choices: dict[tuple[Positions, Positions], dict[str, Any]] = {}
        own = self._tables({})
        if isinstance(own, str):
            self.base.resolve()
            raise ScenarioError(own, statement=True)
        self._own = own
        self._widest = self._longest()
        #: The numbers of the sliders that are patched together.
        self.together: list[Positions] = [(index,) for index in range(len(self.sliders))]
        self._settle()
        for of in self.together:
            for positions in self._combinations(of):
                self._choice(of, positions)

    def to_dict(self) -> dict[str, Any]:
        """What `tightlink-lab`, the crate, reads."""
        patches = []
        for of in self.together:
            at = {}
            for positions in self._combinations(of):
                found = self._choice(of, positions)
                if "changes" in found:
                    found = {"changes": list(self._resolved.of_links(found["changes"]))}
                at[",".join(map(str, positions))] = found
            patches.append({"of": list(of), "at": at})
        return {"scenario": self._resolved.with_links(self._widest), "patches": patches}

    def _combinations(self, of: Positions) -> Iterator[Positions]:
        return itertools.product(*(range(len(self.sliders[index].values)) for index in of))

    def error(self, slider: int, position: int) -> str | None:
        """Why there is no scenario with one slider at a position and the others where they are."""
        found = self._tables({slider: position})
        return found if isinstance(found, str) else None

    def scenario(self, positions: dict[int, int]) -> Scenario:
        """The scenario with some sliders moved.

        Raises:
            ScenarioError: There is none at these positions.
        """
        changes = self._set(positions)
        return self.base.set_all(changes) if changes else self.base

    def _set(self, positions: dict[int, int]) -> dict[str, Any]:
        """What some sliders set: one of a whole table does before those of keys in it."""
        moved = [(self.sliders[index], place) for index, place in sorted(positions.items())]
        return {slider.key: slider.values[place] for slider, place in moved if place != slider.start}

    def _tables(self, positions: dict[int, int]) -> dict[str, Any] | str:
        """The tables with some sliders moved, or one sentence why there are none."""
        return self._resolved.tables(self._set(positions))

    def _longest(self) -> dict[str, Any]:
        """The scenario's tables, each group with as many flows as any slider gives it."""
        tables = dict(self._own)
        groups = [dict(group) for group in tables["groups"]]
        for index, slider in enumerate(self.sliders):
            for place in range(len(slider.values)):
                found = self._tables({index: place})
                if isinstance(found, str) or len(found["groups"]) != len(groups):
                    continue
                for group, other in zip(groups, found["groups"], strict=True):
                    if _begins(other["flows"], group["flows"]):
                        group["flows"] = other["flows"]
        return tables | {"groups": groups}

    def _choice(self, of: Positions, positions: Positions) -> dict[str, Any]:
        if (of, positions) not in self._choices:
            found = self._tables(dict(zip(of, positions, strict=True)))
            made = {"error": found} if isinstance(found, str) else {"changes": self._changes(of, found)}
            self._choices[of, positions] = made
        return self._choices[of, positions]

    def _changes(self, of: Positions, tables: dict[str, Any]) -> list[Change]:
        changes = list(differences(self._own, tables))
        for number, (group, longest) in enumerate(zip(tables["groups"], self._widest["groups"], strict=True)):
            if self._counts(of, number) and _begins(longest["flows"], group["flows"]):
                changes.append((f"/groups/{number}/flows", {"keep": len(group["flows"])}))
        return changes

    def _counts(self, of: Positions, group: int) -> bool:
        """Whether one of the sliders changes how many flows a group has."""
        own = len(self._own["groups"][group]["flows"])
        for index in of:
            for place in range(len(self.sliders[index].values)):
                found = self._tables({index: place})
                if not isinstance(found, str) and len(found["groups"][group]["flows"]) != own:
                    return True
        return False

    def _settle(self) -> None:
        """Puts sliders together that depend on each other, and checks that nothing else does."""
        pairs = itertools.combinations(range(len(self.sliders)), 2)
        for one, other in pairs:
            ends = (self._ends(one), self._ends(other))
            count = max(map(len, ends)) if all(ends) else 0
            if any(self._is_wrong({one: a, other: b}) for a, b in islice(zip(*map(cycle, ends), strict=False), count)):
                self._join(one, other)
        choose = random.Random(0)  # noqa: S311
        for _ in range(_CHECKED):
            positions = {index: choose.randrange(len(slider.values)) for index, slider in enumerate(self.sliders)}
            if self._is_wrong(positions):
                keys = ", ".join(slider.key for slider in self.sliders)
                raise ScenarioError(f"sliders that depend on each other only in pairs: {keys}", file=Argument("slider"))

    def _ends(self, index: int) -> list[int]:
        """Positions at which it shows whether sliders depend on each other."""
        slider = self.sliders[index]
        places = range(len(slider.values)) if slider.is_choice else {0, len(slider.values) - 1}
        return [place for place in places if place != slider.start]

    def _is_wrong(self, positions: dict[int, int]) -> bool:
        """Whether the changes of each slider, made one after the other, differ from those of all at once."""
        wanted = self._tables(positions)
        made: dict[str, Any] | str = self._widest
        for of in self.together:
            here = tuple(positions.get(index, self.sliders[index].start) for index in of)
            found = self._choice(of, here)
            if "error" in found:
                made = str(found["error"])
                break
            try:
                made = changed(made, found["changes"])
            except LookupError:
                # One slider takes away what the other changes.
                return True
        return isinstance(made, str) != isinstance(wanted, str) or (not isinstance(wanted, str) and made != wanted)

    def _join(self, one: int, other: int) -> None:
        first = next(of for of in self.together if one in of)
        second = next(of for of in self.together if other in of)
        if first == second:
            return
        joined = tuple(sorted(first + second))
        combinations = 1
        for index in joined:
            combinations *= len(self.sliders[index].values)
        if combinations > _MOST_COMBINATIONS:
            keys = " and ".join(self.sliders[index].key for index in joined)
            raise ScenarioError(
                f"at most {_MOST_COMBINATIONS} combinations of {keys}, which depend on each other, not {combinations}",
                file=Argument("slider"),
            )
        self.together = [of for of in self.together if of not in {first, second}]
        self.together.append(joined)


def differences(own: Any, other: Any, place: str = "") -> Iterator[Change]:
    """The changes that make one table of another.

    >>> list(differences({"a": [1, 2], "b": 3}, {"a": [1, 4], "b": 3}))
    [('/a/1', {'set': 4})]
    """
    if isinstance(own, dict) and isinstance(other, dict) and own.keys() == other.keys():
        for key, value in own.items():
            if value is not other[key] and not (
                place.startswith("/groups/") and key == "flows" and _either(value, other[key])
            ):
                yield from differences(value, other[key], f"{place}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(own, list) and isinstance(other, list) and len(own) == len(other):
        for index, (value, now) in enumerate(zip(own, other, strict=True)):
            # Most are numbers of nodes, thousands of them and the same.
            if type(value) is not int or type(now) is not int or value != now:
                yield from differences(value, now, f"{place}/{index}")
    elif own != other or type(own) is not type(other):
        yield place, {"set": other}


def changed(tables: Any, changes: Sequence[Change]) -> Any:
    """Tables with changes made in them, as the engine makes them.

    >>> changed({"a": [1, 2], "b": 3}, [("/a/1", {"set": 4}), ("/a", {"keep": 1})])
    {'a': [1], 'b': 3}

    Raises:
        LookupError: A place is not there.
    """
    for place, change in changes:
        steps = [step.replace("~1", "/").replace("~0", "~") for step in place.split("/")[1:]]
        tables = _changed(tables, steps, change)
    return tables


def _changed(table: Any, steps: list[str], change: dict[str, Any]) -> Any:
    if not steps:
        return change["set"] if "set" in change else table[: change["keep"]]
    match table:
        case list():
            key: Any = int(steps[0])
        case dict():
            key = steps[0]
        case _:
            raise LookupError(steps[0])
    copy = table.copy()
    copy[key] = _changed(table[key], steps[1:], change)
    return copy


def _begins(longer: list[Any], shorter: list[Any]) -> bool:
    return len(longer) >= len(shorter) and longer[: len(shorter)] == shorter


def _either(one: list[Any], other: list[Any]) -> bool:
    """Whether one of two lists of unequal length begins with the other."""
    return len(one) != len(other) and (_begins(one, other) or _begins(other, one))
