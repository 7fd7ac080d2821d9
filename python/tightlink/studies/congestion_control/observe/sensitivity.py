"""Which of the twenty parameters govern the network: effects, influence, dimensions of the responses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink import units
from tightlink.analysis.correlation import Correlation, correlation
from tightlink.analysis.effects import main_effects
from tightlink.analysis.influence import influence
from tightlink.analysis.responses import RESPONSES
from tightlink.analysis.ten_steps import Steps, steps
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.observe.evidence import CONGESTION, Evidence
from tightlink.studies.congestion_control.setup import document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PERIODS: Final = ("before", "congestion", "after")
_LONG_LIVED: Final = ("first_pps", "second_pps", "third_pps")
#: What is counted in each interval.
_COUNTED: Final = (
    "packets_entering", "packets_leaving", "transfers_completed", "connections_failed", "window_increases",
    "duplicate_acks", "timeouts",
)  # fmt: skip
_OPPOSITE: Final = {"+": "−", "−": "+"}
_STRONG: Final = 0.01
#: The share of the runs that must have a response for its correlations.
_KNOWN: Final = 0.75
#: Of as many tests as there are, so many below 0.01 by chance are too many in one case of a hundred.
_CHANCE: Final = 0.99
IDS: Final = {name: parameter.id for name, parameter in PARAMETERS.items()}


@dataclass(frozen=True)
class Sensitivity:
    """The three designs: with both controls, and with each of the two alone."""

    both: Evidence
    alone: Mapping[str, Evidence]

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.both.experiment.name

    @cached_property
    def effects(self) -> pl.DataFrame:
        """Main effects in each period, and of each control alone in the second: column ``row``."""
        tables = [_effects(self.both, period).with_columns(row=pl.lit(period)) for period in _PERIODS]
        tables += [_effects(each, CONGESTION).with_columns(row=pl.lit(name)) for name, each in self.alone.items()]
        return pl.concat(tables)

    @cached_property
    def influence(self) -> pl.DataFrame:
        """Ψ by ``row`` and factor, and weighted as the document weights it."""
        rows = influence(self.effects, by=["row"])
        if not self.alone:
            return rows
        of_periods = pl.col("psi").filter(pl.col("row").is_in(_PERIODS)).mean()
        of_controls = pl.col("psi").filter(~pl.col("row").is_in(_PERIODS)).mean().fill_null(0.0)
        weighted = rows.group_by("factor", maintain_order=True).agg(
            psi=(of_periods + of_controls) / 2, responses=pl.col("responses").first(), row=pl.lit("weighted")
        )
        return pl.concat([rows, weighted.select(rows.columns)])

    @cached_property
    def correlation(self) -> Correlation:
        """Of the 22 responses, over all runs, in the second period."""
        wide = per_second(self.both, self.both.responses())
        there = [each.name for each in RESPONSES if each.name in wide.columns]
        # Of classes of paths that hardly any transfer takes, little can be said.
        known = wide.select((pl.col(there).is_not_null() & pl.col(there).is_not_nan()).mean())
        names = [name for name in there if known[name].item() >= _KNOWN]
        return correlation(wide, names, threshold=document.THRESHOLD)

    @cached_property
    def ten_steps(self) -> Steps:
        """Of the number of sources transmitting in the second period, with the document's names of parameters."""
        wide = self.both.responses().rename(IDS, strict=False)
        factors = [IDS[name] for name in self.both.experiment.factors]
        return steps(wide, "sources_transmitting", factors)

    def effect(self, parameter: str, response: str) -> dict[str, object] | None:
        """An effect in the second period."""
        chosen = self.effects.filter(
            pl.col("row") == CONGESTION, pl.col("factor") == parameter, pl.col("response") == response
        )
        return chosen.row(0, named=True) if chosen.height else None


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
        (pl.col(count) / (pl.col(count) + transmitting)).alias(share) for share, count in shares.items()
    )


