"""TCP over the sweep beside UDP, and the fundamental diagram over the number of connections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.reduce import largest, smallest
from tightlink.studies.link_saturation.setup import connections
from tightlink.studies.link_saturation.setup.connections import LARGE, LIVELOCK, SMALL, STREAMS
from tightlink.studies.link_saturation.setup.sweeps import MAIN, TCP_OUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

#: In proportion: within this share of what a connection has alone.
_NEAR: Final = 0.05


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Flow over density: packets/s, goodput, and the share of packets that was dropped."""
    rows = []
    for kind in connections.KINDS:
        for flows in connections.DENSITIES:
            own = runs[kind.key(flows)].flows
            packets = float(own["packets_delivered"].sum()) / connections.DURATION_S
            rows.append(
                {
                    "bottleneck": kind.name,
                    "connections": flows,
                    "packets_per_s": packets,
                    "each_packets_per_s": packets / flows,
                    "goodput_bps": float(own["goodput_bps"].sum()),
                    "dropped_share": float(own["packets_dropped"].sum()) / float(own["packets_sent"].sum()),
                }
            )
    return pl.DataFrame(rows)


def values(density: pl.DataFrame, tables: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: tcp.… of the sweep, density.… of numbers of connections."""
    udp = tables[MAIN.name].select("datagram_bytes", udp="goodput_bps")
    both = tables[TCP_OUT.name].join(udp, on="datagram_bytes")
    share = both["goodput_bps"] / both["udp"]
    each: dict[str, object] = {
        "tcp.least_of_udp": smallest(share),
        "tcp.most_of_udp": largest(share),
        "density.most_connections": largest(density["connections"]),
    }
    for name, kind in (("link", LARGE), ("interface", SMALL), ("interrupted", LIVELOCK), ("streams", STREAMS)):
        own = density.filter(pl.col("bottleneck") == kind.name)
        flow, alone = own["packets_per_s"], own["each_packets_per_s"].to_list()[0]
        free = own.filter(pl.col("each_packets_per_s") >= (1 - _NEAR) * alone)
        each |= {
            f"density.{name}.free_points": free.height,
            f"density.{name}.free_connections": int(free["connections"].to_list()[-1]),
            f"density.{name}.left": float(flow.to_list()[-1]) / largest(flow),
            f"density.{name}.dropped": float(own["dropped_share"].to_list()[-1]),
        }
    return each
