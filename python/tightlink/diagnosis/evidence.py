"""What the packets of a captured flow tell: shares of its time, a queue, delayed ACKs, how full a window is.

A row is one of ``flows``, joined with that of ``connections``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from tightlink.diagnosis.vantage import STANDS, has_queue_before, path_rtt_s, place

#: Half of the round trips that are so many times the shortest say that a queue stands, or one in twenty; or their mean,
#: where losses are too many for the window that they leave.
STANDS_P95, OVERFLOWS = 2.0, 1.25
#: Hosts delay what they acknowledge by so many seconds themselves: no more is no queue.
_OF_HOSTS_S: Final = 0.0002
#: Delayed ACKs come so much later, in seconds: less than Linux' least, and what RFC 9293 §3.8.6.3 allows.
_DELAYED_ACK: Final = (0.025, 0.5)
#: Round trips of fewer ACKs tell of no queue.
FEW_SAMPLES: Final = 3
#: An application answers a segment at once within so many seconds.
_OF_ANSWERS_S: Final = 0.001
#: How much of the window must be in flight for it to be what limits a flow: at most, and on average.
FILLED, FILLED_MEAN = 0.9, 0.7
#: A window of which the median over time is so much of the largest does not vary.
_CONSTANT: Final = 0.8
#: More than so many times a window is in flight only if it is a multiple of what its header says.
_SCALED: Final = 1.1
#: Linux' and RFC 6928's initial window, in segments.
INITIAL_WINDOW: Final = 10
_DEFAULT_SEGMENT: Final = 1460
#: Of fewer segments none waits for another one of the same flow.
_PAIR: Final = 2
#: A flow sends for at least such a share of its time.
_SENDS_LEAST: Final = 0.05
#: A share of the time in which a window has no room: it is what bounds a flow.
_MOSTLY: Final = 0.5
#: ACKs that come later than so much of the path's round trip are held back by the receiver.
_HELD_BACK: Final = 0.25
_BITS: Final = 8
#: Segments of so much of the full size on average are those of a sender that has more to send.
_FULL: Final = 0.9
#: So many first windows in each round trip are one that has grown.
_GROWN: Final = 2


def lasts_s(row: Mapping[str, Any]) -> float:
    """How long a flow sent, in seconds; one of which no packet of its own was captured did not."""
    return float(row.get("stop_s", 0.0) - row.get("start_s", 0.0))


def share(row: Mapping[str, Any], column: str) -> float:
    """The share of a flow's time that a column of seconds says; none where it is not known."""
    lasts = lasts_s(row)
    return min(1.0, row.get(column, 0.0) / lasts) if lasts > 0 else 0.0


def idle(row: Mapping[str, Any]) -> float:
    """The share of a flow's time in which it had nothing in flight."""
    return share(row, "idle_s")


def at_window(row: Mapping[str, Any]) -> float:
    """The share of a flow's time in which the receiver's window had no room."""
    return share(row, "window_limited_s")


def has_standing_queue(row: Mapping[str, Any]) -> bool:
    """Whether half of the round trips are long: packets wait in a queue."""
    return is_filled(row) and is_longer(row, row["rtt_median_s"], STANDS)


def _fill_a_slow_link(row: Mapping[str, Any]) -> bool:
    """Whether a few segments take so long that their link cannot have been idle, and no ACK was delayed.

    Of n segments in flight each takes t to be transmitted, and the round trip of a SYN is r. If the link is idle at
    times, n t < r + t, and the last of n that come at once is back within r + n t < r (1 + n / (n - 1)).
    """
    count, prompt = mean_window(row, row["rtt_mean_s"]), row.get("rtt_prompt_p95_s")
    if count < _PAIR or prompt is None or not row["rtt_min_s"] or row["payload_bytes"] < first_window(row):
        return False
    return is_longer(row, min(row["rtt_median_s"], prompt), 1 + count / (count - 1))


def first_window(row: Mapping[str, Any]) -> float:
    """The window in bytes that a sender begins with."""
    return segment_bytes(row) * INITIAL_WINDOW


def has_queue(row: Mapping[str, Any]) -> bool:
    """Whether packets wait in a queue, or some do: those of which the ACKs cannot be delayed."""
    some = is_filled(row) and is_longer(row, row.get("rtt_prompt_p95_s") or 0.0, STANDS_P95)
    return some or has_standing_queue(row) or _fill_a_slow_link(row)


