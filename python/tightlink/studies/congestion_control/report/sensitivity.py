"""The section on which of the twenty parameters govern the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.observe.evidence import CONGESTION
from tightlink.studies.congestion_control.observe.sensitivity import IDS
from tightlink.studies.congestion_control.setup import document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.congestion_control.observe.sensitivity import Sensitivity


def section(found: Sensitivity, claims: Mapping[str, Claim]) -> Section:
    """Effects as a map, and influence beside the document's."""
    second = found.effects.filter(pl.col("row") == CONGESTION)
    signs = [claim for claim in claims.values() if claim.id.startswith(f"{found.name}.Y") and claim.holds is not None]
    held = sum(claim.holds is True for claim in signs)
    row = "weighted" if found.alone else CONGESTION
    ours = found.influence.filter(pl.col("row") == row)
    theirs = document.influence()["weighted"]
    table = ours.select(
        parameter=pl.col("factor").replace_strict(IDS, return_dtype=pl.String),
        name=pl.col("factor").replace_strict({name: each.name for name, each in PARAMETERS.items()}),
        ours=pl.col("psi"),
        document=pl.col("factor").replace_strict({name: theirs[each] for name, each in IDS.items()}),
    )
    groups = [
        {"group": ", ".join(group.responses), "representative": group.representative}
        for group in found.correlation.groups
    ]
    design = found.both.experiment.design
    return Section(
        found.both.experiment.title,
        f"Of the document's effects, {len(signs)} are significant here too (p < 0.05): {held} with its sign.",
        [
            Text(
                f"Twenty parameters at two levels each, {found.both.experiment.conditions.height} runs of resolution "
                f"{design.resolution}: single effects are apart from each other and from products of two parameters. "
                f"At {found.both.size}. Blue, **: p < 0.01; orange, *: p < 0.05; the sign is that of the high level."
            ),
            Chart(charts.significance_map(second), "Effects in the second period; hover a cell for means and p."),
            Chart(
                charts.main_effects(second, "sources_transmitting"), "Number of sources transmitting, at each level."
            ),
            Table(table, "Influence Ψ, weighted over periods and controls.", {"ours": ".2f", "document": ".2f"}),
            Chart(
                charts.correlation_matrix(found.correlation), "Correlations of responses; red from 0.8, blue from 0.3."
            ),
            Chart(charts.index_index(found.correlation), "Pairs with |r| > 0.65, in the order of how many each has."),
            Table(pl.DataFrame(groups), "Groups of responses with |r| > 0.65 among all of their members."),
        ],
    )
