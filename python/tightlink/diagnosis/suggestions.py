"""What would help a flow, as a change of its scenario with the command that tests it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tightlink import units
from tightlink.diagnosis import bounds, filling, frames, queueing
from tightlink.diagnosis.answers import Cause, Delay, Suggestion
from tightlink.diagnosis.beside import Others
from tightlink.diagnosis.commands import Changed, Tried
from tightlink.diagnosis.first_window import longer_timeout
from tightlink.diagnosis.kinds import BY_DELAY, BY_INTERVAL, BY_RATE, DEAF, DRR, FAIR, MANAGED, OF_ALL, SCALABLE, STRICT
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.other_queues import LONG, STANDING_S, fair_queues, interval_for, lower_shaper, other_queues
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.queue_lengths import burst, holds, long_enough, many
from tightlink.diagnosis.sweeps import swept
from tightlink.diagnosis.words import MEMBERS, between
from tightlink.scenario.values import LARGEST_WINDOW_BYTES

#: A queueing delay is worth a change from so much of the base delay on.
_STANDING: Final = 0.25
#: Causes of less of the time are not worth a change.
_WORTH: Final = 0.1
#: A link that is busy for so much of the time has no rate to give that would be worth what a change costs: the delay of
#: a longer queue, or of a plain one in place of a discipline, and the losses of a control that does not heed them.
_FULL: Final = {
    "small_queue": 0.9,
    "recovery": 0.9,
    "timeouts": 0.8,
    "policer": 0.98,
    "early_drops": 0.8,
    "congestion_marks": 0.8,
    "random_loss": 0.8,
    "control": 0.8,
}
#: What a recovery that retransmits less can change, on a link that is less busy than that.
_RECOVERING, _ROOM = ("recovery", "timeouts"), 0.9
#: What frames that come at once do to who is bounded by these.
_IN_BURSTS: Final = ("small_queue", "policer", "congestion_marks")
#: A least timeout of so many round trips is worth a shorter one, in seconds at least so long (Vasudevan et al. 2009).
_LONG_TIMEOUT, _SHORTEST_TIMEOUT_S = 10, 0.001
#: Of which part of what the path holds the threshold of controls that reduce by the share of marks is at least.
_OF_DCTCP: Final = 7
#: The ramp of DualPI2's marks ends at so many times its beginning (RFC 9332 Appendix A: 1.2 and 0.8 ms).
_RAMP: Final = 1.5
#: Of so many flows the losses come one after the other, and BDP / √n is long enough (Appenzeller et al. 2004).
_MANY_FLOWS: Final = 100
#: Initial windows that a short transfer is tried with, in packets: the standard's (RFC 6928) thrice, and ten times.
_INITIAL: Final = (32, 100)
#: In a link less busy than that no queue stands: what waits there comes in bursts.
_BUSY: Final = 0.8
#: Bursts of a policer are suggested of so many times what the path holds, in steps of so many bytes.
_BURST_TIMES, _STEP_BYTES = 2, 1000
#: Causes of more of the time are the main one.
_MOST: Final = 0.5
#: A window, or a burst, that is to be no more than so many times what it is is left; and one that is no more than what
#: it is to be.
_MORE, _LARGER = 1.1, 1.25
#: A window that is open from the start has room for a queue as long as the path.
_OPEN_TIMES: Final = 2
#: So has one that opens, of a control that keeps twice what the path holds in flight, beside what waits for holes.
_BY_RATE_TIMES: Final = 4
#: Bytes of headers that a datagram of 1500 B leaves for payload.
_LARGEST_PAYLOAD: Final = "1472 B"
_FULL_BYTES: Final = 1500


def shorter_timeout(group: str, least_s: float, rtt_s: float) -> Tried | None:
    """A shorter least timeout of a traffic group, where that is many round trips as long as ``rtt_s``."""
    wanted_s = max(_SHORTEST_TIMEOUT_S, rtt_s)
    if least_s < _LONG_TIMEOUT * wanted_s:
        return None
    wanted = units.format_time(float(f"{wanted_s:.2g}"))
    return f"a least timeout of {wanted}", {f"traffic.{group}.tcp.rto.min": wanted}


def suggestions(
    row: Mapping[str, Any], path: Path, found: tuple[Cause, ...], delay: Delay, *, changed: Changed, others: Others
) -> tuple[Suggestion, ...]:
    """What would help, the first first, against what bounds the rate and adds delay; only what the scenario allows."""
    for_rate, for_delay = _for_rate(path, found, others), _for_delay(row, path, found, delay, others)
    # Whoever puts classes in an order wants some to wait.
    in_turns = path.busiest.discipline in {*FAIR, STRICT}
    first = found[0].name
    by_others = first == "saturated_link" or (first == "congestion_marks" and bool(others.marks))
    unfair = by_others and not others.alike and not in_turns
    # Its queues stand at CoDel's target, which between near hosts is longer than what stands there now, but at DualPI2.
    long = path.busiest.discipline == "dualpi2" or max(path.base_rtt_s, path.busiest.queueing_s) >= STANDING_S
    if unfair and long and not _is_greedy(row, path, path.busiest, others):
        for_rate = itertools.chain([fair_queues(path.busiest, others)], for_rate)
    if by_others:
        for_rate = itertools.chain(others.marks, for_rate)
    if others.needless and (timeout := longer_timeout(row, path)) is not None:
        for_rate = itertools.chain([timeout], for_rate)
    beside_tcp = path.tcp is None and any(others.controls)
    if others.spread is not None and first in _IN_BURSTS and not beside_tcp:
        for_rate = itertools.chain(for_rate, [others.spread])
    elif others.spread is not None and _stands(delay) and not frames.at_once(path):
        for_delay = itertools.chain(for_delay, [others.spread])
    if others.own_frames is not None:
        for_rate = itertools.chain(for_rate, [others.own_frames])
    # What waits behind others waits less where queues are shorter; another control comes after that.
    at_acks = any(link.name == delay.where for link in path.reverse)
    late = path.acks_wait_s > path.base_rtt_s
    acks = at_acks and (first == "control" or (first == "random_loss" and late))
    if others.slower is not None and path.tcp is None and (_stands(delay) or any(map(_is_of_rate, found))):
        for_rate = itertools.chain([others.slower], for_rate)
    if others.burst is not None:
        for_rate = itertools.chain([others.burst], for_rate)
    tried = itertools.chain(for_delay, for_rate) if acks else itertools.chain(for_rate, for_delay)
    where = path.either_way(delay.where)
    if where is not None and _stands(delay):
        tried = itertools.chain(lower_shaper(where, path), tried)
    policers = (link for link in path.forward if link.polices and any(cause.where == link.name for cause in found))
    lower = [each for link in policers for each in lower_shaper(link, path)]
    # What holds a connection below the policer's rate is less with a longer burst, or a shaper in its place.
    last = first == "policer" and path.tcp is not None
    tried = itertools.chain(tried, lower) if last else itertools.chain(lower, tried)
    groups = others.groups or {path.spec["group"]}
    made = _named(changed.suggestions(with_other_end(tried, where, others, changed), groups), path, others)
    # A control is no choice where others have set it.
    sweep = swept(path, [each for each in made if all(each.changes != of_others for _, of_others in others.marks)])
    return (*made, *(changed.swept(*sweep) if sweep is not None else ()))


def with_other_end(tried: Iterable[Tried], link: Link | None, others: Others, changed: Changed) -> Iterator[Tried]:
    """Turns at another queue, too, where turns at that of a link alone make somebody wait there instead."""
    both = None
    if link is not None and others.beside.elsewhere is not None:
        both = fair_queues(link, replace(others, beside=others.beside.with_elsewhere(link)))
    for each in tried:
        yield each
        if both is not None and both[1].items() > each[1].items() and changed.delays(each[1]):
            yield both


def _named(made: Sequence[Suggestion], path: Path, others: Others) -> list[Suggestion]:
    """Suggestions of queues with the names of their links, where these are several."""
    beside = others.beside
    there = *path.forward, *path.reverse, *beside.together, *([] if beside.elsewhere is None else [beside.elsewhere])
    links = {f"{link.key}.queue": link.name for link in there}
    where = [{links[key] for key in each.changes if key in links} for each in made]
    if len(set().union(*where)) < 2:  # noqa: PLR2004
        return list(made)
    return [
        replace(each, text=f"{each.text} at {next(iter(at))}") if len(at) == 1 else each
        for each, at in zip(made, where, strict=True)
    ]


def _for_rate(path: Path, found: tuple[Cause, ...], others: Others) -> Iterator[Tried]:
    """What would raise the rate: a change against the first cause that the scenario can change, while there is room."""
    worth = [cause for cause in found if cause.share is None or cause.share >= _WORTH]
    busy, first = _uses(path.busiest.utilization, others.load), found[0].name
    rack = _rack(path, "retransmits less of what has arrived")
    if others.needless and first in _RECOVERING and busy < _ROOM and rack is not None:
        yield rack
        return
    if first == "application" and path.spec["traffic"]["kind"] == "cbr" and path.tcp is not None:
        # All that is offered arrives.
        return
    changes = _CHANGES
    if path.tcp is None and any(others.controls):
        # TCP fills what a longer queue, or a shaper in place of a policer, has room for.
        changes = {name: change for name, change in _CHANGES.items() if name not in {"policer", "small_queue"}}
    elif not all(others.controls):
        changes = _CHANGES | {"timeouts": _shorter_timeout}
    if first in {"early_drops", "congestion_marks"} and busy < _FULL[first]:
        yield from _longer_interval(path, found[0], others)
    tried = (
        changes[cause.name](path, cause, others)
        for cause in worth
        if cause.name in changes
        and (busy < _FULL.get(cause.name, math.inf) or cause.name == first == "control")
        and (cause.name, first) != ("control", "application")
    )
    yield from [each for each in tried if each is not None][:1]
    if first == "policer" and path.tcp is not None and busy < _FULL[first]:
        yield from _larger_burst(path, found[0])


def _uses(utilization: float, load: float) -> float:
    """Which part of a link is used of what a load of open-loop transfers leaves: of the rest somebody would gain.

    Transfers that come at random keep a link as busy as their load is, and are the slower the less it carries beyond
    that: by 1 - load to utilization - load, as the mean number under way goes by (Kleinrock 1976, volume 2, § 4.4).
    """
    return (utilization - load) / (1 - load) if load < utilization else 0.0


def _key(path: Path, rest: str) -> str:
    return f"traffic.{path.spec['group']}.{rest}"


def _open_window(path: Path, cause: Cause, others: Others) -> Tried | None:
    """A window that the empty path holds; where ACKs wait for each other, one that lasts for that, too.

    Where they wait for data, a longer window would make those of the other direction wait: turns let them pass.
    """
    window = path.window_packets or 0
    if path.most_packets > _MORE * window:
        return _as_path(path)
    if bounds.still_opens(path) and path.congestion in BY_RATE:
        packets = _BY_RATE_TIMES * path.most_packets
        return _window(path, packets, "a window of four times what the path holds ({}), which opens sooner")
    if bounds.still_opens(path):
        packets = _OPEN_TIMES * path.most_packets
        is_main = (cause.share or 1.0) >= _MOST and not path.opens(packets)
        text = "a window of twice what the path holds ({}), which is open from the start"
        return _window(path, packets, text) if is_main else None
    if path.acks_among_data and path.acks_wait_s > queueing.LITTLE * path.base_rtt_s:
        return _give_turns(path.acks_wait_at, others)
    packets = math.ceil(path.most_packets * (1 + path.acks_wait_s / path.unfilled_rtt_s))
    if not path.acks_wait or packets <= _MORE * window:
        return None
    return _window(path, packets, f"a window of {{}}, as long as ACKs wait at {path.acks_wait_at.name}")


def _as_path(path: Path) -> Tried | None:
    largest = LARGEST_WINDOW_BYTES // (path.tcp or {})["payload_bytes"]
    if path.most_packets > largest:
        text = f"TCP's largest window ({{}}, {units.format_size(LARGEST_WINDOW_BYTES)})"
        return _window(path, largest, text) if largest > _MORE * (path.window_packets or 0) else None
    at = " at its highest rates" if path.most_packets > path.full_packets else ""
    return _window(path, path.most_packets, f"a window of what the path holds{at} ({{}})")


def _window(path: Path, packets: int, text: str) -> Tried:
    """A receiver's window, in a text with a place for how many packets it is."""
    wanted = units.format_packets(packets)
    return text.format(wanted), {_key(path, "tcp.window"): wanted}


