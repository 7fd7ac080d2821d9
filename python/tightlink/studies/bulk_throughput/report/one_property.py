"""Goodput over one property at a time, where the window limits and where the queue overflows."""

from __future__ import annotations

from typing import Final

import polars as pl

from tightlink.analysis.bulk_vary import FACTORS
from tightlink.report import Row, Section, Text, charts
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY
from tightlink.studies.words import percent

#: Charts in a row.
_ACROSS: Final = 3


def section(found: pl.DataFrame) -> Section:
    """The part of the report."""
    small = found.filter((pl.col("base") == "4 × 64 kB") & (pl.col("property") == "rtt_s")).sort("value")
    at = {row["value"]: row["goodput_share"] for row in small.iter_rows(named=True)}
    doubled = 2 * DARESBURY.path.rtt_s
    finding = (
        f"Where the window limits, goodput follows window × flows / round trip, and nothing else matters: at twice the "
        f"round trip four flows of 64 kB fall from {percent(at[DARESBURY.path.rtt_s])} to {percent(at[doubled])} of "
        "the bandwidth. Where the queue overflows, its length and the run time matter."
    )
    drawn = [
        charts.line(
            found.filter(pl.col("property") == name).select("base", pl.col("value").alias(name), "goodput_bps"),
            name, "goodput_bps", by="base", title=title.partition(" (")[0], height=170, x_scale="log",
            # In bit/s the labels would not fit: without a title the axis takes a larger unit.
            x_title=None if name == "bandwidth_bps" else title,
        )
        for name, title in FACTORS.items()
    ]  # fmt: skip
    text = (
        "The path of Daresbury; one property is changed at a time, all others stay. Axes along are logarithmic; "
        "lines are named by flows × window."
    )
    rows = [Row(drawn[first : first + _ACROSS]) for first in range(0, len(drawn), _ACROSS)]
    return Section("One property at a time", finding, [Text(text), *rows])
