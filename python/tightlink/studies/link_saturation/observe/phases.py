"""Whether there is a phase between free flow and congestion: how long queues remember, over the load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.analysis.estimates import Fit
from tightlink.studies.link_saturation.setup import phases

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tightlink.run import Run

    Array = NDArray[np.float64]

#: The sum over lags ends at so many correlation times, where what is left is noise (Sokal 1989, section 3).
_WINDOW: Final = 6.0
#: Of each run, while the queue fills.
_FILLING: Final = 0.02


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each load: the integrated correlation time of the packets in the network, and their mean delay."""
    rows = []
    for load in phases.LOADS:
        tables = [runs[key].table("scatter") for key in phases.keys(load)]
        steps = [_inside(scatter) for scatter in tables]
        delivered, waited = (sum(values) for values in zip(*map(_delays, tables), strict=True))
        rows.append(
            {
                "load": load,
                "correlation_s": float(np.mean([correlation_steps(inside) for inside in steps]))
                * phases.relaxation_s(load) / phases.SAMPLES,
                "one_way_delay_s": waited / delivered,
                "speed": delivered / waited / phases.CAPACITY_PER_S,
            }
        )  # fmt: skip
    return pl.DataFrame(rows)


def _inside(scatter: pl.DataFrame) -> Array:
    """Packets in the network at each sample, once the queue is what it is in the long run."""
    return scatter["packets_in_network"].to_numpy()[int(_FILLING * scatter.height) :].astype(float)


def _delays(scatter: pl.DataFrame) -> tuple[float, float]:
    """Packets delivered, and the sum of their delays."""
    delivered = scatter["packets_delivered"].to_numpy().astype(float)
    return float(delivered.sum()), float((scatter["one_way_delay_mean_s"].fill_null(0.0).to_numpy() * delivered).sum())


def correlation_steps(series: Array) -> float:
    """The integrated correlation time of a series in steps: half of one, and the correlations of all lags.

    >>> noise = np.random.default_rng(1).normal(size=20_000)
    >>> bool(abs(correlation_steps(noise) - 0.5) < 0.1)
    True
    """
    centred = series - series.mean()
    power = np.abs(np.fft.rfft(centred, 2 * len(centred))) ** 2
    covariances = np.fft.irfft(power)[: len(centred)] / np.arange(len(centred), 0, -1)
    sums = np.cumsum(covariances / covariances[0]) - 0.5
    enough = np.flatnonzero(np.arange(len(sums)) >= _WINDOW * sums)
    return float(sums[enough[0]])


def values(found: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name: the exponent of 1 − ρ, and whether a power law breaks somewhere."""
    gaps, times = (np.log(column) for column in (1 - found["load"].to_numpy(), found["correlation_s"].to_numpy()))
    straight, broken = _line(gaps, times), _broken(gaps, times)
    return {
        "phases.exponent": float(np.polyfit(gaps, times, 1)[0]),
        "phases.straight_bic": straight.bic,
        "phases.broken_bic": broken.bic,
        "phases.first_load": found["load"][0],
        "phases.last_load": found["load"][-1],
        "phases.first_speed": found["speed"][0],
        "phases.last_speed": found["speed"][-1],
        "phases.longer": found["correlation_s"][-1] / found["correlation_s"][0],
    }


def _line(x: Array, y: Array) -> Fit:
    return _fit(np.column_stack([np.ones_like(x), x]), y)


def _broken(x: Array, y: Array) -> Fit:
    """Two power laws that meet at one of the inner loads, the best."""
    fits = [_fit(np.column_stack([np.ones_like(x), x, np.maximum(0, x - at)]), y, breaks=1) for at in x[1:-1]]
    return min(fits, key=lambda fit: fit.squares)


def _fit(columns: Array, y: Array, breaks: int = 0) -> Fit:
    solution, *_ = np.linalg.lstsq(columns, y)
    squares = float(((y - columns @ solution) ** 2).sum())
    return Fit(squares, len(y), columns.shape[1] + 1 + breaks, breaks)
