"""The settings of experiment ``newcomers``: one flow arrives on a link that others of its control have settled on.

A control that gives up little after a loss leaves little to those who come later, of its own kind too. Users' transfers
are too short to tell; here flows without end hold one link for a minute, then one more of the same control arrives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Scenario
from tightlink.studies.congestion_control.setup import one_link
from tightlink.studies.congestion_control.setup.one_link import CONTROLS, DELAYS, THRESHOLDS

NAME: Final = "newcomers"
RATES: Final = ("20 Mbit/s", "100 Mbit/s")
BUFFERS: Final = ("0.25 BDP", "1 BDP")
SETTLED: Final = (1, 4)
ARRIVES_S: Final = 60
WATCHED_S: Final = 60
NEWCOMER: Final = "newcomer"


@dataclass(frozen=True)
class Setting:
    """A link, and how many flows hold it already."""

    rate: str
    delay: str
    buffer: str
    threshold: str
    settled: int

    def scenario(self, control: str) -> Scenario:
        """Settled flows from the start on, one more of the same control later; nothing else differs between them."""
        flow = one_link.flow(control, self.threshold)
        settled = {**flow, "flows": self.settled, "start": {"first": "0 s", "every": "0.1 s"}}
        return one_link.scenario(
            {"settled": settled, NEWCOMER: {**flow, "start": f"{ARRIVES_S} s"}},
            seconds=ARRIVES_S + WATCHED_S,
            rate=self.rate,
            delay=self.delay,
            buffer=self.buffer,
        )


def runs() -> Iterator[tuple[str, str, Setting]]:
    """The name of each run, its control and its setting."""
    for place, values in enumerate(product(RATES, DELAYS, BUFFERS, THRESHOLDS, SETTLED)):
        for control in CONTROLS:
            yield f"{NAME}/{place:02}/{control}", control, Setting(*values)


def tasks() -> list[Task]:
    """All runs."""
    return [Task(name, setting.scenario(control)) for name, control, setting in runs()]
