"""Fluctuations: the susceptibility over the load, with unlimited queues and with short ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.analysis import scaling
from tightlink.studies.network_congestion.observe.measured import Measured
from tightlink.studies.network_congestion.setup import cases
from tightlink.studies.network_congestion.setup.cases import LIMITS
from tightlink.studies.network_congestion.setup.network import CAPACITY, FILLED_S, SAMPLE_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.analysis.estimates import Estimate
    from tightlink.analysis.scaling import Collapse
    from tightlink.run import Run

#: The longest windows, in samples, as `tightlink.analysis.transition` takes them.
_LONGEST: Final = 32
#: How far a step may be rounded: two of the times 1 / √(services in a window).
_ROUNDED: Final = 2 / float(np.sqrt(CAPACITY * _LONGEST * SAMPLE_S))
#: How near the critical load a maximum is called to be at it.
_NEAR: Final = 0.05


@dataclass(frozen=True)
class Limited:
    """What came out of them."""

    runs: Mapping[str, Run]

    @cached_property
    def wandering(self) -> pl.DataFrame:
        """Standard deviation of one link's queue over its limit: ``size`` (limit), ``x``, ``y``, ``error``."""
        rows = []
        for case, limit in zip(cases.limited_queues(), LIMITS, strict=False):
            for load in case.loads:
                # Two queues, one each way, independent of each other.
                spread = [_deviation(table) / limit / 2**0.5 for table in Measured(case, self.runs).tables(load)]
                error = float(np.std(spread, ddof=1)) / len(spread) ** 0.5
                rows.append((float(limit), load, float(np.mean(spread)), error))
        return pl.DataFrame(rows, schema=["size", "x", "y", "error"], orient="row")

    @cached_property
    def collapsed(self) -> Collapse:
        """How these lie on one curve."""
        return scaling.collapse(self.wandering, 1.0)

    @cached_property
    def network(self) -> Measured:
        """The network with limited queues."""
        return Measured(cases.limited_queues()[-1], self.runs)


def _deviation(table: pl.DataFrame) -> float:
    inside = table.filter(pl.col("time_s") >= FILLED_S)["packets_in_network"].to_numpy().astype(float)
    return float(inside.std())


def values(found: list[Measured], limited: Limited) -> dict[str, object]:
    """What claims compare, by name."""
    worst = max(found, key=lambda one: abs(one.rise.value - 1) / _tolerance(one.rise))
    peaks = [_peak(one.susceptibility, "load", "susceptibility") for one in found]
    short = [_peak(limited.wandering.filter(pl.col("size") == limit), "x", "y") for limit in LIMITS]
    table, exponents = limited.network.mean, limited.collapsed
    return {
        "fluctuations.graphs": len(found),
        "fluctuations.rise": worst.rise.value,
        "fluctuations.rise_interval": f"{worst.rise:.3f}",
        "fluctuations.rise_graph": worst.case.graph.name,
        "fluctuations.rise_tolerance": _tolerance(worst.rise),
        "fluctuations.rounded": _ROUNDED,
        "fluctuations.peaked_graphs": sum(abs(peak - 1) <= _NEAR for peak in peaks),
        "fluctuations.limited_peak": max(short, key=lambda peak: abs(peak - 1)),
        "fluctuations.width": exponents.width.value,
        "fluctuations.width_interval": f"{exponents.width:.2f}",
        "fluctuations.height_interval": f"{exponents.height:.2f}",
        "fluctuations.lost_graph": limited.network.case.graph.name,
        "fluctuations.lost_misfit": float((table["lost"] - table["fluid"]).abs().to_numpy().max()),
        "fluctuations.lost_fluid_most": float(table["fluid"].to_numpy().max()),
    }


def _tolerance(rise: Estimate) -> float:
    return max(_ROUNDED, (rise.high - rise.low) / 2)


def _peak(table: pl.DataFrame, load: str, height: str) -> float:
    """The load of the largest value."""
    return float(table[load].to_numpy()[int(table[height].to_numpy().argmax())])
