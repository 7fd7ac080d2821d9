"""The part of the report on the main sweep: figure 2 of the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.claims_table import figure
from tightlink.studies.link_saturation.observe.saturation import FRAME, PAYLOAD
from tightlink.studies.link_saturation.setup.document import (
    BALANCED_BYTES,
    BANDWIDTH_BPS,
    CRITICAL_BYTES,
    LARGEST_BYTES,
    SMALLEST_BYTES,
)
from tightlink.studies.link_saturation.setup.interface import HEADER_BYTES, PER_BYTE_S, PER_PACKET_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.link_saturation.observe.saturation import Found

_MBIT: Final = 1e6
_PERCENT: Final = 100
_THOUSAND: Final = 1e3


def section(found: Found, claims: Mapping[str, Claim]) -> Section:
    """The main sweep: figure 2 of the document."""
    table = found.table
    frame = found.law(FRAME, "cost").critical_bytes.value
    row, last = table.row(0, named=True), table.row(-1, named=True)
    finding = (
        f"From 1450 B down to {frame - HEADER_BYTES:.0f} B the line is full; below, the interface spends all its "
        f"time on packets, and throughput falls to {row['goodput_bps'] / _MBIT:.1f} Mbit/s of payload although the "
        f"line is idle for {_PERCENT * (1 - row['utilization']):.0f} % of the time."
    )
    rate = charts.points(
        pl.concat([_points(table, "payload_bytes", "packets_per_s"), _printed_rates(claims)], how="diagonal"),
        "payload_bytes", "packets_per_s", by="source", curves=_limits(found), curve="limit",
        x_title="payload (B)", title="Packet rate over payload", y_domain=(0, 35_000), x_domain=(0, 1500),
    )  # fmt: skip
    bits = charts.points(
        pl.concat([_throughputs(table), _printed_throughputs(claims)], how="diagonal"),
        "payload_bytes", "throughput_bps", by="source",
        x_title="payload (B)", title="Throughput over payload", y_domain=(0, 105 * _MBIT), x_domain=(0, 1500),
    )  # fmt: skip
    over = charts.points(
        pl.concat(
            _over_rate(table, reading.throughput, words)
            for reading, words in ((PAYLOAD, "goodput"), (FRAME, "with headers"))
        ),
        "packets_per_s", "throughput_bps", by="counted as", title="Throughput over packet rate",
        x_domain=(0, 35_000), y_domain=(0, 105 * _MBIT),
    )  # fmt: skip
    caption = (
        'Hover for values. "Document" are the figures that it prints; its curves were not published as numbers. Grey '
        "lines are what the line carries and what the interface processes: the lower one is the rate."
    )
    return Section(
        "Packets, not bits",
        finding,
        [
            Text(_model(found, last)),
            Chart(rate, caption),
            Chart(bits),
            Chart(
                over, "Both follow the packet size, from the largest at the left to the smallest at the lower right."
            ),
            Table(_selected(table), "Some of the 58 sizes.", _FORMATS),
        ],
    )


_FORMATS: Final[dict[str, Any]] = {
    "packets/s": ",.0f", "goodput Mbit/s": ".2f", "with headers Mbit/s": ".2f", "line busy %": ".1f",
    "interface %": ".1f", "lost %": ".2f",
}  # fmt: skip
_SHOWN: Final = (SMALLEST_BYTES, 100, 200, 300, 400, 425, 450, 475, 600, 800, 1000, 1200, LARGEST_BYTES)


def _model(found: Found, last: Mapping[str, float]) -> str:
    return (
        "**The model.** Two hosts, a 100 Mbit/s Ethernet cable, and UDP as fast as the sender's interface takes it "
        "(Iperf told to send 100 Mbit/s does that: payload at that rate is more than the line carries at any size). "
        f"A frame is payload + {HEADER_BYTES} B (UDP 8, IP 20, Ethernet 18) and takes 20 B more of line time for "
        f"preamble and gap. The interface spends **{PER_PACKET_S * 1e6:.2f} µs on each packet and "
        f"{PER_BYTE_S * 1e9:.2f} ns on each byte of it**. That is all that is fitted: 30 thousand/s at 25 B, and "
        f"an interface that is as fast as the line at a payload of {BALANCED_BYTES} B, the middle of what about 451 B "
        "and around 25 thousand/s allow together. The difference of the two times over the difference of the two "
        "sizes is the cost per byte, the rest the cost per packet. All else follows.\n\n"
        f"At 1450 B the interface is busy for {_PERCENT * last['load']:.0f} % of the time and the line always; at 25 "
        f"B it is the other way round, {_PERCENT * found.table['utilization'].to_list()[0]:.0f} % for the line."
    )


def _points(table: pl.DataFrame, x: str, y: str) -> pl.DataFrame:
    return table.select(x, y, source=pl.lit("simulated"))


def _printed_rates(claims: Mapping[str, Claim]) -> pl.DataFrame:
    sizes = {
        SMALLEST_BYTES: "rate.smallest-packets",
        CRITICAL_BYTES: "rate.free-flow-end",
        LARGEST_BYTES: "rate.largest-packets",
    }
    return pl.DataFrame(
        {
            "payload_bytes": [float(size) for size in sizes],
            "packets_per_s": [figure(claims, name) * _THOUSAND for name in sizes.values()],
            "source": ["document"] * len(sizes),
        }
    )


def _throughputs(table: pl.DataFrame) -> pl.DataFrame:
    parts = ((FRAME.throughput, "simulated, with headers"), (PAYLOAD.throughput, "simulated, goodput"))
    return pl.concat(
        table.select("payload_bytes", pl.col(name).alias("throughput_bps"), source=pl.lit(words))
        for name, words in parts
    )


def _printed_throughputs(claims: Mapping[str, Claim]) -> pl.DataFrame:
    sizes = {SMALLEST_BYTES: "share.payload", CRITICAL_BYTES: "plateau.frame"}
    return pl.DataFrame(
        {
            "payload_bytes": [float(size) for size in sizes],
            "throughput_bps": [figure(claims, name) * BANDWIDTH_BPS / _PERCENT for name in sizes.values()],
            "source": ["document"] * len(sizes),
        }
    )


def _limits(found: Found) -> pl.DataFrame:
    """What the line and the interface could carry, as the cost law was fitted."""
    law = found.law(FRAME, "cost")
    payloads = np.arange(10.0, 1501.0, 10.0)
    frames = payloads + HEADER_BYTES
    line = law.line_rate_bps.value / 8 / (frames + law.overhead_bytes.value)
    own = 1 / (law.per_packet_s.value + law.per_byte_s.value * frames)
    parts = []
    for words, rates in (("what the line carries", line), ("what the interface processes", own)):
        part = pl.DataFrame({"payload_bytes": payloads, "packets_per_s": rates, "limit": [words] * len(payloads)})
        parts.append(part.filter(pl.col("packets_per_s") <= 35_000))
    return pl.concat(parts)


def _over_rate(table: pl.DataFrame, column: str, words: str) -> pl.DataFrame:
    return table.select(
        "packets_per_s", pl.col(column).alias("throughput_bps"), "payload_bytes", pl.lit(words).alias("counted as")
    )


def _selected(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("datagram_bytes").is_in(_SHOWN)).select(
        pl.col("datagram_bytes").alias("payload B"),
        pl.col("packets_per_s").alias("packets/s"),
        (pl.col("goodput_bps") / _MBIT).alias("goodput Mbit/s"),
        (pl.col("frame_throughput_bps") / _MBIT).alias("with headers Mbit/s"),
        (_PERCENT * pl.col("utilization")).alias("line busy %"),
        (_PERCENT * pl.col("load").clip(upper_bound=1)).alias("interface %"),
        (_PERCENT * pl.col("loss")).alias("lost %"),
    )
