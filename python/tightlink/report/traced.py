"""What the packets of a trace tell of flows."""

from __future__ import annotations

from tightlink.lazy import pl
from tightlink.run import Run


def data_packets(run: Run) -> pl.DataFrame:
    """The events of packets with payload, with ``label``, ``origin`` and ``target`` of their flow."""
    flows = run.flows.select("flow", "label", "transport", origin="from", target="to")
    packets = run.packets.filter(pl.col("type") != "ack").join(flows, on="flow", maintain_order="left")
    # A connection opens with packets without payload, which have no number yet.
    opening = (pl.col("transport") == "tcp") & (pl.col("seq") == 0)
    return packets.filter(~(opening & (pl.col("size_bytes") < pl.col("size_bytes").max().over("flow"))))


def one_way_delays(run: Run) -> pl.DataFrame:
    """From the offer at the source to the arrival, of each data packet of a trace: ``flow``, ``one_way_delay_s``."""
    packets = data_packets(run)
    sent = packets.filter((pl.col("event") == "+") & (pl.col("from") == pl.col("origin")))
    sent = sent.group_by("flow", "uid", maintain_order=True).agg(pl.col("time_s").min().alias("sent_s"))
    arrived = packets.filter((pl.col("event") == "r") & (pl.col("to") == pl.col("target")))
    both = arrived.join(sent, on=["flow", "uid"], maintain_order="left")
    return both.select(flow="label", one_way_delay_s=pl.col("time_s") - pl.col("sent_s"))
