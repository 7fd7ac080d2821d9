"""The part of the report on controls that measure delay."""

from __future__ import annotations

from statistics import fmean

import polars as pl

from tightlink.report import Section, Table
from tightlink.studies.congestion_basics.setup.equilibria import ALPHAS, FLOWS, RATE, RTT_MS


def section(waiting: pl.DataFrame) -> Section:
    """Packets of each flow that wait, by control and flows."""
    wide = waiting.pivot("flows", index="control", values="per_flow_packets")
    titled = wide.rename({str(flows): f"{flows} flow{'s' * (flows > 1)}" for flows in FLOWS})
    formats = {column: ".2f" for column in titled.columns if column != "control"}
    found = waiting.filter(pl.col("control") == f"fast-{ALPHAS[-1]}")["per_flow_packets"].to_list()
    finding = (
        f"Each FAST flow keeps {fmean(found):.1f} packets in the queue where alpha is {ALPHAS[-1]}, however many flows "
        "there are; each Vegas flow between two and four, a single one a little above."
    )
    caption = f"Packets of each flow at the bottleneck ({RATE}, {RTT_MS} ms), the one in transmission included"
    return Section("Controls that measure delay", finding, [Table(titled, caption, dict(formats))])
