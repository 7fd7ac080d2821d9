"""Which of the twenty parameters govern the network: effects, influence, dimensions of the responses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import polars as pl

from tightlink import units
from tightlink.analysis.effects.influence import influence
from tightlink.analysis.effects.joint import joint_effects, power
from tightlink.analysis.effects.main import main_effects, mark
from tightlink.analysis.effects.ten_steps import Steps, steps
from tightlink.analysis.responses.correlation import Correlation, correlation
from tightlink.analysis.responses.nist import RESPONSES
from tightlink.lazy import stats
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.observe.anchors import unlike
from tightlink.studies.congestion_control.observe.evidence import CONGESTION, Evidence
from tightlink.studies.congestion_control.observe.readings import Readings
from tightlink.studies.congestion_control.setup import document
from tightlink.studies.congestion_control.setup.experiment import STANDARD, Size

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
    smaller: Sensitivity | None = None
    """The same conditions with fewer access routers or for a shorter time."""

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
    def influence_weighted(self) -> pl.DataFrame:
        """Ψ as the document weights it."""
        return self.influence.filter(pl.col("row") == "weighted")

    @property
    def error_from(self) -> str:
        """What tells how far effects may be off, in words."""
        replicated = self.found.experiment.replications > 1
        return "what replications differ by" if replicated else "what effects of three parameters and more leave"

    @property
    def beside_smaller(self) -> pl.DataFrame | None:
        """What the smaller one makes of the single effects seen in the second period, by response.

        Columns ``response``, ``effects`` (seen here, at p < 0.01), ``same_sign`` and ``seen`` (of these: of the same
        sign there; seen there, too), ``correlation`` (Spearman's, of all relative effects).
        """
        if self.smaller is None:
            return None
        own, others = (each.effects.filter(row=CONGESTION) for each in (self, self.smaller))
        both = own.join(others, on=["factor", "response"], suffix="_there", maintain_order="left")
        seen = pl.col("p_joint") < document.STRONG
        same = seen & (pl.col("sign") == pl.col("sign_there"))
        pair = [f"relative_effect{side}" for side in ("", "_there")]
        return both.group_by("response", maintain_order=True).agg(
            effects=seen.sum(),
            same_sign=same.sum(),
            seen=(same & (pl.col("p_joint_there") < document.STRONG)).sum(),
            correlation=pl.corr(*pair, method="spearman"),
        )

    @property
    def leading(self) -> list[str]:
        """As many parameters as lead in the document, the most influential first."""
        return self._by_influence[: len(document.LEADING)]

    @property
    def leading_known(self) -> list[str]:
        """As many of those whose levels in the document are known: a level of our choice sets how much one moves."""
        known = [name for name in self._by_influence if name not in document.UNKNOWN]
        return known[: len(document.LEADING)]

    @property
    def _by_influence(self) -> list[str]:
        own = self.influence_weighted.sort("psi", descending=True, maintain_order=True)
        return [IDS[factor] for factor in own["factor"]]

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
    parameter, levels = PARAMETERS["measurement_interval"], found.experiment.factors["measurement_interval"]
    lengths = [float(units.time(str(parameter.low if level == "low" else parameter.high))) for level in levels]
    length = pl.when(pl.col("measurement_interval") < 0).then(lengths[0]).otherwise(lengths[1])
    rates = wide.with_columns(pl.col(name) / length for name in _COUNTED)
    transmitting = pl.col("sources_transmitting")
    shares = {"completion_rate": "transfers_completed", "failure_rate": "connections_failed"}
    return rates.with_columns(
        *((pl.col(count) / (pl.col(count) + transmitting)).alias(share) for share, count in shares.items()),
        increases_per_source=pl.col("window_increases") / transmitting,
    )


def _effects(found: Evidence, period: str) -> pl.DataFrame:
    """Main effects by the joint model, beside the means at both levels.

    ``p`` and ``mark`` are Lenth's, of an effect that stands out among all: what a design without replications can tell,
    as the document's is. ``p_joint`` is by what replications differ by, or by what effects of three parameters and more
    leave.
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


# What claims compare of it: signs, influence, parameters without effect.

#: An effect that matters, as a share: what the design should see, and what one that is none must stay below.
MARGIN: Final = 0.1
#: Standard TCP, and the other of the two that the sensitivity analysis has.
_CONTROLS: Final = (STANDARD, "compound")
#: Of all bounds of a parameter's effects together.
_CONFIDENCE: Final = 0.95


def values(found: Sensitivity) -> dict[str, object]:
    """What claims compare, by name."""
    readings = Readings(found.effects.filter(pl.col("row") == CONGESTION))
    size = found.found.size
    groups = [group for group in found.correlation.groups if len(group.responses) > 1]
    named = {
        **dict(_signs(readings, size)),
        **_six(readings, size),
        **_order(found),
        **_without_effect(found, readings),
        "dimensions": len(groups),
        "dimensions.alone": len(found.correlation.groups) - len(groups),
        "runs": found.found.experiment.conditions.height,
    }
    return {f"{found.found.name}.{name}": value for name, value in named.items()}


def _signs(readings: Readings, size: Size) -> Iterator[tuple[str, object]]:
    """Of each effect that the document marks at p < 0.01: our sign, and how sure it is."""
    for number, marks in document.effects().items():
        for parameter in [name for name, (_, strong) in marks.items() if strong]:
            response, match = readings.response(number, parameter)
            own = readings.effect(parameter, response)
            sign = readings.sign(number, parameter)
            absent = unread = unseen = oriented = ""
            if own is None:
                absent = f"Read as {response}, which no run has at one of the levels."
            elif not sign:
                absent = "Which of its levels is the document's high one is not told by other responses."
            else:
                unread = (
                    f"No response of its class agrees with its other effects; the best is {response}, {match:.2f}. "
                )
                unseen = _unseen(own)
            if own is not None and parameter in document.UNKNOWN:
                turned = readings.orientation(parameter, number)
                level = {1: "our high", -1: "our low", 0: "unknown"}[turned]
                oriented = f" By the other responses its high level is {level} one."
            fitted = own or {"relative_effect": math.nan, "p_joint": math.nan, "p": math.nan}
            shown = "" if absent else f"{sign} {abs(fitted['relative_effect']):.0%}"
            disputed = "" if absent else readings.disputed(number, parameter)
            named = {
                "sign": sign, "shown": shown, "response": response, "match": match,
                "p": fitted["p_joint"], "p_lenth": fitted["p"], "power": _power(own), "absent": absent,
                "unread": unread, "disputed": disputed, "unseen": unseen, "oriented": oriented,
                "seen": own is not None and _seen(own),
                "thin": unlike(size, response, _CONTROLS),
            }  # fmt: skip
            yield from ((f"{number}.{parameter}.{name}", value) for name, value in named.items())


def _power(own: dict[str, Any] | None) -> float:
    """The probability with which an effect of the margin is seen at the document's level."""
    if own is None:
        return math.nan
    size = math.log1p(MARGIN) if own["scale"] == "log" else MARGIN * abs(own["mean"])
    return power(own["error"], own["freedom"], size, document.STRONG)


def _seen(own: dict[str, Any]) -> bool:
    """Whether an effect is there: by the joint model at the document's level, and by Lenth's test at 0.05.

    The model's error does not know what products of three parameters add, which share columns with single effects: it
    sees the crowd in up to a half of the responses before there is one. Lenth's test compares an effect with all
    columns.
    """
    return bool(own["p_joint"] < document.STRONG and own["mark"])


def _unseen(own: dict[str, Any] | None) -> str:
    """Why an effect is not taken for one, and what the design would see; empty where it is."""
    if own is None:
        return "It was not varied."
    if _seen(own):
        return ""
    return (
        f"On {own['response']}, {own['relative_effect']:+.0%}, not seen by both tests: p = {own['p_joint']:.2g} of "
        f"the joint model, {own['p']:.2g} of Lenth's. The model sees a tenth with a probability of {_power(own):.0%}."
    )


def _six(readings: Readings, size: Size) -> dict[str, object]:
    """The parameters that move the number of sources transmitting."""
    named: dict[str, object] = {}
    for parameter in document.SIX:
        own = readings.effect(parameter, "sources_transmitting")
        columns = {"p": "p_joint", "p_lenth": "p", "change": "relative_effect"}
        each = {name: math.nan if own is None else own[column] for name, column in columns.items()}
        each |= {"seen": own is not None and _seen(own), "unseen": _unseen(own)}
        named |= {f"transmitting.{parameter}.{name}": value for name, value in each.items()}
    there = [own for own in (readings.effect(name, "sources_transmitting") for name in document.NAME_OF) if own]
    marked = [IDS[own["factor"]] for own in there if own["p"] < document.STRONG]
    named["transmitting.marked"] = len(marked)
    named["transmitting.others"] = ", ".join(name for name in marked if name not in document.SIX) or "none"
    named["transmitting.thin"] = unlike(size, "sources_transmitting", _CONTROLS)
    return named


def _of_our_levels(found: Sensitivity) -> str:
    """Why the leading parameters are not told apart from the document's: where the levels that we chose decide."""
    lead = set(found.leading)
    if lead == set(document.LEADING) or set(found.leading_known) != set(document.LEADING):
        return ""
    ours = ", ".join(sorted(lead - set(document.LEADING)))
    return (
        f"{ours} leads, whose levels are not published: ours set how much it moves. Without such parameters the seven "
        "are the same."
    )


def _order(found: Sensitivity) -> dict[str, object]:
    """The order of influence, by Lenth's test; beside it by the joint model's."""
    theirs = found.influence_there
    by_lenth, by_joint = (
        float(stats.spearmanr(list(theirs.values()), [psi.get(name, 0.0) for name in theirs]).statistic)
        for psi in map(_psi, (found.influence_weighted, found.influence_joint))
    )
    return {
        "order": by_lenth,
        "order.joint": by_joint,
        "leading": ", ".join(found.leading),
        "leading.same": set(found.leading) == set(document.LEADING),
        "leading.open": _of_our_levels(found),
    }


def _psi(influence: pl.DataFrame) -> dict[str, float]:
    """Ψ by the document's names of parameters."""
    return {IDS[factor]: psi for factor, psi in influence.select("factor", "psi").rows()}


def _without_effect(one: Sensitivity, readings: Readings) -> dict[str, object]:
    """Ψ of parameters that the document finds without effect, and how far they can move its responses, as read here."""
    responses = sorted({readings.response(number)[0] for number in document.effects()})
    psi = _psi(one.influence_weighted)
    named: dict[str, object] = {}
    for parameter in document.WITHOUT_EFFECT:
        largest, surest = (0.0, ""), (0.0, "")
        tested = [own for own in (readings.effect(parameter, name) for name in responses) if own is not None]
        for own in tested:
            apart = stats.t.isf((1 - _CONFIDENCE) / (2 * len(tested)), own["freedom"]) * own["error"]
            low, high = (_share(own, max(abs(own["effect"]) + side * apart, 0.0)) for side in (-1, 1))
            largest, surest = max(largest, (high, own["response"])), max(surest, (low, own["response"]))
        ours = f"Ψ = {psi.get(parameter, 0.0):.2f}: its levels are not published, and ours set how much it moves."
        found = {
            "psi": psi.get(parameter, math.nan),
            "largest": largest[0] if tested else math.nan,
            "where": largest[1],
            "surely": f" {surest[1]} moves by {surest[0]:.0%} at least." if surest[0] else "",
            "open": "It was not varied." if not tested else ours if psi[parameter] else "",
            "responses": len(tested),
        }
        named |= {f"without-effect.{parameter}.{name}": value for name, value in found.items()}
    return named


def _share(own: dict[str, Any], effect: float) -> float:
    """An effect on the scale of its model as a share of the response."""
    return math.expm1(effect) if own["scale"] == "log" else effect / abs(own["mean"])
