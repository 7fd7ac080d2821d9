"""Where a capture was taken: at a flow's sender, at its receiver, or between both; and the path's round trip there.

RTTs of a capture are those between the capture point and the receiver. The sender's side of the path is in the
handshake, which crosses both, and in timestamps of the receiver, which the sender echoes. The handshake alone says
little: a server that accepts late, or a SYN that waits for ARP, makes it longer than the path. Without the handshake
timestamps tell; without either a capture is taken for one at the sender, unless its RTTs may as well be the receiver's
own delay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

Place = Literal["sender", "between", "receiver", "unknown"]

#: States of connections that carried nothing.
NEVER: Final = frozenset({"refused", "unanswered"})
#: Less than so much of the path's round trip behind the capture point: at the receiver; more than so much: the sender.
_RECEIVERS, _SENDERS = 0.25, 0.75
#: A round trip as long as the handshake, within 2 %, is the SYN's.
_EQUAL: Final = 0.02
#: Of round trips that are longer than so much of the handshake, the rest may be the answer of a server that is busy.
_SHORT: Final = 0.6
#: Both sides of the capture point are the handshake's round trip, within 10 %.
_ADDS_UP: Final = 0.1
#: Of fewer round trips one in twenty is chance.
_MANY_SAMPLES: Final = 20
#: Shorter round trips, in seconds, are as well a receiver's own delay as a path's.
OWN_DELAY_S: Final = 0.0005
#: A sender that always has so many bytes in flight sees the path, however short: a receiver acknowledges at once.
_SEES_PATH_BYTES, _SELDOM_IDLE = 14_600, 0.1
#: Less of a handshake beside the round trip behind the capture point is what hosts take themselves.
_OF_HOSTS_S: Final = 0.0001
#: Timestamps of which half come back after so many times the path's shortest round trip wait in a queue on their way.
STANDS: Final = 1.5
#: More in flight than the receiver's window allows, by so much, is impossible: the handshake was longer than the path.
_POSSIBLE: Final = 1.1


def place(row: Mapping[str, Any]) -> Place:
    """Where the capture was taken, seen from a flow."""
    if row["state"] in NEVER or not row["acks"]:
        return "sender"
    unless_own_delay: Place = "unknown" if _may_be_own_delay(row) else "sender"
    if not tells_place(row):
        return unless_own_delay
    shortest, before = row["rtt_min_s"] or 0.0, _before_s(row)
    whole = row["initial_rtt_s"] or shortest + before
    behind = shortest / (shortest + before) if shortest or before else 0.0
    if behind > _SENDERS and before >= _OF_HOSTS_S and has_queue_before(row):
        return "between"
    if behind > _SENDERS or (behind >= _RECEIVERS and before < _OF_HOSTS_S):
        return "sender"
    opening, echoed = (row.get("handshake_behind_s") or 0.0) / whole if whole else 0.0, row.get("rtt_echoed_median_s")
    either = _RECEIVERS < opening < _SENDERS and (echoed or 0.0) < _OF_HOSTS_S
    if before < _OF_HOSTS_S and (echoed is None or either):
        # A handshake may take so long on one host, and then about as long on both sides.
        return unless_own_delay
    # ACKs that wait neither for another segment nor for what is missing come at once from a receiver.
    whole_stream = not row["lost_segments"] and row["rtt_samples"] >= _MANY_SAMPLES
    soon = min(row["rtt_median_s"] or 0.0, row.get("rtt_prompt_p95_s") or 0.0)
    # A receiver whose application reads slowly holds them back; then timestamps take the whole round trip.
    held_back = shortest < _OF_HOSTS_S and (echoed or 0.0) > (1 - _ADDS_UP) * whole
    queued = whole_stream and soon > _RECEIVERS * whole and not held_back
    # Of a handshake that hosts may take themselves the SYN's part was the longer one.
    opened = before < _OF_HOSTS_S and opening > _SENDERS
    otherwise: Place = "between" if before >= _OF_HOSTS_S else "sender"
    return "receiver" if behind < _RECEIVERS and not (queued or opened) else otherwise


def tells_place(row: Mapping[str, Any]) -> bool:
    """Whether the handshake was captured, or timestamps that the sender echoed while it kept sending."""
    return bool(row["initial_rtt_s"]) or row.get("rtt_echoed_min_s") is not None


def _may_be_own_delay(row: Mapping[str, Any]) -> bool:
    """Whether round trips may be a receiver's own delay: they are short, and nothing shows that a sender sees them."""
    # Of what follows a gap RTTs are not clear, and long.
    median = row["rtt_median_s"] if row.get("rtt_p50_s") is None else row["rtt_p50_s"]
    if median is None or median >= OWN_DELAY_S:
        return False
    lasts = row.get("stop_s", 0.0) - row.get("start_s", 0.0)
    always = row["idle_s"] < _SELDOM_IDLE * lasts and row["in_flight_max_bytes"] >= _SEES_PATH_BYTES
    return not always or bool(row["lost_segments"])


