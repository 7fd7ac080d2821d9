"""The bounds that a flow's account of its time names by itself: the network, windows, the sender, the application."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tightlink import units
from tightlink.diagnosis.answers import Cause
from tightlink.diagnosis.kinds import STRICT, YIELDING
from tightlink.diagnosis.links import Link, Processor
from tightlink.diagnosis.path import ALIKE as ALIKE_RTT
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.words import (
    COMPLETE,
    amount,
    lost_percent,
    ms,
    named,
    of_each,
    percent,
    rate,
    small_percent,
    span,
    timeouts,
)

#: A link, or a processor, that is busy for so much of the run is full: what is missing is the beginning.
SATURATED: Final = 0.95
#: A link that is busy for so much of the run is so for as much of a flow's time as anyone asks.
_BUSY: Final = 0.9
#: A flow that lasts for less of the run says nothing of how busy a link was in all of it, nor that of it.
_WHOLE: Final = 0.75
#: A share of lost packets from which on they say that a queue or a ring is full.
LOSES: Final = 0.005
#: A share of lost packets that is said of a flow whose path is full.
MANY_LOST: Final = 0.05
#: A flow that has so much of its window in flight on average is held by it.
_FILLED: Final = 0.8
#: A window that is so many times what the path holds makes a queue.
_MORE: Final = 1.1
#: A rate that is below what comes for less of the time is not worth a word.
_SELDOM: Final = 0.05
#: What takes so many round trips was lost and retransmitted.
RETRANSMITTED: Final = 4
#: Of two flows that share a link, one below so much of its part has given way.
_YIELDED: Final = 0.5


def network(row: Mapping[str, Any], path: Path, paths: Paths, share: float, many: float = MANY_LOST) -> Cause:
    """The path is full: its saturated link, or a router that forwards no more; from ``many`` on losses are said."""
    full = busy_processor(path)
    if full is not None and full.load > path.busiest.utilization:
        return router(row, path, full, share)
    link = path.busiest
    if path.congestion in YIELDING and gave_way(row, path, link, paths):
        text = f"{path.congestion} yields to the other flows: {saturated(row, link)}"
        return Cause("control", share, "likely", link.name, text)
    text = saturated(row, link, paths.sharing(link.name, row), paths.takes_most(link.name), share)
    if link.discipline == STRICT and gave_way(row, path, link, paths):
        text += ", and higher classes go first"
    marked = row["packets_marked"] or 0
    if marked > (row["packets_dropped"] or 0) and gave_way(row, path, link, paths):
        early = marked_early(row, path, link)
        share_marked = small_percent(marked / max(1, row["packets_delivered"] or 0))
        text += f", and {share_marked} of its packets are marked{early}" if early else ""
    if deaf := paths.deaf_to_marks(link)[0]:
        text += f", as {deaf} does not answer the marks that others do"
    text += halves(link, paths)
    if window_fills(row, path) and paths.sharing(link.name, row) > 1 and gave_way(row, path, link, paths):
        text = (
            f"the receiver's window of {window(path)} holds the rate at window / RTT, {rate(row['throughput_bps'])}, "
            f"less than its part of the {'shaper of ' if link.shapes else ''}link {link.name}, which others fill"
        )
        return Cause("receiver_window", share, "likely", link.name, text)
    if window_fills(row, path) and (path.window_packets or 0) > _MORE * path.full_packets:
        text += f", and a window of {window(path)} is more than the path holds"
    if (row["packets_dropped"] or 0) > many * row["packets_sent"]:
        text += f": {lost_percent(row)} of the packets are lost{timeouts(row)}"
    return Cause("saturated_link", share, "certain", link.name, text)


def halves(link: Link, paths: Paths) -> str:
    """That some take each mark of a link for a loss beside who reduces by their share, as words behind others."""
    halved, control, each = paths.halved_by_marks(link)
    return f", as {control} reduces by the share of marks, and {named(halved)} by each of {each}" if halved else ""


def saturated(
    row: Mapping[str, Any], link: Link, flows: int = 1, most: tuple[str, float] | None = None, share: float = 0.0
) -> str:
    """That a link is saturated, in words, and how many flows share it.

    ``most``: who takes most of it, and how much, if that is not shared alike. ``share``: for how much of a flow's time.
    """
    # Of a flow that does not last for the whole run it may be saturated for longer than it is busy.
    whole = lasts(row, link) and link.utilization >= min(share, _BUSY)
    shaped = link.shaped_bps < math.inf
    facts = [rate(link.shaped_bps)] if shaped else []
    facts += [f"{percent(link.utilization)} {'used' if link.polices else 'busy'}"] if whole else []
    facts += [f"shared by {flows} flows"] if flows > 1 else []
    facts += [f"{most[0]} gets {percent(most[1])}"] if most else []
    said = f" ({', '.join(facts)})" if facts else ""
    while_sent = "" if whole else " while data is sent"
    if link.polices:
        return f"the policer of link {link.name} lets no more through{while_sent}{said}"
    who = f"{'the shaper of ' if shaped else ''}link {link.name}"
    return f"{who} is saturated{while_sent}{said}"


def lasts(row: Mapping[str, Any], link: Link) -> bool:
    """Whether a flow lasts so long that how busy a link was in all of the run says something of it."""
    return lasted(row) > _WHOLE * link.duration_s


def saturated_links(busy: Mapping[str, float], flows: Sequence[int] = (), while_: str = "") -> str:
    """That links are saturated, in words: how busy each was, and how many flows share each, if that is known."""
    said = f"{span(busy.values(), percent)} busy{while_}"
    if max(flows, default=1) > 1:
        said += f", shared by {span(flows, str)} flows{' each' if len(busy) > 1 else ''}"
    who = f"link {named(busy)} is" if len(busy) == 1 else f"{len(busy)} links, {named(busy)}, are"
    return f"{who} saturated ({said})"


def busy_processor(path: Path) -> Processor | None:
    """The router of a path whose processor has no time left."""
    full = [each for each in path.processors if not each.sends and each.load >= SATURATED]
    return max(full, key=lambda each: each.load, default=None)


def router(row: Mapping[str, Any], path: Path, full: Processor, share: float) -> Cause:
    """A router's processor is full, not a link."""
    lost = row["packets_dropped"] or 0
    losses = f", {lost_percent(row)} of the packets are lost" if lost else ""
    text = f"router {full.name} forwards no more than {_takes(full, path)} (load {percent(full.load)}){losses}"
    return Cause("router_packet_rate", share, "certain", full.name, text)