def is_longer(row: Mapping[str, Any], rtt_s: float, times: float) -> bool:
    """Whether a round trip is so many times the shortest, by more than hosts take themselves."""
    return bool(rtt_s > max(times * row["rtt_min_s"], row["rtt_min_s"] + _OF_HOSTS_S))


def has_echoed_queue(row: Mapping[str, Any]) -> bool:
    """Whether half of the receiver's timestamps take so long to come back that a queue stands before the capture."""
    if row["payload_bytes"] < first_window(row):
        return False
    if place(row) != "receiver":
        return has_queue_before(row)
    echoed = row.get("rtt_echoed_median_s") or 0.0
    # Over a slow line a full segment alone takes that much longer than a SYN.
    return bool(echoed > STANDS * path_rtt_s(row)) and mean_window(row, echoed) >= 1


def windows_arrive_in_bursts(row: Mapping[str, Any]) -> bool:
    """Whether at the receiver pauses are those between windows: timestamps come back late, and more than first ones.

    Behind a pause of the application a sender begins with a first window, whose ACKs let the rest follow soon.
    """
    arrives = (row["goodput_bps"] or 0.0) * (row.get("rtt_echoed_median_s") or 0.0) / _BITS
    return has_echoed_queue(row) and arrives > _GROWN * first_window(row)


def is_filled(row: Mapping[str, Any]) -> bool:
    """Whether the path held some packets: the longer round trips of a flow of fewer are of delayed ACKs."""
    return bool(row["rtt_min_s"] and row["in_flight_max_bytes"] >= first_window(row))


def acks_are_delayed(row: Mapping[str, Any]) -> bool:
    """Whether the longer round trips are rather those of ACKs that waited for a second segment."""
    if not row["rtt_samples"]:
        return False
    least, most = _DELAYED_ACK
    prompt = row.get("rtt_prompt_p95_s")
    if prompt is None and row["in_flight_max_bytes"] >= segment_bytes(row):
        return False
    return bool(least <= row["rtt_p95_s"] - (row["rtt_median_s"] if prompt is None else prompt) <= most)


def acks_wait_for_answers(row: Mapping[str, Any]) -> bool:
    """Whether each round trip is of a segment that is alone, and long: its ACK may have waited for the answer."""
    if row.get("rtt_prompt_p95_s") is not None or row["rtt_samples"] < FEW_SAMPLES:
        return False
    alone = row["in_flight_max_bytes"] < segment_bytes(row)
    return alone and not acks_are_delayed(row) and bool(row["rtt_mean_s"] > row["rtt_min_s"] + _OF_ANSWERS_S)


def segment_bytes(row: Mapping[str, Any]) -> float:
    """The largest segment that the receiver takes, or a usual one where its SYN was not captured."""
    return row["mss_bytes"] or _DEFAULT_SEGMENT


def segments(row: Mapping[str, Any]) -> float:
    """Segments with payload on the wire: a host that leaves segmentation to its interface captures several as one."""
    whole = row["payload_bytes"] / row["mss_bytes"] if row["mss_bytes"] else 0.0
    return float(max(row["data_packets"], whole))


def mean_window(row: Mapping[str, Any], rtt_s: float | None) -> float:
    """Mean segments in flight at round trips of the path of so long, by Little's law, without stalls and pauses."""
    pauses = share(row, "idle_beyond_rtt_s") if row["place"] == "receiver" else idle(row)
    sends = max(_SENDS_LEAST, 1 - share(row, "stalled_s") - pauses)
    return float((row["goodput_bps"] or 0.0) / sends * (rtt_s or 0.0) / _BITS / segment_bytes(row))


def scale_is_known(row: Mapping[str, Any]) -> bool:
    """Whether windows are what they seem, and no multiple of it: whether options of the SYN were captured."""
    return "window scale" in row["options"] or (row["state"] != "partial" and row["mss_bytes"] is not None)


def fills_window(row: Mapping[str, Any]) -> bool:
    """Whether the receiver's window, at its largest, is in flight most of the time."""
    window, rtt = row["window_max_bytes"], row["rtt_mean_s"]
    if not scale_is_known(row) and row["in_flight_max_bytes"] > _SCALED * window:
        return False
    if not window or not (row["window_full"] or row["in_flight_max_bytes"] >= FILLED * window):
        return False
    # Nothing is sent while SYNs are retransmitted.
    sends = max(_SENDS_LEAST, 1 - share(row, "handshake_s"))
    return not rtt or bool((row["goodput_bps"] or 0.0) / sends * rtt / _BITS >= FILLED_MEAN * window)


