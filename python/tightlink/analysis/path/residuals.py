"""Observed against predicted: residuals, and how much of the observations the prediction explains.

Example:
    >>> frame = pl.DataFrame({"flows": [1, 1, 2, 2], "observed_bps": [1.0, 2.0, 3.0, 4.0],
    ...     "predicted_bps": [1.0, 2.0, 3.0, 4.0]})
    >>> agreement(frame).origin.value, agreement(frame).free.value
    (1.0, 1.0)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.estimates import Estimate
from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.analysis.path.cells import simulate_cells
from tightlink.lazy import Array, np, pl

#: With fewer points a line says nothing.
_LEAST: Final = 3
#: Of a normal distribution, half its middle 95 %.
_TWO_SIDED: Final = 1.96
#: What is near: a tenth, as SLAC 2000 has it.
NEAR: Final = 0.1


@dataclass(frozen=True)
class Agreement:
    """How well observations follow predictions.

    Both R² are 1 − Σ(o − fit)² / Σ(o − mean)²: about the mean, also for the line through the origin. (About
    zero, as some programs have it, that line's R² would exceed the free one's.)
    """

    points: int
    median: float
    """Of (o − s) / o."""
    largest: float
    """Largest absolute (o − s) / o."""
    mean_bps: float
    """Of o − s."""
    origin: Estimate | None
    """R² of the line through the origin; none with fewer than three points or all observations equal."""
    free: Estimate | None
    """R² of the free line."""
    slope: float | None
    """Of the line through the origin, o over s."""
    within: float
    """Share of points with an absolute (o − s) / o of at most `NEAR`."""


def beside(observed: pl.DataFrame, path: BulkPath, *, jobs: int = 1) -> pl.DataFrame:
    """Observations with what is predicted for each, and the residuals ``residual`` and ``residual_bps``."""
    predicted = pl.Series(predictions(observed, path, jobs=jobs), dtype=pl.Float64)
    return with_residuals(observed.rename({"goodput_bps": "observed_bps"}).with_columns(predicted_bps=predicted))


def predictions(observed: pl.DataFrame, path: BulkPath, *, jobs: int = 1) -> list[float]:
    """The goodput that is predicted for each observation, in bit/s; equal cells are simulated once."""
    # On lists, as a search asks for it hundreds of times.
    places = list(zip(observed["window_packets"].to_list(), observed["flows"].to_list(), strict=True))
    cells = list(dict.fromkeys(places))
    found = dict(zip(cells, simulate_cells(path, cells, jobs=jobs)["goodput_bps"].to_list(), strict=True))
    return [found[place] for place in places]


def with_residuals(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame of ``observed_bps`` and ``predicted_bps`` with ``residual_bps``, o − s, and ``residual``, (o − s) / o.

    >>> with_residuals(pl.DataFrame({"observed_bps": [10.0], "predicted_bps": [8.0]})).row(0)
    (10.0, 8.0, 2.0, 0.2)
    """
    difference = pl.col("observed_bps") - pl.col("predicted_bps")
    return frame.with_columns(residual_bps=difference, residual=difference / pl.col("observed_bps"))


def agreement(frame: pl.DataFrame, columns: tuple[str, str] = ("observed_bps", "predicted_bps")) -> Agreement:
    """The agreement of two columns of a frame, observed and predicted."""
    observed, predicted = (frame[name].to_numpy().astype(float) for name in columns)
    shares = (observed - predicted) / observed
    enough = len(observed) >= _LEAST and len(np.unique(observed)) > 1 and len(np.unique(predicted)) > 1
    origin, free = _r2(observed, predicted) if enough else (None, None)
    return Agreement(
        len(observed),
        float(np.median(shares)),
        float(np.abs(shares).max()),
        float((observed - predicted).mean()),
        origin,
        free,
        float((observed * predicted).sum() / (predicted**2).sum()) if enough else None,
        float((np.abs(shares) <= NEAR).mean()),
    )


def share_within(frame: pl.DataFrame, limit: float) -> float:
    """The share of the points whose (o − s) / o is within ± a limit.

    >>> share_within(pl.DataFrame({"observed_bps": [10.0, 10.0], "predicted_bps": [9.5, 8.0]}), 0.1)
    0.5
    """
    shares = frame.select((pl.col("observed_bps") - pl.col("predicted_bps")).abs() <= limit * pl.col("observed_bps"))
    return float(shares.to_series().to_numpy().mean())


def by_flows(frame: pl.DataFrame) -> dict[int, Agreement]:
    """The same for each number of flows."""
    parts = frame.sort("flows").group_by("flows", maintain_order=True)
    return {int(flows): agreement(part) for (flows,), part in parts}


def _r2(observed: Array, predicted: Array) -> tuple[Estimate, Estimate]:
    """R² of the line through the origin and of the free line."""
    slope = (observed * predicted).sum() / (predicted**2).sum()
    o, s = observed - observed.mean(), predicted - predicted.mean()
    total = float((o**2).sum())
    left = float(((observed - slope * predicted) ** 2).sum())
    free = float((o * s).sum() ** 2 / (s**2).sum() / total)
    return _interval(1 - left / total, len(observed) - 2), _interval(free, len(observed) - 3)


def _interval(r2: float, weight: int) -> Estimate:
    """R² with its interval, of R. A. Fisher's z (Metron 1, 1921), which as many points as there are beyond a line tell.

    Points that are drawn anew, the fewer they are the more often, fit better than those they are drawn from. NaN where
    the interval reaches zero, and says nothing.
    """
    z = math.atanh(math.sqrt(r2)) if 0 < r2 < 1 else math.inf if r2 >= 1 else -math.inf
    half = _TWO_SIDED / math.sqrt(weight) if weight > 0 else math.inf
    if not z > half:
        return Estimate(r2, math.nan, math.nan)
    return Estimate(min(r2, 1.0), math.tanh(z - half) ** 2, math.tanh(z + half) ** 2)
