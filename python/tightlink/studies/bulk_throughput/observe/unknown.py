"""Which traffic and bandwidth, unknown to the prediction, bring its residuals at Caltech to the document's figures.

The figures: both R² (l. 167–169), agreement within ± 20 % with more than 3 flows (l. 160–163), a worse one with fewer,
and an underestimation with many (l. 157–160). A miss is a difference of R², of shares of the cells, or of (o − s) / o.
Akaike's criterion weighs the mean miss and what was left unknown, as it does in ``criterion.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

from tightlink.analysis.residuals import agreement
from tightlink.studies.bulk_throughput.observe.cross_traffic import points
from tightlink.studies.bulk_throughput.observe.residuals import by_flows
from tightlink.studies.bulk_throughput.setup.cross_traffic import CROSS
from tightlink.studies.bulk_throughput.setup.paths import CALTECH
from tightlink.studies.bulk_throughput.setup.unknown import UNKNOWNS, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tightlink.run import Run

#: R² at Caltech of the line through the origin and of the free line (l. 167–169).
_R2: Final = 0.7746
_R2_FREE: Final = 0.802


@dataclass(frozen=True)
class Explained:
    """A path with what its residuals come to."""

    unknown: Unknown
    points: pl.DataFrame
    figures: Mapping[str, float]
    misses: Mapping[str, float]

    @property
    def mean_miss(self) -> float:
        """Mean of the misses."""
        return fmean(self.misses.values())

    @property
    def aic(self) -> float:
        """Akaike's criterion: the smaller, the better."""
        return 2 * len(self.misses) * math.log(self.mean_miss) + 2 * (len(self.unknown.names) + 1)


def explained(runs: Mapping[str, Run]) -> list[Explained]:
    """Every path, the best first."""
    return sorted((_explained(each, runs) for each in UNKNOWNS), key=lambda each: each.aic)


def _explained(unknown: Unknown, runs: Mapping[str, Run]) -> Explained:
    rows = points(CALTECH, runs, unknown.observations())
    found, flows = agreement(rows), by_flows(CALTECH.name, rows)
    if found.origin is None or found.free is None:
        raise ValueError("all cells are alike")
    figures = {"r2": found.origin.value, "r2_free": found.free.value, **flows}
    misses = {
        "R², origin": abs(found.origin.value - _R2),
        "R², free": abs(found.free.value - _R2_FREE),
        "within 20 % with more than 3 flows": 1 - flows["more_agree"],
        "fewer with less": max(0.0, flows["few_agree"] - flows["more_agree"]),
        "underestimated with many": max(0.0, -flows["most_flows_median"]),
    }
    return Explained(unknown, rows, figures, misses)


def values(found: Sequence[Explained]) -> dict[str, object]:
    """What claims compare, by name: unknown.…."""
    best = found[0]
    traffic = next(each for each in found if (each.unknown.cross, each.unknown.bandwidth) == (CROSS, 1))
    known = next(each for each in found if each.unknown.bandwidth == 1)
    beside = next(each for each in found if each.unknown.cross == CROSS)
    nearest = min(found, key=lambda each: each.mean_miss)
    return {
        "unknown.bandwidth_mbit": best.unknown.bandwidth_bps / 1e6,
        "unknown.tried": len(found),
        "unknown.cross": best.unknown.cross,
        "unknown.mean_miss": best.mean_miss,
        "unknown.misses": "; ".join(f"{name}: {miss:.2f}" for name, miss in best.misses.items()),
        "unknown.traffic_alone_miss": traffic.mean_miss,
        "unknown.traffic_alone_misses": "; ".join(f"{name}: {miss:.2f}" for name, miss in traffic.misses.items()),
        "unknown.traffic_alone_median": traffic.figures["most_flows_median"],
        # Given that traffic, the best bandwidth; and the pair that misses least, whatever it leaves unknown.
        "unknown.beside_traffic_mbit": beside.unknown.bandwidth_bps / 1e6,
        "unknown.beside_traffic_miss": beside.mean_miss,
        "unknown.nearest_mbit": nearest.unknown.bandwidth_bps / 1e6,
        "unknown.nearest_cross": nearest.unknown.cross,
        "unknown.nearest_miss": nearest.mean_miss,
        # How much better than the best with the document's bandwidth.
        "unknown.lead": known.aic - best.aic,
        **{f"unknown.{name}": value for name, value in best.figures.items()},
    }
