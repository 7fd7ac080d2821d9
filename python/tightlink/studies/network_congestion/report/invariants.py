"""The part of the report on what of a graph sets the critical load."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl

from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.network_congestion.setup.network import CAPACITY

_SHOWN_FORMATS: Final[dict[str, Any]] = {
    "λc": ".1f", "C (n − 1) / B": ".1f", "mean degree": ".2f", "⟨k²⟩ / ⟨k⟩²": ".2f", "clustering": ".2f",
    "mean path": ".2f", "spectral gap": ".3f", "B as routed": ".0f", "B even": ".0f",
}  # fmt: skip


def section(found: pl.DataFrame, ranked: pl.DataFrame) -> Section:
    """Critical loads beside what graphs are like."""
    finding = (
        f"Over {found.height} graphs λc is C (n − 1) / B of the busiest link as routed; every other number of a graph "
        "says less, and no global one (clustering, spectral gap, mean degree) comes near."
    )
    text = (
        "Graphs of 62 to 65 nodes, most with four links at a node. Each invariant is measured on the graph; *as "
        "routed* is counted along the paths that the engine takes. The spectral gap and the mean path length say how "
        "far a network is from falling apart, or from end to end, not how unevenly its traffic is spread, and one "
        "link is enough."
    )
    over = (("betweenness", "as routed"), ("link_betweenness_max", "equal paths sharing"))
    panels = [
        charts.points(
            found.select("graph", "family", name, "critical", "theory"), name, "critical", by="family",
            curves=_law(found, name), curve="law", x_scale="log", y_scale="log", height=320, x_domain=(50, 1200),
            y_domain=(50, 1200), title=words,
            x_title="largest betweenness of a link (pairs)", y_title="λc (packets/s from each node)",
        )
        for name, words in over
    ]  # fmt: skip
    formats: dict[str, Any] = {
        "rank correlation with λc": "+.2f", "R² of a power law": ".3f", "its exponent": "+.2f",
    }  # fmt: skip
    return Section(
        "What of a graph sets the critical load",
        finding,
        [
            Text(text),
            *(Chart(panel, "Line: C (n − 1) / B." if place == 0 else "") for place, panel in enumerate(panels)),
            Table(ranked, "Graphs without any clustering are left out of its power law.", formats),
            Table(_shown(found), "The graphs.", _SHOWN_FORMATS),
        ],
    )


def _law(found: pl.DataFrame, name: str) -> pl.DataFrame:
    ends = np.geomspace(float(found[name].to_numpy().min()), float(found[name].to_numpy().max()), 20)
    return pl.DataFrame({name: ends, "critical": CAPACITY * 63 / ends, "law": "C (n − 1) / B, n = 64"})


def _shown(found: pl.DataFrame) -> pl.DataFrame:
    return found.select(
        "graph", pl.col("critical").alias("λc"), pl.col("theory").alias("C (n − 1) / B"),
        pl.col("betweenness").alias("B as routed"), pl.col("link_betweenness_max").alias("B even"),
        pl.col("degree_mean").alias("mean degree"), pl.col("degree_ratio").alias("⟨k²⟩ / ⟨k⟩²"), "clustering",
        pl.col("path_length_mean").alias("mean path"), pl.col("spectral_gap").alias("spectral gap"),
    )  # fmt: skip
