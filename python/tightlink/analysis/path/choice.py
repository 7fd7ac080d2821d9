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
    """Choose by both rules, with the largest loss that is little, and perhaps a goodput not to be exceeded.

    Cells have ``window_packets``, ``flows``, ``goodput_bps`` and ``loss``; other columns are kept.
    """
    # On lists: of tables as short as these a query of polars takes as long as their runs.
    goodputs, losses = cells["goodput_bps"].to_list(), cells["loss"].to_list()
    places = [place for place, goodput in enumerate(goodputs) if most_bps is None or goodput <= most_bps]
    if most_bps is not None and not places:
        raise TightlinkError(
            f"every window and number of flows carries more than {most_bps / 1e6:.3g} Mbit/s: "
            "expected a smaller part of the bandwidth to leave, or smaller windows to choose from"
        )
    few = [place for place in places if losses[place] <= little]
    least = min(losses[place] for place in places) * (1 + _SAME)
    kept = few or [place for place in places if losses[place] <= least]
    top = max(goodputs[place] for place in kept)
    sizes = [*zip(cells["flows"].to_list(), cells["window_packets"].to_list(), strict=True)]

    def carrying(goodput_bps: float) -> dict[str, Any]:
        """The cell with the fewest flows, then the smallest window, that carries so much."""
        there = (place for place in kept if goodputs[place] >= goodput_bps)
        return cells.row(min(there, key=sizes.__getitem__), named=True)

    return Choice(carrying(top * (1 - _SAME)), carrying(top * (1 - NEARLY)), bool(few))
