"""Congestion events at a link: drops, or marks, that follow each other within a round trip, and which flows they hit.

Until the first of the senders hears of a drop a round trip passes, in which the queue stays full: that is one event.

Example:
    >>> lost = pl.DataFrame({"time_s": [1.0, 1.05, 4.0], "flow": [0, 1, 0], "marked": [False, False, True]})
    >>> offered = pl.DataFrame({"time_s": [0.95, 0.96, 1.0, 1.05, 2.0, 3.95, 4.0], "flow": [0, 1, 0, 1, 2, 1, 0]})
    >>> hit = hits(offered, lost, round_trip_s=0.1)
    >>> hit.select("event", "flow", "packets", "packets_dropped", "packets_marked").rows()
    [(0, 0, 2, 1, 0), (0, 1, 2, 1, 0), (1, 0, 1, 0, 1), (1, 1, 1, 0, 0)]
"""

from __future__ import annotations

from tightlink.lazy import np, pl


def hits(offered: pl.DataFrame, lost: pl.DataFrame, round_trip_s: float) -> pl.DataFrame:
    """Congestion events with the flows that are active in each, and what each of these lost in it.

    A flow is active in an event if it offered a packet to the link, or lost one, from a round trip before the first
    drop of the event to the last; drops that are no further apart than a round trip are one event. So no packet counts
    for two events. ``offered`` has ``time_s`` and ``flow`` of each packet that came to the link, ``lost`` those that
    were dropped or ``marked``, with the time of that.

    Returns:
        A row for each event and flow: ``event`` (from 0 on), ``begin_s``, ``end_s``, ``flow``, ``packets`` (offered in
        that time), ``packets_dropped`` and ``packets_marked``.
    """
    dropped = lost.sort("time_s").with_columns(
        event=(pl.col("time_s").diff() > round_trip_s).fill_null(value=False).cum_sum().cast(pl.Int64)
    )
    bounds = dropped.group_by("event", maintain_order=True).agg(
        begin_s=pl.col("time_s").min(), end_s=pl.col("time_s").max()
    )
    begins, ends = bounds["begin_s"].to_numpy(), bounds["end_s"].to_numpy()
    times = offered["time_s"].to_numpy()
    event = np.searchsorted(ends, times)
    within = event < len(ends)
    within[within] = times[within] >= begins[event[within]] - round_trip_s
    key = ["event", "flow"]
    sent = offered.select("flow", event=pl.Series(event, dtype=pl.Int64)).filter(pl.Series(within))
    packets = sent.group_by(key).agg(packets=pl.len())
    found = dropped.group_by(key).agg(
        packets_dropped=pl.col("marked").not_().sum(), packets_marked=pl.col("marked").sum()
    )
    counts = ["packets", "packets_dropped", "packets_marked"]
    there = packets.join(found, on=key, how="full", coalesce=True).with_columns(
        pl.col(counts).fill_null(0).cast(pl.Int64)
    )
    # What waited for longer than a round trip before it was dropped had come earlier.
    counted = there.with_columns(packets=pl.max_horizontal("packets", pl.sum_horizontal(counts[1:])))
    return counted.join(bounds, on="event").select("event", "begin_s", "end_s", "flow", *counts).sort(key)
