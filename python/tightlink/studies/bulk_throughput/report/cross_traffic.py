"""With cross traffic: how the interval of a prediction widens."""

from __future__ import annotations

from typing import Final

import polars as pl

from tightlink.analysis.cross_traffic import weekly
from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.bulk_throughput.setup.cross_traffic import FOUR_FLOWS, SHARES
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY
from tightlink.studies.words import percent

_EDGES: Final = {"low_bps": "low", "mean_bps": "mean", "high_bps": "high"}


def section(goodputs: pl.DataFrame, intervals: pl.DataFrame) -> Section:
    """The part of the report."""
    four = intervals.filter(pl.col("setting") == FOUR_FLOWS)
    none, most = four.row(0, named=True), four.row(-1, named=True)
    finding = (
        f"With {percent(SHARES[-1])} of cross traffic over the week, four flows of 64 kB carry "
        f"{most['mean_bps'] / 1e6:.1f} instead of {none['mean_bps'] / 1e6:.1f} Mbit/s on average, and one measurement "
        f"between {most['low_bps'] / 1e6:.1f} and {most['high_bps'] / 1e6:.1f}."
    )
    text = (
        "Ten on-off sources with Pareto times offer a share of the bottleneck. Their mean follows a cosine over the "
        f"day, busiest at 15 h, and is {weekly(weekend=False):.2f} times the week's on working days and "
        f"{weekly(weekend=True):.2f} times at weekends: an assumption that shows the size of the effect. Each interval "
        "holds 95 % of the measurements of 10 s made at unknown times."
    )
    long = intervals.unpivot(list(_EDGES), index=["setting", "share"], variable_name="edge", value_name="goodput_bps")
    long = long.with_columns(pl.col("share") * 100, pl.col("edge").replace(_EDGES))
    hourly = (
        goodputs.filter((pl.col("setting") == FOUR_FLOWS) & ~pl.col("weekend") & (pl.col("share") > 0))
        .group_by("share", "hour").agg(pl.col("goodput_bps").mean()).sort("share", "hour")
        .with_columns(cross=(pl.col("share") * 100).round(0).cast(pl.Int64).cast(pl.String) + " % over the week")
    )  # fmt: skip
    shown = intervals.select(
        "setting", (pl.col("share") * 100).alias("cross traffic %"), "mean_bps", "low_bps", "high_bps",
        (pl.col("width") * 100).alias("width of the interval %"),
    )  # fmt: skip
    widening = [
        charts.line(part.select("share", "goodput_bps", "edge"), "share", "goodput_bps", by="edge", title=str(setting),
                    x_title="cross traffic (% of the bandwidth)", y_domain=(0, DARESBURY.path.bandwidth_bps),
                    height=180)
        for (setting,), part in long.group_by("setting", maintain_order=True)
    ]  # fmt: skip
    return Section(
        "With cross traffic",
        finding,
        [
            Text(text),
            Row(widening, "Mean and 95 % interval of one measurement."),
            Chart(charts.line(hourly, "hour", "goodput_bps", by="cross", x_title="hour of a working day",
                              height=200), "Four flows of 64 kB over a working day, means over seeds."),
            Table(shown, "", {"cross traffic %": ".0f", "width of the interval %": ".0f"}),
        ],
    )  # fmt: skip
