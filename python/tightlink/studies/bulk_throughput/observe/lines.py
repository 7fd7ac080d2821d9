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
    """The rows of a line with larger windows than its best, without those that are one point with it.

    Where a window never limits, larger ones change nothing.
    """
    top = best(part)
    same = pl.all_horizontal(pl.col(name) == top[name] for name in ("packets_sent", "packets_dropped", "goodput_bps"))
    return part.filter((pl.col("window_packets") > top["window_packets"]) & ~same)


def short_of_best(part: pl.DataFrame, window: int) -> float:
    """How much more the best window of a line carries than this one, over this one."""
    own = part.filter(pl.col("window_packets") == window).row(0, named=True)
    return float(best(part)["goodput_bps"] / own["goodput_bps"] - 1)


def without_loss(grid: pl.DataFrame) -> pl.DataFrame:
    """The rows in which no packet was lost."""
    return grid.filter(pl.col("packets_dropped") == 0)


def nearest_window(packets: float) -> int:
    """The window of the document that is nearest to a number of packets.

    >>> nearest_window(202_500 / 1460), nearest_window(202_500 / 1460 / 4)
    (175, 44)
    """
    return min(WINDOWS, key=lambda window: abs(window - packets))


def is_best(part: pl.DataFrame, window: int) -> bool:
    """Whether no window of a line carries more than this one, to the bit per second.

    A window that never limits carries what larger ones do: all of them are the best.
    """
    own = part.filter(pl.col("window_packets") == window)["goodput_bps"]
    return bool(round(float(own[0])) == round(best(part)["goodput_bps"]))


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
