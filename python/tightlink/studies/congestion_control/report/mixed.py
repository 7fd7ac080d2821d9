"""The section of an experiment in which standard TCP competes with one other control."""

from __future__ import annotations

from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.congestion_control.observe.mixed import FILES, Mixed


def section(one: Mixed) -> Section:
    """Who gains and who pays."""
    shown = one.fairness.select("algorithm", "ratio", "ahead", "behind", "conditions", "p")
    ranked = one.own_ranks.summary.join(one.standard_ranks.summary, on="algorithm", suffix="_standard")
    (rated, shares), (large, very_fast) = one.shares, one.very_fast
    return Section(
        one.found.experiment.title,
        one.found.experiment.question + ".",
        [
            Text(f"{one.found.experiment.conditions.height} conditions, half of the sources with standard TCP, at "
                 f"{one.found.size}. {one.found.origin}"),
            Table(shown, "Web objects: throughput over that of the standard TCP beside it."),
            Table(ranked.select("algorithm", "rank_mean", "rank_sd", "rank_mean_standard", "rank_sd_standard"),
                  "Mean rank of the throughput of a control's own transfers, and of standard TCP's beside it."),
            Chart(charts.rank_scatter(one.own_ranks), "Ranks of a control's own throughput."),
            Chart(charts.rank_scatter(one.standard_ranks), "Ranks of the throughput of standard TCP beside it."),
            Chart(charts.share_bars(shares), f"Share of 1 Gbit/s: {rated}."),
            Row(charts.beside_standard(very_fast),
                f"A control along, standard TCP up: {large}."),
            Row(charts.beside_standard(one.points(FILES[0])), "Web objects: a control along, standard TCP up."),
        ],
    )  # fmt: skip
