"""What a finite receiver's window leaves of the gains (experiment ``window``)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from tightlink.studies.congestion_control.observe.evidence import Evidence
from tightlink.studies.congestion_control.observe.mixed import Mixed

LARGE: Final = "service-pack"
_FEWEST: Final = 8


@dataclass(frozen=True)
class Windows:
    """An experiment with several receiver's windows."""

    found: Evidence

    @cached_property
    def gains(self) -> pl.DataFrame:
        """By file, window and control: the geometric mean over conditions of own over standard throughput."""
        mixed = Mixed(self.found)
        parts = pl.col("algorithm").str.split_exact(", ", 1).struct.rename_fields(["control", "window"])
        own = mixed.table.filter((pl.col("own") > 0) & (pl.col("standard") > 0)).with_columns(parts).unnest("algorithm")
        ratio = (pl.col("own") / pl.col("standard")).log()
        return own.group_by("file", "window", "control", maintain_order=True).agg(
            gain=ratio.mean().exp(),
            own_pps=pl.col("own").mean(),
            standard_pps=pl.col("standard").mean(),
            cells=pl.len(),
        )

    def gain(self, window: str) -> tuple[float, int]:
        """Of large files, over all controls; and of how many cells that is the mean."""
        own = self.gains.filter((pl.col("file") == LARGE) & (pl.col("window") == window))
        weighted = (own["gain"].log() * own["cells"]).sum() / max(int(own["cells"].sum()), 1)
        return float(pl.Series([weighted]).exp()[0]), int(own["cells"].sum())


def values(one: Windows) -> dict[str, object]:
    """What claims compare, by name."""
    found = [one.gain(name) for name in one.found.experiment.variants]
    few = min(cells for _, cells in found) < _FEWEST
    return {
        **{f"window.{name}": gain for name, (gain, _) in zip(("small", "middle", "unlimited"), found, strict=True)},
        "window.cells": found[-1][1],
        "window.few": "Too few large files were completed: run it longer, or larger." if few else "",
    }
