"""What losses keep a congestion window small: where packets are lost, and why.

Example:
    >>> scenario = tl.loads('''
    ... duration = "10 s"
    ... link.radio = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "20 ms", loss = "1 %" }
    ... traffic.f = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> run = tl.simulate(scenario)
    >>> path, row = Paths(run).of("f"), run.flows.row(0, named=True)
    >>> most_on_wire(path).name, mean_window(row, path) < path.holds_packets
    ('radio', True)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from tightlink import control
from tightlink.diagnosis.answers import Cause, Certainty
from tightlink.diagnosis.bounds import SATURATED, handshake_timeouts, lasts, mean_window, network, router
from tightlink.diagnosis.kinds import DEAF
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.response import cubics_window, renos_window
from tightlink.diagnosis.words import (
    COMPLETE,
    DISCIPLINES,
    amount,
    lost_percent,
    ms,
    of_each,
    percent,
    rate,
    small_percent,
    timeouts,
)

#: Of the losses of a path, so many must be of one kind for it to be the cause without a doubt.
_CLEAR: Final = 0.9
#: A window of so much of what the path holds does not hold it back.
NEAR: Final = 0.9
#: Timeouts that take so much of the time are what it waits for.
_MOST: Final = 0.5
#: Fewer packets in flight on average are those of a flow that mostly waits for a timer.
_SILENT: Final = 0.5
_SEVERAL: Final = 2
#: A share of losses that is said of a link that is busy all the same, where these hold a window.
_MANY: Final = 0.01
#: More retransmissions without need than so many times those for losses are worth a word.
_NEEDLESS: Final = 2


def losses(row: Mapping[str, Any], path: Path, paths: Paths, share: float) -> Cause:
    """Losses keep the window below the bandwidth-delay product: those of a router, of a wire, or of a queue."""
    wire = most_on_wire(path)
    queue = max(path.forward, key=lambda link: link.lost_at_queue)
    rings = max(path.processors, key=lambda each: each.dropped, default=None)
    if rings is not None and rings.dropped > max(wire.lost_on_wire, queue.lost_at_queue):
        return router(row, path, rings, share)
    # Controls that do not take each loss for congestion have a window that does not follow from their share.
    holds = not wire.only_fails and path.congestion not in DEAF and hold(random_share(wire), row, path)
    is_random = wire.lost_on_wire > queue.lost_at_queue or holds
    most = wire.lost_on_wire if is_random else queue.lost_at_queue
    total = wire.lost_on_wire + queue.lost_at_queue + (rings.dropped if rings else 0)
    # What a control of Python makes of a loss only its code says.
    known = control.is_built_in(path.congestion)
    certainty: Certainty = "certain" if known and most >= _CLEAR * total else "likely"
    if is_random and row.get(COMPLETE) and awaits_timeouts(row, path, share):
        return _timeouts(row, path, wire, (share, certainty))
    if is_random:
        return on_wire(row, path, wire, share, certainty)
    return _at_queue(row, path, paths, queue, (share, certainty))


def _at_queue(row: Mapping[str, Any], path: Path, paths: Paths, queue: Link, sure: tuple[float, Certainty]) -> Cause:
    lost, flows = lost_percent(row), paths.sharing(queue.name, row) or 1
    if queue.polices:
        shared = f", shared by {flows} flows" if flows > 1 else ""
        used = f"; {percent(queue.utilization)} of its rate is used" if lasts(row, queue) else ""
        who = f"the policer of {queue.name} ({rate(queue.shaped_bps)}{shared})"
        text = f"{who} drops {lost} of the packets{timeouts(row)}{used}"
        return Cause("policer", *sure, queue.name, text)
    if awaits_timeouts(row, path, sure[0]):
        return _timeouts(row, path, queue, sure)
    # A marking threshold drops as a plain queue does, where that is full.
    drops = queue.discipline in DISCIPLINES and queue.discipline != "threshold"
    if drops and not fill(row, path, paths, queue):
        kind = DISCIPLINES[queue.discipline]
        text = (
            f"{kind} at {queue.name} drops {lost} of the packets{timeouts(row)}, which leaves windows that do not fill "
            f"the path{busy(row, queue)}{beside_path(row, path)}"
        )
        return Cause("early_drops", *sure, queue.name, text)
    limit, interval = queue.limit_packets(path.packet_bytes), queue.interval_s(path.packet_bytes)
    # Losses of n flows that share it come one after the other: BDP / √n is enough (Appenzeller et al. 2004). A queue of
    # "1 BDP", which is of the propagation alone, is not small.
    if limit is None or limit * math.sqrt(flows) >= math.floor((path.propagation_s + path.media_s) / interval):
        return _at_long_queue(row, path, paths, queue, sure)
    holds = (path.base_rtt_s + path.media_s) / interval
    text = (
        f"losses ({lost}{timeouts(row)}) at {queue.name}, whose queue of {amount(limit)} packets is "
        f"{percent(limit / holds)} of the {amount(holds)} packets that the path holds, leave the link idle after each"
    )
    if lasts(row, queue):
        text += f": it is {percent(queue.utilization)} busy"
    return Cause("small_queue", *sure, queue.name, text)


def fill(row: Mapping[str, Any], path: Path, paths: Paths, queue: Link) -> bool:
    """Whether windows of connections that share a queue, all as this one's, fill the path."""
    # Datagrams have no window.
    flows = paths.sharing(queue.name, row) or 1
    connections = flows - sum(not each for each in paths.controls_beside(queue.name, row))
    return connections * (mean_window(row, path) or 0.0) >= path.filling_packets


