"""The settings of experiment ``newcomers``: one flow arrives on a link that others of its control have settled on.

A control that gives up little after a loss leaves little to those who come later, of its own kind too. Users' transfers
are too short to tell; here flows without end hold one link for a minute, then one more of the same control arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Scenario
from tightlink.scenario.four_tier import nist

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME: Final = "newcomers"
CONTROLS: Final = ("bic", "compound", "fast", "fast-at", "highspeed", "htcp", "scalable", "reno")
RATES: Final = ("20 Mbit/s", "100 Mbit/s")
#: One way: half of a round trip.
DELAYS: Final = ("20 ms", "80 ms")
BUFFERS: Final = ("0.25 BDP", "1 BDP")
#: The document's low and high initial slow-start threshold.
THRESHOLDS: Final = ("100 packets", "unlimited")
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
        transport: dict[str, Any] = {"congestion": nist.control(control), "window": "100000 packets"}
        if self.threshold != "unlimited":
            transport["initial_ssthresh"] = self.threshold
        flow = {"kind": "bulk", "from": "sender", "to": "receiver", "tcp": transport}
        start = {"first": "0 s", "every": "0.1 s"}
        return Scenario.from_dict({
            "profile": "rfc",
            "duration": f"{ARRIVES_S + WATCHED_S} s",
            "link": {
                "access": {"ends": ["sender", "router"], "rate": "1 Gbit/s", "delay": "0.1 ms",
                           "queue": "100000 packets"},
                "bottleneck": {"ends": ["router", "receiver"], "rate": self.rate, "delay": self.delay,
                               "queue": self.buffer},
            },
            "traffic": {
                "settled": {**flow, "flows": self.settled, "start": start},
                NEWCOMER: {**flow, "start": f"{ARRIVES_S} s"},
            },
        })  # fmt: skip


def runs() -> Iterator[tuple[str, str, Setting]]:
    """The name of each run, its control and its setting."""
    for place, values in enumerate(product(RATES, DELAYS, BUFFERS, THRESHOLDS, SETTLED)):
        for control in CONTROLS:
            yield f"{NAME}/{place:02}/{control}", control, Setting(*values)


def tasks() -> list[Task]:
    """All runs."""
    return [Task(name, setting.scenario(control)) for name, control, setting in runs()]
