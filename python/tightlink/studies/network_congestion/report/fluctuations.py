"""The part of the report on fluctuations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tightlink.analysis import scaling
from tightlink.report import Chart, Row, Section, Text, charts

if TYPE_CHECKING:
    from tightlink.studies.network_congestion.observe.fluctuations import Limited
    from tightlink.studies.network_congestion.observe.measured import Measured


def section(found: list[Measured], limited: Limited) -> Section:
    """The susceptibility over the load."""
    points = pl.concat(
        one.susceptibility.with_columns(
            susceptibility=pl.col("susceptibility") / _level(one), graph=pl.lit(one.case.graph.family)
        ).filter(pl.col("load") <= 1.2)
        for one in found
    )
    table = limited.wandering.with_columns(limit=pl.format("{} packets", pl.col("size").cast(pl.Int64)))
    exponents = limited.collapsed
    one_curve = scaling.scaled(table, 1.0, exponents.height.value, exponents.width.value)
    finding = (
        "Where queues are unlimited, fluctuations step up at λc and stay; where they are limited, they peak there, "
        f"the more sharply the longer the queues: over (λ / λc − 1) K^{exponents.width.value:.2f} all are one curve."
    )
    text = (
        "The **susceptibility** χ is the variance by which the packets in the network spread, per packet sent: read "
        "from the variance of their growth over windows of 0.2 to 1.6 s, whose slope over the length is χ. Below λc "
        "the number goes up and down about a level and χ is 0; beyond, at least one queue is a random walk.\n\nThe "
        "maximum of χ at λc, by which other models find the critical load, is not there: nothing calms a queue that "
        "only grows. It is there as soon as queues have a limit K, and then the transition is rounded by 1 / K: the "
        "finite size that scales is that of the queue, not of the network."
    )
    return Section(
        "Fluctuations",
        finding,
        [
            Text(text),
            Chart(
                charts.points(
                    points, "load", "susceptibility", by="graph", x_title="load / λc of the theory",
                    y_title="χ / its level above λc", height=300, y_domain=(-0.1, 2.0),
                ),
                "Unlimited queues; each graph relative to its median from λc to 1.1 λc.",
            ),
            Row(
                [
                    charts.line(
                        table, "x", "y", by="limit", title="As it is", x_title="load / λc", height=220,
                        y_title="σ of the queue / limit",
                    ),
                    charts.line(
                        one_curve.filter(pl.col("scaled_x").abs() <= 6), "scaled_x", "scaled_y", by="limit",
                        title="Scaled", x_title="(load / λc − 1) K^b", y_title="σ of the queue × K^(a − 1)", height=220,
                    ),
                ],
                "One link with queues of K packets.",
            ),
        ],
    )  # fmt: skip


def _level(one: Measured) -> float:
    table = one.susceptibility.filter((pl.col("load") >= 1) & (pl.col("load") <= 1.1))
    return float(np.median(table["susceptibility"].to_numpy()))