def _takes(processor: Processor, path: Path) -> str:
    """Packets per second that a processor takes; where each byte costs, too, of which size: more of smaller ones."""
    size = f" of {path.packet_bytes} B" if processor.spec["per_byte_s"] else ""
    return f"{amount(processor.packets_per_s(path.packet_bytes))} packets/s{size}"


def receiver_window(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause:
    """The receiver's window is smaller than what the path holds."""
    longer = f", {path.longer}" if path.longer else ""
    written = path.written_window or ""
    if written.endswith(tuple(units.BDP.spellings)):
        longer += f", transmission included, which {written} leaves out"
    taken, rtt = "", ms(path.mean_rtt_s or 0.0)
    if path.acks_wait:
        taken = f", and round trips take {rtt}, as ACKs wait at {path.acks_wait_at.name}"
    elif path.mean_rtt_s and (path.window_packets or 0) >= path.full_packets:
        taken = f", and round trips take {rtt} with the queues"
    waits = ", and ACKs of single packets are delayed" if path.window_packets == 1 and _acks_late(path) else ""
    flows = paths.sharing(path.slowest.name, row)
    shared = f", shared by {flows} flows" if flows > 1 else ""
    holds = f"window of {window(path)} holds"
    if still_opens(path):
        holds = f"window, which opens up to {window(path)} as it is used, still holds"
    text = (
        f"the receiver's {holds} the rate at window / RTT: the path holds "
        f"{amount(path.full_packets)} packets ({rate(path.slowest.carries_bps(path.packet_bytes))} × "
        f"{ms(path.unfilled_rtt_s)}{longer}{shared}){taken}{waits}"
    )
    return Cause("receiver_window", share, "certain", "", text)


def still_opens(path: Path) -> bool:
    """Whether the receiver's window opens as it is used, and would be more than the path holds."""
    most = path.window_packets or 0
    return path.opens(most) and most > _MORE * path.full_packets


def _acks_late(path: Path) -> bool:
    """Whether the receiver's delay of ACKs is much of the flow's round trips."""
    return ((path.tcp or {}).get("delayed_ack_s") or 0.0) > (ALIKE_RTT - 1) * path.base_rtt_s


def window(path: Path) -> str:
    """The receiver's window as the scenario writes it, and in packets where it does not."""
    written = path.written_window
    packets = units.format_packets(path.window_packets or 0)
    return packets if written in {None, packets} else f"{written} ({packets})"


def window_fills(row: Mapping[str, Any], path: Path) -> bool:
    """Whether a flow has nearly its whole window in flight on average, by Little's law."""
    in_flight = mean_window(row, path)
    return in_flight is not None and path.window_packets is not None and in_flight >= _FILLED * path.window_packets


def mean_window(row: Mapping[str, Any], path: Path) -> float | None:
    """Mean packets in flight, by Little's law: what is delivered in a round trip, while no link is down."""
    up = 1 - path.down(row["start_s"], row["stop_s"])[0] / lasted(row)
    if not row["rtt_mean_s"] or up <= 0:
        return None
    return float(of_each(row, "throughput_bps") * row["rtt_mean_s"] / (8 * path.packet_bytes) / up)


def application(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause:
    """There is nothing more to send; of a transfer all is sent."""
    if path.spec["traffic"].get("bytes"):
        if row.get(COMPLETE) and probed_s(row, path, paths.profile, share * lasted(row), path.mean_rtt_s or 0.0):
            worst = max(path.forward, key=lambda link: link.lost_at_queue + link.lost_on_wire)
            lost = f"{lost_percent(row)} of the packets are lost at {worst.name}{timeouts(row)}"
            text = f"a tail loss probe is awaited, {ms(share * lasted(row))}, as all is sent and {lost}"
            return Cause("timeouts", share, "likely", worst.name, text)
        waits = share * lasted(row)
        why = " (the receiver delays it)" if delayed_s(row, path, waits) else ""
        return Cause("last_ack", share, "certain", "", f"all is sent, and the last ACK is awaited, {ms(waits)}{why}")
    carries = rate(path.slowest.carries_bps(path.packet_bytes))
    sends = rate(of_each(row, "throughput_bps"))
    text = f"the application offers no more: {sends} where the path carries {carries}"
    return Cause("application", share, "certain", "", text)


def delayed_s(row: Mapping[str, Any], path: Path, waits_s: float) -> float:
    """Which part of a wait for the last ACK is the receiver's delay of it; none where it waits in queues, too."""
    late_s = float((path.tcp or {}).get("delayed_ack_s") or 0.0)
    return late_s if 0 <= waits_s - late_s < 2 * path.base_rtt_s and not row["timeouts"] else 0.0


def probed_s(row: Mapping[str, Any], path: Path, profile: str, waits_s: float, rtt_s: float) -> float:
    """Which part of a wait for the last ACK is one for a tail loss probe (RFC 8985 §7), as the last packets were lost.

    The last ACK comes after a round trip, and after the receiver's delay, but for that of Linux, to which the last
    segment of a transfer is pushed.
    """
    tcp = path.tcp or {}
    late_s = 0.0 if profile == "linux" else tcp.get("delayed_ack_s") or 0.0
    probed = waits_s - rtt_s - late_s
    repaired = row["packets_dropped"] and row["packets_retransmitted"] and tcp.get("recovery") == "rack"
    return probed if repaired and probed > (1 - 1 / RETRANSMITTED) * waits_s else 0.0


def sender_rate(row: Mapping[str, Any], path: Path, _: Paths | None, share: float) -> Cause:
    """The sender's interface takes no more packets."""
    own = next((each for each in path.processors if each.sends), None)
    if own is None:
        first = path.forward[0]
        return Cause("saturated_link", share, "certain", first.name, saturated(row, first))
    text = f"the interface of {own.name} takes no more than {_takes(own, path)}"
    return Cause("sender_packet_rate", share, "certain", own.name, text)


def handshake(row: Mapping[str, Any], path: Path, _: Paths, share: float) -> Cause:
    """The connection is not established yet."""
    waits = share * lasted(row)
    longer = ""
    crowded = max((*path.forward, *path.reverse), key=lambda link: link.queueing_s)
    if waits > 2 * path.base_rtt_s and crowded.queueing_s > path.base_rtt_s / 2:
        longer = f" (behind the queue of {crowded.name})"
    if waits > 2 * path.base_rtt_s + 0.5:
        wire = max((*path.forward, *path.reverse), key=lambda link: link.lost_on_wire)
        where = f" on the wire of {wire.name}" if wire.lost_on_wire > wire.lost_at_queue else ""
        longer = f" (it was lost{where} and retransmitted)"
        down_s, link = path.down(row["start_s"], row["stop_s"])
        if down_s > waits / 2:
            longer = f": link {link.name} is down"
    return Cause("handshake", share, "certain", "", f"the handshake is under way, {ms(waits)}{longer}")


def handshake_timeouts(row: Mapping[str, Any], path: Path) -> int:
    """How many of a flow's timeouts its handshake awaited: each takes as long as the first timeout, or longer."""
    waits_s = (row["limited_by_handshake"] or 0.0) * lasted(row)
    return min(row["timeouts"] or 0, int(waits_s / (path.tcp or {})["rto"]["initial_s"]))


def lasted(row: Mapping[str, Any]) -> float:
    """For how long a flow was sending, in seconds; of one that was not, a second."""
    return float(row["stop_s"] - row["start_s"]) or 1.0


def marked_early(row: Mapping[str, Any], path: Path, link: Link) -> str:
    """Why a queue marks packets of a flow though none stands, as words behind others: for its medium, or its rate."""
    starts_s, wait_s = link.spec["queue"].get("ramp_s", (math.inf,))[0], link.medium_s(path.packet_bytes)
    if wait_s > starts_s:
        return f", as they wait {ms(wait_s)} for its medium alone, and marks begin at {ms(starts_s)}"
    sent = of_each(row, "throughput_bps")
    share = link.share_below(sent, path.packet_bytes, (row["start_s"], row["stop_s"]))
    if share < _SELDOM:
        return ""
    average = " on average" if link.rate_is_drawn else ""
    return f", as it carries less than the {rate(sent)} of this flow for {percent(share)} of the time{average}"


def gave_way(row: Mapping[str, Any], path: Path, link: Link, paths: Paths) -> bool:
    """Whether a flow has much less than its part of a link beside flows that do not give way."""
    part = link.carries_bps(path.packet_bytes) / (paths.beside(link.name, row) + 1)
    return paths.beside(link.name, row, heeding=True) > 0 and of_each(row, "throughput_bps") < _YIELDED * part
