"""What claims compare of the sensitivity analysis: signs, influence, parameters without effect."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from tightlink.analysis.effects.joint import power
from tightlink.lazy import stats
from tightlink.studies.congestion_control.observe.anchors import unlike
from tightlink.studies.congestion_control.observe.evidence import CONGESTION
from tightlink.studies.congestion_control.observe.readings import Readings
from tightlink.studies.congestion_control.observe.sensitivity import IDS, Sensitivity
from tightlink.studies.congestion_control.setup import document
from tightlink.studies.congestion_control.setup.experiment import STANDARD, Size

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
    named = {**dict(_signs(readings, size)), **_six(readings, size), **_order(found), **_without_effect(readings)}
    named |= {"dimensions": len(found.correlation.groups), "runs": found.found.experiment.conditions.height}
    return {f"{found.found.name}.{name}": value for name, value in named.items()}


def _signs(readings: Readings, size: Size) -> Iterator[tuple[str, object]]:
    """Of each effect that the document marks at p < 0.01: our sign, and how sure it is."""
    for number, marks in document.effects().items():
        for parameter in [name for name, (_, strong) in marks.items() if strong]:
            response, match = readings.response(number, parameter)
            own = readings.effect(parameter, response)
            sign = readings.sign(number, parameter)
            absent = unread = weak = oriented = ""
            if own is None:
                absent = f"Read as {response}, which no run has at one of the levels."
            elif not sign:
                absent = "Which of its levels is the document's high one is not told by other responses."
            else:
                unread = (
                    f"No response of its class agrees with its other effects; the best is {response}, {match:.2f}. "
                )
                weak = (
                    f"The design would see a tenth with a probability of {_power(own):.0%} only: read as {response}, "
                )
                weak += f"{own['relative_effect']:+.0%}, p = {own['p_joint']:.2g}."
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
                "unread": unread, "disputed": disputed, "weak": weak, "oriented": oriented,
                "thin": unlike(size, response, _CONTROLS),
            }  # fmt: skip
            yield from ((f"{number}.{parameter}.{name}", value) for name, value in named.items())


def _power(own: dict[str, Any] | None) -> float:
    """The probability with which an effect of the margin is seen at the document's level."""
    if own is None:
        return math.nan
    size = math.log1p(MARGIN) if own["scale"] == "log" else MARGIN * abs(own["mean"])
    return power(own["error"], own["freedom"], size, document.STRONG)


def _six(readings: Readings, size: Size) -> dict[str, object]:
    """The parameters that move the number of sources transmitting."""
    named: dict[str, object] = {}
    for parameter in document.SIX:
        own = readings.effect(parameter, "sources_transmitting")
        named |= {
            f"transmitting.{parameter}.p": math.nan if own is None else own["p_joint"],
            f"transmitting.{parameter}.change": math.nan if own is None else own["relative_effect"],
            f"transmitting.{parameter}.power": _power(own),
        }
    named["transmitting.thin"] = unlike(size, "sources_transmitting", _CONTROLS)
    return named


def _order(found: Sensitivity) -> dict[str, object]:
    """The order of influence, by Lenth's test; beside it by the joint model's."""
    theirs = found.influence_there
    table = found.influence.filter(pl.col("row") == "weighted")
    own = {IDS[factor]: psi for factor, psi in table.select("factor", "psi").rows()}
    joint = {IDS[factor]: psi for factor, psi in found.influence_joint.select("factor", "psi").rows()}
    by_lenth, by_joint = (
        float(stats.spearmanr(list(theirs.values()), [each.get(name, 0.0) for name in theirs]).statistic)
        for each in (own, joint)
    )
    leading = sorted(own, key=lambda name: -own[name])[: len(document.LEADING)]
    return {
        "order": by_lenth,
        "order.joint": by_joint,
        "leading": ", ".join(leading),
        "leading.same": set(leading) == set(document.LEADING),
    }


def _without_effect(readings: Readings) -> dict[str, object]:
    """How far parameters that the document finds without effect can move its responses, as these are read."""
    from scipy.stats import t

    responses = sorted({readings.response(number)[0] for number in document.effects()})
    named: dict[str, object] = {}
    for parameter in document.WITHOUT_EFFECT:
        largest, surest = (0.0, ""), (0.0, "")
        tested = [own for own in (readings.effect(parameter, name) for name in responses) if own is not None]
        for own in tested:
            apart = t.isf((1 - _CONFIDENCE) / (2 * len(tested)), own["freedom"]) * own["error"]
            low, high = (_share(own, max(abs(own["effect"]) + side * apart, 0.0)) for side in (-1, 1))
            largest, surest = max(largest, (high, own["response"])), max(surest, (low, own["response"]))
        undecided = (
            f"{largest[1]} may be moved by {largest[0]:.0%}, and surely is by {surest[0]:.0%} only ({surest[1]})."
        )
        found = {
            "largest": largest[0] if tested else math.nan,
            "where": largest[1],
            "surely": f" {surest[1]} moves by {surest[0]:.0%} at least." if surest[0] else "",
            "open": "It was not varied." if not tested else undecided if surest[0] < MARGIN < largest[0] else "",
            "responses": len(tested),
        }
        named |= {f"without-effect.{parameter}.{name}": value for name, value in found.items()}
    return named


def _share(own: dict[str, Any], effect: float) -> float:
    """An effect on the scale of its model as a share of the response."""
    return math.expm1(effect) if own["scale"] == "log" else effect / abs(own["mean"])
