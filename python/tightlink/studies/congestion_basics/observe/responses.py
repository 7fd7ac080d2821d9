"""What was found of the response functions: mean windows, slopes and levels, beside formulas and laws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from tightlink.studies.congestion_basics.setup.network import FLOW, LINK, PAYLOAD_BYTES
from tightlink.studies.congestion_basics.setup.responses import CURVES, RTT_S, Curve, at_random, name, seeds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tightlink.run import Run

    Numbers: TypeAlias = NDArray[np.float64]

#: Samples before these do not count: the beginning is where the window comes from.
_SETTLED: Final = 8


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


@dataclass(frozen=True)
class Responses:
    """Mean windows by loss, and fits of them."""

    mean: pl.DataFrame
    """Over seeds: packets per round trip, beside formula and law at the loss that there was.

    That differs from the loss of the link, ``set``, by chance, and the window with it.
    """
    fits: Mapping[str, Fit]
    """By the names of controls."""

    @classmethod
    def of(cls, runs: Mapping[str, Run]) -> Responses:
        """Both from the runs."""
        points = _points(runs)
        mean = points.group_by("control", "set", maintain_order=True).agg(
            pl.col("loss", "packets_per_rtt", "formula", "law").mean()
        )
        return cls(mean, {curve.name: _fit(points, curve) for curve in CURVES})

    def values(self) -> dict[str, object]:
        """What claims compare, by name."""
        listed: dict[str, object] = {"response.rtt_ms": RTT_S * 1e3}
        for curve in CURVES:
            own: dict[str, object] = self.fits[curve.name]._asdict()
            own |= {"loss_least": curve.range[0], "loss_most": curve.range[1], "exponent": curve.exponent}
            listed |= {f"response.{curve.name}.{key}": value for key, value in own.items()}
        return listed


def _fit(found: pl.DataFrame, curve: Curve) -> Fit:
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


def _points(runs: Mapping[str, Run]) -> pl.DataFrame:
    rows = []
    for curve in CURVES:
        for loss in curve.losses:
            for seed, losses in seeds(loss):
                had, window = _measured(runs[name(curve, loss, seed)])
                formula = curve.formula(had)
                law = at_random(curve.name, loss) * formula / curve.formula(loss)
                rows.append((curve.name, loss, seed, had, window, formula, law, losses))
    names = ["control", "set", "seed", "loss", "packets_per_rtt", "formula", "law", "losses"]
    return pl.DataFrame(rows, schema=names, orient="row")


def _measured(run: Run) -> tuple[float, float]:
    """Share of packets lost and packets per round trip, after the beginning."""
    goodput = _samples(run, FLOW, "goodput_bps")
    step_s = float(run.series["time_s"].unique().sort().diff().drop_nulls()[0])
    arrived = sum(goodput) * step_s / (8 * PAYLOAD_BYTES)
    dropped = sum(_samples(run, LINK, "packets_dropped"))
    return dropped / (arrived + dropped), fmean(goodput) * RTT_S / (8 * PAYLOAD_BYTES)


def _samples(run: Run, entity: str, metric: str) -> list[float]:
    chosen = (pl.col("entity") == entity) & (pl.col("metric") == metric)
    return run.series.filter(chosen).sort("time_s")["value"].to_list()[_SETTLED:]
