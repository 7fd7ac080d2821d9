"""The phases of one flow: slow start to a threshold, a loss, and others that flood the path until its timer expires."""

from __future__ import annotations

from typing import Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Cbr
from tightlink.studies.congestion_basics.setup.network import RECEIVER, SENDER, scenario

NAME: Final = "phases"
RTT_S: Final = 0.1
#: When the run ends.
END_S: Final = 80
#: Where slow start ends.
THRESHOLD: Final = 150
#: When others flood the path for a second, so that no ACK comes back and the timer expires.
FLOOD_S: Final = 60


def tasks() -> list[Task]:
    """One run, whose path is flooded for a second."""
    flood = Cbr(from_=SENDER, to=RECEIVER, rate="200 Mbit/s", start=f"{FLOOD_S} s", stop=f"{FLOOD_S + 1} s")
    return [
        Task(
            NAME,
            scenario(
                "50 Mbit/s", RTT_S * 1e3, "0.25 BDP", END_S, interval_s=RTT_S, more={"flood": flood},
                initial_ssthresh=f"{THRESHOLD} packets", initial_window="1 packets",
            ),
        )
    ]  # fmt: skip
