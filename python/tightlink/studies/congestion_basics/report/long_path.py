"""The part of the report on the path from Chicago to Dublin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.report import Chart, Section, Table, charts
from tightlink.studies.congestion_basics.setup.long_path import COMPARED_LOSS, COMPARED_S, DURATION_S, QUEUE, RTT_MS
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from tightlink.studies.congestion_basics.observe.long_path import LongPath


def section(found: LongPath) -> Section:
    """Standard TCP at some losses, and all controls at one."""
    chart = charts.line(found.goodput, "time_s", "goodput_bps", by="control", height=340)
    named = pl.col("loss").map_elements(lambda loss: f"loss {loss:g}", return_dtype=pl.String)
    wide = found.standard.with_columns(named).pivot("loss", index="slow_start_to", values="utilization")
    formats = {name: percent for name in wide.columns if name != "slow_start_to"}
    low = found.standard.filter(pl.col("loss") == COMPARED_LOSS)["utilization"].to_list()
    compared = found.replacements.sort("utilization", descending=True)
    best = compared.row(0)
    finding = (
        f"With one loss in a million, standard TCP uses {percent(min(low))} to {percent(max(low))} of the path in "
        f"{DURATION_S} s; {best[0]}, {percent(best[1])} within {COMPARED_S} s."
    )
    about = (
        f"One flow of each control over 1 Gbit/s, {RTT_MS} ms and {QUEUE}, one loss in a million, slow start up to 100 "
        "packets, as in NIST's experiments with a low threshold."
    )
    return Section(
        "1 Gbit/s from Chicago to Dublin", finding,
        [
            Table(wide, f"Utilization by one standard TCP flow in {DURATION_S} s", dict(formats)),
            Chart(chart, about),
            Table(compared),
        ],
    )  # fmt: skip
