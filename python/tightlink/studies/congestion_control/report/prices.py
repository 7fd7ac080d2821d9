"""The section on routers with prices, beside standard TCP over drop-tail queues."""

from __future__ import annotations

from typing import Final

import polars as pl

from tightlink.report import Section, Table, Text
from tightlink.studies.congestion_control.observe.homogeneous import Homogeneous

_SHOWN: Final = (
    "sources_transmitting", "transfers_completed", "loss", "retransmission_rate", "timeouts", "rtt_mean_s",
    "queueing_delay_mean_s",
)  # fmt: skip


def section(one: Homogeneous) -> Section:
    """Both beside each other."""
    found = one.found.experiment
    means = one.table.group_by("algorithm", maintain_order=True).agg(pl.col(_SHOWN).mean())
    return Section(
        found.title,
        found.question,
        [
            Text(
                "Queues `rem` in all routers and control `prices` in all sources (proportional fairness), beside "
                "standard TCP over drop-tail queues of the same limits; "
                f"{found.conditions.height} conditions, at {one.found.size}. "
                "The document names economic control among its methods and does not describe one."
            ),
            Table(means, "Means over all conditions, in the second period."),
        ],
    )
