"""Pings beside TCP, at a queue that counts packets and at one that counts bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.reduce import mean_of
from tightlink.report import Chart, Section, Text, charts
from tightlink.studies.bulk_throughput.setup.pings import BYTES, PACKETS, SIZE
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping


def by_flows(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Mean losses over the windows: a row for each number of flows and kind of packet, ``of``."""
    names = {PACKETS: "queue of 80 packets", BYTES: f"queue of {SIZE}"}
    frames = [
        tables[queue]
        .group_by("flows", maintain_order=True)
        .agg(pl.col("tcp", "ping").mean())
        .unpivot(["tcp", "ping"], index="flows", variable_name="of", value_name="loss")
        .with_columns(pl.col("of").replace({"tcp": f"TCP, {words}", "ping": f"pings, {words}"}))
        for queue, words in names.items()
    ]
    return pl.concat(frames).sort("of", "flows")


def section(tables: Mapping[str, pl.DataFrame]) -> Section:
    """The part of the report."""
    tcp, ping, tcp_bytes, ping_bytes = (
        mean_of(tables[queue][kind]) for queue in (PACKETS, BYTES) for kind in ("tcp", "ping")
    )
    finding = (
        f"At a queue that counts packets, as ns-2's does, pings lose {percent(ping, 1)} where TCP loses "
        f"{percent(tcp, 1)}: more, not less. At one of {SIZE} they lose {percent(ping_bytes, 2)} beside TCP's "
        f"{percent(tcp_bytes, 1)}, which is more like what the document measured."
    )
    text = (
        "The document found far less loss with pings than its simulator predicts for TCP, and suspects the packets' "
        "sizes and the ways of measuring. Both play a part. TCP's packets are clocked by ACKs into the places that "
        "others leave, and are lost when the window grows; a ping comes at any time, and finds the queue full as often "
        "as it is full. But where a queue counts bytes, 100 bytes mostly fit in when 1500 do not."
    )
    chart = charts.line(by_flows(tables), "flows", "loss", by="of", x_title="flows")
    return Section("Pings beside TCP", finding, [Text(text), Chart(chart, "Means over the windows, Caltech.")])