def _lengthen_queue(path: Path, cause: Cause, others: Others) -> Tried:
    link = path.link(cause.where)
    many_flows = cause.name == "small_queue" and link.name == path.busiest.name and others.flows >= _MANY_FLOWS
    text, packets = long_enough(link, path, others.flows if many_flows else 1)
    return f"a plain {text}", {f"{link.key}.queue": packets}


def _longer_interval(path: Path, cause: Cause, others: Others) -> Iterator[Tried]:
    """An interval of CoDel as long as the longest round trip, which is what it waits for an answer (RFC 8289 §4.2)."""
    link = path.link(cause.where)
    times, _ = interval_for(link, max(others.beside.rtt_s, path.unfilled_rtt_s))
    by_interval = link.discipline in BY_INTERVAL and bool(times)
    if by_interval and units.time(times["interval"]) > link.spec["queue"]["interval_s"]:
        text = f"an interval of {times['interval']} and a target of {times['target']}, as round trips there are long"
        yield text, {f"{link.key}.queue.{key}": value for key, value in times.items()}


def _relieve_acks(path: Path, cause: Cause, others: Others) -> Tried | None:
    link = next(each for each in path.reverse if each.name == cause.where)
    if link.discipline not in FAIR[1:] or link.name not in others.beside.acked:
        return _give_turns(link, others)
    # Turns alone do not make ACKs fewer.
    if link.discipline != "cake":
        return fair_queues(link, others)
    key = f"{link.key}.queue.ack_filter"
    return ("CAKE's ACK filter", {key: "normal"}) if link.spec["queue"]["ack_filter"] == "none" else None


