"""Which of the twenty parameters govern the network: effects, influence, dimensions of the responses."""

from __future__ import annotations

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
from tightlink.experiment.claims import Claim, exact, holds_if, untestable, within
from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control import document, figures
from tightlink.studies.congestion_control.evidence import CONGESTION, Evidence
from tightlink.studies.congestion_control.part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PERIODS: Final = ("before", "congestion", "after")
_LONG_LIVED: Final = ("first_pps", "second_pps", "third_pps")
#: What is counted in each interval.
_COUNTED: Final = (
    "packets_entering", "packets_leaving", "transfers_completed", "connections_failed", "window_increases",
    "duplicate_acks", "timeouts",
)  # fmt: skip
_OTHER: Final = {"+": "−", "−": "+"}
_STRONG: Final = 0.01
#: The share of the runs that must have a response for its correlations.
_KNOWN: Final = 0.75
#: Of as many tests as there are, so many below 0.01 by chance are too many in one case of a hundred.
_CHANCE: Final = 0.99
_IDS: Final = {name: parameter.id for name, parameter in PARAMETERS.items()}


@dataclass(frozen=True)
class Sensitivity:
    """The three designs: with both controls, and with each of the two alone."""

    both: Evidence
    alone: Mapping[str, Evidence]

    @property
    def name(self) -> str:
        """Of the experiment."""
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
        wide = self.both.responses().rename(_IDS, strict=False)
        factors = [_IDS[name] for name in self.both.experiment.factors]
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


def claims(found: Sensitivity) -> Iterator[Claim]:
    """What the document's sensitivity analysis says."""
    yield from _signs(found)
    yield from _six(found)
    yield from _order(found)
    yield from _without_effect(found)
    yield exact(
        f"{found.name}.dimensions", "Seven groups of correlated responses", document.CORRELATIONS, document.DIMENSIONS,
        len(found.correlation.groups),
        reason=f"Groups of mutual |r| > {document.THRESHOLD:g} over {found.both.experiment.conditions.height} runs in "
        "the second period; a response without a partner is a group.",
    )  # fmt: skip


def _signs(found: Sensitivity) -> Iterator[Claim]:
    """The sign of each effect that the document marks at p < 0.01, of responses that can be read, where it is sure."""
    for number, (response, why) in document.READINGS.items():
        for parameter, (sign, strong) in document.effects()[number].items():
            if not strong:
                continue
            name = f"{found.name}.{number}.{parameter}"
            said = f"{number}, read as {response}: {PARAMETERS[document.NAME_OF[parameter]].name} {sign}"
            own = found.effect(document.NAME_OF[parameter], response)
            if parameter == document.UNKNOWN:
                ours = "" if own is None else f" Ours: {own['sign']} for the second one, p = {own['p']:.2g}."
                yield untestable(name, said, document.EFFECTS, f"Which topology is its high level is not known.{ours}")
                continue
            if own is None or not own["sign"]:
                yield untestable(
                    name, said, document.EFFECTS, "A run without the long-lived flows has none to measure."
                )
                continue
            reversed_ = "Its high level is our low one. " if parameter in document.REVERSED else ""
            ours = f"Ours: {own['relative_effect']:+.0%} of the mean, p = {own['p']:.2g}."
            if not own["mark"]:
                yield untestable(name, said, document.EFFECTS, f"{reversed_}No significant effect at this size. {ours}")
                continue
            yield exact(
                name, said, document.EFFECTS, _OTHER[sign] if reversed_ else sign, str(own["sign"]),
                reason=f"Read so as it is {why}. {reversed_}{ours}",
            )  # fmt: skip


def _six(found: Sensitivity) -> Iterator[Claim]:
    """The six parameters that move the number of sources transmitting."""
    for parameter in document.SIX:
        own = found.effect(document.NAME_OF[parameter], "sources_transmitting")
        p = float("nan") if own is None else float(str(own["p"]))
        yield holds_if(
            f"{found.name}.transmitting.{parameter}",
            f"{PARAMETERS[document.NAME_OF[parameter]].name} moves the number of sources transmitting (p < 0.01)",
            document.ONE_RESPONSE, p, p < _STRONG, "The p-value of the two-sample t-test.",
        )  # fmt: skip


def _order(found: Sensitivity) -> Iterator[Claim]:
    from scipy import stats

    row = "weighted" if found.alone else CONGESTION
    own = {
        _IDS[factor]: psi for factor, psi in found.influence.filter(pl.col("row") == row).select("factor", "psi").rows()
    }
    theirs = document.influence()["weighted"]
    order = stats.spearmanr([theirs[name] for name in theirs], [own.get(name, 0.0) for name in theirs])
    yield within(
        f"{found.name}.order", "The order of influence of the twenty parameters (Spearman's ρ)", document.INFLUENCE,
        1.0, float(order.statistic), tolerance=0.3, reason="Weighted Ψ, as the document weights it. Tolerance: ours.",
    )  # fmt: skip
    leading = sorted(own, key=lambda name: -own[name])[: len(document.LEADING)]
    yield holds_if(
        f"{found.name}.leading", f"The seven that matter most are {', '.join(document.LEADING)}", document.INFLUENCE,
        ", ".join(leading), set(leading) == set(document.LEADING), "In any order.",
    )  # fmt: skip


def _without_effect(found: Sensitivity) -> Iterator[Claim]:
    from scipy import stats

    for parameter in document.WITHOUT_EFFECT:
        own = found.effects.filter(pl.col("factor") == document.NAME_OF[parameter], pl.col("row") == CONGESTION)
        p = own["p"].fill_nan(None).drop_nulls().to_numpy()
        many = int((p < _STRONG).sum())
        most = int(stats.binom.ppf(_CHANCE, len(p), _STRONG))
        yield holds_if(
            f"{found.name}.without-effect.{parameter}",
            f"{PARAMETERS[document.NAME_OF[parameter]].name} has no significant effect", document.INFLUENCE,
            many, many <= most,
            f"Responses of {len(p)} with p < 0.01 in the second period; up to {most} by chance in 99 of 100 cases.",
        )  # fmt: skip


def section(found: Sensitivity, verdicts: Sequence[Claim]) -> Section:
    """Effects as a map, and influence beside the document's."""
    second = found.effects.filter(pl.col("row") == CONGESTION)
    signs = [claim for claim in verdicts if claim.id.startswith(f"{found.name}.Y") and claim.holds is not None]
    held = sum(claim.holds is True for claim in signs)
    row = "weighted" if found.alone else CONGESTION
    ours = found.influence.filter(pl.col("row") == row)
    theirs = document.influence()["weighted"]
    table = ours.select(
        parameter=pl.col("factor").replace_strict(_IDS, return_dtype=pl.String),
        name=pl.col("factor").replace_strict({name: each.name for name, each in PARAMETERS.items()}),
        ours=pl.col("psi"),
        document=pl.col("factor").replace_strict({name: theirs[each] for name, each in _IDS.items()}),
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


def part(both: Evidence, alone: Mapping[str, Evidence]) -> Part:
    """What the sensitivity analysis shows."""
    found = Sensitivity(both, alone)
    own = list(claims(found))
    return Part(
        own,
        section(found, own),
        lambda folder: [
            *figures.sensitivity(folder, found.name, found.effects, found.influence, found.correlation),
            *figures.ten_steps(folder, found.name, found.ten_steps),
        ],
    )
