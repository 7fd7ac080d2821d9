"""The other paths, and all of them together: bottleneck factor, loss, windows, and what the summary compares."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.reduce import largest, mean_of, smallest
from tightlink.studies.bulk_throughput.observe.lines import (
    best,
    is_best,
    lines,
    mean_rank_correlation,
    nearest_window,
)
from tightlink.studies.bulk_throughput.setup.paths import CALTECH, DARESBURY, IN2P3, LBNL, SITES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.studies.bulk_throughput.setup.paths import Place

#: From so many flows on the document has its maxima (l. 262).
SEVEN: Final = 7


def values(grids: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: PATH.… and summary.….

    Args:
        grids: The cells of each path, by its name.
    """
    each: dict[str, object] = {}
    for low, high in pairwise(place for place in IN2P3 if place.name in grids):
        own = factor(grids[low.name], grids[high.name])
        name = f"in2p3.factor-{low.path.factor:g}-{high.path.factor:g}"
        each |= {f"{name}.{key}": value for key, value in own.items()}
    for place in (CALTECH, LBNL, DARESBURY):
        each |= loss(place, grids[place.name])
    return each | lbnl(grids[LBNL.name]) | _summary(grids)


def factor(low: pl.DataFrame, high: pl.DataFrame) -> dict[str, float]:
    """How the goodput changes from one bottleneck factor to another."""
    joined = low.join(high, on=["window_packets", "flows"], suffix="_other")
    calm = joined.filter(pl.col("packets_dropped_other") == 0)
    change, calm_change = ((part["goodput_bps_other"] / part["goodput_bps"] - 1).abs() for part in (joined, calm))
    return {
        "cells": joined.height,
        "mean_change": mean_of(change),
        "largest_change": largest(change),
        "lossless_cells": calm.height,
        "lossless_largest_change": largest(calm_change),
    }


def loss(place: Place, grid: pl.DataFrame) -> dict[str, object]:
    """Rank correlations of the loss, means over lines, by name: PATH.…."""
    over_windows, flows = mean_rank_correlation(grid, "window_packets", "loss", line="flows")
    over_flows, windows = mean_rank_correlation(grid, "flows", "loss", line="window_packets")
    return {
        f"{place.name}.loss_over_windows": over_windows,
        f"{place.name}.loss_over_windows_lines": flows,
        f"{place.name}.loss_over_flows": over_flows,
        f"{place.name}.loss_over_flows_lines": windows,
    }


def lbnl(grid: pl.DataFrame) -> dict[str, float]:
    """How much of the highest goodput the window takes, at most."""
    effects = _effects(grid)
    large = grid.filter(pl.col("window_packets") * LBNL.path.payload_bytes >= LBNL.path.bdp_bytes)
    return {
        "lbnl.window_effect": max(effects.values()),
        "lbnl.window_effect_from_2": max(effect for flows, effect in effects.items() if flows > 1),
        "lbnl.window_effect_above_bdp": max(_effects(large).values()),
    }


def fewer_ahead(grid: pl.DataFrame) -> float:
    """How much more the best of fewer than 7 flows carry than the best of 7 and more, over these, in whole bit/s."""
    few, many = grid.filter(pl.col("flows") < SEVEN), grid.filter(pl.col("flows") >= SEVEN)
    return round(largest(few["goodput_bps"])) / round(largest(many["goodput_bps"])) - 1


def _effects(grid: pl.DataFrame) -> dict[int, float]:
    return {flows: 1 - smallest(part["goodput_bps"]) / largest(part["goodput_bps"]) for flows, part in lines(grid)}


def _summary(grids: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    each: dict[str, object] = {}
    hits, shared = [], []
    for place in SITES:
        grid = grids[place.name]
        top = best(grid)
        near = grid.filter(pl.col("goodput_bps") >= 0.95 * top["goodput_bps"])
        each |= {
            f"{place.name}.maximum_share": top["goodput_share"],
            f"{place.name}.maximum_flows": top["flows"],
            f"{place.name}.flows_within_5_percent": min(near["flows"].to_list()),
        }
        few = [(flows, part) for flows, part in lines(grid) if flows <= 4]
        hits += [is_best(part, nearest_window(place.bdp_packets)) for _, part in few]
        shared += [is_best(part, nearest_window(place.bdp_packets / flows)) for flows, part in few]
    ahead = [fewer_ahead(grids[place.name]) for place in SITES]
    return each | {
        "summary.paths": len(ahead),
        "summary.seven_enough": sum(more <= 0 for more in ahead),
        "summary.few_lines": len(hits),
        "summary.best_at_bdp": sum(hits),
        "summary.best_at_shared_bdp": sum(shared),
    }