def _give_turns(link: Link, others: Others) -> Tried | None:
    return None if link.discipline in FAIR[1:] else fair_queues(link, others)


def _shape(path: Path, cause: Cause, _: Others) -> Tried:
    link = path.link(cause.where)
    text, packets = long_enough(link, path)
    spec = link.spec["queue"]
    shaper = {"rate": units.format_rate(spec["rate_bps"]), "burst": units.format_size(spec["burst_bytes"])}
    text = f"a shaper of that rate and a {text}"
    if path.tcp is None:
        text, packets = "a shaper of that rate, at which bursts wait", link.written() or "unlimited"
    return text, {f"{link.key}.queue": packets, f"{link.key}.shaper": shaper}


def _larger_burst(path: Path, cause: Cause) -> Iterator[Tried]:
    """A burst that lets a window of slow start through, or what follows an idle time: twice what the path holds."""
    link = path.link(cause.where)
    wanted = math.ceil(_BURST_TIMES * path.filling_packets * path.packet_bytes / _STEP_BYTES) * _STEP_BYTES
    if wanted > _MORE * link.spec["queue"]["burst_bytes"]:
        burst = units.format_size(wanted)
        yield f"a burst of twice what the path holds ({burst})", {f"{link.key}.queue.burst": burst}


def _mark_later(path: Path, cause: Cause, others: Others) -> Tried:
    """A threshold that keeps the link busy: a seventh of that for DCTCP (Alizadeh et al. 2010, eq. 13)."""
    link, size = path.link(cause.where), path.packet_bytes
    if link.discipline == "dualpi2" and link.rarely_waits_s(size) > link.spec["queue"]["ramp_s"][0]:
        first, last = (units.format_time(float(f"{times * link.rarely_waits_s(size):.2g}")) for times in (1, _RAMP))
        key = f"{link.key}.queue"
        text = f"marks from {between(first, last)} of waiting on (longer than nearly all waits for the medium)"
        return text, {f"{key}.min_threshold": first, f"{key}.max_threshold": last}
    # Where transfers come and go, what long ones need is too little for their slow start.
    for part, which in ((_OF_DCTCP, "a seventh of "), (1, "")) if path.congestion in SCALABLE else ((1, ""),):
        least = math.ceil(holds(link, path) / part) + 1
        takes = link.limit_packets(size) or math.inf
        if link.discipline == "threshold" and link.marks_packets(size) < least < takes:
            text = f"marks from {least} packets on ({which}what the path holds)"
            return text, {f"{link.key}.queue.mark": f"{least} packets"}
    return _lengthen_queue(path, cause, others)


