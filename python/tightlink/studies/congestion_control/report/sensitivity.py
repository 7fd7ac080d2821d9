"""The section on which of the twenty parameters govern the network."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tightlink.experiment.claims import Claim
from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.observe.evidence import CONGESTION
from tightlink.studies.congestion_control.observe.readings import Readings
from tightlink.studies.congestion_control.observe.sensitivity import IDS, Sensitivity
from tightlink.studies.congestion_control.setup import document


def section(found: Sensitivity, claims: Mapping[str, Claim]) -> Section:
    """Effects as a map, what the document's responses are read as, and influence beside the document's."""
    second = found.effects.filter(pl.col("row") == CONGESTION)
    signs = [claim for claim in claims.values() if claim.id.startswith(f"{found.name}.Y")]
    decided = [claim for claim in signs if claim.holds is not None]
    held = sum(claim.holds is True for claim in decided)
    groups = [
        {"group": ", ".join(group.responses), "representative": group.representative}
        for group in found.correlation.groups
    ]
    experiment = found.both.experiment
    return Section(
        experiment.title,
        f"Of the document's {len(signs)} effects with p < 0.01, {len(decided)} are decided here: {held} have its sign.",
        [
            Text(
                f"Twenty parameters at two levels each, {experiment.conditions.height} conditions of resolution "
                f"{experiment.design.resolution}: single effects are apart from each other and from products of two. "
                f"At {found.both.size}, {experiment.replications} times, with the same random numbers in all "
                "conditions. One model of each response has all single effects and all groups of products; its error "
                "is what replications differ by. The map has Lenth's marks instead, of effects that stand out among "
                "all, which is what a design without replications can tell. Blue, **: p < 0.01; orange, *: p < 0.05; "
                f"the sign is that of the high level. {found.both.origin}"
            ),
            Chart(charts.significance_map(second), "Effects in the second period; hover a cell for means and p."),
            Chart(
                charts.main_effects(second, "sources_transmitting"), "Number of sources transmitting, at each level."
            ),
            Table(
                _readings(second),
                "What the document's responses are read as, by the agreement of their effects with ours (1: the same). "
                "For a claim on one effect the response is read without that effect.",
                {"agreement": ".2f"},
            ),
            Table(_influence(found), f"Influence Ψ, weighted over the three periods{_and_alone(found)}: by Lenth's "
                  "test, and the document's; between them that of the second period by the joint model.",
                  dict.fromkeys(("ours", "joint model", "document"), ".2f")),
            Chart(
                charts.correlation_matrix(found.correlation), "Correlations of responses; red from 0.8, blue from 0.3."
            ),
            Chart(charts.index_index(found.correlation), "Pairs with |r| > 0.65, in the order of how many each has."),
            Table(pl.DataFrame(groups), "Groups of responses with |r| > 0.65 among all of their members."),
        ],
    )  # fmt: skip


def _and_alone(found: Sensitivity) -> str:
    return " and both controls alone" if found.alone else ""


def _readings(second: pl.DataFrame) -> pl.DataFrame:
    """A row for each of the document's responses."""
    readings = Readings(second)
    rows = [
        {"document": number, "class": document.CLASS_OF[number], "response": response, "agreement": agreement}
        for number, (response, agreement) in ((each, readings.response(each)) for each in document.effects())
    ]
    return pl.DataFrame(rows)


def _influence(found: Sensitivity) -> pl.DataFrame:
    """A row for each parameter: ours by two tests, beside the document's."""
    theirs = found.influence_there
    ours = found.influence.filter(pl.col("row") == "weighted")
    joint = found.influence_joint.select("factor", pl.col("psi").alias("joint model"))
    return ours.join(joint, on="factor", maintain_order="left").select(
        parameter=pl.col("factor").replace_strict(IDS, return_dtype=pl.String),
        name=pl.col("factor").replace_strict({name: each.name for name, each in PARAMETERS.items()}),
        ours="psi",
        **{"joint model": "joint model"},
        document=pl.col("factor").replace_strict({name: theirs[each] for name, each in IDS.items()}),
    )
