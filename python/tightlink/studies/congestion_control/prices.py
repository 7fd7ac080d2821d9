"""Control by economic means: routers with prices, beside standard TCP over drop-tail queues (experiment ``prices``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.experiment.claims import Claim, holds_if
from tightlink.report import Section, Table, Text
from tightlink.studies.congestion_control import document
from tightlink.studies.congestion_control.homogeneous import Homogeneous
from tightlink.studies.congestion_control.part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.studies.congestion_control.evidence import Evidence

CONTROL: Final = "prices"
_SOURCE: Final = f"{document.DOCUMENT}, controlling behaviour: named, not described"
#: What prices should lower, and what they should leave.
_LOWER: Final = {
    "loss": "fewer losses",
    "retransmission_rate": "fewer retransmissions",
    "queueing_delay_mean_s": "less queueing",
}
_SHOWN: Final = (
    "sources_transmitting", "transfers_completed", "loss", "retransmission_rate", "timeouts", "rtt_mean_s",
    "queueing_delay_mean_s",
)  # fmt: skip


def claims(one: Homogeneous) -> Iterator[Claim]:
    """What economic control should bring, over all conditions."""
    for response, words in _LOWER.items():
        median = float(np.median(one.ratios(CONTROL, response, one.by_congestion)))
        yield holds_if(
            f"prices.{response}", f"Link prices bring {words} than drop-tail queues with standard TCP", _SOURCE,
            median, median < 1, "Median ratio over conditions.",
        )  # fmt: skip
    median = float(np.median(one.ratios(CONTROL, "transfers_completed", one.by_congestion)))
    yield holds_if(
        "prices.transfers_completed", "Link prices cost no more than a tenth of the transfers", _SOURCE, median,
        median > 0.9, "Median ratio of those completed over conditions.",
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


def part(found: Evidence) -> Part:
    """What the experiment shows."""
    one = Homogeneous(found)
    return Part(list(claims(one)), section(one))
