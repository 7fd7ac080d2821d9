"""The largest window without losses, by number of flows: between those of a grid, by bisection.

Example:
    >>> from tightlink.analysis.path.bulk_path import BulkPath
    >>> path = BulkPath(bandwidth_bps=10e6, rtt_s=0.6, queue_packets=100)
    >>> cells = searched(path, [(33, 4), (65, 4)], little=0.001)
    >>> [(row["window_packets"], row["loss"] <= 0.001) for row in cells.sort("window_packets").iter_rows(named=True)]
    [(33, True), (49, True), (57, True), (58, False), (59, False), (61, False), (65, False)]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.analysis.path.cells import simulate_cells
from tightlink.lazy import pl
from tightlink.reduce import largest, smallest

#: Share of the bandwidth with which nothing is left to gain.
_FULL: Final = 0.99
#: Windows that differ by less than this share are as good.
_NEAR: Final = 1 / 64


def searched(path: BulkPath, places: Iterable[tuple[int, int]], *, little: float, jobs: int = 1) -> pl.DataFrame:
    """Cells of windows and numbers of flows, and those between, where losses set in.

    A grid alone has its best cell far below that window, and another limit of windows, which is another grid, a better
    one.

    Args:
        path: The path.
        places: Windows in packets with their numbers of flows.
        little: Largest loss that counts as little.
        jobs: Runs to simulate at a time.
    """
    cells = simulate_cells(path, places, jobs=jobs)
    while between := _between(path, cells, little):
        cells = pl.concat([cells, simulate_cells(path, between, jobs=jobs)])
    return cells


def _between(path: BulkPath, cells: pl.DataFrame, little: float) -> list[tuple[int, int]]:
    """By number of flows: the middle of the last window with little loss and the first one with more, if far apart."""
    found = []
    for (flows,), part in cells.group_by("flows", maintain_order=True):
        few = part.filter(pl.col("loss") <= little)
        if few.is_empty() or largest(few["goodput_bps"]) >= _FULL * path.most_bps:
            continue
        best = few.sort("goodput_bps")["window_packets"][-1]
        above = part.filter((pl.col("loss") > little) & (pl.col("window_packets") > best))["window_packets"]
        if above.is_empty():
            continue
        high = int(smallest(above))
        low = int(largest(few.filter(pl.col("window_packets") < high)["window_packets"]))
        if high - low > max(1, _NEAR * low):
            found.append(((low + high) // 2, int(str(flows))))
    return found
