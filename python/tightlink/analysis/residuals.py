"""Observed against predicted: residuals, and how much of the observations the prediction explains.

Example:
    >>> import polars as pl
    >>> frame = pl.DataFrame({"flows": [1, 1, 2, 2], "observed_bps": [1.0, 2.0, 3.0, 4.0],
    ...     "predicted_bps": [1.0, 2.0, 3.0, 4.0]})
    >>> agreement(frame).origin.value, agreement(frame).free.value
    (1.0, 1.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tightlink.analysis.bulk_cells import simulate_cells
from tightlink.analysis.estimates import RESAMPLES, Estimate

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from tightlink.analysis.bulk_path import BulkPath

_SEED: Final = 1
#: With fewer points a line says nothing.
_LEAST: Final = 3


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


def beside(observed: pl.DataFrame, path: BulkPath, *, jobs: int = 1) -> pl.DataFrame:
    """Observations with what is predicted for each, and the residuals ``residual`` and ``residual_bps``.

    Args:
        observed: ``window_packets``, ``flows``, ``goodput_bps``; several rows of one cell are several points.
        path: What is predicted.
        jobs: Runs to simulate at a time.
    """
    import polars as pl

    cells = list(dict.fromkeys(observed.select("window_packets", "flows").rows()))
    found = simulate_cells(path, cells, jobs=jobs).select("window_packets", "flows", predicted_bps="goodput_bps")
    joined = observed.rename({"goodput_bps": "observed_bps"}).join(
        found, on=["window_packets", "flows"], how="left", maintain_order="left"
    )
    difference = pl.col("observed_bps") - pl.col("predicted_bps")
    return joined.with_columns(residual_bps=difference, residual=difference / pl.col("observed_bps"))


def agreement(frame: pl.DataFrame) -> Agreement:
    """The agreement of a frame with ``observed_bps`` and ``predicted_bps``; intervals by drawing points anew."""
    import numpy as np

    observed, predicted = (frame[name].to_numpy().astype(float) for name in ("observed_bps", "predicted_bps"))
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
        float(_slope(observed, predicted)) if enough else None,
    )


def share_within(frame: pl.DataFrame, limit: float) -> float:
    """The share of the points whose (o − s) / o is within ± a limit.

    >>> import polars as pl
    >>> share_within(pl.DataFrame({"observed_bps": [10.0, 10.0], "predicted_bps": [9.5, 8.0]}), 0.1)
    0.5
    """
    import polars as pl

    shares = frame.select((pl.col("observed_bps") - pl.col("predicted_bps")).abs() <= limit * pl.col("observed_bps"))
    return float(shares.to_series().to_numpy().mean())


def by_flows(frame: pl.DataFrame) -> dict[int, Agreement]:
    """The same for each number of flows."""
    parts = frame.sort("flows").group_by("flows", maintain_order=True)
    return {int(flows): agreement(part) for (flows,), part in parts}


def _intervals(observed: NDArray[np.float64], predicted: NDArray[np.float64]) -> tuple[Estimate, Estimate]:
    import numpy as np

    draws = np.random.default_rng(_SEED).integers(0, len(observed), size=(RESAMPLES, len(observed)))
    pairs = [(observed[rows], predicted[rows]) for rows in draws]
    # Draws of one point only have no line.
    kept = [(o, s) for o, s in pairs if len(np.unique(o)) > 1 and len(np.unique(s)) > 1]
    return (
        Estimate.of(_r2_origin(observed, predicted), [_r2_origin(o, s) for o, s in kept]),
        Estimate.of(_r2_free(observed, predicted), [_r2_free(o, s) for o, s in kept]),
    )


def _slope(observed: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    return float((observed * predicted).sum() / (predicted**2).sum())


def _r2_origin(observed: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    left = observed - _slope(observed, predicted) * predicted
    return 1 - float((left**2).sum() / ((observed - observed.mean()) ** 2).sum())


def _r2_free(observed: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    import numpy as np

    return float(np.corrcoef(observed, predicted)[0, 1] ** 2)
