"""The section of the experiment in which all controls share one network."""

from __future__ import annotations

from tightlink.report import Section, Table, Text
from tightlink.studies.congestion_control.observe.mixture import Mixture


def section(one: Mixture) -> Section:
    """Who gets what."""
    table = one.ranks.summary.select("algorithm", "rank_mean", "rank_sd", "first").join(
        one.relative, left_on="algorithm", right_on="control", maintain_order="left"
    )
    return Section(
        one.found.experiment.title,
        one.found.experiment.question,
        [
            Text(
                f"An eighth of the sources each; {one.found.experiment.conditions.height} conditions; "
                f"{one.found.size}. {one.found.origin}"
            ),
            Table(table, "Web objects: mean rank over conditions, and throughput over standard TCP's."),
        ],
    )
