"""Captures that have each packet twice, as mirror ports and two interfaces do: told, and copies left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_Limits = tuple[float, float]
#: Of the packets of each direction so many are copies, if a capture has each packet twice; and of fewer it is chance.
_COPIES, _COPIES_LEAST = (0.45, 0.55), 10
#: With losses beside, more are retransmitted and less of the payload is new.
_COPIES_AGAIN, _COPIES_NEW = (0.45, 0.75), (0.3, 0.55)
#: Of fewer packets half are retransmitted by chance; at two places at most so many ACKs carry data, or say nothing new.
_MANY: Final = 100
_FEW_ANSWERS, _DUPLICATES = 0.1, 0.25


def has_copies(row: Mapping[str, Any], *, mirrored: bool = False) -> bool:
    """Whether each packet was captured twice, as mirror ports and captures of two interfaces do.

    Half of the segments are then retransmitted, in each interval, and half of the payload is new; of a flow without
    samples half of the ACKs must be duplicates, too. ``mirrored``: other flows of the capture have copies.
    """
    sent, acks = row.get("packets_sent") or 0, row["acks"]
    if not sent or not acks or not row["payload_bytes"]:
        return False
    if row.get("doubled") or mirrored:
        return _are_copied(row, sent, _COPIES_AGAIN, _COPIES_NEW)
    copied = _are_copied(row, sent) and _is_within(row["duplicate_acks"] / acks, _COPIES)
    return copied and min(sent, acks) >= _COPIES_LEAST


def at_two_places(row: Mapping[str, Any], *, others: bool = False) -> bool:
    """Whether each packet was captured at two places of the path, as where captures of both ends are one file.

    Copies of a mirror port follow at once, and that of an ACK says nothing new; those of another place come behind
    later ACKs. Data of the other direction acknowledge, too, and are no duplicates. ``others``: other flows were.
    """
    sent, acks = row.get("packets_sent") or 0, row["acks"]
    if not sent or not acks or not row["payload_bytes"]:
        return False
    if others:
        return _are_copied(row, sent, _COPIES_AGAIN, _COPIES_NEW)
    told = sent >= _MANY and (row.get("answers") or 0) < _FEW_ANSWERS * acks
    return told and row["duplicate_acks"] < _DUPLICATES * acks and _are_copied(row, sent)


def _are_copied(row: Mapping[str, Any], sent: float, again: _Limits = _COPIES, new: _Limits = _COPIES) -> bool:
    """Whether such shares of the packets may be copies, and of the payload be new.

    Copies of segments of one byte look like keep-alives.
    """
    retransmitted = row["packets_retransmitted"] or 0
    copies = min(max(retransmitted, sent / 2), retransmitted + row.get("keep_alives", 0))
    return _is_within(copies / sent, again) and _is_within(row["delivered_bytes"] / row["payload_bytes"], new)


def _is_within(share: float, limits: _Limits) -> bool:
    return limits[0] <= share <= limits[1]


def without_copies(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of which each packet was captured twice, as if it had been once."""
    halves = ("packets_sent", "data_packets", "payload_bytes", "acks", "zero_windows", "window_full", "keep_alives")
    again = max(0, row["packets_retransmitted"] - row["packets_sent"] // 2)
    classes = dict.fromkeys(("fast_retransmissions", "spurious_retransmissions", "syns_retransmitted"), 0)
    return {**row, **{name: row.get(name, 0) // 2 for name in halves}, **classes} | {
        "duplicate_acks": max(0, row["duplicate_acks"] - row["acks"] // 2),
        "packets_retransmitted": again,
        # Copies of the others are among them.
        "retransmitted_bytes": 0,
        "retransmissions": again,
    }
