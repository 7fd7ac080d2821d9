"""What would help a flow, as a change of its scenario with the command that tests it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tightlink import units
from tightlink.diagnosis import bounds, filling
from tightlink.diagnosis.answers import Cause, Delay, Suggestion
from tightlink.diagnosis.commands import Changed
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.paths import BY_DELAY, DEAF, FAIR, STRICT, Path
from tightlink.diagnosis.queue_lengths import BURST, bdp, many, one_bdp
from tightlink.diagnosis.queueing import bdp_packets
from tightlink.diagnosis.sweeps import SELECTIVE, swept
from tightlink.diagnosis.words import named

#: A queueing delay is worth a change from here on: CoDel's target (RFC 8289), and a quarter of the base delay.
_STANDING_S: Final = 0.005
_STANDING: Final = 0.25
#: Causes of less of the time are not worth a change.
_WORTH: Final = 0.1
#: A link that is busy for so much of the time has no rate to give that would be worth what a change costs: the delay of
#: a longer queue, or of a plain one in place of a discipline, and the losses of a control that does not heed them.
_FULL: Final = {
    "small_queue": 0.9,
    "timeouts": 0.8,
    "policer": 0.9,
    "early_drops": 0.8,
    "congestion_marks": 0.8,
    "random_loss": 0.8,
    "control": 0.8,
}
#: What a recovery that retransmits less can change, on a link that is less busy than that.
_RECOVERING, _ROOM = ("recovery", "timeouts"), 0.9
#: A queue of so many BDP or fewer is not too long.
_LONG: Final = 1.5
#: A least timeout of so many round trips is worth a shorter one, in seconds at least so long (Vasudevan et al. 2009).
_LONG_TIMEOUT, _SHORTEST_TIMEOUT_S = 10, 0.001
#: Controls that reduce by the share of marks, and of which part of a BDP their threshold is at least.
_SCALABLE: Final = frozenset({"dctcp", "prague"})
_OF_DCTCP: Final = 7
#: Initial windows that a short transfer is tried with, in packets: the standard's (RFC 6928) thrice, and ten times.
_INITIAL: Final = (32, 100)
#: Where packets are so much smaller than full ones, many are ACKs or a call's, which a limit in packets counts alike.
_SMALL: Final = 0.75
#: In a link less busy than that no queue stands: what waits there comes in bursts.
_BUSY: Final = 0.8
#: CAKE is told this share of a link's rate, so that its queue is the one that stands.
_SHAPED: Final = 0.98
_TARGET_PACKETS: Final = 1.5
#: A window that is to be no more than so many times what it is is left.
_MORE: Final = 1.1
#: Said of what cannot be measured, where the run was.
_SIMULATED: Final = " in a simulation"
#: Queues that decide by themselves what they drop.
_MANAGED: Final = (*FAIR[1:], "codel", "pie", "red", "rem", "cobalt", "dualpi2")
#: Bytes of headers that a datagram of 1500 B leaves for payload.
_LARGEST_PAYLOAD: Final = "1472 B"
_FULL_BYTES: Final = 1500


#: A change in words, and as values by keys of the scenario.
Tried: TypeAlias = "tuple[str, dict[str, Any]]"


def shorter_timeout(group: str, least_s: float, rtt_s: float) -> Tried | None:
    """A shorter least timeout of a traffic group, where that is many round trips as long as ``rtt_s``."""
    wanted_s = max(_SHORTEST_TIMEOUT_S, rtt_s)
    if least_s < _LONG_TIMEOUT * wanted_s:
        return None
    wanted = units.format_time(float(f"{wanted_s:.2g}"))
    return f"a least timeout of {wanted}", {f"traffic.{group}.tcp.rto.min": wanted}


@dataclass(frozen=True)
class Others:
    """Those who share a flow's queues."""

    controls: Sequence[str] = ()
    """Of those in the queue that adds most to its delay; empty for datagrams."""
    alike: bool = True
    """Whether those on its busiest link have parts that are not far from equal, and would with a shorter queue."""
    fill: Mapping[str, str] = field(default_factory=dict)
    """Controls of those that fill the queue that adds most to its delay, by names; empty for datagrams."""
    slower: Tried | None = None
    """Rates at which datagrams that fill that queue would fit."""
    needless: bool = False
    """Whether a flow retransmits much that was not lost, and no datagrams wait behind it in a queue without turns."""
    next_class: Tried | None = None
    """A class for datagrams that wait behind those that a strict queue puts in an order."""
    burst: Tried | None = None
    """A burst that takes what media send at once, where a policer drops them."""


