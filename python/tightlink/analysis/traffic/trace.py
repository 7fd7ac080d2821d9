"""What a packet trace says of one flow and of one queue, packet by packet.

Example:
    >>> scenario = tl.Scenario(
    ...     profile="ns2",
    ...     duration="1 s",
    ...     link={"wire": tl.Link(ends=("a", "b"), rate="2 Mbit/s", delay="10 ms")},
    ...     traffic={"voice": tl.Cbr(from_="a", to="b", interval="100 ms")},
    ... )
    >>> packets = tl.simulate(scenario, trace=True).packets
    >>> journeys(packets, to="b")["latency_s"].round(6).unique().to_list()
    [0.014]
    >>> occupancy(queue_length(packets, "a", "b"), start_s=0, stop_s=1).rows()
    [(0, 1.0)]
"""

from __future__ import annotations

from tightlink.lazy import pl


def journeys(packets: pl.DataFrame, *, to: str, flow: int | None = None) -> pl.DataFrame:
    """The data packets of a flow, or of all, that arrived at a node, in the order of their arrival.

    Returns:
        ``sent_s`` (offered at the source), ``arrived_s``, ``latency_s`` and ``size_bytes``, a row for
        each packet; the packet that opens a TCP connection is one of them.
    """
    own = packets.filter(pl.col("type") != "ack", *([] if flow is None else [pl.col("flow") == flow]))
    sent = own.filter(pl.col("event") == "+").group_by("uid").agg(pl.col("time_s").min().alias("sent_s"))
    arrived = own.filter((pl.col("event") == "r") & (pl.col("to") == to))
    joined = arrived.join(sent, on="uid", how="left", maintain_order="left")
    latency = (pl.col("time_s") - pl.col("sent_s")).alias("latency_s")
    return joined.select("sent_s", arrived_s="time_s", latency_s=latency, size_bytes="size_bytes")


def throughput(trips: pl.DataFrame, *, start_s: float, keep: float) -> pl.DataFrame:
    """Instant throughput, raw and smoothed, and system throughput at each arrival.

    Trips are as `journeys` gives them; ``keep`` is the weight of the past (`smoothed`).

    The instant throughput is the bits of a packet over the time since the previous one arrived, for
    the first over the time since the start; the system throughput is all bits so far over all time so
    far. Headers count: what counts is what is in ``size_bytes``.

    Returns:
        ``time_s``, ``instant_bps``, ``smoothed_bps`` and ``system_bps``.
    """
    time, bits = pl.col("arrived_s"), pl.col("size_bytes") * 8
    instant = (bits / (time - time.shift(1, fill_value=start_s))).alias("instant_bps")
    system = bits.cum_sum() / (time - start_s)
    frame = trips.select(instant, time_s=time, system_bps=system)
    return frame.select(
        "time_s", "instant_bps", smoothed(pl.col("instant_bps"), keep).alias("smoothed_bps"), "system_bps"
    )


def smoothed(values: pl.Expr, keep: float) -> pl.Expr:
    """The exponentially weighted moving average y ← keep · y + (1 − keep) · x, from y = the first x.

    >>> pl.DataFrame({"x": [0.0, 1.0, 1.0]}).select(smoothed(pl.col("x"), 0.9))["x"].round(6).to_list()
    [0.0, 0.1, 0.19]
    """
    return values.ewm_mean(alpha=1 - keep, adjust=False)


def jitter(trips: pl.DataFrame) -> pl.DataFrame:
    """The difference of the latencies of successive packets, with its sign: ``time_s``, ``jitter_s``."""
    return trips.select(time_s="arrived_s", jitter_s=pl.col("latency_s").diff()).drop_nulls()


def queue_length(packets: pl.DataFrame, origin: str, target: str) -> pl.DataFrame:
    """The packets waiting at a link after each event there: ``time_s``, ``packets``.

    The packet in service does not count: it has left the queue for the transmitter. A packet that finds
    the transmitter free counts for no time at all: 1, then 0 at the same moment.
    """
    here = packets.filter((pl.col("from") == origin) & (pl.col("to") == target))
    left = (pl.col("event") == "-") | ((pl.col("event") == "d") & (pl.col("reason") != "wire"))
    change = pl.when(pl.col("event") == "+").then(1).when(left).then(-1).otherwise(0)
    frame = here.select("time_s", "event", change=change).filter(pl.col("change") != 0)
    return frame.select("time_s", packets=pl.col("change").cum_sum())


def occupancy(queue: pl.DataFrame, *, start_s: float, stop_s: float) -> pl.DataFrame:
    """The share of the time that a queue had each length, between two times: ``packets``, ``share``."""
    later = pl.col("time_s").shift(-1, fill_value=stop_s).clip(start_s, stop_s)
    spent = (later - pl.col("time_s").clip(start_s, stop_s)).alias("spent_s")
    held = queue.select("packets", spent).group_by("packets").agg(pl.col("spent_s").sum())
    share = pl.col("spent_s") / (stop_s - start_s)
    return held.select("packets", share=share).filter(pl.col("share") > 0).sort("packets")


def accepted_bytes(packets: pl.DataFrame, origin: str, target: str) -> int:
    """The bytes that entered a link's queue and were not dropped, headers and opening packet included."""
    here = packets.filter((pl.col("from") == origin) & (pl.col("to") == target))
    offered, dropped = (int(here.filter(pl.col("event") == event)["size_bytes"].sum()) for event in ("+", "d"))
    return offered - dropped
