"""Fragments, jumbo frames and other bandwidths: what claims compare of the sweeps over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.studies.link_saturation.setup.document import (
    FRAGMENT_LIMIT_BYTES,
    LARGEST_BYTES,
    SMALLEST_BYTES,
    STEP_BYTES,
)
from tightlink.studies.link_saturation.setup.sweeps import (
    FRAGMENTS,
    GIGABIT,
    GIGABIT_JUMBO,
    JUMBO_FRAMES,
    MAIN,
    SLOW,
    WHOLE_BYTES,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_JUMBO_BYTES: Final = JUMBO_FRAMES.payloads[-1]
#: By the names of values: sweeps, and the sizes that claims are about.
_ROWS: Final = {
    "main": (MAIN, (SMALLEST_BYTES, LARGEST_BYTES - STEP_BYTES, LARGEST_BYTES)),
    "fragments": (FRAGMENTS, (WHOLE_BYTES, WHOLE_BYTES + 1, FRAGMENT_LIMIT_BYTES)),
    "jumbo": (JUMBO_FRAMES, (_JUMBO_BYTES,)),
    "slow": (SLOW, (SMALLEST_BYTES,)),
    "gigabit": (GIGABIT, (SMALLEST_BYTES, LARGEST_BYTES)),
    "gigabit-jumbo": (GIGABIT_JUMBO, (_JUMBO_BYTES,)),
}
_COLUMNS: Final = ("packet_bytes", "packets_per_s", "goodput_bps", "frame_throughput_bps", "load")


def row(table: pl.DataFrame, size: int) -> dict[str, Any]:
    """The row of a payload."""
    return table.row(by_predicate=pl.col("datagram_bytes") == size, named=True)


def values(tables: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: SWEEP.PAYLOAD.…."""
    return {
        f"{name}.{size}.{column}": row(tables[sweep.name], size)[column]
        for name, (sweep, sizes) in _ROWS.items()
        for size in sizes
        for column in _COLUMNS
    }
