"""What the packets of a captured flow tell of losses: how many there are, and what window so many allow.

A row is one of ``flows``, joined with that of ``connections``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from tightlink.diagnosis.evidence import (
    FILLED,
    OVERFLOWS,
    STANDS_P95,
    first_window,
    is_filled,
    is_longer,
    mean_window,
    rounds,
    segment_bytes,
    segments,
)
from tightlink.diagnosis.response import cubics_window, renos_window
from tightlink.diagnosis.vantage import path_rtt_s, place

#: Fewer losses are no rate.
_LEAST_LOST: Final = 3
#: Of fewer segments a single one that was lost is no share.
_FEW: Final = 20
#: Losses explain a window between so little of the one that they allow and so much.
_ALLOWED: Final = (0.5, 2.0)
#: More times the window that losses allow they do not hold it: those of one overshoot of slow start come together.
ALLOWED_AT_MOST: Final = 3.5
#: Of gaps, so many that others overtook are most.
_OVERTAKEN: Final = 0.5
#: So many duplicate ACKs for each segment retransmitted ask for it: it was lost behind the capture point.
_ASKED: Final = 2
#: Retransmissions of segments of full size that say that none gets through.
_FULL_SIZE: Final = 3


def has_overflowing_queue(row: Mapping[str, Any], lost: float) -> bool:
    """Whether packets wait on average, and the window is too large for what is lost to have been lost one by one."""
    waits = is_filled(row) and is_longer(row, row["rtt_mean_s"], OVERFLOWS)
    return waits and times_allowed(row, lost, row["rtt_mean_s"]) > ALLOWED_AT_MOST


def has_overflowing_echoed_queue(row: Mapping[str, Any], lost: float, rtt_s: float | None) -> bool:
    """Whether some of the receiver's timestamps wait in a queue, and the window is too large for losses one by one."""
    some = (row.get("rtt_echoed_p95_s") or 0.0) > STANDS_P95 * path_rtt_s(row)
    return some and times_allowed(row, lost, rtt_s) > ALLOWED_AT_MOST


def losses_explain(row: Mapping[str, Any], lost: float, rtt_s: float | None) -> bool:
    """Whether what is in flight is about what so few losses allow at round trips of the path of so long."""
    if _lost(row, lost) < _LEAST_LOST or not rtt_s:
        return False
    least, most = _ALLOWED
    return least <= times_allowed(row, lost, rtt_s) <= most


def losses_are_few(row: Mapping[str, Any], lost: float) -> bool:
    """Whether more is in flight than losses allow that come one by one: they came in bursts, as of a short queue."""
    rtt_s = row["rtt_mean_s"]
    return _lost(row, lost) >= _LEAST_LOST and times_allowed(row, lost, rtt_s) > _ALLOWED[1]


def single_losses(row: Mapping[str, Any], lost: float) -> int:
    """How many segments were lost, if they are too few to be a rate: over a long path one leaves a window small."""
    count = _lost(row, lost)
    return count if count < _LEAST_LOST else 0


def _lost(row: Mapping[str, Any], lost: float) -> int:
    """How many segments a share of them is, of which rounding may have made 2.9999999999999996."""
    return round(lost * segments(row))


def marks_hold(row: Mapping[str, Any], lost: float, rtt_s: float | None) -> bool:
    """Whether marks, for which the sender said that it reduced its window, leave no larger one than is in flight."""
    reduced = row.get("window_reductions") or 0
    if reduced < _LEAST_LOST:
        return False
    marked = reduced / segments(row)
    return marked >= lost and times_allowed(row, lost + marked, rtt_s) >= _ALLOWED[0]


def times_allowed(row: Mapping[str, Any], lost: float, rtt_s: float | None) -> float:
    """How many times the window that Reno or CUBIC have at a share of packets lost is in flight on average."""
    if not rtt_s or not lost:
        return 0.0
    return float(mean_window(row, rtt_s) / max(renos_window(lost), cubics_window(lost, rtt_s)))


def has_reduced_window(row: Mapping[str, Any]) -> bool:
    """Whether losses, those that others only overtook included, or marks ended slow start; not one at a short end."""
    again = (row["packets_retransmitted"] or 0) - _syns(row)
    return bool(again > int(row["data_packets"] < _FEW) or row.get("window_reductions"))


