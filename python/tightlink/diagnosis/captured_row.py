"""A captured flow as its sender saw it: what a capture at another place lacks is added, and what misleads left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tightlink.diagnosis import evidence
from tightlink.diagnosis.over_time import SILENCE_S
from tightlink.diagnosis.vantage import path_rtt_s, place

#: Of a round trip that was not seen whole so much must be explained by others for it to be one.
_WHOLE, _BEHIND = 0.75, 0.25
#: A share of its time in which a flow waits at a closed window behind its last data: from here on it is not over.
_WAITS: Final = 0.1


def credible(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without a shortest round trip that the ACK of a spurious retransmission made.

    Such an ACK may follow at once, though it is one of the first transmission (Karn and Partridge 1987). The handshake
    and timestamps that come back say so: without it they add up.
    """
    own = dict(row)
    whole, echoed, shortest = (row.get(name) for name in ("initial_rtt_s", "rtt_echoed_median_s", "rtt_min_s"))
    if not (row["spurious_retransmissions"] and whole and echoed and shortest is not None):
        return own
    if shortest + echoed < _WHOLE * whole and (row["rtt_median_s"] or 0.0) > _BEHIND * whole:
        own["rtt_min_s"] = whole - echoed
    return own


def of_the_path(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without what came after the flow's end, and as its sender saw it.

    Of a path that is seen behind the capture point alone the sender's side is added, and a queue there: also that of
    the sender's own link, before which packets wait until a capture on that host sees them.
    """
    own = _until_its_end(row)
    # A receiver takes a stall of the path for a pause of the sender.
    own["idle_beyond_rtt_s"] = max(0.0, own["idle_beyond_rtt_s"] - row.get("stalled_s", 0.0))
    own["place"] = place(row)
    if own["place"] == "receiver":
        own["idle_beyond_rtt_s"] = _beyond_queue_s(row, own)
    queued = own["place"] != "receiver" and evidence.has_echoed_queue(row)
    own["queued_before"] = queued
    if own["place"] != "between" and not queued:
        return own
    before = path_rtt_s(row) - row["rtt_min_s"]
    waited = max(before, row["rtt_echoed_median_s"]) if queued else before
    own["rtt_min_s"] = row["rtt_min_s"] + before
    for name in ("rtt_median_s", "rtt_mean_s", "rtt_p95_s", "rtt_prompt_p95_s"):
        if row.get(name) is not None:
            own[name] = row[name] + waited
            if queued and name.endswith("p95_s"):
                # One in twenty waits so long on one side or on the other.
                own[name] = max(own[name], row["rtt_median_s"] + row.get("rtt_echoed_p95_s", 0.0))
    own["idle_s"] = own["idle_beyond_rtt_s"]
    on_its_way = (row["goodput_bps"] or 0.0) * own["rtt_mean_s"] / 8
    own["in_flight_max_bytes"] = max(row["in_flight_max_bytes"], int(on_its_way))
    return own


def _beyond_queue_s(row: Mapping[str, Any], own: Mapping[str, Any]) -> float:
    """What pauses are longer than typical round trips, those through a queue before the receiver."""
    whole, beyond = row["initial_rtt_s"] or path_rtt_s(row), float(own["idle_beyond_rtt_s"])
    longer = (row.get("rtt_echoed_median_s") or 0.0) - whole
    if longer <= 0 or not whole:
        return beyond
    pauses = max(0.0, row["idle_s"] - row["idle_beyond_rtt_s"]) / whole
    silent = row.get("silent_s", 0.0) if (row.get("rtt_echoed_p95_s") or 0.0) < SILENCE_S else 0.0
    return float(max(min(beyond, silent), beyond - pauses * longer))


def _until_its_end(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without what came after its last packet, unless its sender then asked a closed window for room."""
    lasts, after = evidence.lasts_s(row), row.get("after_s", 0.0)
    own = dict(row)
    if row["zero_windows"] and row.get("keep_alives") and after > _WAITS * (lasts + after):
        own["stop_s"] = row["stop_s"] + after
        own["closed_s"] = after
    elif after and (row["state"] == "reset" or row["idle_s"] > lasts):
        whole = row["initial_rtt_s"] or 0.0
        own["idle_s"] = max(0.0, row["idle_s"] - after)
        own["idle_beyond_rtt_s"] = max(0.0, row["idle_beyond_rtt_s"] - max(0.0, after - whole))
    return own