def suggestions(
    row: Mapping[str, Any], path: Path, found: tuple[Cause, ...], delay: Delay, *, changed: Changed, others: Others
) -> tuple[Suggestion, ...]:
    """What would help, the first first, against what bounds the rate and adds delay; only what the scenario allows."""
    made: list[Suggestion] = []
    for_rate, for_delay = _for_rate(path, found, others), _for_delay(row, path, found, delay, others)
    # Whoever puts classes in an order wants some to wait; and those of DualPI2 are coupled.
    chosen = (*FAIR, STRICT, "dualpi2")
    unfair = not others.alike and found and found[0].name == "saturated_link" and path.busiest.discipline not in chosen
    # Its queues stand at CoDel's target, which between near hosts is longer than what stands there now.
    if (
        unfair
        and not _is_greedy(row, path, path.busiest, others)
        and max(path.base_rtt_s, path.busiest.queueing_s) >= _STANDING_S
    ):
        for_rate = itertools.chain([_fair(path.busiest, others)], for_rate)
    # What waits behind others waits less where queues are shorter; another control comes after that.
    acks = bool(found) and found[0].name == "control" and any(link.name == delay.where for link in path.reverse)
    if others.slower is not None and path.tcp is None and (_stands(delay) or any(map(_is_of_rate, found))):
        for_rate = itertools.chain([others.slower], for_rate)
    if others.burst is not None:
        for_rate = itertools.chain([others.burst], for_rate)
    for text, changes in [*for_delay, *for_rate] if acks else [*for_rate, *for_delay]:
        command = changed.command(changes)
        if command and all(changes != each.changes for each in made):
            made.append(Suggestion(text if changed.repeats(changes) else f"{text}{_SIMULATED}", command, changes))
    sweep = swept(path, made)
    if sweep is not None and (command := changed.sweep(*sweep[1:])):
        text, key, levels = sweep
        made.append(Suggestion(text if changed.simulated else f"{text}{_SIMULATED}", command, {}, {key: levels}))
    return tuple(made)


def _for_rate(path: Path, found: tuple[Cause, ...], others: Others) -> Iterator[Tried]:
    """What would raise the rate: a change against the first cause that the scenario can change, while there is room."""
    worth = [cause for cause in found if cause.share is None or cause.share >= _WORTH]
    busy, first = path.busiest.utilization, found[0].name if found else ""
    if others.needless and first in _RECOVERING and busy < _ROOM and (path.tcp or {}).get("recovery") != "rack":
        yield "RACK (retransmits less of what has arrived)", {_key(path, "tcp.recovery"): "rack"}
        return
    changes = _CHANGES
    if path.tcp is None and any(others.controls):
        # TCP fills what a longer queue, or a shaper in place of a policer, has room for.
        changes = {name: change for name, change in _CHANGES.items() if name not in {"policer", "small_queue"}}
    elif not all(others.controls):
        changes = _CHANGES | {"timeouts": _shorter_timeout}
    tried = (
        changes[cause.name](path, cause)
        for cause in worth
        if cause.name in changes and (busy < _FULL.get(cause.name, math.inf) or cause.name == first == "control")
    )
    yield from [each for each in tried if each is not None][:1]


def _key(path: Path, rest: str) -> str:
    return f"traffic.{path.spec['group']}.{rest}"


def _open_window(path: Path, _: Cause) -> Tried | None:
    """A window that the empty path holds; where ACKs wait for each other, one that lasts for that, too."""
    window = path.window_packets or 0
    if path.most_packets > _MORE * window:
        return _one_bdp_of_window(path)
    packets = math.ceil(path.most_packets * (1 + path.acks_wait_s / path.unfilled_rtt_s))
    if not path.acks_wait or path.acks_wait_for_data or packets <= _MORE * window:
        return None
    text = f"a window of {packets} packets, as long as ACKs wait at {path.acks_wait_at}"
    return text, {_key(path, "tcp.window"): f"{packets} packets"}


def _one_bdp_of_window(path: Path) -> Tried:
    packets = f"{path.most_packets} packets"
    at = " at its highest rates" if path.most_packets > path.full_packets else ""
    return f"a window of one BDP{at} ({packets})", {_key(path, "tcp.window"): packets}


def _lengthen_queue(path: Path, cause: Cause) -> Tried:
    link = path.link(cause.where)
    text, packets = one_bdp(link, path)
    return f"a plain {text}", {f"{link.key}.queue": packets}


def _relieve_acks(path: Path, cause: Cause) -> Tried | None:
    link = next(each for each in path.reverse if each.name == cause.where)
    if link.discipline in FAIR[1:]:
        return None
    if link.mean_bytes < _SMALL * path.packet_bytes:
        return "CAKE with its ACK filter", {f"{link.key}.queue": _cake(link)}
    return _fair(link)