def _shorter_timeout(path: Path, _: Cause, __: Others) -> Tried | None:
    """A least timeout that is no longer than some round trips with a full queue."""
    queues = (link.queueing_p95_s or link.queueing_s for link in (*path.forward, *path.reverse))
    rtts_s = 2 * (path.base_rtt_s + sum(queues))
    return shorter_timeout(path.spec["group"], (path.tcp or {})["rto"]["min_s"], rtts_s)


def _longer_queue(path: Path, cause: Cause, _: Others) -> Tried | None:
    link = path.link(cause.where)
    limit = link.limit_packets(path.packet_bytes)
    if limit is None or link.discipline in MANAGED:
        return None
    longest = math.inf if path.tcp is None else LONG * many(link) * holds(link, path)
    # What overshoots a queue that holds the path's packets overshoots a longer one, too.
    if path.tcp is not None and limit >= max(longest / LONG, burst(path)):
        return None
    wanted, largest = max(math.floor(min(2 * limit, longest)), burst(path)), frames.largest_packets(path)
    packets, what = f"{max(wanted, largest)} packets", ", the largest frames" if largest > wanted else ""
    return f"a longer queue ({packets}{what})", {f"{link.key}.queue": packets}


def _take_bursts(path: Path, cause: Cause, _: Others) -> Tried | None:
    """A queue that takes what comes at once, however short the path is."""
    link, packets = path.link(cause.where), burst(path)
    limit = link.limit_packets(path.packet_bytes) or math.inf
    if link.discipline in MANAGED or limit >= packets or link.lost_at_queue <= link.lost_on_wire:
        return None
    return f"a queue of {packets} packets", {f"{link.key}.queue": f"{packets} packets"}


