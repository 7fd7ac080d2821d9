"""What keeps a congestion window small: losses, marks, slow start that is not over, or the control's own caution.

A control's pacing is part of it: it sends a window over a round trip, or at a rate that it has measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from tightlink import control, units
from tightlink.diagnosis import bounds, losses
from tightlink.diagnosis.answers import Cause
from tightlink.diagnosis.filling import acks_bps
from tightlink.diagnosis.kinds import BY_DELAY, BY_RATE, FAIR, MANAGED, YIELDING
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.queueing import carries_acks_alone
from tightlink.diagnosis.response import renos_window
from tightlink.diagnosis.words import ALIKE, DISCIPLINES, amount, listed, of_each, percent, round_trips, small_percent

#: Where random losses are so many times those at queues, a flow's window is theirs.
_MOSTLY: Final = 3.0
#: A queue that adds less than this part of the base round trip to a flow does not hold it.
_LITTLE: Final = 0.1
#: LEDBAT aims at 60 to 100 ms of queue: of less than half of that it does not hold back.
_OF_TARGET_S: Final = 0.03
#: More than so many times the window that losses one by one allow is that of others.
_MORE_THAN_ALLOWED: Final = 2.0
#: Losses of which timeouts take no part, so that they allow a window.
_FEW: Final = 0.01
#: Packets of which so few are lost, or retransmitted without need, are held by something else.
_RARE: Final = 0.001
#: Beside a full way back flows that lose nothing have about so much of the path, as is seen where they are tried.
_HALF: Final = 0.5
#: A plain queue that loses so much of what comes is full whatever the window.
_OVERFLOWS: Final = 0.05
#: A shaper that is used so far is what bounds the rate: its queue drops before it stands.
_SHAPED: Final = 0.9
#: A control that has delivered so many times what the path holds has left its start behind.
_STARTED: Final = 6.0
#: What an ACK adds to the window in slow start where every second packet is acknowledged: half a packet each round.
_SLOWEST_GROWTH: Final = 1.5


def cause(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause:
    """Why the congestion window, or the pacing that goes with it, holds a flow back for a share of its time."""
    found = _full(row, path, paths, share) or _left_early(row, path, share) or losses.overtaken(row, path, share)
    if found is not None:
        return found
    lost = losses.answered(row, path, share)
    heeded = not _paces(row, path) or lost > _FEW * row["packets_sent"]
    # A mark cuts the window as a loss does, but for one that waits for a timer.
    marked = row["packets_marked"] or 0
    more_marks = marked > (0 if _at_once(lost, row, path) else lost) and not losses.awaits_timeouts(row, path, share)
    if lost and heeded and not more_marks and not _held_back(row, path):
        return losses.losses(row, path, paths, share)
    if _marked(row, path):
        if path.busiest.marked and _fill(row, path, paths):
            return bounds.network(row, path, paths, share)
        return _marks(row, path, paths, share)
    if _starting(row, path, share):
        # A first window alone may be more than the path of a slow link holds.
        return bounds.network(row, path, paths, share) if _fill(row, path, paths) else _start(row, path, share)
    return _growing(row, path, share)


def _fill(row: Mapping[str, Any], path: Path, paths: Paths) -> bool:
    """Whether windows fill the path, of which a link is always busy: that bounds the rate then, as with drops."""
    full = path.busiest.utilization >= bounds.SATURATED and bounds.lasts(row, path.busiest)
    return full and losses.fill(row, path, paths, path.busiest)


def _at_once(lost: int, row: Mapping[str, Any], path: Path) -> bool:
    """Whether losses were those of one overshoot, which is one cut: one by one they would leave a smaller window."""
    allowed = losses.allowed(lost / row["packets_sent"], path, row["rtt_mean_s"] or path.base_rtt_s)
    return (bounds.mean_window(row, path) or 0.0) > _MORE_THAN_ALLOWED * allowed


def full_path(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause:
    """The path is full; or others fill it, and random losses keep this flow below its part of it."""
    wire, link = losses.most_on_wire(path), path.busiest
    # Through a fair queue a flow that wants more has packets there.
    waits_s = row.get("queueing_delay_mean_s")
    passes = link.discipline in FAIR and waits_s is not None and waits_s < _LITTLE * path.base_rtt_s
    random = wire.lost_on_wire > _MOSTLY * max(link.lost_at_queue for link in path.forward)
    heeds_losses = path.congestion not in BY_DELAY | BY_RATE
    if (passes or random) and wire.lost_on_wire and heeds_losses and bounds.gave_way(row, path, link, paths):
        return losses.on_wire(row, path, wire, share, "certain" if random else "likely")
    return bounds.network(row, path, paths, share)


def _full(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause | None:
    """A router's processor or a shaper that is full, or a link of which others take nearly all."""
    processor = bounds.busy_processor(path)
    if processor is not None:
        return bounds.router(row, path, processor, share)
    others = paths.takes_most(path.busiest.name)
    if row["packets_dropped"] and others is not None and not paths.is_of(row["label"], others[0]):
        return bounds.network(row, path, paths, share)
    shaper = next((link for link in path.forward if link.shapes and link.utilization >= _SHAPED), None)
    if shaper is not None:
        said = bounds.saturated(row, shaper, paths.sharing(shaper.name, row), share=share)
        return Cause("saturated_link", share, "certain", shaper.name, said)
    return None if path.congestion in BY_DELAY else _ack_path(row, path, paths, share)


