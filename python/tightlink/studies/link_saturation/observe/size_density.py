"""Figure 2 as a flow–density curve: packet flow over packets a byte, as vehicles an hour over vehicles a kilometre.

Eq. 1 and eq. 11 are one: T = p f and q = k v. With the inverse of the size as density, k = 1 / p, packet flow f is
T k, and throughput is the speed. Sizes are those of frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tightlink.reduce import largest, smallest
from tightlink.studies.link_saturation.observe.saturation import FRAME

if TYPE_CHECKING:
    from tightlink.studies.link_saturation.observe.saturation import Found


def table(found: Found) -> pl.DataFrame:
    """A row for each size, from large to small: density, flow, speed, and how steeply flow grows with density."""
    density = 1e3 / found.table["frame_bytes"].to_numpy()[::-1]
    flow = found.table["packets_per_s"].to_numpy()[::-1]
    steepness = np.append(np.diff(np.log(flow)) / np.diff(np.log(density)), np.nan)
    critical = 1e3 / found.law(FRAME, "cost").critical_bytes.value
    return pl.DataFrame(
        {
            "packets_per_kb": density,
            "packets_per_s": flow,
            "speed_mbit": found.table["frame_throughput_bps"].to_numpy()[::-1] / 1e6,
            "steepness": steepness,
            "regime": np.where(density <= critical, "free flow", "saturated"),
        }
    )


def values(found: Found) -> dict[str, object]:
    """What claims compare, by name."""
    own = table(found)
    free, saturated = (own.filter(pl.col("regime") == regime) for regime in ("free flow", "saturated"))
    slowing = saturated["steepness"].drop_nans()
    law = found.law(FRAME, "cost")
    return {
        "size-density.speed_kept": smallest(free["speed_mbit"]) / largest(free["speed_mbit"]),
        "size-density.steepness_free": float(free["steepness"].head(-1).to_numpy().mean()),
        "size-density.steepness_first": slowing[0],
        "size-density.steepness_last": slowing[-1],
        "size-density.slows": bool((slowing.diff().drop_nulls() < 0).all()),
        "size-density.left": float(own["packets_per_s"][-1]) / largest(own["packets_per_s"]),
        "size-density.critical_per_kb": 1e3 / law.critical_bytes.value,
        "size-density.critical_width_bytes": law.critical_bytes.high - law.critical_bytes.low,
        "size-density.regime": found.by_reading[FRAME.name].regime,
    }
