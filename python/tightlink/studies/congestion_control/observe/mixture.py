"""All eight controls in one network (experiment ``mixture``): who gets more, and is it safe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from tightlink.analysis.ranks import Ranks, ranks
from tightlink.studies.congestion_control.observe.evidence import Evidence
from tightlink.studies.congestion_control.setup.experiment import STANDARD

#: How many get least.
_LAST: Final = 3


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


def values(one: Mixture) -> dict[str, object]:
    """What claims compare, by name."""
    ranked = one.ranks.summary["algorithm"].to_list()
    last = ranked[-_LAST:]
    return {"mixture.last": ", ".join(last), "mixture.standard-last": STANDARD in last, "mixture.p": one.ranks.p}
