"""What link prices bring: their ratio to standard TCP over drop-tail queues (experiment ``prices``)."""

from __future__ import annotations

from typing import Final

import numpy as np

from tightlink.studies.congestion_control.observe.homogeneous import Homogeneous

NAME: Final = "prices"
_COMPARED: Final = ("loss", "retransmission_rate", "queueing_delay_mean_s", "transfers_completed")


def values(one: Homogeneous) -> dict[str, object]:
    """What claims compare, by name: medians over all conditions."""
    return {
        f"{NAME}.{response}": float(np.median(one.ratios(NAME, response, one.by_congestion))) for response in _COMPARED
    }
