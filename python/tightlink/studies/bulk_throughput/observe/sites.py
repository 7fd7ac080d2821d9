"""The other paths, and all of them together: bottleneck factor, loss, windows, and what the summary compares."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from tightlink.reduce import largest, mean_of, smallest
from tightlink.studies.bulk_throughput.observe.lines import (
    best,
    best_windows,
    lines,
    mean_rank_correlation,
    nearest_window,
)
from tightlink.studies.bulk_throughput.setup.paths import CALTECH, DARESBURY, IN2P3, LBNL, PATHS, SITES, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Mapping


def values(grids: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: PATH.… and summary.….

    Args:
        grids: The cells of each path, by its name.
    """
    each: dict[str, object] = {"windows": len(WINDOWS)}
    for place in PATHS:
        each |= {f"{place.name}.rtt_s": place.path.rtt_s, f"{place.name}.bdp_kb": place.path.bdp_bytes / 1e3}
    for low, high in pairwise(IN2P3):
        own = _factor(grids[low.name], grids[high.name])
        name = f"in2p3.factor-{low.path.factor:g}-{high.path.factor:g}"
        each |= {f"{name}.{key}": value for key, value in own.items()}
    for place in (CALTECH, LBNL, DARESBURY):
        each |= {f"{place.name}.{key}": value for key, value in _loss(grids[place.name]).items()}
    return each | lbnl(grids[LBNL.name]) | _summary(grids)


def _factor(low: pl.DataFrame, high: pl.DataFrame) -> dict[str, object]:
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


def _loss(grid: pl.DataFrame) -> dict[str, object]:
    """Rank correlations of the loss, means over lines."""
    over_windows, flows = mean_rank_correlation(grid, "window_packets", "loss", line="flows")
    over_flows, windows = mean_rank_correlation(grid, "flows", "loss", line="window_packets")
    return {
        "loss_over_windows": over_windows,
        "loss_over_windows_lines": flows,
        "loss_over_flows": over_flows,
        "loss_over_flows_lines": windows,
    }


def lbnl(grid: pl.DataFrame) -> dict[str, object]:
    """How much of the highest goodput the window takes, at most."""
    effects = _effects(grid)
    large = grid.filter(pl.col("window_packets") * LBNL.path.payload_bytes >= LBNL.path.bdp_bytes)
    return {
        "lbnl.window_effect": max(effects.values()),
        "lbnl.window_effect_from_2": max(effect for flows, effect in effects.items() if flows > 1),
        "lbnl.window_effect_above_bdp": max(_effects(large).values()),
    }


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
        packets = place.path.bdp_bytes / place.path.payload_bytes
        few = {flows: window for flows, window in best_windows(grid).items() if flows <= 4}
        hits += [window == nearest_window(packets) for window in few.values()]
        shared += [window == nearest_window(packets / flows) for flows, window in few.items()]
    return each | {
        "summary.few_lines": len(hits),
        "summary.best_at_bdp": sum(hits),
        "summary.best_at_shared_bdp": sum(shared),
    }
