"""The probes of the document, and more of them where its grid is coarse.

Example:
    >>> len(grid()), len(onset()), len(fall())
    (140, 78, 39)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.experiment.execute import Task
from tightlink.studies.router_response.setup.document import (
    DURATION_S,
    INTERVALS_MS,
    LENGTHS,
    ONSETS_PER_S,
    SHORTEST,
)
from tightlink.studies.router_response.setup.network import DOCUMENTED

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The lengths whose onset the document prints.
REFINED: Final = tuple(ONSETS_PER_S)
#: Packet rates of the extra probes, about the onset and where the reading falls.
EXTRA_ONSET_PER_S: Final = range(3000, 5501, 100)
EXTRA_FALL_PER_S: Final = (*range(5600, 6000, 100), *range(6000, 10_001, 500))
#: Of probes that are not the document's: what is read is read by then.
SHORT_S: Final = 80
#: Packet rates whose meters are watched second by second: stable, unstable, highly unstable.
WATCHED_PER_S: Final = (2000, 5000, 8000)
#: Probes that are repeated begin at other phases of the meters' 5 s: what the document's probes could not know.
REPEATED_S: Final = (1.25, 2.5, 3.75)
REPEATED_PER_S: Final = (1000, 2000, 3000, 3500, *range(3900, 4401, 100), 5000)
#: The first part of the names of tasks: of the grid, of probes whose meters are watched, and of
#: probes that are repeated.
GRID: Final = "probe"
WATCH: Final = "meter"
REPEAT: Final = "repeat"
_US: Final = 1e-6


def interval(per_s: float) -> str:
    """The interval of a packet rate.

    >>> interval(4100)
    '243.902439 us'
    """
    return f"{1 / per_s / _US:.9g} us"


def grid() -> list[Task]:
    """The document's grid: 5 packet lengths, 28 inter-arrival times, 2 minutes."""
    return [
        Task(f"{GRID}/{length}/{every:g}ms", DOCUMENTED.probe(length, f"{every:g} ms", DURATION_S))
        for length in LENGTHS
        for every in INTERVALS_MS
    ]


def onset() -> list[Task]:
    """Between the grid's 3,333 and 5,000 packets/s, and around: where the unstable region begins."""
    return _at("onset", EXTRA_ONSET_PER_S)


def fall() -> list[Task]:
    """Between the grid's 5,000 and 10,000 packets/s: where the reading falls."""
    return _at("fall", EXTRA_FALL_PER_S)


def _at(name: str, rates: Iterable[int]) -> list[Task]:
    return [
        Task(f"{name}/{length}/{rate}", DOCUMENTED.probe(length, interval(rate), SHORT_S))
        for length in REFINED
        for rate in rates
    ]


def watched() -> list[Task]:
    """Probes of which the meter is watched all the time."""
    return [
        Task(f"{WATCH}/{rate}", DOCUMENTED.probe(SHORTEST, interval(rate), DURATION_S, observe_s=1))
        for rate in WATCHED_PER_S
    ]


def repeated() -> list[Task]:
    """Probes of the shortest and the longest packets that begin later, against the meters' clock."""
    return [
        Task(
            f"{REPEAT} {start:g} s/{length}/{rate}",
            DOCUMENTED.probe(length, interval(rate), SHORT_S, start_s=start),
        )
        for start in REPEATED_S
        for length in (SHORTEST, LENGTHS[-1])
        for rate in REPEATED_PER_S
    ]


def tasks() -> list[Task]:
    """All probes of the document's network."""
    return [*grid(), *onset(), *fall(), *watched(), *repeated()]
