"""The part of the report on phase transition or bifurcation: the answer to the document's question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink.analysis.backlog import master
from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.network_congestion.observe.rounding import SHOWN

if TYPE_CHECKING:
    from tightlink.studies.network_congestion.observe.rounding import Rounding
    from tightlink.studies.network_congestion.setup.network import Case

_PERCENT: Final = 100


def section(found: Rounding) -> Section:
    """The answer to the document's question."""
    table = found.in_size
    widths = ", ".join(f"{one.width.value:.2f}" for one in found.in_time.values())
    finding = (
        f"It is the bifurcation of one link, again and again: time rounds it with exponents {widths} on one link and "
        "two networks (a queue's is ½), and the number of nodes does not sharpen it."
    )
    text = (
        "On one link the document finds a transcritical bifurcation: two regimes that exchange their stability. Here "
        "that is the growth of the queue, 0 or λ − C. Near the point where they meet a queue is a random walk above a "
        "wall, with one curve for all times: packets that piled up after t, over √t, against (λ / λc − 1) √t. **A "
        "network follows the same curve**, scaled by the share of the traffic that its busiest link has; only a ring, "
        "whose links smooth what they send each other, is rounded less.\n\n"
        "A phase transition would be sharpened by *size*: at a given time the width of its onset would shrink with "
        "the number of nodes. It does not. Beyond λc the links fill one after the other, each at its own load; the "
        "curve of η has as many kinks. Only where all links are equally busy, as on a ring, do all bifurcate at once, "
        "and then η has a kink for n → ∞, too; but it has the same one for n = 17."
    )
    panels = [_panel(case, found) for case in found.in_time]
    formats: dict[str, Any] = {
        "λc theory": ".1f", "λc found": ".1f", "width %": ".2f", "slope of η": ".3f",
    }  # fmt: skip
    shown = table.select(
        "family", "nodes", pl.col("theory").alias("λc theory"), pl.col("critical").alias("λc found"),
        (_PERCENT * pl.col("width")).alias("width %"), pl.col("slope").alias("slope of η"),
    )  # fmt: skip
    return Section(
        "Phase transition or bifurcation",
        finding,
        [
            Text(text),
            Row(panels, "After 1.25 s, 5 s and 20 s: 1250, 5000 and 20,000 service times; grey: the queue's curve G."),
            Chart(
                charts.points(
                    table.select("family", "nodes", "critical"), "nodes", "critical", by="family",
                    curves=table.select("nodes", "family", critical=pl.col("theory")), curve="family", x_scale="log",
                    y_scale="log", x_title="nodes", y_title="λc (packets/s from each node)", height=300,
                ),
                "Lines: C (n − 1) / B.",
            ),
            Table(shown, "Width: η at λc over its slope beyond, in percent of λc, after 20 s.", formats),
        ],
    )  # fmt: skip


def _panel(case: Case, found: Rounding) -> Any:
    z = np.linspace(*SHOWN, 65)
    curve = pl.DataFrame({"z": z, "g": master(z), "theory": ["G"] * len(z)})
    return charts.points(
        found.master_curve(case), "z", "g", by="time", curves=curve, curve="theory", height=240,
        title=case.graph.family.capitalize(), x_title="(λ / λc − 1) √t", y_title="η (λ / λc) √t / slope",
    )  # fmt: skip
