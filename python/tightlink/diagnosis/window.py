"""What keeps a congestion window small: losses, marks, slow start that is not over, or the control's own caution.

A control's pacing is part of it: it sends a window over a round trip, or at a rate that it has measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from tightlink import units
from tightlink.diagnosis.answers import Cause, Certainty
from tightlink.diagnosis.bounds import busy_processor, gave_way, lasts, network, router, saturated
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.paths import FAIR, Path, Paths
from tightlink.diagnosis.words import ALIKE, amount, between, lost_percent, ms, percent, rate, small_percent

#: Controls that take delay for congestion, and controls that send at a rate that they have measured.
_BY_DELAY: Final = frozenset({"vegas", "fast", "fast-at", "ledbat", "ledbat++", "copa"})
_BY_RATE: Final = frozenset({"bbr", "bbr3", "vivace"})
#: Names of disciplines in a sentence; a drop-tail queue has none.
DISCIPLINES: Final = {
    "cake": "CAKE",
    "cobalt": "COBALT",
    "codel": "CoDel",
    "dualpi2": "DualPI2",
    "fq-cobalt": "FQ-COBALT",
    "fq-codel": "FQ-CoDel",
    "fq-pie": "FQ-PIE",
    "pie": "PIE",
    "red": "RED",
    "rem": "REM",
    "threshold": "the marking threshold",
}
#: Of the losses of a path, so many must be of one kind for it to be the cause without a doubt.
_CLEAR: Final = 0.9
#: Where random losses are so many times those at queues, a flow's window is theirs.
_MOSTLY: Final = 3.0
#: A queue that adds less than this part of the base round trip to a flow does not hold it.
_LITTLE: Final = 0.1
#: A window of so much of a BDP does not hold a path back.
_NEAR: Final = 0.9
#: Losses of which timeouts take no part, so that they allow a window.
_FEW: Final = 0.01
#: Timeouts that take so much of the time are what it waits for.
_MOST: Final = 0.5
#: An outage of so much of it is what keeps a window closed: the timeouts that end it come later, by as long at most.
_DOWN: Final = 0.4
#: A shaper that is used so far is what bounds the rate: its queue drops before it stands.
_SHAPED: Final = 0.9
#: A control that has delivered so many bandwidth-delay products has left its start behind.
_STARTED: Final = 6.0
#: What an ACK adds to the window in slow start where every second packet is acknowledged: half a packet each round.
_SLOWEST_GROWTH: Final = 1.5
_BITS: Final = 8


def cause(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause:
    """Why the congestion window, or the pacing that goes with it, holds a flow back for a share of its time."""
    full = _full(row, path, paths, share) or _down(row, path, share)
    if full is not None:
        return full
    overtaken = next((link for link in path.forward if link.reorders), None)
    needless = (row["packets_retransmitted"] or 0) - row["packets_dropped"]
    if (overtaken is not None or path.sprayed) and needless > row["packets_dropped"]:
        return _overtaken(row, path, overtaken, needless, share)
    if row["packets_dropped"] and not _held_back(row, path):
        return _losses(row, path, paths, share)
    if row["packets_marked"]:
        return _marks(row, path, share)
    if _starting(row, path, share):
        return _start(row, path, share)
    return _growing(row, path, share)


def full_path(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause:
    """The path is full; or others fill it, and random losses keep this flow below its part of it."""
    wire, link = _most_on_wire(path), path.busiest
    # Through a fair queue a flow that wants more has packets there.
    waits_s = row.get("queueing_delay_mean_s")
    passes = link.discipline in FAIR and waits_s is not None and waits_s < _LITTLE * path.base_rtt_s
    random = wire.lost_on_wire > _MOSTLY * max(link.lost_at_queue for link in path.forward)
    heeds_losses = path.congestion not in _BY_DELAY | _BY_RATE
    if (passes or random) and wire.lost_on_wire and heeds_losses and gave_way(row, path, link, paths):
        return _on_wire(row, path, wire, share, "certain" if random else "likely")
    return network(row, path, paths, share)


def _most_on_wire(path: Path) -> Link:
    return max(path.forward, key=lambda link: link.lost_on_wire)


def _on_wire(row: Mapping[str, Any], path: Path, wire: Link, share: float, certainty: Certainty) -> Cause:
    lost = f"{lost_percent(row)}{_timeouts(row)}"
    text = f"random losses on the wire of {wire.name} ({lost}) keep the window small{_of_bdp(row, path)}"
    return Cause("random_loss", share, certainty, wire.name, text)


def _full(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause | None:
    """A router's processor or a shaper that is full, or a link of which others take nearly all."""
    processor = busy_processor(path)
    if processor is not None:
        return router(row, path, processor, share)
    others = paths.takes_most(path.busiest.name)
    if row["packets_dropped"] and others is not None and others[0] != path.spec["group"]:
        return network(row, path, paths, share)
    shaper = next((link for link in path.forward if link.shaped_by_cake and link.utilization >= _SHAPED), None)
    if shaper is None:
        return None
    said = saturated(row, shaper, len(paths.users.get(shaper.name, ())))
    return Cause("saturated_link", share, "certain", shaper.name, said)