def path_rtt_s(row: Mapping[str, Any]) -> float:
    """The path's shortest round trip, both sides of the capture point added."""
    return float((row["rtt_min_s"] or 0.0) + _before_s(row))


def has_queue_before(row: Mapping[str, Any]) -> bool:
    """Whether the sender echoes timestamps so late that packets wait before the capture point.

    Echoes behind pauses of its application that are longer than 1.5 times the handshake are not taken; on its host
    each echo may have waited for the application.
    """
    whole, before = max(path_rtt_s(row), row["initial_rtt_s"] or 0.0), _before_s(row)
    behind = (row["rtt_min_s"] or 0.0) if before >= _OF_HOSTS_S else 0.0
    return bool(behind + (row.get("rtt_echoed_median_s") or 0.0) > STANDS * whole)


def _before_s(row: Mapping[str, Any]) -> float:
    """The shortest round trip of the sender's side of the capture point; none where that is not known.

    A handshake that waited in a queue, or of which a packet was lost, took longer than timestamps that come back.
    """
    echoed = row.get("rtt_echoed_min_s")
    if not row["initial_rtt_s"]:
        return float(echoed or 0.0)
    left = _left_of_handshake_s(row)
    return left if echoed is None else min(left, float(echoed))


def _left_of_handshake_s(row: Mapping[str, Any]) -> float:
    """What is left of the handshake beside the SYN's round trip, which is one of the samples: the longest at most."""
    whole, shortest, longest = float(row["initial_rtt_s"]), row["rtt_min_s"] or 0.0, row.get("rtt_max_s")
    echoed = row.get("rtt_echoed_median_s")
    rest = max(0.0, whole - shortest)
    # Where a queue stands before the capture point, the shortest of both sides add up.
    sides = [shortest + side for side in (echoed, row.get("rtt_echoed_min_s")) if side is not None]
    if any(abs(side - whole) <= _ADDS_UP * whole for side in sides):
        return rest
    if echoed is not None and shortest + echoed < _SENDERS * whole:
        # The handshake was slow: timestamps come back sooner.
        return float(echoed)
    if row["rtt_min_s"] is None or (longest is not None and longest <= (1 - _RECEIVERS) * whole):
        return rest
    if echoed is not None and echoed >= _RECEIVERS * whole and shortest < _SHORT * whole:
        return rest
    if longest is not None and abs(longest - whole) <= _EQUAL * whole and shortest > abs(longest - whole):
        # The handshake was slow: a round trip as long is the SYN's.
        return 0.0
    return rest if shortest < _RECEIVERS * whole and not _is_impossible(row) else 0.0


def _is_impossible(row: Mapping[str, Any]) -> bool:
    """Whether more would be in flight than the receiver's window allows, were the handshake's round trip the path's."""
    # Where options of the SYN were cut off, a window may be a multiple of what its header says.
    window = row["window_max_bytes"] if row["mss_bytes"] is not None else 0
    return bool(window and (row["goodput_bps"] or 0.0) * row["initial_rtt_s"] / 8 > _POSSIBLE * window)


def may_be_between(row: Mapping[str, Any]) -> bool:
    """Whether a capture that is taken for one at the sender may be between both ends, as nothing but a queue says."""
    whole, shortest, longest = row["initial_rtt_s"], row["rtt_min_s"], row.get("rtt_max_s")
    if not whole or not shortest or longest is None or row.get("rtt_echoed_median_s") is not None:
        return False
    of_syn = abs(longest - whole) <= _EQUAL * whole
    return shortest < _SHORT * whole and whole - shortest > _OF_HOSTS_S and not of_syn and not _is_impossible(row)
