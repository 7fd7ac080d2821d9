"""Which of the twenty parameters govern the network: effects, influence, dimensions of the responses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from tightlink import units
from tightlink.analysis.effects.influence import influence
from tightlink.analysis.effects.joint import joint_effects
from tightlink.analysis.effects.main import main_effects, mark
from tightlink.analysis.effects.ten_steps import Steps, steps
from tightlink.analysis.responses.correlation import Correlation, correlation
from tightlink.analysis.responses.nist import RESPONSES
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.observe.evidence import CONGESTION, Evidence
from tightlink.studies.congestion_control.setup import document

_PERIODS: Final = ("before", "congestion", "after")
#: Responses of which the document has effects, beside the 22.
_BESIDE: Final = ("first_pps", "second_pps", "third_pps", "sources_connecting", "increases_per_source")
_MEANS: Final = ("mean_low", "mean_high", "mean")
_FITTED: Final = ("effect", "relative_effect", "error", "freedom", "scale", "sign")
#: What is counted in each interval.
_COUNTED: Final = (
    "packets_entering", "packets_leaving", "transfers_completed", "connections_failed", "window_increases",
    "duplicate_acks", "timeouts",
)  # fmt: skip
#: The share of the runs that must have a response for its correlations.
_KNOWN: Final = 0.75
IDS: Final = {name: parameter.id for name, parameter in PARAMETERS.items()}


@dataclass(frozen=True)
class Sensitivity:
    """The three designs: with both controls, and with each of the two alone."""

    found: Evidence
    alone: Mapping[str, Evidence]

    @cached_property
    def effects(self) -> pl.DataFrame:
        """Main effects in each period, and of each control alone in the second: column ``row``."""
        tables = [_effects(self.found, period).with_columns(row=pl.lit(period)) for period in _PERIODS]
        tables += [_effects(each, CONGESTION).with_columns(row=pl.lit(name)) for name, each in self.alone.items()]
        return pl.concat(tables)

    @cached_property
    def influence(self) -> pl.DataFrame:
        """Ψ by ``row`` and factor, and in row "weighted" as the document weights it: of what there is of its rows."""
        rows = influence(self.effects, by=["row"])
        of_period = pl.col("row").is_in(_PERIODS)
        halves = [pl.col("psi").filter(of_period).mean(), pl.col("psi").filter(~of_period).mean()]
        weighted = rows.group_by("factor", maintain_order=True).agg(
            psi=(halves[0] + halves[1].fill_null(0.0)) / 2 if self.alone else halves[0],
            responses=pl.col("responses").first(),
            row=pl.lit("weighted"),
        )
        return pl.concat([rows, weighted.select(rows.columns)])

    @property
    def influence_there(self) -> Mapping[str, float]:
        """The document's Ψ by parameter, of the same rows."""
        rows = document.influence()
        if self.alone:
            return rows["weighted"]
        return {name: sum(rows[period][name] for period in _PERIODS) / len(_PERIODS) for name in rows["weighted"]}

    @cached_property
    def influence_joint(self) -> pl.DataFrame:
        """Ψ in the second period by the joint model, whose error is what replications differ by."""
        return influence(self.effects.filter(pl.col("row") == CONGESTION).with_columns(p="p_joint"))

    @cached_property
    def correlation(self) -> Correlation:
        """Of the 22 responses, over all runs, in the second period."""
        wide = per_second(self.found, self.found.responses())
        there = [each.name for each in RESPONSES if each.name in wide.columns]
        # Of classes of paths that hardly any transfer takes, little can be said.
        known = wide.select((pl.col(there).is_not_null() & pl.col(there).is_not_nan()).mean())
        names = [name for name in there if known[name].item() >= _KNOWN]
        return correlation(wide, names, threshold=document.THRESHOLD)

    @cached_property
    def ten_steps(self) -> Steps:
        """Of the number of sources transmitting in the second period, with the document's names of parameters."""
        wide = self.found.responses().rename(IDS, strict=False)
        factors = [IDS[name] for name in self.found.experiment.factors]
        return steps(wide, "sources_transmitting", factors)


def per_second(found: Evidence, wide: pl.DataFrame) -> pl.DataFrame:
    """What is counted by interval, by second instead.

    The document's are per interval, of which it varies the length (X18). As that hardly has an effect there, its
    numbers cannot be counts of intervals of different lengths.
    """
    lengths = [float(units.time(_interval(level))) for level in found.experiment.factors["measurement_interval"]]
    length = pl.when(pl.col("measurement_interval") < 0).then(lengths[0]).otherwise(lengths[1])
    rates = wide.with_columns(pl.col(name) / length for name in _COUNTED)
    transmitting = pl.col("sources_transmitting")
    shares = {"completion_rate": "transfers_completed", "failure_rate": "connections_failed"}
    return rates.with_columns(
        *((pl.col(count) / (pl.col(count) + transmitting)).alias(share) for share, count in shares.items()),
        increases_per_source=pl.col("window_increases") / transmitting,
    )


def _interval(level: str) -> str:
    parameter = PARAMETERS["measurement_interval"]
    return str(parameter.low if level == "low" else parameter.high)


def _effects(found: Evidence, period: str) -> pl.DataFrame:
    """Main effects by the joint model, beside the means at both levels.

    ``p`` and ``mark`` are Lenth's, of an effect that stands out among all: what a design without replications can tell,
    as the document's is. ``p_joint`` is by what replications differ by.
    """
    wide = per_second(found, found.responses(period))
    factors = list(found.experiment.factors)
    names = [each.name for each in RESPONSES] + list(_BESIDE)
    names = [name for name in names if name in wide.columns and wide[name].is_not_null().any()]
    joint = joint_effects(wide, factors, names, block="replication").filter(pl.col("order") == 1)
    means = main_effects(wide, factors, names).select("factor", "response", "low", "high", *_MEANS)
    fitted = joint.select(*_FITTED, "response", factor="term", p="p_lenth", p_joint="p")
    both = means.join(fitted, on=["factor", "response"], how="left", maintain_order="left")
    return both.with_columns(
        pl.col("p", "p_joint", "relative_effect", "effect", "error", "freedom").fill_null(math.nan),
        pl.col("sign", "scale").fill_null(""),
        mark=pl.col("p").fill_null(math.nan).map_elements(mark, return_dtype=pl.String),
    )
