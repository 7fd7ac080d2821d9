"""What the tables have in common that say how a quantity of a link changes.

Example:
    >>> from tightlink.scenario import RateStep
    >>> check_times([RateStep(at="0 s", rate="5 Mbit/s"), RateStep(at="10 s", rate="1 Mbit/s")], "20 s")
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from pydantic import BeforeValidator

from tightlink import units
from tightlink.scenario.table import Table, known_kind, wrong

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import BaseModel

_SHORTEST_STEP: Final = "10 us"


class Changing(Table):
    """What tables of a quantity that changes have in common."""

    def written(self) -> dict[str, Any]:
        """The table with its defaults."""
        return self.complete()

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        raise NotImplementedError


def check_times(schedule: Sequence[Any], period: str | None) -> None:
    """An error where the steps of a schedule do not begin at zero, do not rise, or go beyond its period."""
    times = [units.time(step.at) for step in schedule]
    if times[0] > 0:
        expected = '"0 s": the schedule says what holds from the start'
        raise wrong(expected, key="schedule[0].at", value=schedule[0].at)
    for place, (before, after) in enumerate(itertools.pairwise(times), 1):
        if after <= before:
            expected = f"a time after that of the step before it, which is {schedule[place - 1].at}"
            raise wrong(expected, key=f"schedule[{place}].at", value=schedule[place].at)
    if period is not None and units.time(period) <= times[-1]:
        raise wrong(f"a time after the last step, which is at {schedule[-1].at}", key="period", value=period)


def check_step(every: str) -> None:
    """An error where steps are so short that they would stop the clock."""
    if units.time(every) < units.time(_SHORTEST_STEP):
        raise wrong(f'a time of at least "{_SHORTEST_STEP}"', key="every", value=every)


def scheduled(schedule: Sequence[Any], values: list[float], *, linear: bool, period: str | None) -> dict[str, Any]:
    """A schedule as the engine reads it."""
    return {
        "kind": "schedule",
        "at_s": [units.time(step.at) for step in schedule],
        "values": values,
        "linear": linear,
        "period_s": None if period is None else units.time(period),
    }


def kinds(models: Mapping[str, type[BaseModel]], keys: Mapping[str, str]) -> BeforeValidator:
    """Says which kind a table is that does not say so, and refuses kinds that there are not.

    Args:
        models: The kinds.
        keys: Keys that say the kind by themselves.
    """
    known = known_kind(*models)

    def check(value: object) -> object:
        if not isinstance(value, dict):
            return value
        said = next(({"kind": kind} for key, kind in keys.items() if key in value), {})
        return known.func(said | value)  # type: ignore[call-arg]

    return BeforeValidator(check)
