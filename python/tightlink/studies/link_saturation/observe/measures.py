"""What is measured of a run: sizes and rates as this document counts them, from the tables alone.

A frame is an IP packet with Ethernet's 18 B, without preamble and gap, as the document has it; the
padding of the shortest frames is not counted.

Example:
    >>> from tightlink.simulate import simulate
    >>> from tightlink.studies.link_saturation.setup.interface import udp
    >>> found = measure(simulate(udp(1450)))
    >>> found["payload_bytes"], found["frame_bytes"], round(found["packets_per_s"], -2)
    (1450.0, 1496.0, 8200.0)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.studies.link_saturation.setup.interface import ETHERNET_BYTES, SENDER
from tightlink.studies.link_saturation.setup.sweeps import link_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run
    from tightlink.studies.link_saturation.setup.sweeps import Sweep

_BITS: Final = 8


def measure(run: Run) -> dict[str, float]:
    """Sizes, rates, loss, jitter and the load of the sender's interface, over all flows of a run.

    Sizes are means over packets; ``payload_bytes`` × ``packets_per_s`` is the goodput, and so on.
    """
    flows = run.flows
    time_s = float((flows["stop_s"] - flows["start_s"]).to_list()[0])
    packets, sent = float(flows["packets_delivered"].sum()), float(flows["packets_sent"].sum())
    dropped = float(flows["packets_dropped"].sum())
    rate = packets / time_s
    goodput, throughput = float(flows["goodput_bps"].sum()), float(flows["throughput_bps"].sum())
    payload, packet = (value / (_BITS * rate) if rate else math.nan for value in (goodput, throughput))
    jitters = flows["jitter_rfc3550_s"].drop_nulls().to_list()
    return {
        "payload_bytes": payload,
        "packet_bytes": packet,
        "frame_bytes": packet + ETHERNET_BYTES,
        "packets_per_s": rate,
        "goodput_bps": goodput,
        "throughput_bps": throughput,
        "frame_throughput_bps": throughput + _BITS * ETHERNET_BYTES * rate,
        "loss": dropped / sent if sent else math.nan,
        "jitter_rfc3550_s": sum(jitters) / len(jitters) if jitters else math.nan,
        "load": _load(run),
        "utilization": float(run.links["utilization"].to_list()[0]),
        "limited_by_sender_rate": _known(flows["limited_by_sender_rate"]),
        "limited_by_network": _known(flows["limited_by_network"]),
    }


def table(sweep: Sweep, runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each payload: what `measure` gives, and the payload as it was set, ``datagram_bytes``."""
    return pl.DataFrame([{"datagram_bytes": size} | measure(runs[sweep.key(size)]) for size in sweep.payloads])


def of_run(run: Run) -> dict[str, float | str]:
    """What ``runs.parquet`` says of a run; of datagrams at random, which are no flows, nothing but the line's share."""
    if "flows" not in run.tables:
        return {"link": "", "utilization": float(run.links["utilization"].to_list()[0])}
    return {"link": link_of(run.scenario)} | measure(run)


def _known(values: pl.Series) -> float:
    """The first of them; NaN where hosts that were measured do not know it."""
    first = values.to_list()[0]
    return math.nan if first is None else float(first)


def _load(run: Run) -> float:
    """What was asked of the sender's processor over what it has."""
    load = dict(run.nodes.select("node", "load_true").iter_rows()).get(SENDER)
    return math.nan if load is None else float(load)
