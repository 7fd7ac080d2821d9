"""The parts of the report on the response function and on phase effects."""

from __future__ import annotations

import polars as pl

from tightlink.analysis.response import C_DELAYED, C_EVERY
from tightlink.report import Chart, Format, Section, Table, Text, charts
from tightlink.studies.one_flow.observe.company import spreads
from tightlink.studies.one_flow.observe.response import curves, fitted


def section(mean: pl.DataFrame) -> Section:
    """The part of the report."""
    random = mean.filter(pl.col("forced") == "random")
    finding = (
        f"At random losses up to 0.2 % Reno has C = {fitted(random, 'Reno'):.3f} (theory {C_EVERY:.3f}), with "
        f"delayed ACKs {fitted(random, 'Reno, delayed ACKs'):.3f} ({C_DELAYED:.3f}), and Tahoe "
        f"{fitted(random, 'Tahoe'):.3f}: less, as the document says, for each loss sends it back to slow start."
    )
    text = (
        "Points are means over seeds: five for random loss on the link (10 Mbit/s, 50 ms, no queue to speak of), "
        "three for loss at queues of 3 to 80 packets (2 Mbit/s, 50 ms). W is goodput × round trip / packet. Above 2 "
        "% the timeouts, which Mathis leaves out and PFTK counts, take over."
    )
    drawn = curves().with_columns(pl.col("loss") * 100)
    shown = mean.with_columns(pl.col("loss") * 100)
    both = [
        charts.points(
            shown.filter(pl.col("forced") == forced).drop("forced"), "loss", "packets_per_rtt", by="variant",
            curves=drawn, curve="curve", x_scale="log", y_scale="log", x_domain=(0.01, 20), y_domain=(0.8, 150),
            x_title="loss (%)",
            y_title="packets per round trip", title=title, height=380,
        )
        for forced, title in (("random", "Loss at random on the link"), ("queue", "Loss forced by the queue's length"))
    ]  # fmt: skip
    table = mean.select(
        pl.col("variant").alias("TCP"),
        pl.struct("forced", "setting").map_elements(_words, return_dtype=pl.String).alias("lost"),
        (pl.col("loss") * 100).alias("lost %"),
        pl.col("packets_per_rtt").alias("W"),
        pl.col("mathis").alias("Mathis"),
        pl.col("pftk").alias("PFTK"),
        "timeouts",
    )
    formats: dict[str, Format] = {"lost %": ".3f", "W": ".2f", "Mathis": ".2f", "PFTK": ".2f", "timeouts": ".1f"}
    charted = [Chart(chart) for chart in both]
    return Section(
        "The response function",
        finding,
        [Text(text), *charted, Table(table, "Means over seeds", formats)],
    )


def _words(setting: dict[str, str]) -> str:
    """Where packets are lost: "0.5 % on the link", "queue of 3 packets"."""
    value = setting["setting"].partition("-")[2]
    return f"queue of {value} packets" if setting["forced"] == "queue" else f"{float(value) * 100:g} % on the link"


def phase_section(frame: pl.DataFrame) -> Section:
    """Of phase effects."""
    alone, noise = spreads(frame)
    finding = (
        f"Lengthening one round trip of 233 ms by up to 50 ms moves that flow's share between {alone[0] * 100:.0f} "
        f"and {alone[1] * 100:.0f} %, again and again with each 10 ms, the time of a packet at the bottleneck; with 9 "
        f"kbit/s of random traffic beside, it stays between {noise[0] * 100:.0f} and {noise[1] * 100:.0f} %."
    )
    text = (
        "When a drop-tail queue is full, the packet that arrives just after one has left finds room. Which flow that "
        "is depends on the phase between their packets, and deterministic flows never change it, so one flow loses "
        "again and again. Results of a simulation without any randomness can rest on nothing else. Set-up of Floyd "
        "and Jacobson (1992)."
    )
    shown = frame.with_columns((pl.col("share") * 100).alias("share"))
    chart = charts.line(
        shown, "extra_ms", "share", by="kind", x_title="longer round trip of the second flow (ms)",
        y_title="share of the second flow (%)", y_domain=(0, 100), height=260,
    )  # fmt: skip
    return Section("Phase effects", finding, [Text(text), Chart(chart)])
