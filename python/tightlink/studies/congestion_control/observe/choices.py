"""Which verdicts depend on what NIST's simulator has chosen: claims of experiment 1b, judged under each choice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import polars as pl

from tightlink.experiment.claims import Claim
from tightlink.studies.claims_table import ClaimsTable
from tightlink.studies.congestion_control.observe import homogeneous
from tightlink.studies.congestion_control.observe.evidence import Evidence
from tightlink.studies.congestion_control.setup.experiment import STANDARD

NAME: Final = "choices"
#: The experiment of which the claims are, and the network.
_OF: Final = "1b"


@dataclass(frozen=True)
class Choices:
    """An experiment with all of NIST's choices, and with each of them turned back."""

    found: Evidence

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """Columns ``claim``, ``statement``, and a verdict with its figure for each choice; the first has all."""
        judged = {variant: self._judged(variant) for variant in self.found.experiment.variants}
        first = next(iter(judged.values()))
        return pl.DataFrame({
            "claim": list(first),
            "statement": [claim.statement for claim in first.values()],
            **{variant: [_verdict(claims[name]) for name in first] for variant, claims in judged.items()},
        })  # fmt: skip

    def _judged(self, variant: str) -> dict[str, Claim]:
        """The claims of experiment 1b on controls that are compared here, by id."""
        parts = pl.col("algorithm").str.split_exact(", ", 1).struct.rename_fields(["algorithm", "variant"])
        table = self.found.table.with_columns(parts.alias("parts")).drop("algorithm").unnest("parts")
        own = replace(self.found.experiment, name=_OF, variants={})
        one = homogeneous.Homogeneous(
            replace(self.found, experiment=own, table=table.filter(pl.col("variant") == variant).drop("variant"))
        )
        compared = set(own.algorithms).difference([STANDARD])
        whole = ClaimsTable.read(Path(__file__).parents[1] / "claims.toml").of([_OF])
        claims = replace(
            whole, statements=tuple(each for each in whole.statements if each.id.split(".")[1] in compared)
        )
        return {claim.id: claim for claim in claims.judged(homogeneous.values(one))}


def _verdict(claim: Claim) -> str:
    """A verdict, and what was observed."""
    observed = claim.observed if isinstance(claim.observed, float) else None
    return claim.verdict + ("" if observed is None else f", {observed:.2f}")


def values(one: Choices) -> dict[str, object]:
    """What claims compare, by name."""
    names = list(one.found.experiment.variants)
    table = one.verdicts.with_columns(pl.col(name).str.split(",").list.first() for name in names)
    turned, opened = [], 0
    for row in table.iter_rows(named=True):
        for name in names[1:]:
            both = {row[names[0]], row[name]}
            opened += len(both) > 1 and "open" in both
            if len(both) > 1 and "open" not in both:
                turned.append(f"{row['claim']} ({name})")
    found = {"claims": table.height, "choices": len(names) - 1, "turned": len(turned), "opened": opened}
    return {f"{NAME}.{name}": value for name, value in found.items()} | {f"{NAME}.which": ", ".join(turned) or "none"}
