"""What a captured flow did over time, from its samples in ``series``: lost SYNs, stalls, and time after its end.

Samples say how much was sent in an interval, how far payload and its ACKs have come, and what was retransmitted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from tightlink.lazy import pl

#: A stall is at least so long, in seconds, as Linux' least retransmission timeout; and so many round trips.
_STALL_S, _STALL_RTTS = 0.2, 4.0
#: A silence that a timeout ends is followed by an interval of which at least so much is retransmitted.
_AGAIN: Final = 0.25
#: More packets in an interval are no single segment that a timeout retransmits.
_TIMED_OUT: Final = 2
_BITS: Final = 8
_HEADERS: Final = 40
_METRICS: Final = ("throughput_bps", "sent_bytes", "acknowledged_bytes", "packets_retransmitted")


def told(series: pl.DataFrame, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """By label what the samples of TCP flows tell; of those whose label is of one connection only.

    Returns:
        ``after_s``: time from the last packet of the flow to the end of its connection; ``syns_retransmitted`` and
        ``handshake_s``, if there are any; ``stalled_s`` and ``longest_stall_s``: time in which nothing got through
        until something was retransmitted.
    """
    count = Counter(row["label"] for row in rows)
    wanted = {row["label"]: row for row in rows if row["transport"] == "tcp" and count[row["label"]] == 1}
    samples = series.filter(pl.col("metric").is_in(_METRICS)).with_columns(pl.col("entity").cast(pl.String))
    samples = samples.filter(pl.col("entity").is_in(list(wanted)))
    found = {}
    for (label,), own in samples.group_by("entity"):
        wide = own.pivot(on="metric", index="time_s", values="value").sort("time_s")
        if wide.height > 1 and set(_METRICS) <= set(wide.columns):
            found[str(label)] = _told(wanted[str(label)], *(wide[name].to_list() for name in ("time_s", *_METRICS)))
    return found


def _told(  # noqa: PLR0917
    row: Mapping[str, Any],
    times: Sequence[float],
    rates: Sequence[float],
    sent: Sequence[float],
    acked: Sequence[float],
    again: Sequence[float],
) -> dict[str, float]:
    width = min(after - before for before, after in pairwise(times))
    found = {"after_s": times[-1] - row["stop_s"] if times[-1] - width > row["stop_s"] else 0.0}
    first = next((place for place, reached in enumerate(sent) if reached), len(sent))
    # Before its data a flow sends SYNs; each is in another interval.
    syns = [place for place in range(first) if rates[place]]
    retransmitted = min(len(syns) - 1, int(row["packets_retransmitted"] or 0))
    if retransmitted > 0:
        found["syns_retransmitted"] = retransmitted
        found["handshake_s"] = max(0.0, times[syns[-1]] - width - row["start_s"]) + (row.get("initial_rtt_s") or 0.0)
    segment = (row.get("mss_bytes") or 1460) + _HEADERS
    round_trip = max(row.get(name) or 0.0 for name in ("initial_rtt_s", "rtt_p50_s", "rtt_echoed_median_s"))
    least = max(_STALL_S, _STALL_RTTS * round_trip)
    packets = [rate * width / _BITS / segment for rate in rates]
    stalls = []
    begin, kind, timed_out = 0, "", False
    for place in range(max(first, 1), len(times) + 1):
        now = _kind(place, packets, sent, acked) if place < len(times) else ""
        if now != kind:
            # What follows the last packet that was sent is no wait of the sender.
            end = times[place - 1] if place < len(times) else min(times[-1], row["stop_s"])
            lasted = end - times[begin] + width
            ended = place < len(times) and again[place] >= max(1.0, _AGAIN * packets[place])
            if kind and lasted >= least and (ended or (kind == "stuck" and timed_out)):
                stalls.append(lasted)
            begin, kind, timed_out = place, now, False
        timed_out = timed_out or (place < len(times) and bool(again[place]))
    if stalls:
        found["stalled_s"] = sum(stalls)
        found["longest_stall_s"] = max(stalls)
    return found


def _kind(place: int, packets: Sequence[float], sent: Sequence[float], acked: Sequence[float]) -> str:
    """Whether an interval has no progress: nothing is acknowledged of what is in flight, or nothing is sent."""
    if acked[place] == acked[place - 1] and sent[place] > acked[place]:
        return "stuck" if packets[place] <= _TIMED_OUT else ""
    return "" if packets[place] else "silent"
