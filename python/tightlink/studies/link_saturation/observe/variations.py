"""Fragments, jumbo frames, other bandwidths, mixed sizes and TCP: what claims compare of the sweeps over them."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from tightlink.lazy import np
from tightlink.reduce import largest
from tightlink.run import Run
from tightlink.studies.link_saturation.observe.saturation import measure
from tightlink.studies.link_saturation.setup import interface, sweeps, variations
from tightlink.studies.link_saturation.setup.variations import BY_SIZES, DENSITY, LARGE, LIVELOCK, MIXES, SMALL, STREAMS

# Mixed sizes: several sources share the interface, and eq. 1 takes means: T = p̄ · f̄.


def mixes_table(runs: Mapping[str, Run], uniform: pl.DataFrame) -> pl.DataFrame:
    """A row for each mix, with the packet rate of equal packets of its mean size."""
    whole = uniform["payload_bytes"].to_numpy()
    times = 1 / uniform["packets_per_s"].to_numpy()

    def mixed(run: Run, sizes: str) -> dict[str, Any]:
        found = measure(run)
        # Weighted by bytes instead: the size that a byte, not a packet, finds itself in.
        goodput = run.flows["goodput_bps"].to_numpy()
        own = goodput / run.flows["packets_delivered"].to_numpy() / 8 * interface.DURATION_S
        by_bytes = float((own * goodput).sum() / goodput.sum())
        return {
            "mix": " + ".join(f"{count} × {size} B" for size, count in BY_SIZES[sizes].items()),
            "payload_bytes": found["payload_bytes"],
            "by_bytes": by_bytes,
            "packets_per_s": found["packets_per_s"],
            "uniform": float(1 / np.interp(found["payload_bytes"], whole, times)),
            "uniform_by_bytes": float(1 / np.interp(by_bytes, whole, times)),
            "goodput_bps": found["goodput_bps"],
            "jitter_rfc3550_s": found["jitter_rfc3550_s"],
        }

    return MIXES.table(runs, mixed)


# TCP over the sweep beside UDP, and the fundamental diagram over the number of connections.

#: In proportion: within this share of what a connection has alone.
_NEAR: Final = 0.05


def connections_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Flow over density: packets/s, goodput, and the share of packets that was dropped."""

    def flow(run: Run, connections: int) -> dict[str, float]:
        own = run.flows
        packets = float(own["packets_delivered"].sum()) / variations.CONNECTED_S
        return {
            "packets_per_s": packets,
            "each_packets_per_s": packets / connections,
            "goodput_bps": float(own["goodput_bps"].sum()),
            "dropped_share": float(own["packets_dropped"].sum()) / float(own["packets_sent"].sum()),
        }

    return DENSITY.table(runs, flow)


def connections_values(density: pl.DataFrame, tables: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: tcp.… of the sweep, density.… of numbers of connections."""
    udp = tables[sweeps.MAIN.name].select("datagram_bytes", udp="goodput_bps")
    both = tables[sweeps.TCP_OUT.name].join(udp, on="datagram_bytes")
    each: dict[str, object] = {"tcp.of_udp": both["goodput_bps"] / both["udp"]}
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