def _shape(path: Path, cause: Cause) -> Tried:
    link = path.link(cause.where)
    text, packets = one_bdp(link, path)
    spec = link.spec["queue"]
    shaper = {"rate": units.format_rate(spec["rate_bps"]), "burst": units.format_size(spec["burst_bytes"])}
    text = f"a shaper of that rate and a {text}"
    if path.tcp is None:
        text, packets = "a shaper of that rate, at which bursts wait", link.written() or "unlimited"
    return text, {f"{link.key}.queue": packets, f"{link.key}.shaper": shaper}


def _mark_later(path: Path, cause: Cause) -> Tried:
    """A threshold below what keeps the link busy: a seventh of the BDP for DCTCP (Alizadeh et al. 2010, eq. 13)."""
    link = path.link(cause.where)
    part = _OF_DCTCP if path.congestion in _SCALABLE else 1
    least = math.ceil(bdp(link, path) / part) + 1
    if link.discipline != "threshold" or link.marks_packets(path.packet_bytes) >= least:
        return _lengthen_queue(path, cause)
    which = "a seventh of the" if part > 1 else "one"
    return f"marks from {least} packets on ({which} BDP)", {f"{link.key}.queue.mark": f"{least} packets"}


def _shorter_timeout(path: Path, _: Cause) -> Tried | None:
    """A least timeout that is no longer than some round trips with a full queue."""
    queues = (link.queueing_p95_s or link.queueing_s for link in (*path.forward, *path.reverse))
    rtts_s = 2 * (path.base_rtt_s + sum(queues))
    return shorter_timeout(path.spec["group"], (path.tcp or {})["rto"]["min_s"], rtts_s)


def _longer_queue(path: Path, cause: Cause) -> Tried | None:
    link = path.link(cause.where)
    limit = link.limit_packets(path.packet_bytes)
    if limit is None or link.discipline in _MANAGED:
        return None
    # What overshoots a queue that holds the path's packets more than once overshoots a longer one, too.
    if path.tcp is not None and limit > _LONG * many(link) * bdp(link, path):
        return None
    packets = f"{max(math.floor(2 * limit), BURST)} packets"
    return f"a longer queue ({packets})", {f"{link.key}.queue": packets}


def _fair(link: Link, others: Others | None = None) -> Tried:
    # Datagrams that do not slow down lose packets of all their frames there, rather than the ends of some.
    pay = [label for label, control in others.fill.items() if not control] if others else []
    cost = f", at the cost of {named(pay)}" if pay else ""
    return f"FQ-CoDel (a queue for each flow{cost})", {f"{link.key}.queue": {"kind": "fq-codel"}}


def _ignore_losses(path: Path, _: Cause) -> Tried | None:
    if path.tcp is None or path.congestion in DEAF:
        return None
    selective = {} if path.tcp["recovery"] in SELECTIVE else {_key(path, "tcp.recovery"): "sack"}
    changes = selective | {_key(path, "tcp.congestion"): "bbr"}
    return f"BBR{' with SACK' if selective else ''} (does not take each loss for congestion)", changes


def _wait_for_late(path: Path, _: Cause) -> Tried | None:
    if path.tcp is None or path.tcp["recovery"] == "rack":
        return None
    return "RACK (waits for late packets)", {_key(path, "tcp.recovery"): "rack"}


def _begin_larger(path: Path, _: Cause) -> Tried | None:
    first = 0 if path.tcp is None else path.tcp["initial_window_packets"]
    # It comes at once: what the queue before the slowest link does not take is lost.
    takes = path.slowest.limit_packets(path.packet_bytes) or math.inf
    larger = next((packets for packets in _INITIAL if first < packets <= takes), None)
    if larger is None:
        return None
    return f"an initial window of {larger} packets", {_key(path, "tcp.initial_window"): f"{larger} packets"}


def _lift_threshold(path: Path, _: Cause) -> Tried | None:
    if path.tcp is None or not isinstance(path.tcp["initial_ssthresh_packets"], int | float):
        return None
    return "slow start without a threshold", {_key(path, "tcp.initial_ssthresh"): "unlimited"}


def _larger_packets(path: Path, _: Cause) -> Tried | None:
    if path.tcp is not None or path.packet_bytes >= _FULL_BYTES:
        return None
    text = f"larger packets ({_LARGEST_PAYLOAD} of payload), which cost as much each"
    return text, {_key(path, "udp.payload"): _LARGEST_PAYLOAD}


_CHANGES: Final[dict[str, Callable[[Path, Cause], Tried | None]]] = {
    "receiver_window": _open_window,
    "ack_path": _relieve_acks,
    "small_queue": lambda path, cause: _longer_queue(path, cause) if path.tcp is None else _lengthen_queue(path, cause),
    "timeouts": lambda path, cause: _shorter_timeout(path, cause) or _longer_queue(path, cause),
    "early_drops": _lengthen_queue,
    "policer": _shape,
    "congestion_marks": _mark_later,
    "random_loss": _ignore_losses,
    "reordering": _wait_for_late,
    "slow_start": _begin_larger,
    "window_growth": _lift_threshold,
    "control": lambda path, _: ("CUBIC", {_key(path, "tcp.congestion"): "cubic"}),
    "sender_packet_rate": _larger_packets,
    "router_packet_rate": _larger_packets,
}


