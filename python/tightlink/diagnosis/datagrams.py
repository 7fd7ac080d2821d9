"""What bounds the rate at which datagrams arrive: what is offered, a link, or what loses them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tightlink import units
from tightlink.diagnosis import filling, frames
from tightlink.diagnosis.answers import Cause
from tightlink.diagnosis.bounds import LOSES, SATURATED, busy_processor, lasted, router, saturated, sender_rate
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.words import ALIKE, MEMBERS, lost_percent, ms, percent, rate, small_percent, span

#: Datagrams of so much of a link's rate, or of which so many are lost, are bounded by the link, not by what is offered.
_MUCH: Final = 0.5
_LOSES_MUCH: Final = 0.2
#: What is lost at a queue of a link that is less busy than that comes at once.
_HARDLY_BUSY: Final = 0.5
#: Of the packets that are sent while a link is down so many times as many are lost at most, where that is why.
_DOWN: Final = 1.2
#: What datagrams that come one by one are dropped for by a policer whose rate is enough for all.
_TAKEN: Final = ", as others' bursts take what it lets through"
#: Rates of flows of which one sentence is that differ by more are both said.
_UNLIKE: Final = 1.05


def causes(row: Mapping[str, Any], path: Path, paths: Paths, known: Mapping[str, float]) -> tuple[Cause, ...]:
    """What bounds datagrams, of whose time these shares are accounted for, and whether a link is too slow at times."""
    first = _cause(row, path, paths, known)
    falls = _falling(row, path, paths) if first.name == "application" else None
    return (first,) if falls is None else (first, falls)


def _falling(row: Mapping[str, Any], path: Path, paths: Paths) -> Cause | None:
    """That a link whose rate changes carries less than what comes at times, where this flow is much of that."""
    share, link = max(((filling.falls(row, path, each), each) for each in path.forward), key=lambda found: found[0])
    comes = filling.comes_bps(row, link)
    if not share or not filling.is_much(row, link, paths) or any(paths.controls_beside(link.name, row)):
        return None
    average = " on average" if link.rate_is_drawn else ""
    text = f"link {link.name} carries less than the {rate(comes)} that come for {percent(share)} of the time{average}"
    return Cause("falling_rate", share, "likely" if average else "certain", link.name, text)


def _cause(row: Mapping[str, Any], path: Path, paths: Paths, known: Mapping[str, float]) -> Cause:
    sent, lost = row["packets_sent"] or 0, row["packets_dropped"] or 0
    losing = any((each["packets_dropped"] or 0) > LOSES * (each["packets_sent"] or 0) for each in row.get(ALIKE, [row]))
    full = busy_processor(path)
    if full is not None and losing and full.dropped:
        return router(row, path, full, 1.0)
    pushed = known.get("sender_rate", 0.0)
    if pushed > known.get("network", 0.0) + known.get("application", 0.0):
        return sender_rate(row, path, None, pushed)
    if losing:
        down_s, link = path.down(row["start_s"], row["stop_s"])
        share = down_s / lasted(row)
        if down_s and lost <= _DOWN * sent * share:
            text = f"link {link.name} is down, {ms(down_s)}: {lost_percent(row)} of {_whose(row)} packets are lost"
            return Cause("outage", share, "certain", link.name, text)
    found = _full_link(row, path, paths, known.get("network", 0.0) + pushed, losing=losing)
    if found is None and losing:
        found = _policed(row, path, paths)
    return found or _lossy(row, path, paths, known, losing=losing)


def _full_link(row: Mapping[str, Any], path: Path, paths: Paths, network: float, *, losing: bool) -> Cause | None:
    """The busiest link carries no more, and what has not arrived is lost at its queue, or waits there still."""
    link, lost = path.busiest, row["packets_dropped"] or 0
    arrives, carries = row["throughput_bps"] or 0.0, link.carries_bps(path.packet_bytes)
    offered = filling.offered_bps(row)
    # Calls, each of which is little, fill a link together.
    together = offered * paths.members(link.name, row["label"])
    if filling.is_much(row, link, paths) and not any(paths.controls_beside(link.name, row)):
        together = max(together, filling.comes_bps(row, link))
    much = together > _MUCH * carries or lost > _LOSES_MUCH * row["packets_sent"]
    missing = offered - arrives > LOSES * offered
    at_queue = any(each.lost_at_queue for each in path.forward) or not losing
    full = link.utilization >= SATURATED or arrives >= SATURATED * carries
    if not (full and ((missing and at_queue and much) or network > _MUCH)) and not (missing and offered > carries):
        return None
    text = saturated(row, link)
    if losing:
        if together > max(carries, _UNLIKE * offered / row.get(MEMBERS, 1)):
            text += f", as {rate(together)} come where it carries {rate(carries)}"
        text += f": {lost_percent(row)} of {_whose(row)} packets are lost there"
    elif offered > carries:
        text += f", as {_offered(row)} are sent"
    return Cause("saturated_link", link.utilization, "certain", link.name, text)


def _policed(row: Mapping[str, Any], path: Path, paths: Paths) -> Cause | None:
    """A policer drops bursts, though its rate would be enough; or what it drops is more than others leave."""
    queue = max(path.forward, key=lambda each: each.lost_at_queue)
    if not queue.polices or queue.lost_at_queue <= max(each.lost_on_wire for each in path.forward):
        return None
    burst = units.format_size(queue.spec["queue"]["burst_bytes"])
    shared = any(paths.controls_beside(queue.name, row))
    why = ", which come in longer bursts" if filling.peak_bps(row, path) > queue.shaped_bps else _TAKEN
    why = ", as TCP takes what it lets through" if shared else why
    text = (
        f"the application sets the rate, {_offered(row)}, and the policer of {queue.name} ({rate(queue.shaped_bps)}, "
        f"bursts of {burst}) drops {lost_percent(row)} of {_whose(row)} packets{why}; {percent(queue.utilization)} of "
        "its rate is used"
    )
    return Cause("policer", 1.0, "certain", queue.name, text)


def _lossy(row: Mapping[str, Any], path: Path, paths: Paths, known: Mapping[str, float], *, losing: bool) -> Cause:
    """Much is lost on a wire or at a short queue; else the application sets the rate."""
    wire = max(path.forward, key=lambda each: each.lost_on_wire)
    queue = max(path.forward, key=lambda each: each.lost_at_queue)
    on_wire, limit = wire.lost_on_wire > queue.lost_at_queue, queue.written()
    if (row["packets_dropped"] or 0) > _LOSES_MUCH * row["packets_sent"]:
        if on_wire:
            text = f"{lost_percent(row)} of the packets are lost on the wire of {wire.name}"
            return Cause("random_loss", 1.0, "certain", wire.name, text)
        if limit is not None:
            why = _too_fast(row, path, queue) or f" though the link is {percent(queue.utilization)} busy"
            text = (
                f"{lost_percent(row)} of {_whose(row)} packets are lost at {queue.name}, whose queue of {limit} is "
                f"full at times{why}"
            )
            return Cause("small_queue", 1.0, "certain", queue.name, text)
    largest, takes = frames.largest_packets(path), queue.limit_packets(path.packet_bytes)
    down_s, _ = path.down(row["start_s"], row["stop_s"])
    others = any(paths.controls_beside(queue.name, row)) or bool(down_s) or _falling(row, path, paths) is not None
    hardly_busy = queue.utilization < _HARDLY_BUSY and not others
    if losing and not on_wire and takes is not None and takes < largest and hardly_busy:
        text = (
            f"{lost_percent(row)} of {_whose(row)} packets are lost at {queue.name}, whose queue of {limit} does not "
            f"take the largest frames (of {largest} packets) though the link is {percent(queue.utilization)} busy"
        )
        return Cause("small_queue", 1.0, "certain", queue.name, text)
    text = f"the application sets the rate, {_offered(row)}"
    losses = f", {lost_percent(row)} of {_whose(row)} packets are lost" if losing else ""
    where = f" on the wire of {wire.name}" if on_wire else f" at {queue.name}{_too_fast(row, path, queue)}"
    return Cause(
        "application", known.get("application", 1.0), "certain", "", f"{text}{losses}{where if losing else ''}"
    )


def in_fragments(rows: Sequence[Mapping[str, Any]], path: Path) -> str:
    """That datagrams are cut, each of which takes all its fragments, and how many are lost; nothing where few are."""
    udp = path.spec["transport"].get("udp")
    narrow = min(path.forward, key=lambda link: link.spec["mtu_bytes"] or math.inf)
    largest = narrow.spec["mtu_bytes"]
    if udp is None or udp["sizes"] or largest is None or path.spec["traffic"]["kind"] == "video":
        return ""
    payload, header, repeated = udp["payload_bytes"], udp["header_bytes"], udp["fragment_header_bytes"]
    # Fragments but for the last one are of multiples of eight bytes (RFC 791 §3.2).
    count = math.ceil((payload + header - repeated) / ((largest - repeated) // 8 * 8))
    if payload + header <= largest or not any(
        (row["packets_dropped"] or 0) > LOSES * row["packets_sent"] for row in rows
    ):
        return ""
    whole = [(row["goodput_bps"] or 0.0) * lasted(row) / (8 * payload) for row in rows]
    # What is under way at the end is neither.
    ended = [max(1, (row["packets_delivered"] or 0) + (row["packets_dropped"] or 0)) / count for row in rows]
    lost = [max(0.0, 1 - each / of) for each, of in zip(whole, ended, strict=True)]
    return (
        f"Each datagram is {count} fragments, as {narrow.name} takes packets of {largest} B: "
        f"{span(lost, small_percent)} of the datagrams do not arrive whole "
        f"({largest - header} B of payload are not cut)"
    )


def _too_fast(row: Mapping[str, Any], path: Path, link: Link) -> str:
    """That a source sends faster than a link carries while it does, as words behind others; of frames nothing."""
    sends_bps, carries_bps = filling.peak_bps(row, path), link.carries_bps(path.packet_bytes)
    if not carries_bps < sends_bps < math.inf:
        return ""
    return f", as {rate(sends_bps)} are sent at times where it carries {rate(carries_bps)}"


def _offered(row: Mapping[str, Any]) -> str:
    """The rate at which datagrams are sent; of flows of which one sentence is, from the least to the most."""
    rates = [filling.offered_bps(each) for each in row.get(ALIKE, [row])]
    if max(rates) > _UNLIKE * min(rates):
        return span(rates, rate)
    more = " each" if len(rates) > 1 else " in all" if row.get(MEMBERS, 1) > 1 else ""
    return f"{rate(filling.offered_bps(row))}{more}"


def _whose(row: Mapping[str, Any]) -> str:
    return "their" if ALIKE in row else "its"
