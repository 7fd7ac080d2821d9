"""What can be read off a grid, line by line: a line is a number of flows, its points are the windows."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from tightlink.studies.bulk_throughput.setup.paths import WINDOWS

if TYPE_CHECKING:
    from collections.abc import Iterator


def lines(grid: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    """Each number of flows with its rows, by window."""
    for (flows,), part in grid.sort("flows", "window_packets").group_by("flows", maintain_order=True):
        yield int(flows), part


def best(part: pl.DataFrame) -> dict[str, Any]:
    """The row with the highest goodput; of equal ones, that with the fewest flows and the smallest window."""
    whole = part.sort(pl.col("goodput_bps").round(), "flows", "window_packets", descending=[True, False, False])
    return whole.row(0, named=True)


def best_windows(grid: pl.DataFrame) -> dict[int, int]:
    """The window with the highest goodput, for each number of flows."""
    return {flows: int(best(part)["window_packets"]) for flows, part in lines(grid)}


def beyond_best(part: pl.DataFrame) -> pl.DataFrame:
    """The rows of a line with larger windows than its best."""
    return part.filter(pl.col("window_packets") > best(part)["window_packets"])


def without_loss(grid: pl.DataFrame) -> pl.DataFrame:
    """The rows in which no packet was lost."""
    return grid.filter(pl.col("packets_dropped") == 0)


def nearest_window(packets: float) -> int:
    """The window of the document that is nearest to a number of packets.

    >>> nearest_window(202_500 / 1460), nearest_window(202_500 / 1460 / 4)
    (175, 44)
    """
    return min(WINDOWS, key=lambda window: abs(window - packets))


def mean_rank_correlation(grid: pl.DataFrame, x: str, y: str, *, line: str) -> tuple[float, int]:
    """Spearman's, the mean over the lines on which neither of the two is constant; and how many these are."""
    from scipy import stats

    parts = [part for _, part in grid.sort(x).group_by(line, maintain_order=True)]
    found = [
        float(stats.spearmanr(part[x].to_numpy(), part[y].to_numpy()).statistic)
        for part in parts
        if part[x].n_unique() > 1 and part[y].n_unique() > 1
    ]
    return fmean(found), len(found)