def _rack(path: Path, does: str) -> Tried | None:
    """RACK where TCP has another recovery, and what it does better."""
    if path.tcp is None or path.tcp["recovery"] == "rack":
        return None
    return f"RACK ({does})", {_key(path, "tcp.recovery"): "rack"}


def _repair_sooner(path: Path) -> Tried | None:
    """Losses that are repaired without timeouts; or else a slow start that overshoots less."""
    rack = _rack(path, "finds lost retransmissions without a timeout")
    if rack is not None or (path.tcp or {}).get("slow_start") != "byte-counting":
        return rack
    return "standard slow start (overshoots less)", {_key(path, "tcp.slow_start"): "standard"}


def _send_on(path: Path) -> Tried | None:
    """RACK for who sends on in recovery: without, a retransmission that is lost waits for the timer."""
    return _rack(path, "finds lost retransmissions without a timeout") if path.congestion in DEAF else None


def _ignore_losses(path: Path, _: Cause, __: Others) -> Tried | None:
    if path.tcp is None or path.congestion in DEAF:
        return _send_on(path)
    rack = {} if path.tcp["recovery"] == "rack" else {_key(path, "tcp.recovery"): "rack"}
    changes = rack | {_key(path, "tcp.congestion"): "bbr"}
    return f"BBR{' with RACK' if rack else ''} (does not take each loss for congestion)", changes


def _begin_larger(path: Path, _: Cause, __: Others) -> Tried | None:
    first = 0 if path.tcp is None else path.tcp["initial_window_packets"]
    # It comes at once: what the queue before the slowest link does not take is lost.
    takes = path.slowest.limit_packets(path.packet_bytes) or math.inf
    larger = next((packets for packets in _INITIAL if first < packets <= takes), None)
    if larger is None:
        return None
    return f"an initial window of {larger} packets", {_key(path, "tcp.initial_window"): f"{larger} packets"}


def _lift_threshold(path: Path, _: Cause, __: Others) -> Tried | None:
    if path.tcp is None or not isinstance(path.tcp["initial_ssthresh_packets"], int | float):
        return None
    return "slow start without a threshold", {_key(path, "tcp.initial_ssthresh"): "unlimited"}


def _await_handshake(path: Path, _: Cause, __: Others) -> Tried | None:
    """A first timeout that is longer than the round trip, before which every SYN is retransmitted."""
    if path.tcp is None or path.base_rtt_s < path.tcp["rto"]["initial_s"]:
        return None
    longer = units.format_time(float(math.ceil(2 * path.base_rtt_s)))
    return f"a first timeout of {longer}, longer than the round trip", {_key(path, "tcp.rto.initial"): longer}


def _resume_slow_start(path: Path, cause: Cause, _: Others) -> Tried | None:
    # Where something else is what holds the flow, it would take from others.
    if path.leaves_early is None or (cause.share or 1.0) < _MOST:
        return None
    return "HyStart++ (resumes slow start where delays fall again)", {_key(path, "tcp.slow_start"): "hystart++"}


def _larger_packets(path: Path, cause: Cause, __: Others) -> Tried | None:
    if path.tcp is not None or path.packet_bytes >= _FULL_BYTES:
        return None
    by_byte = any(each.name == cause.where and each.spec["per_byte_s"] for each in path.processors)
    cost = "less for each byte" if by_byte else "as much each"
    text = f"larger packets ({_LARGEST_PAYLOAD} of payload), which cost {cost}"
    return text, {_key(path, "udp.payload"): _LARGEST_PAYLOAD}


