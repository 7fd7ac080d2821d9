"""The section of an experiment in which all sources have the same control."""

from __future__ import annotations

from typing import Final

import polars as pl

from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.congestion_control.observe.homogeneous import Homogeneous
from tightlink.studies.congestion_control.setup.experiment import STANDARD

#: Of condition-response summaries, which the document has three of.
_FILTERS: Final = (0.0, 0.1, 0.3)


def section(one: Homogeneous) -> Section:
    """What happened, control by control."""
    third = len(one.by_congestion) // 3
    heavy = one.table.filter(pl.col("condition").is_in(one.by_congestion[-third:]))
    shown = ("sources_transmitting", "transfers_completed", "sources_connecting", "loss", "retransmission_rate",
             "cwnd_mean_packets", "cwnd_swing", "timeouts", "rtt_mean_s")  # fmt: skip
    table = heavy.group_by("algorithm", maintain_order=True).agg(pl.col(shown).mean())
    return Section(
        one.found.experiment.title,
        one.found.experiment.question + ".",
        [
            Text(f"{one.found.experiment.conditions.height} conditions, at {one.found.size}. {one.found.origin}"),
            Table(table, f"Means over the {third} conditions with the most loss, in the second period."),
            Row(charts.dendrograms(one.dendrograms), "Which controls behave alike, one condition each."),
            Chart(
                charts.component_scores(one.components, by="algorithm", tell=["condition"], around="group"),
                "All runs along two principal components: hover a point for its condition, an ellipse for the levels "
                "of the two factors that separate most; it is where 95 % of a normal group would be.",
            ),
            *(
                Chart(
                    charts.outlier_grid(one.outliers, least=least),
                    f"Where a control is an outlier by {least:.0%} or more (Grubbs' test, p < 0.05).",
                )
                for least in _FILTERS
            ),
            *_life(one),
            Chart(charts.explore(one.explored, algorithm="algorithm"), "All runs: choose levels, bands, clusters."),
        ],
    )


def _life(one: Homogeneous) -> list[Table]:
    """Nothing of stored responses, which have no sources over time."""
    if not one.found.runs:
        return []
    return [
        Table(
            one.life(STANDARD),
            "A source's life as a Markov chain, standard TCP, in the condition with the most loss: by how many percent "
            "completions fall for each percent of a transition that is lost, and what is left without it.",
        )
    ]