def _down(row: Mapping[str, Any], path: Path, share: float) -> Cause | None:
    """A link that is down for much of the time in which nothing more was let out; for the rest a timeout is awaited."""
    down_s, link = path.down(row["start_s"], row["stop_s"])
    if not down_s or down_s < _DOWN * share * (row["stop_s"] - row["start_s"]):
        return None
    return Cause("outage", share, "certain", link.name, f"link {link.name} is down, {ms(down_s)}{_timeouts(row)}")


def _held_back(row: Mapping[str, Any], path: Path) -> bool:
    """Whether a control that heeds delay keeps its window below what the losses would allow (Mathis et al. 1997)."""
    lost = row["packets_dropped"] / row["packets_sent"]
    allowed = math.sqrt(1.5 / lost) if lost < _FEW else 0.0
    return path.congestion in _BY_DELAY and (mean_window(row, path) or math.inf) < allowed


def _growing(row: Mapping[str, Any], path: Path, share: float) -> Cause:
    """Neither losses nor marks, and slow start is over: the control's own choice."""
    if path.congestion in _BY_DELAY:
        return _cautious(row, path, share)
    if path.congestion in _BY_RATE:
        text = f"{path.congestion} paces at the rate that it has measured{_of_bdp(row, path)}"
        return Cause("pacing", share, "likely", "", text)
    text = f"the congestion window still grows, without a loss so far{_of_bdp(row, path)}"
    threshold = _threshold(path)
    if threshold is not None:
        text = f"the congestion window grows by a packet per round trip from a threshold of {threshold:g} packets on"
        text += _of_bdp(row, path)
    return Cause("window_growth", share, "certain", "", text)


def mean_window(row: Mapping[str, Any], path: Path) -> float | None:
    """Mean packets in flight, by Little's law: what is delivered in a round trip."""
    if not row["rtt_mean_s"]:
        return None
    return float((row["throughput_bps"] or 0.0) * row["rtt_mean_s"] / (_BITS * path.packet_bytes))


def _of_bdp(row: Mapping[str, Any], path: Path) -> str:
    mean = mean_window(row, path)
    if mean is None:
        return ""
    return f"; {amount(mean)} packets in flight on average, the path's BDP is {amount(path.bdp_packets)}"


