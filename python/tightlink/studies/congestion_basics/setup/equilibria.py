"""Controls that measure delay, FAST and Vegas, which come to rest with some packets in the queue."""

from __future__ import annotations

from typing import Any, Final

from tightlink.experiment.execute import Task
from tightlink.studies.congestion_basics.setup.network import scenario

RATE: Final = "100 Mbit/s"
RTT_MS: Final = 40
DURATION_S: Final = 40
FLOWS: Final = (1, 2, 4, 8)
ALPHAS: Final = (20, 50)
#: Controls by the names that tasks have.
CONTROLS: Final[dict[str, Any]] = {
    **{f"fast-{alpha}": {"kind": "fast", "alpha": f"{alpha} packets"} for alpha in ALPHAS},
    "vegas": "vegas",
}


def tasks() -> list[Task]:
    """Flows that start together, as a late one would take the others' queue for a part of the path."""
    return [
        Task(
            name(control, flows),
            scenario(RATE, RTT_MS, "unlimited", DURATION_S, flows=flows, interval_s=0.1, congestion=congestion),
        )
        for control, congestion in CONTROLS.items()
        for flows in FLOWS
    ]


def name(control: str, flows: int) -> str:
    """Of the task of some flows of a control."""
    return f"equilibrium/{control}/{flows}"
