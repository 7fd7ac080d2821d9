"""What was found of the response functions: slopes and levels, with intervals, against formulas and laws."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from tightlink.experiment.claims import Claim, within
from tightlink.report import Row, Section, Table, charts
from tightlink.studies.congestion_basics.responses import CURVES, FEW, RTT_S, Curve, points

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from tightlink.run import Run

    Numbers: TypeAlias = NDArray[np.float64]

#: How far a level may be from a formula: what single sources leave open.
_LEVEL: Final = 0.1
_SLOPE: Final = 0.05
_LAW: Final = 0.05
#: Why a level is not the formula's, where it is not.
_RANDOM: Final = (
    "The formula is for losses at equal distances. At random, long epochs weigh more than short ones, and most where "
    "growth accelerates; the same rules with losses at random give {law:.3f}."
)
#: Why a level is not that of the rules, where it is not.
_COST: Final = (
    "The rules have neither recovery nor timeouts, which cost the more the smaller the window is; and of few losses "
    "the mean is uncertain."
)


class Fit(NamedTuple):
    """Of the points of a control on logarithmic axes: slope and level, with half their 95 % intervals."""

    slope: float
    slope_half: float
    level: float
    """Geometric mean of what was found over the formula."""
    level_half: float
    law: float
    """The same of the law with losses at random over the formula."""
    beside_law: float
    """Geometric mean of what was found over the law."""
    beside_law_half: float


def fit(found: pl.DataFrame, curve: Curve) -> Fit:
    """Slope and level of a control where its formula is meant to hold."""
    low, high = curve.range
    own = found.filter((pl.col("control") == curve.name) & pl.col("set").is_between(low * 0.99, high * 1.01))
    # The variance of a run's mean falls with the number of its losses.
    weights = own["losses"].to_numpy().astype(float)
    losses = np.log(own["loss"].to_numpy())
    ratios = np.log((own["packets_per_rtt"] / own["formula"]).to_numpy())
    beside = np.log((own["packets_per_rtt"] / own["law"]).to_numpy())
    slope, half = _line(losses, np.log(own["packets_per_rtt"].to_numpy()), weights)
    level, level_half = _mean(ratios, weights)
    beside_law, beside_half = _mean(beside, weights)
    return Fit(slope, half, level, level_half, math.exp(float(np.average(ratios - beside, weights=weights))),
               beside_law, beside_half)  # fmt: skip


def _line(x: Numbers, y: Numbers, weights: Numbers) -> tuple[float, float]:
    """Slope of the weighted line through points, with half its 95 % interval."""
    from scipy.special import stdtrit

    middle = np.average(x, weights=weights)
    spread = float(np.sum(weights * (x - middle) ** 2))
    slope = float(np.sum(weights * (x - middle) * y)) / spread
    left = y - np.average(y, weights=weights) - slope * (x - middle)
    variance = float(np.sum(weights * left**2)) / (len(x) - 2)
    return slope, float(stdtrit(len(x) - 2, 0.975)) * math.sqrt(variance / spread)


def _mean(logs: Numbers, weights: Numbers) -> tuple[float, float]:
    """Weighted geometric mean, with half its 95 % interval."""
    from scipy.special import stdtrit

    mean = float(np.average(logs, weights=weights))
    variance = float(np.sum(weights * (logs - mean) ** 2)) / (len(logs) - 1) / float(np.sum(weights))
    return math.exp(mean), math.exp(mean) * float(stdtrit(len(logs) - 1, 0.975)) * math.sqrt(variance)


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """Slope and level of each control."""
    found = points(runs)
    for curve in CURVES:
        own = fit(found, curve)
        low, high = curve.range
        where = f"random losses of {low:g} to {high:g}, {RTT_S * 1e3:.0f} ms"
        cost = f" {_COST}" if abs(own.beside_law - 1) > _LAW else ""
        yield within(
            f"response.{curve.name}.slope", f"The window of {curve.name} falls with the loss as the formula says",
            curve.source, _slope(curve), own.slope, tolerance=_SLOPE,
            reason=f"Exponent of the loss, {own.slope:.3f} ± {own.slope_half:.3f}; {where}.",
        )  # fmt: skip
        differs = abs(own.level - 1) > _LEVEL
        why = f" {curve.reason or _RANDOM.format(law=own.law)}" if differs else ""
        yield within(
            f"response.{curve.name}.level", f"The window of {curve.name} is what the formula says", curve.source, 1,
            own.level, tolerance=_LEVEL,
            reason=f"What was found over the formula, {own.level:.3f} ± {own.level_half:.3f}; {where}.{why}",
        )  # fmt: skip
        yield within(
            f"response.{curve.name}.law",
            f"The window of {curve.name} is what its rules give where each packet is lost by itself",
            f"{curve.source.partition(':')[0]}: the rules, round trip by round trip", 1, own.beside_law, tolerance=_LAW,
            reason=f"What was found over it, {own.beside_law:.3f} ± {own.beside_law_half:.3f}; {where}.{cost}",
        )  # fmt: skip


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    found = points(runs)
    mean = found.group_by("control", "set", maintain_order=True).agg(
        pl.col("loss", "packets_per_rtt", "formula", "law").mean()
    )
    drawn = [
        charts.points(
            mean.filter(pl.col("control") == curve.name).select("control", pl.col("loss") * 100, "packets_per_rtt"),
            "loss", "packets_per_rtt", curves=_curves(mean, curve.name), curve="of", title=curve.name, x_scale="log",
            y_scale="log", x_title="loss (%)", y_title="packets per round trip", x_domain=(5e-5, 2),
            y_domain=(5, 2e5), height=220,
        )
        for curve in CURVES
    ]  # fmt: skip
    rows = [(curve.name, *fit(found, curve)) for curve in CURVES]
    names = ["control", "slope", "slope ±", "over formula", "formula ±", "law / formula", "over law", "law ±"]
    table = pl.DataFrame(rows, schema=names, orient="row")
    worst = max(abs(row[6] - 1) for row in rows)
    off = max(abs(row[3] - 1) for row, curve in zip(rows, CURVES, strict=True) if not curve.reason)
    finding = (
        f"All {len(CURVES)} follow the rules of their sources within {100 * worst:.0f} %, down to one loss in a "
        f"million. Where losses are random, formulas for losses at equal distances are off by up to {100 * off:.0f} %."
    )
    about = (
        f"Mean window at random losses on a path of {RTT_S * 1e3:.0f} ms without queue, over three seeds. At 1 % "
        "losses of retransmissions cost timeouts, which neither formulas nor rules have."
    )
    caption = f"Fits where the formulas are meant to hold, at losses of at most {100 * FEW:g} %, with 95 % intervals"
    fits = Table(table, caption, dict.fromkeys(names[1:], ".3f"))
    return Section("Response functions", finding, [Row(drawn, about), fits])


def _curves(mean: pl.DataFrame, name: str) -> pl.DataFrame:
    own = mean.filter(pl.col("control") == name)
    return pl.concat([
        own.select(pl.col("loss") * 100, packets_per_rtt=column, of=pl.lit(words))
        for column, words in (("formula", "formula"), ("law", "rules"))
    ])  # fmt: skip


def _slope(curve: Curve) -> float:
    """Of the formula over the range, where it is no power of the loss itself."""
    low, high = curve.range
    return round(math.log(curve.formula(high) / curve.formula(low)) / math.log(high / low), 4)
