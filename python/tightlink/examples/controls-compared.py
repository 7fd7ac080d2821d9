"""Makes controls-compared.csv: eight congestion controls beside standard TCP, under sixteen conditions.

    python examples/controls-compared.py > examples/controls-compared.csv

Flows of the control share a bottleneck with as many of standard TCP. About twenty seconds on one core.
"""

from __future__ import annotations

from itertools import product

import polars as pl

import tightlink as tl
from tightlink.experiment import results

BASE = tl.loads("""
duration = "30 s"
topology.net = { kind = "dumbbell", pairs = 32, bottleneck = { rate = "100 Mbit/s", delay = "10 ms", queue = "1 BDP" }, access = { rate = "1 Gbit/s", delay = "1 ms" } }
traffic.own = { kind = "bulk", flows = 4, from = "net.left[*]", to = "net.right[*]", start = { every = "0.11 s" }, tcp = { window = "100000 packets" } }
traffic.standard = { kind = "bulk", flows = 4, from = "net.left[*]", to = "net.right[*]", start = { first = "0.05 s", every = "0.11 s" }, tcp = { congestion = "reno", window = "100000 packets" } }
""")
FACTORS = {
    "rate": ["20 Mbit/s", "100 Mbit/s"],
    "delay": ["5 ms", "40 ms"],
    "queue": ["0.1 BDP", "1 BDP"],
    "flows": [2, 16],
    "congestion": ["bic", "compound", "fast", "highspeed", "htcp", "scalable", "reno", "fast-at"],
}
#: Of what `tightlink sweep` says of a run, what varies.
SHOWN = [
    *("goodput_bps", "throughput_bps", "packets_sent", "packets_dropped", "packets_retransmitted", "timeouts", "loss"),
    *("one_way_delay_mean_s", "jitter_mean_s", "limited_by_handshake", "limited_by_congestion_window"),
    *("utilization", "queue_mean_packets"),
]


def measured(rate: str, delay: str, queue: str, flows: int, congestion: str) -> dict[str, float]:
    """What came out of one run: over all flows, and over those of the control and of standard TCP."""
    bottleneck = {"rate": rate, "delay": delay, "queue": queue}
    keys = {f"topology.net.bottleneck.{key}": value for key, value in bottleneck.items()}
    keys |= {"traffic.own.flows": flows, "traffic.standard.flows": flows, "traffic.own.tcp.congestion": congestion}
    run = tl.simulate(BASE.set_all(keys))
    groups = run.flows.group_by(pl.col("label").str.extract(r"^(\w+)")).agg(pl.col("goodput_bps").sum())
    goodputs = dict(groups.rows())
    all_flows = results.metrics(run)
    return {name: all_flows[name] for name in SHOWN} | {
        "rtt_mean_s": float(run.flows["rtt_mean_s"].mean()),
        "own_bps": goodputs["own"],
        "standard_bps": goodputs["standard"],
    }


print(
    "# Simulated by examples/controls-compared.py: flows of a congestion control beside as many of standard TCP at one"
)
print("# bottleneck, 30 s; responses over all flows, then the goodput of all flows of the control and of standard TCP.")
print(",".join([*FACTORS, *SHOWN, "rtt_mean_s", "own_bps", "standard_bps"]))
for levels in product(*FACTORS.values()):
    print(",".join([*map(str, levels), *(f"{value:.6g}" for value in measured(*levels).values())]))
