"""Observed against predicted: residuals, and how much of the observations the prediction explains.

Example:
    >>> frame = pl.DataFrame({"flows": [1, 1, 2, 2], "observed_bps": [1.0, 2.0, 3.0, 4.0],
    ...     "predicted_bps": [1.0, 2.0, 3.0, 4.0]})
    >>> agreement(frame).origin.value, agreement(frame).free.value
    (1.0, 1.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink.analysis.estimates import RESAMPLES, Estimate
from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.analysis.path.cells import simulate_cells
from tightlink.lazy import Array, np, pl

#: With fewer points a line says nothing.
_LEAST: Final = 3
#: Values that are drawn at once: some megabytes.
_AT_ONCE: Final = 1 << 18
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
    cells = list(dict.fromkeys(observed.select("window_packets", "flows").rows()))
    found = simulate_cells(path, cells, jobs=jobs).select("window_packets", "flows", predicted_bps="goodput_bps")
    joined = observed.rename({"goodput_bps": "observed_bps"}).join(
        found, on=["window_packets", "flows"], how="left", maintain_order="left"
    )
    return with_residuals(joined)


def with_residuals(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame of ``observed_bps`` and ``predicted_bps`` with ``residual_bps``, o − s, and ``residual``, (o − s) / o.

    >>> with_residuals(pl.DataFrame({"observed_bps": [10.0], "predicted_bps": [8.0]})).row(0)
    (10.0, 8.0, 2.0, 0.2)
    """
    difference = pl.col("observed_bps") - pl.col("predicted_bps")
    return frame.with_columns(residual_bps=difference, residual=difference / pl.col("observed_bps"))


def agreement(frame: pl.DataFrame, columns: tuple[str, str] = ("observed_bps", "predicted_bps")) -> Agreement:
    """The agreement of two columns of a frame, observed and predicted; intervals by drawing points anew."""
    observed, predicted = (frame[name].to_numpy().astype(float) for name in columns)
    shares = (observed - predicted) / observed
    enough = len(observed) >= _LEAST and len(np.unique(observed)) > 1 and len(np.unique(predicted)) > 1
    origin, free = _intervals(observed, predicted) if enough else (None, None)
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


def _intervals(observed: Array, predicted: Array) -> tuple[Estimate, Estimate]:
    draws = np.random.default_rng(1).integers(0, len(observed), size=(RESAMPLES, len(observed)))
    parts = np.array_split(draws, max(1, draws.size // _AT_ONCE))
    origin, free = np.concatenate([_r2(observed[rows], predicted[rows]) for rows in parts], axis=1)
    value_origin, value_free = _r2(observed[None, :], predicted[None, :])[:, 0]
    # Draws of one point only have no line.
    kept = np.isfinite(origin) & np.isfinite(free)
    return Estimate.of(value_origin, origin[kept]), Estimate.of(value_free, free[kept])


def _r2(observed: Array, predicted: Array) -> Array:
    """R² of the line through the origin and of the free line, of each row; not finite where there is no line."""
    found = np.full((2, len(observed)), np.nan)
    # Of equal values, rounding leaves a difference from their mean.
    several = (np.ptp(observed, axis=1) > 0) & (np.ptp(predicted, axis=1) > 0)
    observed, predicted = observed[several], predicted[several]
    slopes = (observed * predicted).sum(axis=1, keepdims=True) / (predicted**2).sum(axis=1, keepdims=True)
    o, s = (values - values.mean(axis=1, keepdims=True) for values in (observed, predicted))
    total = (o**2).sum(axis=1)
    left = ((observed - slopes * predicted) ** 2).sum(axis=1)
    found[:, several] = 1 - left / total, (o * s).sum(axis=1) ** 2 / (s**2).sum(axis=1) / total
    return found
