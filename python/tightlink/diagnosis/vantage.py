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
#: Both sides of the path add up to the handshake, so nearly.
_SUM: Final = 0.2
#: More in flight than the receiver's window allows, by so much, is impossible: the handshake was longer than the path.
_POSSIBLE: Final = 1.1
_BITS: Final = 8


def place(row: Mapping[str, Any]) -> Place:
    """Where the capture was taken, seen from a flow."""
    return _placed(row)[0]


def path_rtt_s(row: Mapping[str, Any]) -> float:
    """The path's shortest round trip: of a capture that was not taken at the sender."""
    return _placed(row)[1]


def _placed(row: Mapping[str, Any]) -> tuple[Place, float]:
    whole, shortest = row["initial_rtt_s"], row["rtt_min_s"]
    if row["state"] in NEVER or not whole or not row["acks"]:
        return "sender", whole or 0.0
    echoed = row.get("rtt_echoed_median_s")
    # A slow handshake shows in timestamps, which come back sooner.
    path = echoed if echoed is not None and (shortest or 0.0) + echoed < _SENDERS * whole else None
    if shortest is None:
        # ACKs at the instant of what they acknowledge are no round trips.
        return "receiver", whole if path is None else path
    if path is not None:
        behind = shortest / (shortest + path)
        found: Place = "sender" if behind > _SENDERS else "receiver" if behind < _RECEIVERS else "between"
        return found, shortest + path
    before = _before_s(row, whole, shortest)
    if before is not None and before >= _RECEIVERS * (before + shortest):
        behind = shortest / (before + shortest)
        return ("receiver", whole) if behind < _RECEIVERS else ("between", before + shortest)
    if before is None and shortest < _RECEIVERS * whole:
        window = row["window_max_bytes"]
        impossible = window and (row["goodput_bps"] or 0.0) * whole / _BITS > _POSSIBLE * window
        return ("sender", shortest) if impossible else ("receiver", whole)
    return "sender", shortest


def _before_s(row: Mapping[str, Any], whole: float, shortest: float) -> float | None:
    """The part of the handshake on the sender's side; nothing where it cannot be known.

    What is left of it behind the capture point, the SYN's round trip, is one of the samples: the longest one at most.
    """
    longest, echoed = row.get("rtt_max_s"), row.get("rtt_echoed_median_s")
    if longest is None:
        return None
    if longest <= (1 - _RECEIVERS) * whole:
        return float(whole - longest)
    if abs(longest - whole) <= _EQUAL * whole and shortest > abs(longest - whole):
        return float(whole - longest)
    if echoed is not None and abs(shortest + echoed - whole) <= _SUM * whole:
        return float(whole - shortest)
    return None