def _losses(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause:
    """Losses keep the window below the bandwidth-delay product; where they are, and why."""
    wire = _most_on_wire(path)
    queue = max(path.forward, key=lambda link: link.lost_at_queue)
    rings = max(path.processors, key=lambda each: each.dropped, default=None)
    total = wire.lost_on_wire + queue.lost_at_queue + (rings.dropped if rings else 0)
    if rings is not None and rings.dropped > max(wire.lost_on_wire, queue.lost_at_queue):
        return router(row, path, rings, share)
    on_wire = wire.lost_on_wire > queue.lost_at_queue
    most = wire.lost_on_wire if on_wire else queue.lost_at_queue
    certainty: Certainty = "certain" if most >= _CLEAR * total else "likely"
    lost, waits, timeouts = lost_percent(row), row["timeouts"] or 0, _timeouts(row)
    if on_wire:
        return _on_wire(row, path, wire, share, certainty)
    flows = len(paths.users.get(queue.name, ())) or 1
    if queue.polices:
        shared = f", shared by {flows} flows" if flows > 1 else ""
        used = f"; {percent(queue.utilization)} of its rate is used" if lasts(row, queue) else ""
        text = f"the policer of {queue.name} ({rate(queue.shaped_bps)}{shared}) drops {lost} of the packets{timeouts}"
        return Cause("policer", share, certainty, queue.name, text + used)
    if queue.discipline in DISCIPLINES and flows * (mean_window(row, path) or 0.0) < path.bdp_packets:
        kind = DISCIPLINES[queue.discipline]
        text = (
            f"{kind} at {queue.name} drops {lost} of the packets{timeouts} before the window reaches the path's BDP"
            f"{_busy(row, queue)}{_of_bdp(row, path)}"
        )
        return Cause("early_drops", share, certainty, queue.name, text)
    limit, interval = queue.limit_packets(path.packet_bytes), queue.interval_s(path.packet_bytes)
    bdp = path.base_rtt_s / interval
    # Losses of n flows that share it come one after the other: BDP / √n is enough (Appenzeller et al. 2004). A queue of
    # "1 BDP", which is of the propagation alone, is not small.
    if limit is None or limit * math.sqrt(flows) >= path.propagation_s / interval:
        least = (path.tcp or {})["rto"]["min_s"]
        if waits * least > _MOST * share * (row["stop_s"] - row["start_s"]):
            awaited = f"timeout of {ms(least)} or more is" if waits == 1 else f"timeouts of {ms(least)} or more are"
            text = f"{waits} retransmission {awaited} awaited, as {lost} of the packets are lost at {queue.name}"
            return Cause("timeouts", share, certainty, queue.name, text)
        text = (
            f"the window recovers from losses at the queue of {queue.name} ({lost} lost{timeouts}){_busy(row, queue)}"
        )
        return Cause("recovery", share, certainty, queue.name, text)
    text = (
        f"losses ({lost}{timeouts}) at {queue.name}, whose queue of {amount(limit)} packets is {percent(limit / bdp)} "
        f"of the BDP of {amount(bdp)} packets, leave the link idle after each"
    )
    if lasts(row, queue):
        text += f": it is {percent(queue.utilization)} busy"
    return Cause("small_queue", share, certainty, queue.name, text)


def _timeouts(row: Mapping[str, Any]) -> str:
    """How many timeouts a flow had, or the least and the most of several flows, as words behind others."""
    counts = [each["timeouts"] or 0 for each in row.get(ALIKE, [row])]
    if not max(counts):
        return ""
    many = "s" if max(counts) > 1 else ""
    return f", with {between(str(min(counts)), str(max(counts)))} timeout{many}{' each' if len(counts) > 1 else ''}"


def _overtaken(row: Mapping[str, Any], path: Path, link: Link | None, needless: int, share: float) -> Cause:
    """Without a link that reorders, packets overtake each other where they take several paths."""
    where = "on their several paths" if link is None else f"on the wire of {link.name}"
    share_of_sent = small_percent(needless / max(1, row["packets_sent"]))
    text = (
        f"packets that overtake each other {where} are taken for lost ({share_of_sent} "
        f"retransmitted without need) and keep the window small{_of_bdp(row, path)}"
    )
    return Cause("reordering", share, "likely", "" if link is None else link.name, text)


def _busy(row: Mapping[str, Any], link: Link) -> str:
    return f"; the link is {percent(link.utilization)} busy" if lasts(row, link) else ""


def _marks(row: Mapping[str, Any], path: Path, share: float) -> Cause:
    link = max(path.forward, key=lambda each: each.totals.get("packets_marked") or 0)
    kind = DISCIPLINES.get(link.discipline, "the queue")
    marked = small_percent(row["packets_marked"] / max(1, row["packets_delivered"]))
    text = f"{kind} at {link.name} marks {marked} of the packets, and {path.congestion} keeps its window small"
    return Cause("congestion_marks", share, "certain", link.name, text + _busy(row, link) + _of_bdp(row, path))


def _threshold(path: Path) -> float | None:
    """The slow-start threshold at the start, where that is below what the path and the receiver's window hold."""
    tcp = path.tcp or {}
    threshold = tcp["initial_ssthresh_packets"]
    low = isinstance(threshold, int | float) and threshold < min(path.bdp_packets, tcp["window_packets"])
    return float(threshold) if low else None


def _starting(row: Mapping[str, Any], path: Path, share: float) -> bool:
    """Whether the time at the congestion window can be slow start: as few round trips as that takes, or less."""
    delivered, threshold = row["packets_delivered"] or 0, _threshold(path)
    if threshold is not None and delivered > 2 * threshold:
        return False
    first = (path.tcp or {})["initial_window_packets"]
    if path.congestion in _BY_DELAY | _BY_RATE:
        return bool(delivered < _STARTED * max(path.bdp_packets, first))
    needed = math.log(1 + delivered * (_SLOWEST_GROWTH - 1) / first) / math.log(_SLOWEST_GROWTH)
    # One round for the handshake, one for the last ACKs, two for rounding.
    return _rounds(row, path, share) <= needed + 4


def _rounds(row: Mapping[str, Any], path: Path, share: float) -> float:
    """Round trips that a share of a flow's time is."""
    return float(share * (row["stop_s"] - row["start_s"]) / (row["rtt_mean_s"] or path.base_rtt_s))


def _start(row: Mapping[str, Any], path: Path, share: float) -> Cause:
    if (row["packets_delivered"] or 0) > _STARTED * path.bdp_packets:
        text = f"slow start lasts, {amount(_rounds(row, path, share))} round trips"
        return Cause("slow_start", share, "certain", "", text)
    size = path.spec["traffic"].get("bytes")
    transfer = f"the transfer of {units.format_size(size)}" if size else "the run"
    text = (
        f"slow start is not over: {transfer} ends after {amount(_rounds(row, path, 1.0))} round trips, before the "
        f"window reaches the path's BDP of {amount(path.bdp_packets)} packets"
    )
    return Cause("slow_start", share, "certain", "", text)


def _cautious(row: Mapping[str, Any], path: Path, share: float) -> Cause:
    window = mean_window(row, path)
    if window is not None and window >= _NEAR * path.bdp_packets:
        text = (
            f"{path.congestion} keeps no more in flight than the path holds, which idles at times{_of_bdp(row, path)}"
        )
        return Cause("control", share, "likely", "", text)
    back = max(path.reverse, key=lambda link: link.queueing_s, default=None)
    there = sum(link.queueing_s for link in path.forward)
    reason = ": it takes the queueing delay of the path for its own"
    if back is not None and back.queueing_s > there:
        reason = f": its ACKs wait at {back.name}, and it takes that for its own queue"
    return Cause("control", share, "likely", "", f"{path.congestion} holds back{reason}{_of_bdp(row, path)}")
