"""The part of the report on networks that grow under load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.network_congestion.observe import growth
from tightlink.studies.network_congestion.setup.growth import NODES, RULES, STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping


def section(found: pl.DataFrame, values: Mapping[str, object]) -> Section:
    """What rules of growth make of critical load and invariants."""
    gains = {rule: float(str(values[f"growth.{rule}.gain"])) for rule in RULES}
    best = max(gains, key=gains.__getitem__)
    finding = (
        f"Of six rules the best is {RULES[best]}: λc × {gains[best]:.2f} for a quarter more wires, or as much "
        f"capacity. Wires anywhere bring × {gains['anywhere']:.2f}, preferential ones × {gains['preferential']:.2f}; "
        f"{values['growth.falls']} of {values['growth.added']} new wires lower it."
    )
    text = (
        "The document asks, too, how dynamics may affect the evolution of networks and their invariants. Here graphs "
        f"of {NODES} nodes grow by {STEPS} wires, each put where one of four rules says, or by as much capacity, or "
        "none is added and capacity moves. The load decides where: past the link that is asked for most, or between "
        "the two nodes with most paths; preferential growth and growth anywhere do not look at it. Paths are those of "
        "fewest links throughout. λc is C (n − 1) / B; what becomes of one graph of each family is simulated around "
        "it."
    )
    words = {growth.BEFORE: "before"} | RULES
    shown = found.group_by("rule", maintain_order=True).agg(
        pl.col(
            "critical", "gain", "betweenness", "degree_ratio", "clustering", "path_length_mean", "spectral_gap"
        ).mean()
    )
    table = shown.select(
        pl.col("rule").replace_strict(words),
        pl.col("critical").alias("λc"),
        pl.col("gain").alias("over before"),
        pl.col("betweenness").alias("B as routed"),
        pl.col("degree_ratio").alias("⟨k²⟩ / ⟨k⟩²"),
        "clustering",
        pl.col("path_length_mean").alias("mean path"),
        pl.col("spectral_gap").alias("spectral gap"),
    )
    formats: dict[str, Any] = {
        "λc": ".0f", "over before": "× {:.2f}", "B as routed": ".0f", "⟨k²⟩ / ⟨k⟩²": ".2f", "clustering": ".2f",
        "mean path": ".2f", "spectral gap": ".3f",
    }  # fmt: skip
    chart = charts.line(
        growth.steps(), "step", "gain", by="rule", title="Critical load as networks grow",
        x_title="wires added, or as much capacity", y_title="λc over λc before", height=300,
    )  # fmt: skip
    caption = "By C (n − 1) / B, mean over random and scale-free graphs."
    means = f"Means over {values['growth.graphs']} graphs; λc by C (n − 1) / B, in packets/s from each node."
    return Section(
        "Networks that grow under load", finding, [Text(text), Chart(chart, caption), Table(table, means, formats)]
    )