def _at_long_queue(
    row: Mapping[str, Any], path: Path, paths: Paths, queue: Link, sure: tuple[float, Certainty]
) -> Cause:
    """Of an incast, an overshoot, or others' doing."""
    lost = lost_percent(row)
    if of_each(row, "timeouts") * _least_timeout_s(path) > _MOST * sure[0] * (row["stop_s"] - row["start_s"]):
        return _timeouts(row, path, queue, sure)
    if queue.utilization >= SATURATED and lasts(row, queue):
        return network(row, path, paths, sure[0], _MANY)
    said = f"the window recovers from losses at the queue of {queue.name} ({lost} lost{timeouts(row)})"
    return Cause("recovery", *sure, queue.name, f"{said}{busy(row, queue)}")


def _least_timeout_s(path: Path) -> float:
    return float((path.tcp or {})["rto"]["min_s"])


def awaits_timeouts(row: Mapping[str, Any], path: Path, share: float) -> bool:
    """Whether timeouts take most of a flow's time, one that has not expired at its end included.

    Who sends has a packet in flight at least; who has hardly any waits for a timer.
    """
    window, expired, complete = mean_window(row, path), row["timeouts"] or 0, row.get(COMPLETE, False)
    if window is None or window >= _SILENT:
        return False
    if complete and not expired:
        # Its probes are sent before the timer expires (RFC 8985 §7).
        return path.tcp is not None and bool(path.tcp["recovery"] == "rack")
    lasts_s = (expired + (not complete)) * _least_timeout_s(path)
    return bool(lasts_s > _MOST * share * (row["stop_s"] - row["start_s"]))


def _timeouts(row: Mapping[str, Any], path: Path, queue: Link, sure: tuple[float, Certainty]) -> Cause:
    least, waits = ms(_least_timeout_s(path)), row["timeouts"] or 0
    awaited = f"{waits} retransmission timeouts of {least} or more are awaited"
    if waits < _SEVERAL:
        awaited = f"a retransmission timeout of {least} or more is awaited{'' if waits else ' at the end'}"
    if row.get(COMPLETE) and not waits:
        awaited = "tail loss probes are awaited"
    text = f"{awaited}, as {lost_percent(row)} of the packets are lost at {queue.name}"
    return Cause("timeouts", *sure, queue.name, text)


