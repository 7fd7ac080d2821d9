"""The settings of experiment ``increase``: how soon a flow has all of a link, and what it gives up after a loss.

One flow on an empty link, with a low and a high initial slow-start threshold; and the same flow on a link that flows of
standard TCP hold already, in whose short queue packets are lost all the time: the heavy congestion of the document,
with 17 and 70 packets of path and queue for each flow. Under extreme congestion there are 6, fewer than any control's
low-window threshold (BIC has the smallest, 14).
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

NAME: Final = "increase"
RATE: Final = "100 Mbit/s"
INTERVAL_S: Final = 0.02
#: An empty path of 160 ms holds 1333 packets, which standard TCP reaches from 100 in 200 s.
WATCHED_S: Final = {"alone": 240, "congested": 60, "extreme": 60}
FLOW: Final = "flow"
#: Beside a flow under congestion, by delay.
_SETTLED: Final = {
    "alone": dict.fromkeys(DELAYS, 0),
    "congested": dict.fromkeys(DELAYS, 20),
    "extreme": dict(zip(DELAYS, (60, 240), strict=True)),
}
#: Which of its packets are lost is chance, so it arrives several times.
_ARRIVALS_S: Final = {"congested": (20, 23, 26, 29, 32, 35), "extreme": (20, 23, 26)}
LOADS: Final = (("alone", 0), *((load, arrives) for load, times in _ARRIVALS_S.items() for arrives in times))
#: Of which windows are looked at: series of hundreds of flows fill the memory.
WATCHED: Final = ("alone", "congested")
_BUFFERS: Final = {"alone": "1 BDP", "congested": "0.1 BDP", "extreme": "0.1 BDP"}


@dataclass(frozen=True)
class Setting:
    """A link, what is on it already, and the threshold of the flow."""

    load: str
    arrives_s: int
    delay: str
    threshold: str

    def scenario(self, control: str) -> Scenario:
        """The flow, and what it shares the link with."""
        traffic = {FLOW: {**one_link.flow(control, self.threshold), "start": f"{self.arrives_s} s"}}
        if settled := _SETTLED[self.load][self.delay]:
            start = {"first": "0 s", "every": f"{2000 // settled} ms"}
            traffic["settled"] = {**one_link.flow("reno"), "flows": settled, "start": start}
        return one_link.scenario(
            traffic,
            seconds=self.arrives_s + WATCHED_S[self.load],
            rate=RATE,
            delay=self.delay,
            buffer=_BUFFERS[self.load],
            **({"observe": {"interval": f"{INTERVAL_S * 1e3:g} ms"}} if self.load in WATCHED else {}),
        )


def runs() -> Iterator[tuple[str, str, Setting]]:
    """The name of each run, its control and its setting."""
    for place, (load, *values) in enumerate(product(LOADS, DELAYS, THRESHOLDS)):
        for control in CONTROLS:
            yield f"{NAME}/{place:02}/{control}", control, Setting(*load, *values)


def tasks() -> list[Task]:
    """All runs."""
    return [Task(name, setting.scenario(control)) for name, control, setting in runs()]
