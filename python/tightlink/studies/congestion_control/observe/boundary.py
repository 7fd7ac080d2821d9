"""Where FAST's windows swing: every setting of experiment ``oscillation``, tested for oscillation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl

from tightlink.analysis.oscillation import oscillation
from tightlink.run import Run
from tightlink.studies.congestion_control.setup import boundary
from tightlink.studies.congestion_control.setup.boundary import NAME, Cell

#: Slow start is over.
_SETTLED_S: Final = 10.0
#: Of a window's standard deviation over its mean: from here on it does not rest.
SWINGS: Final = 0.1
#: Noise to compare with: enough for the level of 0.01.
_SIMULATIONS: Final = 199


@dataclass(frozen=True)
class Boundary:
    """What came out of all settings."""

    table: pl.DataFrame
    """A row for each: its numbers, ``room`` (buffer / flows · alpha), whether it oscillates and how much, ``loss``."""

    @cached_property
    def fast(self) -> pl.DataFrame:
        """Those of FAST."""
        return self.table.filter(pl.col("control") == "fast")


def read(runs: Mapping[str, Run]) -> Boundary:
    """Test every setting for oscillation of its windows."""
    rows = [_row(cell, runs[cell.name]) for cell in boundary.cells()]
    return Boundary(pl.DataFrame(rows, infer_schema_length=None))


def _row(cell: Cell, run: Run) -> dict[str, Any]:
    own = run.series.filter(pl.col("metric") == "cwnd_packets", pl.col("time_s") > _SETTLED_S).sort("entity", "time_s")
    value = pl.col("value")
    swings = own.group_by("entity", maintain_order=True).agg(swing=value.std(ddof=0) / value.mean())
    windows = own.group_by("time_s", maintain_order=True).agg(value.mean()).sort("time_s")
    found = oscillation(
        windows["value"].to_numpy(),
        boundary.INTERVAL_S,
        round_trip_s=boundary.ROUND_TRIP_S,
        simulations=_SIMULATIONS,
    )
    dropped, sent = (int(run.flows[name].sum()) for name in ("packets_dropped", "packets_sent"))
    return {
        "control": cell.control,
        "alpha_packets": cell.alpha,
        "flows": cell.flows,
        "buffer_packets": cell.buffer,
        "room": None if cell.alpha is None else cell.buffer / (cell.flows * cell.alpha),
        "swing": float(np.mean(swings["swing"].to_numpy())),
        "periodic": found.oscillates,
        "period_s": found.period_s if found.oscillates else None,
        "loss": dropped / sent,
    }


def values(found: Boundary) -> dict[str, object]:
    """What claims compare, by name."""
    # On the edge itself, the last packet of all decides.
    fast = found.fast.filter(pl.col("room") != 1)
    right = ((fast["swing"] > SWINGS) == (fast["room"] < 1)).to_numpy()
    short, long = fast.filter(pl.col("room") < 1), fast.filter(pl.col("room") > 1)
    adapted = found.table.filter(pl.col("control") == "fast-at")
    shortest = adapted.filter(pl.col("buffer_packets") == boundary.BUFFERS[0])
    fixed = found.fast.filter(pl.col("alpha_packets") == boundary.ALPHAS[-1])
    return {
        f"{NAME}.right": float(right.mean()),
        f"{NAME}.settings": fast.height,
        f"{NAME}.swings": SWINGS,
        f"{NAME}.short.settings": short.height,
        f"{NAME}.short.swing": _median(short, "swing"),
        f"{NAME}.short.loss": _median(short, "loss"),
        f"{NAME}.short.periodic": short["periodic"].sum(),
        f"{NAME}.short.round_trips": _median(short.filter("periodic"), "period_s") / boundary.ROUND_TRIP_S,
        f"{NAME}.long.loss": _median(long, "loss"),
        f"{NAME}.fast-at.settings": adapted.height,
        f"{NAME}.fast-at.oscillates": _swinging(adapted),
        f"{NAME}.fast-at.shortest.settings": shortest.height,
        f"{NAME}.fast-at.shortest.oscillates": _swinging(shortest),
        f"{NAME}.fast-at.shortest.buffer": boundary.BUFFERS[0],
        f"{NAME}.fixed.alpha": boundary.ALPHAS[-1],
        f"{NAME}.fixed.settings": fixed.height,
        f"{NAME}.fixed.oscillates": _swinging(fixed),
    }


def _swinging(table: pl.DataFrame) -> int:
    return int((table["swing"] > SWINGS).sum())


def _median(table: pl.DataFrame, column: str) -> float:
    return float(np.median(table[column].to_numpy()))