def _interval(level: str) -> str:
    parameter = PARAMETERS["measurement_interval"]
    return str(parameter.low if level == "low" else parameter.high)


def _effects(found: Evidence, period: str) -> pl.DataFrame:
    wide = per_second(found, found.responses(period))
    names = [name for name in (*(each.name for each in RESPONSES), *_LONG_LIVED) if name in wide.columns]
    return main_effects(wide, list(found.experiment.factors), names)


def values(found: Sensitivity) -> dict[str, object]:
    """What claims compare, by name."""
    named = {**dict(_signs(found)), **_six(found), **_order(found), **_without_effect(found)}
    named |= {"dimensions": len(found.correlation.groups), "runs": found.both.experiment.conditions.height}
    return {f"{found.name}.{name}": value for name, value in named.items()}


def _signs(found: Sensitivity) -> Iterator[tuple[str, object]]:
    """Our sign of each effect that the document marks at p < 0.01, of responses that can be read, where it is sure."""
    for number, (response, why) in document.READINGS.items():
        for parameter, (_, strong) in document.effects()[number].items():
            if not strong:
                continue
            own = found.effect(document.NAME_OF[parameter], response)
            reversed_ = "Its high level is our low one. " if parameter in document.REVERSED else ""
            sign, unseen, words = None, "", ""
            if own is not None and own["sign"]:
                sign = _OPPOSITE[str(own["sign"])] if reversed_ else str(own["sign"])
                words = f"Ours: {own['relative_effect']:+.0%} of the mean, p = {own['p']:.2g}."
            if parameter == document.UNKNOWN:
                ours = "" if own is None else f" Ours: {own['sign']} for the second one, p = {own['p']:.2g}."
                unseen = f"Which topology is its high level is not known.{ours}"
            elif own is None or sign is None:
                unseen = "A run without the long-lived flows has none to measure."
            elif not own["mark"]:
                unseen = f"{reversed_}No significant effect at this size. {words}"
            name = f"{number}.{parameter}"
            yield f"{name}.sign", sign
            yield f"{name}.unseen", unseen
            yield f"{name}.words", f"Read so as it is {why}. {reversed_}{words}"


def _six(found: Sensitivity) -> dict[str, object]:
    """The p-values of the six parameters that move the number of sources transmitting."""
    effects = {
        parameter: found.effect(document.NAME_OF[parameter], "sources_transmitting") for parameter in document.SIX
    }
    return {f"transmitting.{parameter}.p": math.nan if own is None else own["p"] for parameter, own in effects.items()}


def _order(found: Sensitivity) -> dict[str, object]:
    from scipy import stats

    row = "weighted" if found.alone else CONGESTION
    own = {
        IDS[factor]: psi for factor, psi in found.influence.filter(pl.col("row") == row).select("factor", "psi").rows()
    }
    theirs = document.influence()["weighted"]
    order = stats.spearmanr([theirs[name] for name in theirs], [own.get(name, 0.0) for name in theirs])
    leading = sorted(own, key=lambda name: -own[name])[: len(document.LEADING)]
    return {
        "order": float(order.statistic),
        "leading": ", ".join(leading),
        "leading.same": set(leading) == set(document.LEADING),
    }


def _without_effect(found: Sensitivity) -> dict[str, object]:
    """How many responses each parameter moves that the document finds without effect, and how many by chance."""
    from scipy import stats

    named: dict[str, object] = {}
    for parameter in document.WITHOUT_EFFECT:
        own = found.effects.filter(pl.col("factor") == document.NAME_OF[parameter], pl.col("row") == CONGESTION)
        p = own["p"].fill_nan(None).drop_nulls().to_numpy()
        named |= {
            f"without-effect.{parameter}.many": int((p < _STRONG).sum()),
            f"without-effect.{parameter}.most": int(stats.binom.ppf(_CHANCE, len(p), _STRONG)),
            f"without-effect.{parameter}.responses": len(p),
        }
    return named
