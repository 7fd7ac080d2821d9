"""The part of the report on mixed sizes."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from tightlink.reduce import largest
from tightlink.report import Chart, Section, Table, Text, charts

_PERCENT: Final = 100
_MBIT: Final = 1e6


def section(found: pl.DataFrame, uniform: pl.DataFrame) -> Section:
    """The part of the report.

    Args:
        found: A row for each mix.
        uniform: The main sweep.
    """
    off = largest((found["packets_per_s"] / found["uniform"] - 1).abs())
    jitter = largest(found["jitter_rfc3550_s"])
    finding = (
        f"Mixed packets go at the rate of equal packets of their mean size, within {_PERCENT * off:.2f} %; "
        f"jitter is {jitter * 1e6:.0f} µs at most, as sources that take turns keep their pace."
    )
    text = (
        "Ten sources take turns at the interface: small and large packets in all proportions, and three sizes at once. "
        "The mean of eq. 1 is over packets. Jitter is that of RFC 3550, which Iperf reports and the document does not "
        "use: packets in a steady order have none, whatever their sizes. What a real Iperf reports here comes from its "
        "hosts."
    )
    frame = pl.concat(
        [
            uniform.select("payload_bytes", "packets_per_s", sizes=pl.lit("equal packets")),
            found.select("payload_bytes", "packets_per_s", sizes=pl.lit("mixed, at their mean size")),
            found.select(
                pl.col("by_bytes").alias("payload_bytes"), "packets_per_s", sizes=pl.lit("mixed, at the mean by bytes")
            ),
        ]
    )  # fmt: skip
    chart = charts.points(
        frame, "payload_bytes", "packets_per_s", by="sizes", x_title="mean payload (B)", height=280,
        y_domain=(0, 35_000), x_domain=(0, 1500),
    )  # fmt: skip
    formats: dict[str, Any] = {
        "mean payload B": ".1f", "packets/s": ",.0f", "equal packets/s": ",.0f", "goodput Mbit/s": ".2f",
        "jitter µs": ".1f",
    }  # fmt: skip
    shown = found.select(
        "mix",
        pl.col("payload_bytes").alias("mean payload B"),
        pl.col("packets_per_s").alias("packets/s"),
        pl.col("uniform").alias("equal packets/s"),
        (pl.col("goodput_bps") / _MBIT).alias("goodput Mbit/s"),
        (pl.col("jitter_rfc3550_s") * 1e6).alias("jitter µs"),
    )
    return Section(
        "Mixed sizes", finding, [Text(text), Chart(chart), Table(shown, "Mean jitter over the sources.", formats)]
    )