_CHANGES: Final[dict[str, Callable[[Path, Cause, Others], Tried | None]]] = {
    "receiver_window": _open_window,
    "ack_path": _relieve_acks,
    "small_queue": lambda path, *found: (_longer_queue if path.tcp is None else _lengthen_queue)(path, *found),
    "timeouts": lambda *found: _shorter_timeout(*found) or _longer_queue(*found) or _repair_sooner(found[0]),
    "recovery": lambda *found: _send_on(found[0]) or _take_bursts(*found),
    "early_drops": _lengthen_queue,
    "policer": _shape,
    "congestion_marks": _mark_later,
    "random_loss": _ignore_losses,
    "reordering": lambda path, *_: _rack(path, "waits for late packets"),
    "slow_start": _begin_larger,
    "window_growth": lambda *found: _await_handshake(*found) or _lift_threshold(*found) or _resume_slow_start(*found),
    "control": lambda path, *_: ("CUBIC", {_key(path, "tcp.congestion"): "cubic"}),
    "sender_packet_rate": _larger_packets,
    "router_packet_rate": _larger_packets,
}


def _is_greedy(row: Mapping[str, Any], path: Path, link: Link, others: Others) -> bool:
    """Whether datagrams are more than a fair queue would let through beside other flows, always or in long bursts."""
    if path.tcp is not None:
        return False
    part_bps = link.carries_bps(path.packet_bytes) / (len(others.controls) + 1)
    always = filling.offered_bps(row) > filling.MORE * part_bps * row.get(MEMBERS, 1)
    return always or filling.burst_waits_s(row, path, part_bps) > link.queueing_s


def _stands(delay: Delay) -> bool:
    """Whether what queues add is worth a change."""
    return delay.mean_s >= max(STANDING_S, _STANDING * delay.base_s)


def _is_of_rate(cause: Cause) -> bool:
    """Whether datagrams are more than a link carries, always or at times."""
    return cause.name in {"saturated_link", "falling_rate"} and (cause.share is None or cause.share >= _WORTH)


def _for_delay(
    row: Mapping[str, Any], path: Path, found: tuple[Cause, ...], delay: Delay, others: Others
) -> Iterator[Tried]:
    link = path.either_way(delay.where)
    # Nothing but a link that is up helps against the wait for one that is down.
    if link is None or not _stands(replace(delay, mean_s=delay.mean_s - queueing.of_outages_s(row, path, link))):
        return
    if path.tcp is None and not (any(others.controls) or others.fill) and link.utilization < bounds.SATURATED:
        # Where datagrams come at random some wait, whatever the queue.
        return
    longest = max(found, key=lambda cause: cause.share or 0.0)
    if longest.name == "last_ack" and others.fill.keys() <= {row["label"]}:
        # A transfer that ends so soon waits behind what it sent at once itself, and needs all of it.
        return
    if path.congestion in BY_DELAY and not link.lost_at_queue:
        # It keeps as much in the queue as it is told.
        return
    fills = found[0].name == "saturated_link" and found[0].where == link.name
    if fills and bounds.window_fills(row, path) and others.alone and not path.acks_wait_for_data:
        # Its window makes the queue, and nobody else's packets add to its round trips.
        smaller = _as_path(path) if (path.window_packets or 0) > _LARGER * path.most_packets else None
        yield from [] if smaller is None else [smaller]
        return
    # What turns are enough for is known there.
    if others.own_class is not None and (link.discipline == DRR or not _is_greedy(row, path, link, others)):
        yield others.own_class
    # Whoever puts classes in an order wants datagrams of the last to wait.
    ordered = link.discipline == STRICT and path.tcp is None
    if link.discipline not in MANAGED and not ordered and (link.utilization >= _BUSY or others.fill):
        greedy = _is_greedy(row, path, link, others) or (path.tcp is None and row["label"] in others.fill)
        drowned = path.tcp is None and link.name in others.beside.acked
        fair = (bool(others.controls) or drowned) and not greedy
        if others.in_turn is not None and (greedy or frames.at_once(path)):
            (turns, changes), (rate, slower) = fair_queues(link, others), others.in_turn
            yield f"{turns} and {rate}", {**changes, **slower}
        yield from other_queues(link, path, others, fills=fills and others.alike and not drowned, fair=fair)
    if not _is_greedy(row, path, link, others):
        yield from _past_others(path, link, others)


def _past_others(path: Path, link: Link, others: Others) -> Iterator[Tried]:
    """What lets packets past those that fill a queue: turns where one queue is kept short for all, or a class."""
    if link.discipline in OF_ALL and path.tcp is None and others.fill:
        yield fair_queues(link, others)
    if others.ordered is not None:
        yield others.ordered
