"""What the packets of a captured flow tell: shares of its time, a queue, delayed ACKs, what losses allow.

A row is one of ``flows``, joined with that of ``connections``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

#: Half of the round trips that are so many times the shortest say that a queue stands, or one in twenty.
_STANDS, _STANDS_P95 = 1.5, 2.0
#: Delayed ACKs come so much later, in seconds: less than Linux' least, and what RFC 9293 §3.8.6.3 allows.
_DELAYED_ACK: Final = (0.025, 0.5)
#: Fewer losses are no rate.
_LEAST_LOST: Final = 3
#: Of fewer segments with pauses for so much of the time, a single one that was lost is no share.
_FEW, _PAUSES = 20, 0.5
#: Losses explain a window between so little of the one that they allow and so much.
_ALLOWED: Final = (0.5, 2.0)
#: How much of the window must be in flight for it to be what limits a flow: at most, and on average.
_FILLED, FILLED_MEAN = 0.9, 0.7
#: More than so many times a window is in flight only if it is a multiple of what its header says.
_SCALED: Final = 1.1
#: A round trip of data so much shorter than the handshake is the receiver's own delay.
_RECEIVERS: Final = 0.25
#: Linux' and RFC 6928's initial window, in segments.
INITIAL_WINDOW: Final = 10
#: CUBIC's window, in segments, is this times (RTT / p)^0.75, if that is more than Reno's (RFC 9438 §5.1).
_CUBIC, _CUBIC_POWER = 1.054, 0.75
#: Losses that come one by one allow a window of √(1.5 / p) segments (Mathis et al. 1997, eq. 3).
_MATHIS: Final = 1.5
_DEFAULT_SEGMENT: Final = 1460
_BITS: Final = 8
#: States of connections that carried nothing.
NEVER: Final = frozenset({"refused", "unanswered"})


def is_at_receiver(row: Mapping[str, Any]) -> bool:
    """Whether the capture was taken at the receiver."""
    whole, shortest = row["initial_rtt_s"], row["rtt_min_s"]
    if row["state"] in NEVER or not whole or not row["acks"]:
        return False
    # ACKs at the instant of what they acknowledge are no round trips.
    return shortest is None or bool(shortest < _RECEIVERS * whole)


def lasts_s(row: Mapping[str, Any]) -> float:
    """How long a flow sent, in seconds; one of which no packet of its own was captured did not."""
    return float(row.get("stop_s", 0.0) - row.get("start_s", 0.0))


def share(row: Mapping[str, Any], column: str) -> float:
    """The share of a flow's time that a column of seconds says."""
    lasts = lasts_s(row)
    return min(1.0, row[column] / lasts) if lasts > 0 else 0.0


def idle(row: Mapping[str, Any]) -> float:
    """The share of a flow's time in which it had nothing in flight."""
    return share(row, "idle_s")


def at_window(row: Mapping[str, Any]) -> float:
    """The share of a flow's time in which the receiver's window had no room."""
    return share(row, "window_limited_s")


def has_standing_queue(row: Mapping[str, Any]) -> bool:
    """Whether half of the round trips are long: packets wait in a queue."""
    return _is_filled(row) and bool(row["rtt_median_s"] > _STANDS * row["rtt_min_s"])


def has_queue(row: Mapping[str, Any]) -> bool:
    """Whether packets wait in a queue, or some do: those of which the ACKs cannot be delayed."""
    some = _is_filled(row) and bool((row.get("rtt_prompt_p95_s") or 0.0) > _STANDS_P95 * row["rtt_min_s"])
    return some or has_standing_queue(row)


def has_echoed_queue(row: Mapping[str, Any]) -> bool:
    """At the receiver: whether half of its timestamps take so long to come back that a queue stands."""
    few = row["payload_bytes"] < segment_bytes(row) * INITIAL_WINDOW
    return not few and bool((row.get("rtt_echoed_median_s") or 0.0) > _STANDS * row["initial_rtt_s"])


def _is_filled(row: Mapping[str, Any]) -> bool:
    """Whether the path held some packets: the longer round trips of a flow of fewer are of delayed ACKs."""
    return bool(row["rtt_min_s"] and row["in_flight_max_bytes"] >= segment_bytes(row) * INITIAL_WINDOW)


def acks_are_delayed(row: Mapping[str, Any]) -> bool:
    """Whether the longer round trips are rather those of ACKs that waited for a second segment."""
    if not row["rtt_samples"]:
        return False
    least, most = _DELAYED_ACK
    prompt = row.get("rtt_prompt_p95_s")
    if prompt is None and row["in_flight_max_bytes"] >= segment_bytes(row):
        return False
    return bool(least <= row["rtt_p95_s"] - (prompt or row["rtt_median_s"]) <= most)


def segment_bytes(row: Mapping[str, Any]) -> float:
    """The largest segment that the receiver takes, or a usual one where its SYN was not captured."""
    return row["mss_bytes"] or _DEFAULT_SEGMENT


def losses_explain(row: Mapping[str, Any], lost: float, rtt_s: float | None) -> bool:
    """Whether what is in flight is about what so few losses allow at round trips of the path of so long."""
    if lost * row["data_packets"] < _LEAST_LOST or not rtt_s:
        return False
    allowed = max(reno_window(lost), _CUBIC * (rtt_s / lost) ** _CUBIC_POWER)
    in_flight = (row["goodput_bps"] or 0.0) * rtt_s / _BITS / segment_bytes(row)
    least, most = _ALLOWED
    return bool(least * allowed <= in_flight <= most * allowed)


def reno_window(lost: float) -> float:
    """The window that Reno has at a share of packets lost, in segments."""
    return math.sqrt(_MATHIS / lost)


def scale_is_known(row: Mapping[str, Any]) -> bool:
    """Whether windows are what they seem, and no multiple of it."""
    return row["state"] != "partial" or "window scale" in row["options"]


def fills_window(row: Mapping[str, Any]) -> bool:
    """Whether the receiver's window, at its largest, is in flight most of the time."""
    window, rtt = row["window_max_bytes"], row["rtt_mean_s"]
    if not scale_is_known(row) and row["in_flight_max_bytes"] > _SCALED * window:
        return False
    if not window or not (row["window_full"] or row["in_flight_max_bytes"] >= _FILLED * window):
        return False
    return not rtt or bool((row["goodput_bps"] or 0.0) * rtt / _BITS >= FILLED_MEAN * window)


def lost_share(row: Mapping[str, Any]) -> float:
    """Share of the segments that were retransmitted for good reason.

    One of a few with pauses, as in a connection that only controls others, says nothing of the path.
    """
    vain = row["spurious_retransmissions"] or 0
    again = max((row["packets_retransmitted"] or 0) - vain, row["retransmissions"] + row["fast_retransmissions"])
    if again == 1 and row["data_packets"] < _FEW and idle(row) > _PAUSES:
        return 0.0
    return again / row["data_packets"] if row["data_packets"] else 0.0
