"""The part of the report on slower receivers: what the document's small loss says of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.reduce import largest
from tightlink.report import Row, Section, Text, charts
from tightlink.studies.link_saturation.setup.sweeps import MAIN, PAUSED, SLOW_RECEIVERS, SLOWER

if TYPE_CHECKING:
    from collections.abc import Mapping

_PERCENT: Final = 100


def section(tables: Mapping[str, pl.DataFrame]) -> Section:
    """The part of the report."""
    parts = [tables[MAIN.name].with_columns(receiver=pl.lit("never the limit"))]
    for sweep, share in zip(SLOW_RECEIVERS, SLOWER, strict=True):
        parts.append(tables[sweep.name].with_columns(receiver=pl.lit(f"{_PERCENT * share:.0f} % slower")))
    parts.append(tables[PAUSED.name].with_columns(receiver=pl.lit(f"{_PERCENT * SLOWER[-1]:.0f} %, flow control")))
    table = pl.concat(parts).with_columns(lost_percent=_PERCENT * pl.col("loss"))
    little, much = (largest(tables[sweep.name]["loss"]) for sweep in (SLOW_RECEIVERS[0], SLOW_RECEIVERS[-1]))
    paused = largest(tables[PAUSED.name]["loss"])
    finding = (
        "Without flow control a receiver that needs 1 % more time for a packet than the sender loses "
        f"{_PERCENT * little:.1f} % of the small ones, and one that needs 25 % more loses {_PERCENT * much:.0f} %: "
        "the document's loss of much less than 1 % says that its receiver was as fast as its sender. With flow "
        f"control that receiver loses {_PERCENT * paused:.0f} %, and the sender waits."
    )
    text = (
        "The document turned Ethernet flow control off, so that throughput is that of the data and not of the "
        "signals that prevent loss. Then nothing holds the sender back when the receiver's ring is full, and what "
        "the receiver does not keep up with is lost there. Only where the interface limits, though: large packets "
        "arrive at the pace of the line, which leaves any of these receivers time. Each receiver here has the "
        "sender's interface with all costs raised by a share, and packets that arrive pass it. With flow control on, "
        "the receiver's full ring pauses the sender's line: what was loss becomes waiting, and the packet rate is the "
        "receiver's either way."
    )
    both = [
        charts.points(
            table.select("payload_bytes", "receiver", pl.col(column)), "payload_bytes", column, by="receiver",
            x_title="payload (B)", title=title, y_title=words, height=280, x_domain=(0, 1500),
        )
        for column, title, words in (
            ("lost_percent", "Lost", "lost (%)"), ("packets_per_s", "Delivered", None),
        )
    ]  # fmt: skip
    return Section("A slower receiver", finding, [Text(text), Row(both)])
