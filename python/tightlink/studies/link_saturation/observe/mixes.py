"""Mixed sizes: several sources share the interface, and eq. 1 takes means: T = p̄ · f̄."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.reduce import largest
from tightlink.studies.link_saturation.observe.measures import measure
from tightlink.studies.link_saturation.setup.interface import DURATION_S
from tightlink.studies.link_saturation.setup.mixes import MIXES, key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run


def table(runs: Mapping[str, Run], uniform: pl.DataFrame) -> pl.DataFrame:
    """A row for each mix, with the packet rate of equal packets of its mean size.

    Args:
        runs: Of the study.
        uniform: The main sweep.
    """
    import numpy as np

    sizes = uniform["payload_bytes"].to_numpy()
    times = 1 / uniform["packets_per_s"].to_numpy()
    rows = []
    for mix in MIXES:
        found = measure(runs[key(mix)])
        flows = runs[key(mix)].flows
        # Weighted by bytes instead: the size that a byte, not a packet, finds itself in.
        goodput = flows["goodput_bps"].to_numpy()
        own = goodput / flows["packets_delivered"].to_numpy() / 8 * DURATION_S
        by_bytes = float((own * goodput).sum() / goodput.sum())
        rows.append(
            {
                "mix": " + ".join(f"{count} × {size} B" for size, count in mix.items() if count),
                "payload_bytes": found["payload_bytes"],
                "by_bytes": by_bytes,
                "packets_per_s": found["packets_per_s"],
                "uniform": float(1 / np.interp(found["payload_bytes"], sizes, times)),
                "uniform_by_bytes": float(1 / np.interp(by_bytes, sizes, times)),
                "goodput_bps": found["goodput_bps"],
                "jitter_rfc3550_s": found["jitter_rfc3550_s"],
            }
        )
    return pl.DataFrame(rows)


def values(found: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name: how far packet rates are from those of equal packets of the mean size."""
    return {
        "mixes.count": found.height,
        "mixes.off": largest((found["packets_per_s"] / found["uniform"] - 1).abs()),
        "mixes.off_by_bytes": largest((found["packets_per_s"] / found["uniform_by_bytes"] - 1).abs()),
    }
