"""Where a capture was taken: at a flow's sender, at its receiver, or between both; and the path's round trip there.

RTTs of a capture are those between the capture point and the receiver. The sender's side of the path is in the
handshake, which crosses both, and in timestamps of the receiver, which the sender echoes. The handshake alone says
little: a server that accepts late, or a SYN that waits for ARP, makes it longer than the path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

Place = Literal["sender", "between", "receiver"]

#: States of connections that carried nothing.
NEVER: Final = frozenset({"refused", "unanswered"})
#: Less than so much of the path's round trip behind the capture point: at the receiver; more than so much: the sender.
_RECEIVERS, _SENDERS = 0.25, 0.75
#: A round trip as long as the handshake, within 2 %, is the SYN's.
_EQUAL: Final = 0.02
#: Of round trips that are longer than so much of the handshake, the rest may be the answer of a server that is busy.
_SHORT: Final = 0.6
#: Of fewer round trips one in twenty is chance.
_MANY_SAMPLES: Final = 20
#: More in flight than the receiver's window allows, by so much, is impossible: the handshake was longer than the path.
_POSSIBLE: Final = 1.1
_BITS: Final = 8


def place(row: Mapping[str, Any]) -> Place:
    """Where the capture was taken, seen from a flow."""
    whole = row["initial_rtt_s"]
    if row["state"] in NEVER or not whole or not row["acks"]:
        return "sender"
    shortest, before = row["rtt_min_s"] or 0.0, _before_s(row)
    behind = shortest / (shortest + before) if shortest or before else 0.0
    if behind > _SENDERS:
        return "sender"
    # ACKs that wait neither for another segment nor for what is missing come at once from a receiver.
    whole_stream = not row["lost_segments"] and row["rtt_samples"] >= _MANY_SAMPLES
    soon = min(row["rtt_median_s"] or 0.0, row.get("rtt_prompt_p95_s") or 0.0)
    queued = whole_stream and soon > _RECEIVERS * whole
    return "receiver" if behind < _RECEIVERS and not queued else "between"


def path_rtt_s(row: Mapping[str, Any]) -> float:
    """The path's shortest round trip, both sides of the capture point added."""
    return float((row["rtt_min_s"] or 0.0) + _before_s(row))


def _before_s(row: Mapping[str, Any]) -> float:
    """The shortest round trip of the sender's side of the capture point; none where that is not known.

    It is what is left of the handshake beside the SYN's round trip, which is one of the samples: the longest at most.
    """
    whole, shortest, longest = row["initial_rtt_s"] or 0.0, row["rtt_min_s"] or 0.0, row.get("rtt_max_s")
    echoed, window = row.get("rtt_echoed_median_s"), row["window_max_bytes"]
    rest = max(0.0, whole - shortest)
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
    impossible = window and (row["goodput_bps"] or 0.0) * whole / _BITS > _POSSIBLE * window
    return rest if shortest < _RECEIVERS * whole and not impossible else 0.0