def at_receiver_window(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause:
    """The receiver's window is full; or ACKs alone fill their way back, where a larger one would make more wait.

    Where a plain queue loses many of them, no more wait, and a larger window brings more.
    """
    found = _ack_path(row, path, paths, share) if path.acks_wait else None
    back = path.returns_by(found.where) if found is not None else None
    if found is None or back is None or not carries_acks_alone(back, path):
        return bounds.receiver_window(row, path, paths, share)
    overflows = back.discipline not in MANAGED and back.lost_at_queue > _OVERFLOWS * back.totals["packets_in"]
    return bounds.receiver_window(row, path, paths, share) if overflows else found


def _ack_path(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause | None:
    """The link by which ACKs return is full while a flow lasts, and none on the way there."""
    busy = {link.name: paths.busy_while(link, row) for link in (*path.forward, *path.reverse)}
    back = max(path.reverse, key=lambda link: busy[link.name])
    if (
        busy[back.name] < bounds.SATURATED
        or busy[path.busiest.name] >= bounds.SATURATED
        or not _acks_are_late(row, path, paths, back)
    ):
        return None
    lost = small_percent(back.lost_at_queue / max(1, back.totals["packets_in"]))
    text = f"the reverse path of its ACKs is full: link {back.name} is {percent(busy[back.name])} busy"
    text += "" if bounds.lasts(row, back) else " while data is sent"
    text += f" and drops {lost} of what comes" if back.lost_at_queue else ""
    return Cause("ack_path", share, "likely", back.name, text)


def _acks_are_late(row: Mapping[str, Any], path: Path, paths: Paths, back: Link) -> bool:
    """Whether ACKs are what a full link on the way back delays: by turns, those beyond its fair share of that link.

    Else they wait as what shares the queue does. Beside random losses, without which the window would fill the path,
    the way back is what costs most where they alone would leave half of that, and ACKs wait for a round trip.
    """
    if back.discipline in FAIR:
        needs_bps = acks_bps(path, path.slowest.carries_bps(path.packet_bytes) / (8 * path.packet_bytes))
        return needs_bps > back.carries_bps(path.ack_bytes) / (1 + paths.sharing(back.name, row))
    lost = losses.random_share(losses.most_on_wire(path))
    if losses.hold(lost, row, path):
        leave = losses.allowed(lost, path, path.base_rtt_s) >= _HALF * path.holds_packets
        return leave and path.acks_wait_s > path.base_rtt_s
    return path.acks_wait


def _held_back(row: Mapping[str, Any], path: Path) -> bool:
    """Whether a control that heeds delay keeps its window below what the losses would allow."""
    lost = row["packets_dropped"] / row["packets_sent"]
    allowed = renos_window(lost) if lost < _FEW else 0.0
    if path.congestion in YIELDING and (row.get("queueing_delay_mean_s") or math.inf) < _OF_TARGET_S:
        return False
    return path.congestion in BY_DELAY and (bounds.mean_window(row, path) or math.inf) < allowed


def _left_early(row: Mapping[str, Any], path: Path, share: float) -> Cause | None:
    """HyStart has taken what a wire adds to some packets for a queue, and there are hardly any losses since.

    Those of a queue that manages itself come one by one, and few are enough where round trips are long.
    Of recoveries those that do not wait for late packets reduce the window often enough by themselves.
    """
    lost = losses.answered(row, path, share)
    retransmitted = max(row["packets_retransmitted"] or 0, lost)
    few = retransmitted <= _RARE * row["packets_sent"] and not losses.most_on_wire(path).lost_on_wire
    managed = max(path.forward, key=lambda link: link.lost_at_queue).discipline in MANAGED
    share_lost, rtt_s = lost / row["packets_sent"], row["rtt_mean_s"] or path.base_rtt_s
    allowed = losses.allowed(share_lost, path, rtt_s) if managed else math.inf
    small = (bounds.mean_window(row, path) or math.inf) < min(losses.NEAR * path.holds_packets, allowed)
    patient = not retransmitted or (path.tcp or {})["recovery"] == "rack"
    heeds = path.congestion not in BY_DELAY | BY_RATE and not _marked(row, path) and not _starting(row, path, share)
    return _growing(row, path, share) if path.leaves_early and few and small and patient and heeds else None


def _growing(row: Mapping[str, Any], path: Path, share: float) -> Cause:
    """Neither losses nor marks, and slow start is over: the control's own choice."""
    if path.congestion in BY_DELAY:
        return _cautious(row, path, share)
    if path.congestion in BY_RATE or _paces(row, path):
        text = f"the pacing rate of {path.congestion} is below what the path carries"
        if path.congestion in BY_RATE:
            text = f"{path.congestion} paces at the rate that it has measured"
        return Cause("pacing", share, "likely", "", text + losses.beside_path(row, path))
    if not control.is_built_in(path.congestion):
        text = f"{path.congestion} keeps its window below what the path holds{losses.beside_path(row, path)}"
        return Cause("control", share, "likely", "", text)
    clean = "" if row["packets_dropped"] else ", without a loss so far"
    text = f"the congestion window still grows{clean}{losses.beside_path(row, path)}"
    # RFC 5681 §3.1: an initial window of one segment, with a threshold of two. A kernel, which tells of no pacing, may
    # begin as ever.
    if path.minds_lost_syns and bounds.handshake_timeouts(row, path) and row["limited_by_pacing"] is not None:
        reason = "a SYN was lost" if row["packets_dropped"] else "the handshake timed out"
        slowly = f"grows slowly{losses.beside_path(row, path)}"
        text = f"the congestion window, which began with one packet as {reason}, {slowly}"
        return Cause("window_growth", share, "certain", "", text)
    threshold = _threshold(path)
    if threshold is not None:
        text = f"the congestion window grows by a packet per round trip from a threshold of {threshold:g} packets on"
        text += losses.beside_path(row, path)
    elif path.leaves_early is not None:
        link = path.leaves_early
        text = (
            f"HyStart has left slow start early, for the {link.delayed_by} of {link.name} looks like a queue, and the "
            f"congestion window grows slowly since{losses.beside_path(row, path)}"
        )
        return Cause("window_growth", share, "likely", "", text)
    return Cause("window_growth", share, "certain", "", text)


def _paces(row: Mapping[str, Any], path: Path) -> bool:
    """Whether a control sends at a rate that it sets itself, rather than a window over a round trip."""
    if control.is_built_in(path.congestion) or (path.tcp or {})["pacing"]:
        return path.congestion in BY_RATE
    return bool((row["limited_by_pacing"] or 0.0) > (row["limited_by_congestion_window"] or 0.0))


def _marked(row: Mapping[str, Any], path: Path) -> float:
    """The share of the flow's packets that were marked; where only links counted them, the largest of a link."""
    if row["packets_marked"] is not None:
        return float(row["packets_marked"] / max(1, row["packets_delivered"] or 0))
    return max(link.marked for link in path.forward) if (path.tcp or {}).get("ecn") else 0.0


def _marks(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause:
    link = max(path.forward, key=lambda each: each.totals.get("packets_marked") or 0)
    kind = DISCIPLINES.get(link.discipline, "the queue")
    marked = f"{small_percent(_marked(row, path))} of the packets{bounds.marked_early(row, path, link)}"
    controls = sorted({each.get("congestion") or path.congestion for each in row.get(ALIKE, [row])})
    small = "its window small" if len(controls) == 1 else "their windows small"
    text = f"{kind} at {link.name} marks {marked}, and {listed(controls)} keep{'s' * (len(controls) == 1)} {small}"
    most, unlike = paths.takes_most(link.name), bounds.halves(link, paths)
    if most is not None and unlike:
        text += f"; {most[0]} gets {percent(most[1])} of what flows have there{unlike}"
    return Cause(
        "congestion_marks", share, "certain", link.name, text + losses.busy(row, link) + losses.beside_path(row, path)
    )


def _threshold(path: Path) -> float | None:
    """The slow-start threshold at the start, where that is below what the path and the receiver's window hold."""
    tcp = path.tcp or {}
    threshold = tcp["initial_ssthresh_packets"]
    low = isinstance(threshold, int | float) and threshold < min(path.holds_packets, tcp["window_packets"])
    return float(threshold) if low else None


def _starting(row: Mapping[str, Any], path: Path, share: float) -> bool:
    """Whether the time at the congestion window can be slow start: as few round trips as that takes, or less."""
    delivered, threshold = of_each(row, "packets_delivered"), _threshold(path)
    if threshold is not None and delivered > 2 * threshold:
        return False
    first = (path.tcp or {})["initial_window_packets"]
    if path.congestion in BY_DELAY or _paces(row, path):
        return bool(delivered < _STARTED * max(path.holds_packets, first))
    needed = math.log(1 + delivered * (_SLOWEST_GROWTH - 1) / first) / math.log(_SLOWEST_GROWTH)
    # One round for the handshake, one for the last ACKs, two for rounding.
    return _rounds(row, path, share) <= needed + 4


def _rounds(row: Mapping[str, Any], path: Path, share: float) -> float:
    """Round trips that a share of a flow's time is."""
    return float(share * (row["stop_s"] - row["start_s"]) / (row["rtt_mean_s"] or path.base_rtt_s))


def _start(row: Mapping[str, Any], path: Path, share: float) -> Cause:
    lost = row["packets_dropped"] > bounds.handshake_timeouts(row, path)
    if lost or of_each(row, "packets_delivered") > _STARTED * path.holds_packets:
        text = f"slow start lasts, {round_trips(_rounds(row, path, share))}"
        return Cause("slow_start", share, "certain", "", text)
    size = path.spec["traffic"].get("bytes")
    transfer = f"the transfer of {units.format_size(size)}" if size else "the run"
    # All has arrived before the receiver delays its last ACK.
    waits_s = (row.get("limited_by_application") or 0.0) * bounds.lasted(row)
    whole = 1 - bounds.delayed_s(row, path, waits_s) / bounds.lasted(row) if size else 1.0
    text = (
        f"slow start is not over: {transfer} ends after {round_trips(_rounds(row, path, whole))}, before the "
        f"window reaches the {amount(path.holds_packets)} packets that the path holds"
    )
    return Cause("slow_start", share, "certain", "", text)


def _cautious(row: Mapping[str, Any], path: Path, share: float) -> Cause:
    window = bounds.mean_window(row, path)
    if window is not None and window >= losses.NEAR * path.holds_packets:
        held = losses.beside_path(row, path)
        text = f"{path.congestion} keeps no more in flight than the path holds, which idles at times{held}"
        return Cause("control", share, "likely", "", text)
    back = max(path.reverse, key=lambda link: link.queueing_s, default=None)
    there = sum(link.queueing_s for link in path.forward)
    reason = ": it takes the queueing delay of the path for its own"
    if back is not None and back.queueing_s > there:
        reason = f": its ACKs wait at {back.name}, and it takes that for its own queue"
    return Cause("control", share, "likely", "", f"{path.congestion} holds back{reason}{losses.beside_path(row, path)}")
