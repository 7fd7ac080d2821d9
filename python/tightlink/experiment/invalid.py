r"""Combinations that cannot be simulated, found before anything is.

Levels are checked one by one when a plan is made; what only a whole scenario or the engine shows is found here.

Example:
    >>> import tightlink as tl
    >>> from tightlink.experiment.plan import Plan
    >>> base = tl.network("dsl").set("duration", "1 s")
    >>> found = invalid(Plan.of(base, {"traffic.download.start": ["0.5 s", "2 s"]}).cells, within_s=10)
    >>> found.checked, list(found.errors)
    (2, [1])
    >>> print(*found.sentences(), sep="\n")
    1 of 2 combinations cannot be simulated
    cell 1: vary: traffic.download.start = "2 s": expected starts before the duration, which is 1 s
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tightlink.errors import Argument, ScenarioError, TightlinkError
from tightlink.experiment.cells import Cell
from tightlink.numbers import several
from tightlink.simulate import check

#: The place of a flow in its group, which has its values.
_MEMBER: Final = re.compile(r"\[\d+\]")
#: How long combinations are checked before they are run.
CHECK_FIRST_S: Final = 2.0
_MOST_TOLD: Final = 3


@dataclass
class Invalid:
    """What the check of some combinations found."""

    checked: int = 0
    """Combinations that there was time for."""
    errors: dict[int, TightlinkError] = field(default_factory=dict)
    """By the number of a combination, why it cannot be simulated."""
    combinations: int = 0
    """All that there are, checked or not."""

    def sentences(self, written: Callable[[TightlinkError], object] = str) -> list[str]:
        """What to tell of the combinations that cannot be simulated, the first few with why; nothing without any."""
        if not self.errors:
            return []
        part = f" (checked: {self.checked})" if self.checked < self.combinations else ""
        found = [f"{len(self.errors)} of {several(self.combinations, 'combination')}{part} cannot be simulated"]
        found += [f"cell {number}: {written(error)}" for number, error in list(self.errors.items())[:_MOST_TOLD]]
        rest = len(self.errors) - _MOST_TOLD
        return [*found, f"… and {rest} more"] if rest > 0 else found


def invalid(cells: Sequence[Cell], *, within_s: float) -> Invalid:
    """Check combinations as `tightlink.simulate.check` does, as many as there is time for, and one at least.

    Those that have a level first come first: mostly it is a level that is wrong, whatever the others are.
    """
    found = Invalid(combinations=len(cells))
    end = time.monotonic() + within_s
    for cell in by_news(cells):
        if found.checked and time.monotonic() > end:
            break
        found.checked += 1
        try:
            check(cell.scenario)
        except TightlinkError as error:
            found.errors[cell.number] = _of_factor(error, cell)
    found.errors = dict(sorted(found.errors.items()))
    return found


def _of_factor(error: TightlinkError, cell: Cell) -> TightlinkError:
    """An error with the factors as its place where a value is of them, which scenarios know as changes."""
    if isinstance(error, ScenarioError):
        key = _MEMBER.sub("", error.key or error.expected.partition(" = ")[0], count=1)
        if isinstance(error.file, Argument) or key in cell.values:
            error.file = Argument("vary")
    return error


def by_news(cells: Sequence[Cell]) -> list[Cell]:
    """The cells, those before the others that have some level which none before them has."""
    seen: set[tuple[str, str]] = set()
    new: list[Cell] = []
    others: list[Cell] = []
    for cell in cells:
        levels = {(key, repr(value)) for key, value in cell.values.items()}
        (others if levels <= seen and seen else new).append(cell)
        seen |= levels
    return [*new, *others]
