"""Named packs: what they ask of a control, from ``requirements.toml``, and whether a control meets it.

Example:
    >>> [(name, pack.title) for name, pack in packs().items()]
    [('rfc9743', 'What RFC 9743 asks of a new control'), ('wireless', 'Over wireless links, after RFC 8869')]
    >>> one = packs()["rfc9743"].requirements[1]
    >>> one.title, one.bound, one.judged(0.02, 0.001), one.judged(0.0395, 0.001), one.judged(0.2, None)
    ('Keeps queues short', 0.04, 'met', 'open', 'missed')
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from tightlink.errors import ScenarioError, closest, one_of

Verdict: TypeAlias = Literal["met", "missed", "open"]

_FILE: Final = Path(__file__).parents[1] / "requirements.toml"


@dataclass(frozen=True)
class Requirement:
    """One thing that a pack asks of a control."""

    title: str
    place: str
    """Where it stands: a section, or the name of a test."""
    test: str = ""
    """The test that says it; without one it is open."""
    measure: str = ""
    settings: tuple[str, ...] = ()
    """Those settings of the test in which it must hold; without them, all."""
    at_least: float | None = None
    at_most: float | None = None
    origin: str = ""
    """Where the bound is from."""
    open: str = ""
    """Why no test says it."""

    @property
    def bound(self) -> float:
        """The value that is still enough."""
        found = self.at_most if self.at_least is None else self.at_least
        return 0.0 if found is None else found

    def judged(self, value: float | None, half_width: float | None) -> Verdict:
        """Whether a mean meets it: open where its confidence interval has values on both sides of the bound.

        Args:
            value: The mean; without one it did not happen, which misses the bound.
            half_width: Half of its confidence interval, if it has one.
        """
        if value is None:
            return "missed"
        margin = (value - self.bound) if self.at_least is not None else (self.bound - value)
        if abs(margin) < (half_width or 0.0):
            return "open"
        return "met" if margin >= 0 else "missed"


@dataclass(frozen=True)
class Pack:
    """A named pack of requirements."""

    title: str
    requirements: tuple[Requirement, ...] = field(default=())

    @property
    def tests(self) -> list[str]:
        """The names of the tests that it needs."""
        return list(dict.fromkeys(each.test for each in self.requirements if each.test))


@cache
def packs() -> dict[str, Pack]:
    """The packs of requirements, by name."""
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        name: Pack(table["title"], tuple(_requirement(each) for each in table["requirements"]))
        for name, table in tables.items()
    }


def _requirement(table: dict[str, Any]) -> Requirement:
    own = {("origin" if key == "from" else key): value for key, value in table.items()}
    return Requirement(**own | {"settings": tuple(own.get("settings", ()))})


def pack_named(name: str) -> Pack:
    """The pack of this name.

    Raises:
        ScenarioError: There is none.
    """
    known = packs()
    if name not in known:
        raise ScenarioError(one_of(known), key="pack", value=name, suggestion=closest(name, known))
    return known[name]
