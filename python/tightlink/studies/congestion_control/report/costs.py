"""The section on what the experiments cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink.report import Section, Table, Text
from tightlink.studies.congestion_control.observe.costs import SECONDS_PER_PACKET_HOP

if TYPE_CHECKING:
    import polars as pl


def section(costs: pl.DataFrame) -> Section:
    """What it cost, and what all of it would, from the table."""
    whole = costs.group_by("experiment", maintain_order=True).last()["core_hours"].sum()
    return Section(
        "What it costs",
        f"At the document's size, these experiments are {whole:,.0f} core-hours.",
        [
            Text(
                "Runs are independent of each other: `--cluster` spreads them. Core-hours are packet-hops at "
                f"{SECONDS_PER_PACKET_HOP * 1e9:.0f} ns of one core each."
            ),
            Table(costs, formats={"packet_hops": ".2e", "core_hours": ".1f"}),
        ],
    )
