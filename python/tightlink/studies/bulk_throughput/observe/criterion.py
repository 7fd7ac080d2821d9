"""Which alternative the document's figures choose: Akaike's criterion over how far each misses them.

A miss is in parts of the goodput (or of the packets, where a figure is about loss), so that all are of one kind: how
much less, or more, than the document's figure allows. Errors are taken as Laplace's, of which the likelihood depends
on the mean of the misses: one large miss does not choose alone. Each setting that differs from ns-2's defaults is a
parameter, as is the mean: AIC = 2 n ln(mean miss) + 2 (settings + 1), but for a constant.

Statements without a figure (loss grows with flows) and those that are simulated for the chosen alternative only (a
run time of 50 s, pings, a bottleneck factor of 3) are not weighed.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.reduce import largest, mean_of, smallest
from tightlink.studies.bulk_throughput.observe import sites
from tightlink.studies.bulk_throughput.observe.daresbury import FEW, PLOTTED
from tightlink.studies.bulk_throughput.observe.lines import (
    best,
    beyond_best,
    lines,
    nearest_window,
    short_of_best,
    without_loss,
)
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY, IN2P3, KILOBYTES, LBNL, SITES
from tightlink.studies.bulk_throughput.setup.variants import COMPARED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.studies.bulk_throughput.setup.alternatives import Alternative

#: The document's figures: shares of the bandwidth, flows, kB; and a tenth where it has words for one.
_SEVENTY: Final = 0.7
_NINETY: Final = 0.9
_MANY: Final = 25
_MODEST_KB: Final = 64
_LITTLE: Final = 0.1


def misses(grids: Mapping[str, pl.DataFrame], recoveries: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """How far each figure of the document is missed, by the figure in words; 0 where it is met."""
    compared = {each.name: mean_of(recoveries[each.name]["difference"].abs()) for each in COMPARED}
    factor = sites.factor(grids[IN2P3[0].name], grids[IN2P3[1].name])
    effect = sites.lbnl(grids[LBNL.name])["lbnl.window_effect"]
    found = {
        **_daresbury(grids[DARESBURY.name].filter(pl.col("flows").is_in(PLOTTED)), grids[DARESBURY.name]),
        "IN2P3: not sensitive to the factor (l. 108)": float(factor["mean_change"]) - _LITTLE,
        "IN2P3: Tahoe and SACK identical (l. 110)": compared["in2p3-factor-2.tahoe-sack"],
        "LBNL: the window has little effect (l. 204)": float(effect) - _LITTLE,
        "LBNL: SACK and NewReno identical (l. 210)": compared["lbnl.sack-newreno"],
    }
    for place in SITES:
        grid = grids[place.name]
        found[f"{place.site}: few flows, window of the BDP (l. 83, 260)"] = _short_at_bdp(place.bdp_packets, grid)
        found[f"{place.site}: the maximum with 7 flows or more (l. 262)"] = sites.fewer_ahead(grid)
    return {figure: max(0.0, miss) for figure, miss in found.items()}


def aic(missed: Mapping[str, float], alternative: Alternative) -> float:
    """Akaike's criterion: the smaller, the better.

    >>> from tightlink.studies.bulk_throughput.setup.alternatives import ALTERNATIVES, DEFAULTS
    >>> round(aic({"a": 0.1, "b": 0.3}, DEFAULTS), 3), round(aic({"a": 0.1, "b": 0.3}, ALTERNATIVES[-1]), 3)
    (-4.438, -0.438)
    """
    return 2 * len(missed) * math.log(fmean(missed.values())) + 2 * (alternative.changed + 1)


def _daresbury(plotted: pl.DataFrame, grid: pl.DataFrame) -> dict[str, float]:
    clean = without_loss(plotted)
    top = best(clean)["goodput_share"] if clean.height else 0.0
    place = clean.filter(
        (pl.col("flows") >= _MANY) & (pl.col("window_packets").replace_strict(KILOBYTES) <= _MODEST_KB)
    )
    after = [(best(part), beyond_best(part)) for _, part in lines(plotted)]
    after = [(first, rest) for first, rest in after if rest.height]
    return {
        "over 70 % without loss from 4 flows on (l. 72)": max(
            _from_corner(part) for flows, part in lines(plotted) if flows >= FEW
        ),
        "which needs 4 flows (l. 74)": _most(clean.filter(pl.col("flows") < FEW)) - _SEVENTY,
        "over 90 % without loss (l. 75)": _NINETY - top,
        "with 25 flows or more and 64 kB or less (l. 76)": top / _most(place) - 1 if place.height else 1.0,
        "beyond the maximum more loss (l. 78)": max(first["loss"] - smallest(rest["loss"]) for first, rest in after),
        "and no marked decrease (l. 80)": max(
            1 - smallest(rest["goodput_bps"]) / first["goodput_bps"] for first, rest in after
        ) - _LITTLE,
        "at most 70 % with 4 flows or fewer (l. 82)": _most(plotted.filter(pl.col("flows") <= FEW)) - _SEVENTY,
        "smaller windows with more flows (l. 85)": _growth(grid),
    }  # fmt: skip


def _from_corner(part: pl.DataFrame) -> float:
    """How far the best cell of a line is from 70 % without loss."""
    off = part.select(pl.max_horizontal(pl.col("loss"), _SEVENTY - pl.col("goodput_share"))).to_series()
    return smallest(off)


def _growth(grid: pl.DataFrame) -> float:
    """What is lost, at most, where each number of flows beyond 4 has no larger window than the one before."""
    limit, worst = max(KILOBYTES), 0.0
    for flows, part in lines(grid):
        if flows < FEW:
            continue
        allowed = best(part.filter(pl.col("window_packets") <= limit))
        worst = max(worst, best(part)["goodput_bps"] / allowed["goodput_bps"] - 1)
        limit = allowed["window_packets"]
    return worst


def _short_at_bdp(packets: float, grid: pl.DataFrame) -> float:
    """How much more than the window nearest to the BDP the best one carries, with 4 flows or fewer."""
    return max(short_of_best(part, nearest_window(packets)) for flows, part in lines(grid) if flows <= FEW)


def _most(part: pl.DataFrame) -> float:
    return 0.0 if part.is_empty() else largest(part["goodput_share"])
