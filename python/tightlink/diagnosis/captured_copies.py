"""Captures that have packets twice, as mirror ports and two interfaces do: told, and copies left out.

The reader leaves out what is surely a copy (``copies`` of the table ``connections``). Where packets have no
identification that tells, their numbers do. Both sides of a NAT are two connections with the same packets.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tightlink.diagnosis.words import percent

_Limits = tuple[float, float]
#: Of the packets of each direction so many are copies, if a capture has each packet twice; and of fewer it is chance.
_COPIES, _COPIES_LEAST = (0.45, 0.55), 10
#: With losses beside, more are retransmitted and less of the payload is new.
_COPIES_AGAIN, _COPIES_NEW = (0.45, 0.75), (0.3, 0.55)
#: Of fewer packets half are retransmitted by chance; at two places at most so many ACKs carry data, or say nothing new.
_MANY: Final = 100
_FEW_ANSWERS, _DUPLICATES = 0.1, 0.25
#: Such a share of packets with copies is worth a word; such a share of the RTT from an ACK to its copy is no router's.
_WORTH_A_WORD, _APART = 0.1, 0.1


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
    if _copied(row) >= _COPIES[0] and (others or _are_apart(row)):
        return True
    sent, acks = row.get("packets_sent") or 0, row["acks"]
    if not sent or not acks or not row["payload_bytes"]:
        return False
    if others:
        return _are_copied(row, sent, _COPIES_AGAIN, _COPIES_NEW)
    told = sent >= _MANY and (row.get("answers") or 0) < _FEW_ANSWERS * acks
    return told and row["duplicate_acks"] < _DUPLICATES * acks and _are_copied(row, sent)


def _copied(row: Mapping[str, Any]) -> float:
    """The share of captured packets that are surely copies."""
    copies = row.get("copies") or 0
    return copies / (copies + row["packets_captured"]) if copies else 0.0


def _are_apart(row: Mapping[str, Any]) -> bool:
    """Whether ACKs take so long from one place to the other that round trips, to the first one, are not the path's."""
    return (row.get("ack_copy_delay_s") or 0.0) > _APART * (row.get("rtt_median_s") or 0.0)


def remarks_on_copies(row: Mapping[str, Any]) -> list[str]:
    """That packets of a flow were captured more than once, and count once."""
    found = []
    if (copied := _copied(row)) >= _WORTH_A_WORD:
        again = "each packet was" if copied >= _COPIES[0] else f"{percent(copied / (1 - copied))} of its packets were"
        found.append(
            f"{again} captured twice, as on two VLANs, before and behind a router, or by a mirror port: they count once"
        )
    if row.get("other_side"):
        found.append(f"the capture has the same packets {row['other_side']}, as two flows")
    return found


def with_other_sides(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of both sides of a NAT or tunnel with `other_side`, in words, the second with `same_flow`, the first's."""
    by_connection: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_connection.setdefault(row.get("connection", -1), []).append(row)
    sides: dict[int, dict[str, Any]] = {}
    for row in rows:
        same = row.get("same_packets_as")
        if same is None:
            continue
        firsts = by_connection.get(int(same), [])
        # Those with an end in common that is on the same side.
        shares = [one for one in firsts if any(map(operator.eq, _ends(one), _ends(row)))]
        for first in (shares or firsts)[:1]:
            tunnel = _ends(first) == _ends(row)
            words = "within a tunnel and without it" if tunnel else "on both sides of an address translation (NAT)"
            sides[row["flow"]] = {"other_side": words, "same_flow": first["flow"]}
            sides[first["flow"]] = {"other_side": words} | sides.get(first["flow"], {})
    return [{**row, **sides.get(row.get("flow", -1), {})} for row in rows]


def once(sides: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Rows of `with_other_sides`, each with its label and those of its other sides, which are left out.

    What the same packets say twice is said once, of both.

    >>> rows = [{"flow": 0, "label": "inside"}, {"flow": 1, "label": "outside", "same_flow": 0}]
    >>> [labels for _, labels in once(rows)]
    [('inside', 'outside')]
    """
    first = {row.get("flow", -1) for row in sides}
    others: dict[int, tuple[str, ...]] = {}
    for row in sides:
        if row.get("same_flow") in first:
            others[row["same_flow"]] = (*others.get(row["same_flow"], ()), row["label"])
    for row in sides:
        if row.get("same_flow") not in first:
            yield row, (row["label"], *others.get(row.get("flow", -1), ()))


def _ends(row: Mapping[str, Any]) -> tuple[str, str]:
    first, _, second = row["label"].partition(" in ")[0].partition("-")
    return first, second


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
