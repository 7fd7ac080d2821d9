"""What a low initial slow-start threshold changes: experiments 2a and 2b beside each other, condition by condition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tightlink.studies.congestion_control.observe.mixed import FILES, Mixed
from tightlink.studies.congestion_control.observe.ratios import of_ratios


@dataclass(frozen=True)
class Thresholds:
    """Two experiments of the same conditions, with a high and with a low threshold."""

    high: Mixed
    low: Mixed

    def gains(self, file: str, control: str = "") -> NDArray[np.float64]:
        """Own over standard throughput with the low threshold, over that with the high one; of one control, or all."""
        both = [each.gains(file).rename({"gain": name}) for name, each in (("high", self.high), ("low", self.low))]
        table = both[0].join(both[1], on=["condition", "algorithm"])
        chosen = table if not control else table.filter(pl.col("algorithm") == control)
        return (chosen["low"] / chosen["high"]).to_numpy()


def values(both: Thresholds) -> dict[str, object]:
    """What claims compare, by name."""
    found = {f"{control}.web-object": both.gains(FILES[0], control) for control in both.low.found.experiment.algorithms}
    found |= {file: both.gains(file) for file in FILES[1:]}
    return {key: value for name, each in found.items() for key, value in of_ratios(f"thresholds.{name}", each).items()}
