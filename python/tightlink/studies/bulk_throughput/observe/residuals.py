"""What the document says of observed against predicted goodputs, asked of transfers that stand for its own."""

from __future__ import annotations

from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.residuals import agreement, share_within
from tightlink.reduce import median_of
from tightlink.studies.bulk_throughput.setup.paths import CALTECH, IN2P3, LBNL, SITES

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The document's few flows, at Caltech (l. 161) and at LBNL (l. 209), and what it calls agreement (l. 163).
_FEW: Final = {CALTECH.name: 3, LBNL.name: 4}
AGREES: Final = 0.2


def values(kind: str, points: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: KIND.PATH.….

    Args:
        kind: What stands for the document's measurements.
        points: Observed and predicted goodputs, for each site.
    """
    each: dict[str, object] = {f"{kind}.in2p3.median": median_of(points[IN2P3[1].name]["residual"].abs())}
    for place in SITES:
        found = agreement(points[place.name])
        if found.origin is not None and found.free is not None:
            own = {
                "points": found.points,
                "r2": found.origin.value, "r2_low": found.origin.low, "r2_high": found.origin.high,
                "free": found.free.value, "free_low": found.free.low, "free_high": found.free.high,
            }  # fmt: skip
            each |= {f"{kind}.{place.name}.{key}": value for key, value in own.items()}
    for name in _FEW:
        each |= {f"{kind}.{name}.{key}": value for key, value in by_flows(name, points[name]).items()}
    lbnl = points[LBNL.name]
    for column in ("observed", "predicted"):
        goodputs = lbnl[f"{column}_bps"].to_list()
        each[f"{kind}.lbnl.{column}_variation"] = pstdev(goodputs) / fmean(goodputs)
    return each


def by_flows(path: str, points: pl.DataFrame) -> dict[str, float]:
    """Agreement with few flows and with more, rank correlation, and the residual with the most flows."""
    from scipy import stats

    few = pl.col("flows") <= _FEW[path]
    most = points.filter(pl.col("flows") == pl.col("flows").max())
    ranks = stats.spearmanr(points["observed_bps"].to_numpy(), points["predicted_bps"].to_numpy())
    return {
        "few_agree": share_within(points.filter(few), AGREES),
        "more_agree": share_within(points.filter(~few), AGREES),
        "most_flows": float(most["flows"][0]),
        "most_flows_median": median_of(most["residual"]),
        "ranks": float(ranks.statistic),
    }