def on_wire(row: Mapping[str, Any], path: Path, wire: Link, share: float, certainty: Certainty) -> Cause:
    """Losses on a wire keep the window small."""
    elsewhere = sum(link.totals.get("packets_dropped") or 0 for link in path.forward) - wire.lost_on_wire
    clear = wire.lost_on_wire >= _CLEAR * (wire.lost_on_wire + elsewhere)
    # Where queues drop as well, the table of flows does not say how many of a flow's losses are whose.
    lost = lost_percent(row) if clear else f"{small_percent(random_share(wire))}, and {lost_percent(row)} in all"
    lost += timeouts(row)
    if wire.only_fails:
        text = f"the window recovers from what is lost when link {wire.name} goes down ({lost}){beside_path(row, path)}"
        return Cause("recovery", share, certainty, wire.name, text)
    small = _small(row, path)
    text = f"random losses on the wire of {wire.name} ({lost}) keep the window {small}{beside_path(row, path)}"
    if path.acks_wait:
        text += f", and round trips take {ms(path.mean_rtt_s or 0.0)}, as ACKs wait at {path.acks_wait_at.name}"
    return Cause("random_loss", share, certainty, wire.name, text)


def overtaken(row: Mapping[str, Any], path: Path, share: float) -> Cause | None:
    """Packets that overtake each other are taken for lost; without a link that reorders, they take several paths."""
    link = next((each for each in path.forward if each.reorders), None)
    needless = (row["packets_retransmitted"] or 0) - row["packets_dropped"]
    many = needless > row["packets_dropped"] or hold(needless / row["packets_sent"], row, path)
    if not many or (link is None and not path.sprayed):
        return None
    where = "on their several paths" if link is None else f"on the wire of {link.name}"
    share_of_sent = small_percent(needless / max(1, row["packets_sent"]))
    text = (
        f"packets that overtake each other {where} are taken for lost ({share_of_sent} "
        f"retransmitted without need) and keep the window {_small(row, path)}{beside_path(row, path)}"
    )
    return Cause("reordering", share, "likely", "" if link is None else link.name, text)


def random_share(wire: Link) -> float:
    """The share of the packets on a wire that it loses."""
    return wire.lost_on_wire / max(1, (wire.totals["packets_in"] or 0) - wire.lost_at_queue)


def needless(row: Mapping[str, Any], path: Path) -> int:
    """Packets that a flow retransmits beyond what was lost, where they are many and none overtake each other."""
    lost, sent = row["packets_dropped"] or 0, row["packets_sent"] or 0
    extra = (row["packets_retransmitted"] or 0) - lost
    overtaken = path.sprayed or any(link.reorders for link in path.forward)
    return extra if extra > max(_NEEDLESS * lost, _MANY * sent) and not overtaken and path.tcp is not None else 0


def most_on_wire(path: Path) -> Link:
    """The link whose wire loses most packets."""
    return max(path.forward, key=lambda link: link.lost_on_wire)


def hold(lost: float, row: Mapping[str, Any], path: Path) -> bool:
    """Whether a share of losses, one by one, allows less than the path holds.

    Those of an overshoot come together, and make one cut.
    """
    return allowed(lost, path, row["rtt_mean_s"] or path.base_rtt_s) < NEAR * path.holds_packets


def allowed(lost: float, path: Path, rtt_s: float) -> float:
    """The window in packets that a share of losses allows at round trips of so long."""
    if lost <= 0:
        return math.inf
    window = renos_window(lost)
    return max(window, cubics_window(lost, rtt_s)) if path.congestion == "cubic" else window


def answered(row: Mapping[str, Any], path: Path, share: float) -> int:
    """Packets that a flow lost; none where it has retransmitted none, and waits for no timer: its window is not cut.

    Nor where they are the handshake's, before there was a window.
    """
    lost: int = row["packets_dropped"] or 0
    unanswered = row["packets_retransmitted"] == 0 and not row["timeouts"] and not awaits_timeouts(row, path, share)
    return 0 if unanswered or lost <= handshake_timeouts(row, path) else lost


def busy(row: Mapping[str, Any], link: Link) -> str:
    """How busy a link is, as words behind others; nothing where that says nothing of the flow."""
    return f"; the link is {percent(link.utilization)} busy" if lasts(row, link) else ""


def _small(row: Mapping[str, Any], path: Path) -> str:
    """How small a window is that losses cut: one that fills the path on average is too small at times only."""
    return "small at times" if (mean_window(row, path) or 0.0) >= path.filling_packets else "small"


def beside_path(row: Mapping[str, Any], path: Path) -> str:
    """The mean window beside what fills the path, as words behind others."""
    mean = mean_window(row, path)
    if mean is None:
        return ""
    return f"; {amount(mean)} packets in flight on average, the path holds {amount(path.filling_packets)}"
