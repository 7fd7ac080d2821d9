"""Max-flow min-cut over bandwidths, beside what the interface lets through."""

from __future__ import annotations

import polars as pl

from tightlink.analysis.flow_limits import flow_limits
from tightlink.reduce import largest
from tightlink.studies.link_saturation.setup.sweeps import MAIN


def table(simulated: pl.DataFrame) -> pl.DataFrame:
    """The maximum flow by the links, by links and interface, and what was simulated: bit/s of IP packets."""
    rows = []
    for size, bits in simulated.select("datagram_bytes", "throughput_bps").iter_rows():
        limits = flow_limits(MAIN.scenario(size))
        rows.append(
            {
                "payload_bytes": size,
                "links": float(limits.bits.value or 0),
                "both": float(limits.both.value or 0),
                "throughput_bps": bits,
            }
        )
    return pl.DataFrame(rows)


def values(found: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name: what is promised over what arrives."""
    over = (found["links"] / found["throughput_bps"]).to_list()
    return {
        "maxflow.smallest": over[0],
        "maxflow.largest": over[-1],
        "maxflow.misfit": largest((found["both"] / found["throughput_bps"] - 1).abs()),
    }
