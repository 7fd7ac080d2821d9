"""Which window and how many flows to take, from a table of cells.

Two rules: the *best* cell has the highest goodput among those with no or little loss; the *cheapest* is
the one with the fewest flows, then the smallest window, among those of them within 5 % of it.

Example:
    >>> cells = pl.DataFrame({
    ...     "window_packets": [88, 175, 22, 22], "flows": [1, 1, 8, 40],
    ...     "goodput_bps": [5.7e6, 8.9e6, 9.2e6, 9.3e6], "loss": [0.0, 0.0, 0.0, 0.07],
    ... })
    >>> choice = choose(cells)
    >>> [(row["window_packets"], row["flows"]) for row in (choice.best, choice.cheapest)]
    [(22, 8), (175, 1)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tightlink.errors import TightlinkError
from tightlink.lazy import pl
from tightlink.reduce import largest

#: "No or little loss": one packet in a thousand, by default.
LITTLE: Final = 0.001
#: How much of the best goodput the cheapest cell may give up.
NEARLY: Final = 0.05
#: Goodputs that differ by less are the same: one packet more or less.
_SAME: Final = 0.001


@dataclass(frozen=True)
class Choice:
    """What two rules choose."""

    best: dict[str, Any]
    cheapest: dict[str, Any]
    clean: bool
    """Whether the loss is as little as asked; otherwise both have the least loss that there is."""


def choose(cells: pl.DataFrame, *, little: float = LITTLE, most_bps: float | None = None) -> Choice:
    """Choose by both rules, for a largest loss that is little, and perhaps a goodput not to be exceeded.

    Cells have ``window_packets``, ``flows``, ``goodput_bps`` and ``loss``; other columns are kept.
    """
    if most_bps is not None:
        cells = cells.filter(pl.col("goodput_bps") <= most_bps)
        if cells.is_empty():
            raise TightlinkError(
                f"every window and number of flows carries more than {most_bps / 1e6:.3g} Mbit/s: "
                "expected a smaller part of the bandwidth to leave, or smaller windows to choose from"
            )
    few = cells.filter(pl.col("loss") <= little)
    clean = not few.is_empty()
    kept = few if clean else cells.filter(pl.col("loss") <= pl.col("loss").min() * (1 + _SAME))
    top = largest(kept["goodput_bps"])
    return Choice(_least(kept, top * (1 - _SAME)), _least(kept, top * (1 - NEARLY)), clean)


def _least(cells: pl.DataFrame, goodput_bps: float) -> dict[str, Any]:
    """The cell with the fewest flows, then the smallest window, that carries so much."""
    return cells.filter(pl.col("goodput_bps") >= goodput_bps).sort("flows", "window_packets").row(0, named=True)
