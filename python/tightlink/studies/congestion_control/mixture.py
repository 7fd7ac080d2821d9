"""All eight controls in one network (experiment ``mixture``): who gets more, and is it safe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from tightlink.analysis.ranks import Ranks, ranks
from tightlink.experiment.claims import Claim, holds_if
from tightlink.report import Section, Table, Text
from tightlink.studies.congestion_control import document
from tightlink.studies.congestion_control.experiment import STANDARD
from tightlink.studies.congestion_control.part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.studies.congestion_control.evidence import Evidence


@dataclass(frozen=True)
class Mixture:
    """An experiment in which all controls share the network."""

    found: Evidence

    @cached_property
    def table(self) -> pl.DataFrame:
        """Mean throughput of Web objects: a row for each condition and control."""
        own = self.found.table.filter(pl.col("response").str.starts_with("web-object,"))
        means = own.group_by("condition", "control", "response", maintain_order=True).agg(pl.col("value").mean())
        return means.group_by("condition", "control", maintain_order=True).agg(pl.col("value").mean())

    @cached_property
    def ranks(self) -> Ranks:
        """Of the controls, over conditions."""
        full = pl.len().over("condition") == len(self.found.experiment.algorithms)
        table = self.table.filter(full).with_columns(response=pl.lit("web-object"))
        return ranks(table, condition="condition", algorithm="control", best="largest")

    @cached_property
    def relative(self) -> pl.DataFrame:
        """By control: the geometric mean over conditions of its throughput over standard TCP's."""
        wide = self.table.pivot("control", index="condition", values="value")
        names = [name for name in wide.columns if name != "condition"]
        rows = [
            {"control": name, "over_standard": wide.select((pl.col(name) / pl.col(STANDARD)).log().mean().exp()).item()}
            for name in names
        ]
        return pl.DataFrame(rows).sort("over_standard", descending=True)


def claims(one: Mixture) -> Iterator[Claim]:
    """The document did not simulate it; what it says of pairs is tested on the mixture."""
    ranked = one.ranks.summary["algorithm"].to_list()
    last = ", ".join(ranked[-3:])
    yield holds_if(
        "mixture.standard-loses", "In a mixture of all controls, standard TCP is among the three that get least",
        f"{document.SAFETY}: not simulated there", last, STANDARD in ranked[-3:],
        "By mean rank over conditions of the throughput of Web objects.",
    )  # fmt: skip
    yield holds_if(
        "mixture.ranks-differ", "Which control a user has matters in a mixture",
        f"{document.SAFETY}: not simulated there",
        one.ranks.p, one.ranks.p < 0.01, "p of Friedman's test over conditions.",
    )  # fmt: skip


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
                f"An eighth of the sources each; {one.found.experiment.conditions.height} conditions; {one.found.size}."
            ),
            Table(table, "Web objects: mean rank over conditions, and throughput over standard TCP's."),
        ],
    )


def part(found: Evidence) -> Part:
    """What the experiment shows."""
    one = Mixture(found)
    return Part(list(claims(one)), section(one))
