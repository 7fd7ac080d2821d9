"""A path of 1 Gbit/s from Chicago to Dublin: standard TCP at some losses, and the proposed replacements."""

from __future__ import annotations

from typing import Final

from tightlink.experiment.execute import Task
from tightlink.studies.congestion_basics.setup.network import scenario

#: Our choice: 5,900 km of fibre there and back are 59 ms, and real routes take nearly twice that.
RTT_MS: Final = 100
#: Our choice, too: a fifth of a bandwidth-delay product.
QUEUE: Final = "0.2 BDP"
DURATION_S: Final = 300
#: Shares of packets that the path loses by itself.
LOSSES: Final = (0.0, 1e-7, 1e-6, 1e-5)
#: Where slow start ends: never, and NIST's low threshold.
THRESHOLDS: Final = ("unlimited", "100 packets")
#: The eight of the document, and what came after.
CONTROLS: Final = ("reno", "bic", "compound", "fast", "fast-at", "highspeed", "htcp", "scalable", "cubic")
COMPARED_S: Final = 100
COMPARED_LOSS: Final = 1e-6


def tasks() -> list[Task]:
    """Standard TCP at some losses, then all controls at one."""
    alone = [
        Task(
            standard(threshold, loss),
            scenario("1 Gbit/s", RTT_MS, QUEUE, DURATION_S, loss=loss, interval_s=1, initial_ssthresh=threshold),
        )
        for threshold in THRESHOLDS
        for loss in LOSSES
    ]
    return alone + [
        Task(
            replacement(control),
            scenario(
                "1 Gbit/s", RTT_MS, QUEUE, COMPARED_S, loss=COMPARED_LOSS, interval_s=1,
                initial_ssthresh=THRESHOLDS[-1], congestion=control,
            ),
        )
        for control in CONTROLS
    ]  # fmt: skip


def standard(threshold: str, loss: float) -> str:
    """Name of the task of standard TCP with a threshold at a loss."""
    return f"chicago-dublin/{threshold.split(maxsplit=1)[0]}/{loss:g}"


def replacement(control: str) -> str:
    """Name of the task of a control."""
    return f"replacements/{control}"
