"""What is recorded of a run beyond its totals.

Example:
    >>> Observe(interval="200 ms", periods={"calm": ("10 min", "15 min")}).written()
    {'interval': '200 ms', 'periods': {'calm': ['10 min', '15 min']}}
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, StrictBool

from tightlink import units
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.values import Delay, Name, Period, ensured, two

_MOST_PERIODS: Final = 250


def _check_few(periods: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    if len(periods) > _MOST_PERIODS:
        raise wrong(f"at most {_MOST_PERIODS} periods; observe.interval gives tables over time")
    return periods


Interval = Annotated[
    tuple[Delay, Period],
    two('two times, such as ["10 min", "15 min"]'),
    AfterValidator(
        ensured(lambda times: units.time(times[0]) < units.time(times[1]), "two times of which the second is later")
    ),
]


class Observe(Table):
    """What is recorded of a run beyond its totals: series over time, distributions of delays.

    Example:
        >>> tl.Observe(interval="100 ms").interval
        '100 ms'
    """

    interval: Period | None = None
    """Sampling interval of the tables over time (default: no series; "1 s" with users or scatter)."""
    flows: Literal["each", "group", "none"] | None = None
    """Rows of the table ``flows``: each flow, each traffic group, or none (default "each")."""
    transport: StrictBool | None = None
    """Whether series have the phase of each congestion control and the state of each recovery, too (default: no)."""
    delays: StrictBool | None = None
    """Whether there is a table of how all delays are distributed, ``delays`` (default: no)."""
    periods: Annotated[dict[Name, Interval], AfterValidator(_check_few)] | None = None
    """Periods of which users' transfers are counted apart (default: one, ``whole``)."""