def _is_greedy(row: Mapping[str, Any], path: Path, link: Link, others: Others) -> bool:
    """Whether datagrams are more than a fair queue would let through beside other flows."""
    part_bps = link.carries_bps(path.packet_bytes) / (len(others.controls) + 1)
    return path.tcp is None and filling.offered_bps(row) > filling.MORE * part_bps


def _stands(delay: Delay) -> bool:
    """Whether what queues add is worth a change."""
    return delay.mean_s >= max(_STANDING_S, _STANDING * delay.base_s)


def _is_of_rate(cause: Cause) -> bool:
    """Whether datagrams are more than a link carries, always or at times."""
    return cause.name in {"saturated_link", "falling_rate"} and (cause.share is None or cause.share >= _WORTH)


def _for_delay(
    row: Mapping[str, Any], path: Path, found: tuple[Cause, ...], delay: Delay, others: Others
) -> Iterator[Tried]:
    link = next((each for each in (*path.forward, *path.reverse) if each.name == delay.where), None)
    if link is None or not _stands(delay):
        return
    if path.tcp is None and not (any(others.controls) or others.fill) and link.utilization < bounds.SATURATED:
        # Where datagrams come at random some wait, whatever the queue.
        return
    if path.congestion in BY_DELAY and not link.lost_at_queue:
        # It keeps as much in the queue as it is told.
        return
    fills = bool(found) and found[0].name == "saturated_link" and found[0].where == link.name
    if fills and bounds.window_fills(row, path):
        yield _one_bdp_of_window(path)
        return
    if others.next_class is not None and any(others.fill.values()) and not _is_greedy(row, path, link, others):
        yield others.next_class
    if link.discipline not in {*_MANAGED, STRICT} and (link.utilization >= _BUSY or others.fill):
        greedy = _is_greedy(row, path, link, others) or (path.tcp is None and row["label"] in others.fill)
        fair = bool(others.controls) and not greedy
        yield from _other_queues(link, path, others, fills=fills and others.alike, fair=fair)


def _other_queues(link: Link, path: Path, others: Others, *, fills: bool, fair: bool) -> Iterator[Tried]:
    """Queues that would add less delay than the one of a link.

    ``fills``: all that share it fill it alike; ``fair``: a part of it that is as large as that of others is enough.
    """
    fill = [*others.fill.values()] or [path.congestion, *others.controls]
    limit, one = link.limit_packets(path.packet_bytes), bdp(link, path)
    if limit is not None and limit <= BURST:
        return
    if link.discipline in FAIR:
        # What it gives to classes stays.
        if path.tcp is not None and max(one, BURST) < (limit or math.inf) / _LONG:
            text, packets = one_bdp(link, path)
            yield f"a {text}", {f"{link.key}.queue.limit": packets}
        return
    codel = {"kind": "codel", "limit": link.written() or "unlimited"}
    if link.mean_bytes < _SMALL * path.packet_bytes and path.tcp is not None:
        # Its queue stands at its target, which on a slow link is as long as one and a half full packets take.
        if link.queueing_s > _TARGET_PACKETS * link.service_s(_FULL_BYTES):
            yield "CAKE with its ACK filter", {f"{link.key}.queue": _cake(link)}
    elif not fills and fair:
        yield _fair(link, others)
    elif limit is not None and limit <= _LONG * many(link) * bdp_packets(link, path):
        return
    # A BDP is too short for others with longer round trips, and for what collects while a link waits for the medium.
    elif path.tcp is not None and max(one, BURST) < (limit or math.inf) / _LONG and not link.sends_bursts:
        text, packets = one_bdp(link, path)
        yield f"a {text}", {f"{link.key}.queue": packets}
    # Its drops tell senders to slow down, and are losses for nothing where they do not.
    deaf = DEAF.intersection(fill) or not (all(others.fill.values()) and any(fill))
    if link.queueing_s > _STANDING_S and not deaf:
        yield "CoDel", {f"{link.key}.queue": codel}


def _cake(link: Link) -> dict[str, str]:
    """CAKE that knows the rate of its link, if that is one: its target allows for packets that take long to send."""
    queue = {"kind": "cake", "ack_filter": "normal"}
    known = link.spec["rate_bps"] if "rate" not in link.spec and link.shaped_bps == math.inf else None
    return queue | ({"rate": units.format_rate(_SHAPED * known)} if known else {})