def reaches_window(row: Mapping[str, Any]) -> bool:
    """Whether what is in flight at most is the receiver's window, at its largest."""
    full = row["in_flight_max_bytes"] >= FILLED * row["window_max_bytes"]
    return bool(row["window_full"] and full and scale_is_known(row))


def may_fill_window(row: Mapping[str, Any]) -> bool:
    """Whether a window of which the scale is not known may be full, by any power of two (RFC 7323 §2.2)."""
    in_flight, window = row["in_flight_max_bytes"], row["window_max_bytes"]
    if scale_is_known(row) or not in_flight or not window:
        return False
    # The least scale by which the window holds what is in flight.
    scale = max(0, math.ceil(math.log2(in_flight / (_SCALED * window))))
    return bool(in_flight >= FILLED_MEAN * window * 2**scale)


def typical_window(row: Mapping[str, Any]) -> int:
    """The median of the receiver's windows over time, or the largest where there are no samples."""
    return int(row.get("window_median_bytes", row["window_max_bytes"]))


def fills_window_behind(row: Mapping[str, Any]) -> bool:
    """Whether the receiver's typical window is what arrives in a round trip of the path, seen at the receiver."""
    if row["state"] == "partial":
        # A header says a window of 64 KiB at most, of which a scale that is not known makes up to 1 GiB.
        return False
    in_flight, window = (row["goodput_bps"] or 0.0) * path_rtt_s(row) / _BITS, typical_window(row)
    most = math.inf if scale_is_known(row) else _SCALED * window
    return bool(FILLED_MEAN * window <= in_flight <= most)


def window_is_constant(row: Mapping[str, Any]) -> bool:
    """Whether the receiver's windows over time are about the largest one: no application there reads too slowly.

    Such a window has no room, too, while a segment that was lost is missing before the others.
    """
    return bool(row.get("window_median_bytes", 0) >= _CONSTANT * row["window_max_bytes"])


def window_holds_acks(row: Mapping[str, Any]) -> bool:
    """Whether round trips are long beside a window without room: ACKs may wait until the application reads."""
    varies = not fills_window(row) and not window_is_constant(row)
    return at_window(row) >= _MOSTLY and varies and has_queue(row)


def acks_are_held_back(row: Mapping[str, Any]) -> bool:
    """Whether most ACKs leave the receiver late, those included that need not wait for another segment."""
    soon = min(row["rtt_median_s"] or 0.0, row.get("rtt_prompt_p95_s") or 0.0)
    return not row["lost_segments"] and soon > max(_HELD_BACK * path_rtt_s(row), _OF_HOSTS_S)


def fills_first_window(row: Mapping[str, Any]) -> bool:
    """Whether as much is in flight as a congestion window begins with: the sender may wait for it to grow."""
    return bool(row["in_flight_max_bytes"] >= FILLED * first_window(row))


def may_wait_before_capture(row: Mapping[str, Any]) -> bool:
    """Whether packets of a sender that has more to send may wait before the capture: at a steady rate, and full.

    Elsewhere than at the sender, timestamps that come back soon while it keeps sending tell that they do not.
    """
    full = row["payload_bytes"] >= _FULL * segment_bytes(row) * row["data_packets"]
    soon = row["place"] != "sender" and row.get("rtt_echoed_median_s") is not None and not has_echoed_queue(row)
    return bool(row.get("steady")) and full and not soon


def rounds(row: Mapping[str, Any]) -> float:
    """Round trips in which a flow had something to send: without pauses, timeouts of SYNs, and a FIN long after."""
    behind = row["place"] == "receiver"
    rtt_s = path_rtt_s(row) if behind else row["rtt_mean_s"]
    if not rtt_s:
        return 0.0
    end = row.get("data_end_s")
    lasts = lasts_s(row) if end is None else min(lasts_s(row), float(end - row["start_s"]))
    pauses = row["idle_beyond_rtt_s"] if behind else row["idle_s"]
    waits = pauses + max(0.0, row.get("handshake_s", 0.0) - (row["initial_rtt_s"] or 0.0))
    return float(max(0.0, lasts - waits) / rtt_s)


def sends_keep_alives_alone(row: Mapping[str, Any]) -> bool:
    """Whether nothing but keep-alives was captured: the first of a connection that began before may be one, too."""
    alive, first = row.get("keep_alives", 0), int(row["state"] == "partial")
    # With one byte at most each.
    return bool(alive and row["payload_bytes"] <= row["data_packets"] <= alive + first and not row["zero_windows"])