def slow_start_rounds(row: Mapping[str, Any]) -> int:
    """Round trips in which a window that doubles sends a transfer, if its receiver saw it take no more; else none."""
    windows = row["payload_bytes"] / first_window(row)
    if row["state"] == "partial" or windows <= 1 or has_reduced_window(row):
        return 0
    least = math.ceil(math.log2(windows + 1))
    return least if rounds(row) <= least + 1 else 0


def lost_share(row: Mapping[str, Any]) -> float:
    """Share of the segments that were retransmitted for good reason, without those that an outage lost.

    One of a few says nothing of the path. Where segments overtake others, timestamps alone tell what was lost.
    """
    if place(row) == "receiver" and may_be_overtaken(row):
        return 0.0
    vain = retransmitted_in_vain(row)
    again = max((row["packets_retransmitted"] or 0) - vain, 0)
    if not row["initial_rtt_s"] and not tells_overtaken(row):
        # What was overtaken and what was lost before the capture is told apart by the handshake's round trip.
        again = max(again, row["retransmissions"] + row["fast_retransmissions"])
    again = max(0, again - _empty(row) - int(row.get("repaired", 0)))
    if again == 1 and row["data_packets"] < _FEW:
        return 0.0
    return again * segments_retransmitted_as_one(row) / segments(row) if row["data_packets"] else 0.0


def segments_retransmitted_as_one(row: Mapping[str, Any]) -> float:
    """Mean segments on the wire of a packet that was retransmitted, as `segments` counts them."""
    again = (row["packets_retransmitted"] or 0) - _syns(row)
    whole = row.get("retransmitted_bytes", 0) / row["mss_bytes"] if row["mss_bytes"] else 0.0
    return float(max(1.0, whole / again)) if again > 0 else 1.0


def retransmitted_in_vain(row: Mapping[str, Any]) -> int:
    """Segments retransmitted that had arrived: at the receiver all, where none was missing and no ACKs ask for them."""
    vain = row["spurious_retransmissions"] or 0
    asked = row["duplicate_acks"] >= _ASKED * (row["packets_retransmitted"] or 0)
    if place(row) == "receiver" and not row["lost_segments"] and not asked:
        vain = max(vain, (row["packets_retransmitted"] or 0) - _syns(row))
    return int(vain)


def gaps_are_overtaken(row: Mapping[str, Any]) -> bool:
    """Whether most gaps in what was captured are of segments that others overtook, rather than lost."""
    gaps, late = row["lost_segments"] + row["acked_unseen"], row.get("packets_retransmitted") or 0
    return bool(_filled(row) > _OVERTAKEN * gaps and late < (1 - _OVERTAKEN) * gaps)


def may_be_overtaken(row: Mapping[str, Any]) -> bool:
    """Whether most gaps are so, or of what was lost before the capture, as nothing tells these apart."""
    return gaps_are_overtaken(row) and not tells_overtaken(row)


def tells_overtaken(row: Mapping[str, Any]) -> bool:
    """Whether the sender's timestamps tell what was overtaken from what was retransmitted."""
    return "timestamps" in row["options"] or row.get("rtt_echoed_min_s") is not None


def has_open_gap(row: Mapping[str, Any]) -> bool:
    """Whether segments of a connection that ended never came, and the capture itself is not known to lack any."""
    if row["state"] not in {"complete", "reset"}:
        return False
    return bool(
        row["lost_segments"] and not _filled(row) and not row["packets_retransmitted"] and not row["acked_unseen"]
    )


def _filled(row: Mapping[str, Any]) -> int:
    """Segments that came behind later ones, which fill gaps."""
    return int((row.get("out_of_order") or 0) + row["fast_retransmissions"] + row["retransmissions"])


def _syns(row: Mapping[str, Any]) -> int:
    """SYNs among what was retransmitted."""
    return int(row.get("syns_retransmitted", 0))


def _empty(row: Mapping[str, Any]) -> int:
    """SYNs and FINs among what was retransmitted: one of each is not."""
    more = (row.get("packets_sent") or 0) - row["data_packets"] - 2 if row["state"] == "complete" else 0
    return max(_syns(row), more)


def no_full_segment_arrives(row: Mapping[str, Any]) -> bool:
    """Whether segments of full size were retransmitted, and not one was acknowledged."""
    if row["place"] == "receiver":
        # Those that were captured there came through.
        return False
    full = FILLED * segment_bytes(row)
    again = (row["packets_retransmitted"] or 0) - _syns(row)
    return bool(again >= _FULL_SIZE and row["in_flight_max_bytes"] >= full and row.get("delivered_bytes", full) < full)
