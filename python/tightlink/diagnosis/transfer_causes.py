"""What the time of open-loop transfers is spent on: links that are full, timers, windows, or just their packets' way.

Their account of time is one for the whole group. Where transfers are short, it says little of queues: they connect, and
wait for their last ACK, behind what others send. So their own round trips say how much of that is waiting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tightlink.diagnosis import bounds, window
from tightlink.diagnosis.answers import Cause, Delay, merged
from tightlink.diagnosis.causes import in_order, shares
from tightlink.diagnosis.kinds import APART
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.under_way import Group, Used
from tightlink.diagnosis.words import (
    ALIKE,
    COMPLETE,
    amount,
    by_number,
    ms,
    named,
    percent,
    rate,
    round_trips,
    small_percent,
    span,
)
from tightlink.lazy import np
from tightlink.numbers import grouped, several

#: A share of time below which a cause is not worth a word.
_LEAST: Final = 0.03
#: A link that is busy for so much of the time with transfers is full: as the first begin and the last end it cannot be.
FULL: Final = 0.9
#: What comes is about all that a link carries from so much of it on; of fewer transfers it is no load.
_OVERLOADED, _FEWEST = 0.95, 30
#: Waits that are so much of their round trips are what transfers wait for.
WAITS: Final = 0.5
#: Waits of so little of their base round trips are none.
_LITTLE: Final = 0.1
_WHILE: Final = " while there are transfers"
_BITS: Final = 8


@dataclass(frozen=True)
class Found:
    """What bounds the transfers of a group."""

    causes: tuple[Cause, ...]
    overloaded: tuple[Used, ...]
    """Links to which more is offered than they carry, or about as much."""
    retransmitted: float
    """Share of their time in which handshakes wait to be retransmitted."""
    waits: Delay
    """What queues add to their round trips."""


@dataclass
class _Account:
    """Shares of the time of all transfers of a group."""

    retransmitted: float
    """Waiting for a handshake to be retransmitted."""
    timeouts: float
    """Waiting for retransmission timeouts, and for probes."""
    probes: float
    """Of that, with all sent, for tail loss probes."""
    full: float
    """Waiting for links that are full."""
    held: float
    """At the congestion window, or the pacing timer."""
    connecting: float
    """In other handshakes, but for waits in queues."""
    last_ack: float
    """With all sent, but for waits in queues."""
    others: Mapping[str, float]


def causes(group: Group, waits: Delay, paths: Paths) -> Found:
    """What bounds the transfers of a group, the largest share of their time first, but an overload before all."""
    down = _outage(group)
    spent = _account(group, waits, 0.0 if down is None else down.share or 0.0)
    crowded, overloaded = _crowded(group, spent), _overloaded(group, spent)
    if overloaded or crowded is not None or _is_full(group, waits):
        spent.full, spent.held = spent.full + spent.held, 0.0
    found = [] if down is None else [down]
    found += _timers(group, spent)
    if spent.full >= _LEAST or overloaded:
        found.append(_offered(group, spent.full, overloaded) if overloaded else _full(group, spent, waits, crowded))
    row = mean_of(group)
    bound = {"receiver_window": bounds.receiver_window, "sender_rate": bounds.sender_rate}
    found += [bound[name](row, group.path(), paths, share) for name, share in spent.others.items() if share >= _LEAST]
    if spent.held >= _LEAST:
        found.append(_held(group, row, paths, spent.held))
    soon = spent.connecting + spent.last_ack
    if soon >= _LEAST or not found:
        name = "handshake" if spent.connecting > spent.last_ack else "last_ack"
        behind = "behind no more than short queues" if waits.mean_s < WAITS * waits.base_s else "waits in queues aside"
        text = f"they connect, or all is sent and the last ACK is awaited, {behind}"
        found.append(Cause(name, soon, "certain", "", text))
    ordered = in_order(merged((cause, 1.0) for cause in found))
    if overloaded:
        ordered.sort(key=lambda cause: cause.name != "saturated_link")
    return Found(tuple(ordered), overloaded, spent.retransmitted, waits)


def _account(group: Group, waits: Delay, down: float) -> _Account:
    """Shares of time, without that of an outage.

    A handshake takes a round trip, and an ACK comes after one: how much of these is waiting, round trips say.
    """
    known = shares(group.row)
    _take(known, down)
    rtt_s = waits.base_s + waits.mean_s
    waiting = waits.mean_s / rtt_s if rtt_s else 0.0
    connecting, last_ack = known.pop("handshake", 0.0), known.pop("application", 0.0)
    again = connecting - rtt_s / group.mean_s if group.mean_s else 0.0
    if again < (1 - 1 / bounds.RETRANSMITTED) * connecting:
        again = 0.0
    connecting -= again
    held = known.pop("congestion_window", 0.0) + known.pop("pacing", 0.0)
    timeouts = probes = 0.0
    if group.total_s:
        timeouts = min(held, _timeouts_s(group, again) / group.total_s)
        waits_s = last_ack * group.mean_s
        probes = bounds.probed_s(group.row, group.path(), group.paths.profile, waits_s, rtt_s) / group.mean_s
    last_ack -= probes
    full = known.pop("network", 0.0) + waiting * (connecting + last_ack)
    soon = 1 - waiting
    return _Account(again, timeouts + probes, probes, full, held - timeouts, soon * connecting, soon * last_ack, known)


def _timers(group: Group, spent: _Account) -> Iterator[Cause]:
    """Waits for what was lost to be retransmitted."""
    where = lost_at(group)
    lost = f", as {lost_share(group)} of the packets are lost, most at {where}" if where else ""
    if spent.retransmitted >= _LEAST:
        text = f"connections wait for their handshakes to be retransmitted{lost}"
        yield Cause("handshake", spent.retransmitted, "likely", where, text)
    if spent.timeouts >= _LEAST:
        awaited = []
        if spent.timeouts - spent.probes >= _LEAST:
            many = several(group.row["timeouts"], "retransmission timeout")
            awaited.append(f"{many} of {ms(timeout(group)['min_s'])} or more")
        awaited += ["tail loss probes"] if spent.probes >= _LEAST or not awaited else []
        yield Cause("timeouts", spent.timeouts, "likely", where, f"they wait for {' and '.join(awaited)}{lost}")


def _take(known: dict[str, float], share: float) -> None:
    """Takes a share of time from what is waited for while a link is down, and behind that."""
    for name in ("handshake", "congestion_window", "pacing", "network", "receiver_window", "application"):
        part = min(share, known.get(name, 0.0))
        known[name] = known.get(name, 0.0) - part
        share -= part


def _outage(group: Group) -> Cause | None:
    """That links are down while transfers are under way, with what these wait for the timer behind that.

    Who takes several that fail waits for the one that takes longest of its time.
    """
    lost_s = np.zeros(len(group.starts_s))
    lasts_s: dict[str, float] = {}
    at_random = False
    for link in [each for each in group.links if "outages" in each.spec]:
        taken = group.takes(link.name)
        times = zip(group.starts_s[taken].tolist(), group.stops_s[taken].tolist(), strict=True)
        found_s = [_loses_s(group, link, *each) for each in times]
        if any(found_s):
            lost_s[taken] = np.maximum(lost_s[taken], found_s)
            lasts_s[link.name] = link.down_s(float(group.starts_s.min()), float(group.stops_s.max()))
            at_random |= link.fails_at_random
    share = float(lost_s.sum()) / group.total_s if group.total_s else 0.0
    if share < _LEAST:
        return None
    # Where both directions are, one name is enough.
    links = by_number(name for name in lasts_s if name.removesuffix(".reverse") not in lasts_s.keys() - {name})
    where = named(links)
    who = f"link {where} is" if len(links) == 1 else f"{len(links)} links, {where}, are"
    hit = f", while {grouped(int(np.count_nonzero(lost_s)))} of {several(len(lost_s), 'transfer')} are under way"
    lasts = span(lasts_s.values(), ms)
    text = f"{who} down, {lasts}{' on average' if at_random else hit}"
    return Cause("outage", share, "certain", where, text)


def _loses_s(group: Group, link: Link, start_s: float, stop_s: float) -> float:
    """What a transfer loses by outages of a link, with the timer that expires behind them at most: timers double.

    Without timeouts packets have waited for the end of an outage in a queue.
    """
    down_s = link.down_s(start_s, stop_s)
    if not down_s or link.fails_at_random or not group.row["timeouts"]:
        return down_s
    connects = link.down_s(start_s, start_s + group.base_rtt_s) > 0
    timer_s = max(down_s, timeout(group)["initial_s" if connects else "min_s"])
    return min(stop_s - start_s, down_s + timer_s)


def timeout(group: Group) -> Mapping[str, float]:
    """The retransmission timeout of a group, as the engine reads it."""
    found: Mapping[str, float] = (group.path().tcp or {})["rto"]
    return found


def _timeouts_s(group: Group, again: float) -> float:
    """How long timeouts of data last at least: not those of handshakes."""
    of_data = (group.row["timeouts"] or 0) - again * group.total_s / timeout(group)["initial_s"]
    return max(0.0, of_data) * timeout(group)["min_s"]


def _is_full(group: Group, waits: Delay) -> bool:
    """Whether time at the congestion window is spent at a link that is full, rather than for losses on a wire."""
    busiest = group.there[0].link
    # A link that marks so early that none wait is as busy as its load, and full for nobody.
    marks = busiest.marked and waits.mean_s < _LITTLE * waits.base_s
    if busiest.utilization < FULL or _loses_on_wire(group) or (marks and load(group, group.there[0]) > 0):
        return False
    return busiest.discipline not in APART or waits.mean_s >= waits.base_s


def _crowded(group: Group, spent: _Account) -> Used | None:
    """The link that loses most, if those that are under way there at once fill it while they do not wait for timers.

    A few that wait for long make it idle for most of the time with transfers, and not for most of the transfers.
    """
    used = group.used(lost_at(group))
    if used is None or used.part < WAITS or _loses_on_wire(group) or used.link.utilization >= FULL:
        return None
    sending = 1 - spent.retransmitted - spent.timeouts
    return used if group.fills_bps(used) >= FULL * sending * used.link.carries_bps(group.packet_bytes) else None


def _loses_on_wire(group: Group) -> bool:
    on_wire, at_queue = (max(getattr(used.link, name) for used in group.there)
                         for name in ("lost_on_wire", "lost_at_queue"))  # fmt: skip
    return bool(group.row["packets_dropped"]) and on_wire > at_queue


def _overloaded(group: Group, spent: _Account) -> tuple[Used, ...]:
    """The links to which more is offered than they carry, or else about as much, where that costs most of the time."""
    at_queue = 0.0 if _loses_on_wire(group) else spent.held + spent.retransmitted + spent.timeouts
    if spent.full + at_queue < WAITS:
        return ()
    many = [used for used in group.there if used.transfers >= _FEWEST]
    more = tuple(used for used in many if exceeds(group, used))
    return more or tuple(used for used in many if exceeds(group, used, _OVERLOADED))


def exceeds(group: Group, used: Used, part: float = 1.0) -> bool:
    """Whether more is offered to a link than a part of what it carries, and to those beside it on average."""
    return min(used.offered_bps, used.beside_bps) > part * used.link.carries_bps(group.packet_bytes)


def load(group: Group, used: Used) -> float:
    """What is offered to a link, of what it carries; nothing where too few transfers take it to tell."""
    return used.offered_bps / used.link.carries_bps(group.packet_bytes) if used.transfers >= _FEWEST else 0.0


def _offered(group: Group, share: float, overloaded: Sequence[Used]) -> Cause:
    """More is offered than links carry, or about as much."""
    offers = span((used.offered_bps for used in overloaded), rate)
    carries = span((used.link.carries_bps(group.packet_bytes) for used in overloaded), rate)
    where = named(by_number(used.link.name for used in overloaded))
    who = where if len(overloaded) == 1 else f"each of {len(overloaded)} links, {where},"
    much, than = ("more", "than") if exceeds(group, overloaded[0]) else ("about as much", "as")
    text = f"{much} is offered to {who} {than} it carries: {offers} while transfers arrive, of {carries}"
    return Cause("saturated_link", share, "certain", where, text)


def _full(group: Group, spent: _Account, waits: Delay, crowded: Used | None) -> Cause:
    """A router or links that are full; or else the busiest of those at which packets wait."""
    share = spent.full
    router = bounds.busy_processor(group.path())
    if router is not None:
        return bounds.router(mean_of(group), group.path(), router, share)
    full = [used for used in group.there if used.link.utilization >= FULL and used.part >= _LEAST]
    if full:
        of = {used.link.name: used for used in full}
        busy = {name: of[name].link.utilization for name in by_number(of)}
        text = bounds.saturated_links(
            busy, [max(1, round(of[name].at_once)) for name in busy], f"{_WHILE}{_brought(group, full)}"
        )
        return Cause("saturated_link", share, "certain", named(busy), text)
    back = group.path(waits.where).returns_by(waits.where)
    if back is not None and back.utilization >= FULL:
        text = f"the reverse path of their ACKs is full: link {back.name} is {percent(back.utilization)} busy{_WHILE}"
        return Cause("ack_path", share, "likely", back.name, text)
    if crowded is not None:
        text = f"link {crowded.link.name} is saturated while most are under way"
        return Cause("saturated_link", share, "likely", crowded.link.name, text)
    busiest = group.there[0].link
    text = f"they wait for links that are busy at times: the busiest, {busiest.name}, is "
    text += f"{percent(busiest.utilization)} busy{_WHILE}"
    text += ", of which some wait for timers" if spent.retransmitted + spent.timeouts >= _LEAST else ""
    return Cause("saturated_link", share, "likely", waits.where or busiest.name, text)


def _brought(group: Group, full: Sequence[Used]) -> str:
    """How much comes of what links carry, which says whether there is room for more: one alone fills its narrowest."""
    if any(used.transfers < _FEWEST for used in full):
        return ""
    loads = [load(group, used) for used in full]
    carries = "it carries" if len(full) == 1 else "they carry"
    return f", which bring {span(loads, percent)} of what {carries}"


def _held(group: Group, row: Mapping[str, Any], paths: Paths, share: float) -> Cause:
    """What keeps their congestion windows small, as of a flow that lasts as long as they do on average."""
    path = group.path(lost_at(group) or marked_at(group))
    found = window.cause(row, path, paths, share)
    if row["packets_dropped"] and group.without_loss > WAITS:
        # Losses of a few are nothing that most of them wait for.
        most = window.cause({**row, "packets_dropped": 0, "packets_retransmitted": 0}, path, paths, share)
        found = replace(most, certainty="likely") if most.name == "slow_start" else found
    if found.name != "slow_start":
        return found
    rounds = round_trips(group.mean_s / (row["rtt_mean_s"] or path.base_rtt_s))
    text = f"slow start is not over when they end, after {rounds} on average"
    if (bounds.mean_window(row, path) or 0.0) < path.holds_packets:
        text += f", before the window reaches the {amount(path.holds_packets)} packets that the path holds"
    return replace(found, text=text)


def mean_of(group: Group) -> dict[str, Any]:
    """The row of a transfer that is the mean of all; what is said of shares and counts is of all."""
    row, count = group.row, len(group.starts_s)
    middle_s = float(sorted(group.starts_s)[count // 2])
    counts = {name: row[name] / count for name in row if name.startswith("packets_") and row[name] is not None}
    bps = _BITS * (row["bytes_delivered"] or 0) / group.total_s if group.total_s else None
    times = {"start_s": middle_s, "stop_s": middle_s + group.mean_s, "timeouts": 0, "throughput_bps": bps}
    return {**row, **counts, **times, ALIKE: [row], COMPLETE: group.complete}


def lost_share(group: Group) -> str:
    """The share of a group's packets that are lost."""
    return small_percent((group.row["packets_dropped"] or 0) / max(1, group.row["packets_sent"] or 0))


def lost_at(group: Group) -> str:
    """The link of theirs at which most packets are lost; none where they lose none.

    Of those that tell flows or classes apart nobody knows whose packets they lose, so others come first.
    """
    if not group.row["packets_dropped"]:
        return ""

    def lost(used: Used) -> tuple[bool, float]:
        dropped = (used.link.totals.get("packets_dropped") or 0) * used.part
        apart = used.link.discipline in APART and used.link.lost_at_queue > used.link.lost_on_wire
        return dropped > 0 and not apart, dropped

    worst = max(group.there, key=lost)
    return worst.link.name if worst.link.totals.get("packets_dropped") else ""


def marked_at(group: Group) -> str:
    """The link of theirs whose queue marks most packets; none where none does."""
    worst = max(group.there, key=lambda used: (used.link.totals.get("packets_marked") or 0) * used.part)
    return worst.link.name if worst.link.marked else ""
