"""The settings of experiment ``oscillation``: FAST over alpha, the number of flows, and the buffer of one link.

Each FAST flow keeps alpha packets in the queue. Where the queue has no room for those of all flows, none of them can
come to rest: windows grow until packets are lost, are halved, and grow again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Scenario
from tightlink.scenario.four_tier import nist

NAME: Final = "oscillation"
ALPHAS: Final = (8, 20, 50, 100, 200)
FLOWS: Final = (1, 2, 4, 8, 16)
BUFFERS: Final = (50, 100, 200, 400, 800)
INTERVAL_S: Final = 0.02
ROUND_TRIP_S: Final = 0.0404


@dataclass(frozen=True)
class Cell:
    """One setting: a control, its alpha, how many flows share the link, and its buffer."""

    control: str
    alpha: int | None
    flows: int
    buffer: int

    @property
    def name(self) -> str:
        """The name of its run."""
        alpha = "" if self.alpha is None else f"-{self.alpha}"
        return f"{NAME}/{self.control}{alpha}/{self.flows}/{self.buffer}"

    def scenario(self) -> Scenario:
        """Flows without end over 100 Mbit/s and 40 ms, which hold 333 packets."""
        alpha = {} if self.alpha is None else {"alpha": f"{self.alpha} packets"}
        control = nist.control({"kind": self.control} | alpha)
        return Scenario.from_dict({
            "profile": "rfc",
            "duration": "30 s",
            "topology": {"net": {
                "kind": "dumbbell",
                "pairs": self.flows,
                "bottleneck": {"rate": "100 Mbit/s", "delay": "20 ms", "queue": f"{self.buffer} packets"},
                "access": {"rate": "1 Gbit/s", "delay": "0.1 ms", "queue": "10000 packets"},
            }},
            "traffic": {"bulk": {
                "kind": "bulk",
                "flows": self.flows,
                "from": "net.left[*]",
                "to": "net.right[*]",
                "tcp": {"congestion": control, "window": "100000 packets"},
            }},
            "observe": {"interval": f"{INTERVAL_S * 1e3:g} ms"},
        })  # fmt: skip


def cells() -> list[Cell]:
    """All settings."""
    fast = [Cell("fast", alpha, flows, buffer) for alpha in ALPHAS for flows in FLOWS for buffer in BUFFERS]
    return [*fast, *(Cell("fast-at", None, flows, buffer) for flows in FLOWS for buffer in BUFFERS)]


def tasks() -> list[Task]:
    """All runs."""
    return [Task(cell.name, cell.scenario()) for cell in cells()]
