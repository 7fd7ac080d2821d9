"""Probes in numbers: a row for each, of what was offered, carried and lost, and of what the meters said."""

import math
from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from tightlink import units
from tightlink.analysis.limits.regimes import Length, Regimes
from tightlink.experiment.metrics import metrics
from tightlink.run import Run
from tightlink.studies.router_response.setup import network, variants
from tightlink.studies.router_response.setup.document import ETHERNET_HEADER
from tightlink.studies.router_response.setup.network import DOCUMENTED, PROBE, ROUTER_A, ROUTER_B

#: Columns of a probe in the table of runs.
_MEASURED: Final = (
    "packet_bytes", "nominal_packets_per_s", "nominal_bps", "offered_packets_per_s", "offered_bps", "packets_per_s",
    "throughput_bps", "goodput_bps", "load", "load_busy", "load_true", "loss", "lost_input_ring", "lost_output_ring",
    "forwarded_packets_per_s", "b_packets_per_s", "b_bps", "b_load", "one_way_delay_mean_s",
)  # fmt: skip


def row(run: Run) -> dict[str, float | str]:
    """A row of the table of runs, which ``tightlink analyze regimes`` takes as it is.

    ``router`` names router A in its setting. It is empty for what is no probe of the grid or about the
    onset: the probes of the fall, those that are repeated, the videos, and the meter that was watched.
    """
    setting = variants.setting_of(run.scenario)
    own = metrics(run)
    if setting is None or run.series["time_s"].n_unique() > 1:
        return {"router": "", **dict.fromkeys(_MEASURED, math.nan), **own}
    _, every_s, duration_s = _asked(run)
    # Those of the fall show the fall itself, which is no straight line; those repeated begin at another phase of the
    # meters' clock.
    of_fall = duration_s == network.SHORT_S and round(1 / every_s) in network.EXTRA_FALL_PER_S
    repeated = units.time(run.manifest["scenario"]["traffic"][PROBE].get("start", "0 s")) > 0
    apart = setting is DOCUMENTED and (of_fall or repeated)
    return {"router": "" if apart else setting.name, **own, **measured(run)}


def measured(run: Run) -> dict[str, float]:
    """A probe in numbers: the columns of a row of measurements.

    What is *offered* reaches router A: the sender's 100 Mbit/s may have limited it before. Bit rates
    count whole packet lengths, as the document's do.
    """
    length, every_s, duration_s = _asked(run)
    nodes = {row["node"]: row for row in run.nodes.iter_rows(named=True)}
    a, b = nodes[ROUTER_A], nodes[ROUTER_B]
    arrived = a["packets_in"]
    dropped = {ring: a[ring] + b[ring] for ring in ("dropped_input_ring", "dropped_output_ring")}
    delivered = run.flows["packets_delivered"][0] / duration_s
    sampled = {
        (row["entity"], row["metric"]): row["value"]
        for row in run.series.filter(pl.col("metric").is_in(["load", "load_reported"])).iter_rows(named=True)
    }
    bits = 8 * length
    return {
        "packet_bytes": length,
        "nominal_packets_per_s": 1 / every_s,
        "nominal_bps": bits / every_s,
        "offered_packets_per_s": arrived / duration_s,
        "offered_bps": bits * arrived / duration_s,
        "packets_per_s": delivered,
        "throughput_bps": bits * delivered,
        "goodput_bps": run.flows["goodput_bps"][0],
        "load": sampled[ROUTER_A, "load_reported"],
        "load_busy": sampled[ROUTER_A, "load"],
        "load_true": a["load_true"],
        "loss": sum(dropped.values()) / arrived,
        "lost_input_ring": dropped["dropped_input_ring"] / arrived,
        "lost_output_ring": dropped["dropped_output_ring"] / arrived,
        "forwarded_packets_per_s": a["packets_served"] / duration_s,
        "b_packets_per_s": b["packets_in"] / duration_s,
        "b_bps": bits * b["packets_in"] / duration_s,
        "b_load": sampled[ROUTER_B, "load_reported"],
        "one_way_delay_mean_s": run.flows["one_way_delay_mean_s"][0],
    }


def offered(length: int, rate_per_s: float) -> dict[str, float]:
    """What is offered of packets of a length, in the columns of measurements."""
    return {"offered_packets_per_s": rate_per_s, "offered_bps": 8 * length * rate_per_s}


def _asked(run: Run) -> tuple[int, float, float]:
    """Packet length in the document's count, interval of a probe and how long it sent, as the engine understood it."""
    scenario = run.manifest["scenario"]
    probe: Mapping[str, Any] = scenario["traffic"][PROBE]
    return (
        int(probe["udp"]["datagram"].split()[0]) + ETHERNET_HEADER,
        units.time(probe["interval"]),
        units.time(probe["stop"]) - units.time(probe.get("start", "0 s")),
    )


def middle(found: Length | Regimes) -> float:
    """The middle of the probes between which a length, or all of them, become unstable; zero where they do not."""
    return 0.0 if found.onset is None else found.onset.middle or 0.0


def table(runs: Mapping[str, Run], *prefixes: str) -> pl.DataFrame:
    """A row for each probe of the tasks with these beginnings, ordered by length and rate."""
    rows = [measured(run) for name, run in runs.items() if name.split("/")[0] in prefixes]
    return pl.DataFrame(rows).sort("packet_bytes", "offered_packets_per_s")
