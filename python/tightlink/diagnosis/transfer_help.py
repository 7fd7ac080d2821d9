"""What would help open-loop transfers, as changes of their scenario with the commands that test them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.diagnosis.answers import Cause, Delay, Suggestion
from tightlink.diagnosis.beside import Beside, Others
from tightlink.diagnosis.commands import Changed, Tried
from tightlink.diagnosis.completions import open_loop
from tightlink.diagnosis.filling import Filling
from tightlink.diagnosis.kinds import APART, STRICT
from tightlink.diagnosis.other_queues import fair_queues
from tightlink.diagnosis.suggestions import shorter_timeout, suggestions, with_other_end
from tightlink.diagnosis.transfer_causes import FULL, WAITS, Found, exceeds, load, lost_at, mean_of, timeout
from tightlink.diagnosis.under_way import Group, Used
from tightlink.diagnosis.words import by_number, named, span, tier, two_digits

if TYPE_CHECKING:
    from tightlink.run import Run

#: Nothing is suggested where nearly all take less than so many times as long as on an empty path.
_SLOW: Final = 1.2
#: Causes of less of the time are not worth a change: a timer, or a window.
_WORTH, _WORTH_WINDOW = 0.1, 0.25
#: Others that send so much of what a link carries fill its queue; who sends more than the rest is no small class.
_PART, _SMALL = 0.2, 0.3
_FILLS: Final = 0.25
#: A wait of so many base round trips is worth a change.
_LONG_WAIT: Final = 0.5
#: Who fills the queue of a link that is less busy does so for a part of the time only.
_BUSY: Final = 0.5
#: Where links of a tier would be less busy than that part of the busiest, they have room for what collides there.
_ROOM: Final = 0.75
#: A faster link is suggested that what is offered takes so much of.
_WANTED: Final = 0.8
#: An initial timeout of so many times what nearly all round trips take is worth a shorter one, at least so long.
_LONG, _SHORTEST_S = 10, 0.001
#: Turns are worth having behind flows that are so many times as large; and among sizes whose coefficient of variation
#: is above one, of which the mean square is so many times the square of the mean (Kleinrock 1976, volume 2, § 4.4).
_UNLIKE: Final = 2.0
_CLASS: Final = "EF"
#: From so many packets lost on a longer queue is worth a try.
_LOSES: Final = 0.01
#: Queues that drop nothing but what they have no room for.
_PLAIN: Final = frozenset({"drop-tail", "threshold"})
#: Causes against which there are suggestions of transfers.
_OWN: Final = frozenset({"saturated_link", "handshake", "timeouts", "last_ack", "outage"})
#: Causes that full queues have.
_QUEUED: Final = ("saturated_link", "timeouts", "recovery", "small_queue")
_TIER: Final = re.compile(r"(?P<topology>[^.]+)\.(?P<tier>[^.\[]+)(\[\d+\])?(\.reverse)?")


def helps(
    run: Run, group: Group, took: Mapping[str, Any], found: Found, *, filling: Filling, changed: Changed
) -> tuple[Suggestion, ...]:
    """What would help, the first first; only what the scenario allows, and where they took longer than they need."""
    if (slowest := took["slowdown_p99"]) is not None and slowest < _SLOW and not took["unfinished"]:
        return ()
    path = group.path(found.waits.where)
    others = Others(beside=Beside.of(filling, found.waits.where, group.row, path))
    tried = _tried(run, group, found, filling, others)
    made = changed.suggestions(
        with_other_end(tried, path.either_way(found.waits.where), others, changed), {group.row["label"]}
    )
    for cause in found.causes:
        if cause.name not in _OWN and (cause.share or 0.0) >= _WORTH_WINDOW:
            made += _of_windows(group, cause, changed)
    return tuple(made)


def fills(run: Run, group: Group, link: str, filling: Filling) -> tuple[str, ...]:
    """Names of the others that fill the queue of a link while transfers of a group are under way."""
    many = open_loop(run)
    flows = [name for name in filling.of(link, group.row) if name not in many]
    rows = {row["label"]: row for row in run.flows.iter_rows(named=True)} if many else {}
    parts = group.parts(link)
    others = [name for name in sorted(many - {group.row["label"]})
              if parts.get(name, 0.0) >= _PART and (rows[name]["limited_by_network"] or 0.0) >= _FILLS]  # fmt: skip
    return (*flows, *others)


def _of_windows(group: Group, cause: Cause, changed: Changed) -> tuple[Suggestion, ...]:
    """As of a flow that lasts as long as they do on average."""
    path = group.path(cause.where if group.used(cause.where) else "")
    nothing = Delay("", 0.0, None, path.base_rtt_s, round_trip=True, text="")
    others = Others(load=load(group, group.there[0]))
    return suggestions(mean_of(group), path, (cause,), nothing, changed=changed, others=others)


def _tried(run: Run, group: Group, found: Found, filling: Filling, others: Others) -> Iterator[Tried]:
    share = {cause.name: cause.share or 0.0 for cause in found.causes}
    own = [used for used in found.overloaded if group.parts(used.link.name).get(group.row["label"], 0.0) > _SMALL]
    if own:
        yield from _relieve(run, group, own)
    if any(exceeds(group, used) for used in own):
        return
    waits = found.waits
    queued = sum(share.get(name, 0.0) for name in _QUEUED) + found.retransmitted
    # Short transfers wait in each of their round trips, whatever else makes these many.
    doubled = waits.mean_s >= waits.base_s and share.get("outage", 0.0) < _WORTH
    if (queued >= WAITS or doubled) and waits.mean_s >= _LONG_WAIT * waits.base_s:
        around, turns = [*_collide(run, group)], [*_wait_less(run, group, waits, filling, others)]
        # Where they wait most at a host, no other path leads around it.
        at_host = any(used.link.name == waits.where and group.ends(used) for used in group.there)
        yield from [*turns, *around] if at_host else [*around, *turns]
    if found.retransmitted >= _WORTH and not found.overloaded:
        yield from _connect_sooner(group)
    elif share.get("timeouts", 0.0) >= _WORTH:
        tried = shorter_timeout(group.row["label"], timeout(group)["min_s"], _rarely_longer_s(group))
        yield from [tried] if tried else []
    # A link that idles for most of the time with transfers has room for what comes at once.
    full = share.get("saturated_link", 0.0) if group.there[0].link.utilization >= _BUSY else 0.0
    if max(full, share.get("outage", 0.0)) < WAITS:
        yield from _hold_bursts(group)


def _rarely_longer_s(group: Group) -> float:
    """The 95th percentile of their round trips, without the receiver's delay of ACKs where that is most of it."""
    rtt_s, late_s = group.row["rtt_p95_s"] or 0.0, (group.path().tcp or {}).get("delayed_ack_s") or 0.0
    return float(rtt_s - late_s if rtt_s >= late_s > (group.row["rtt_p50_s"] or 0.0) else rtt_s)


def _relieve(run: Run, group: Group, overloaded: Sequence[Used]) -> Iterator[Tried]:
    """Faster links where more is offered than they carry; less load where that is a share of their rate."""
    tiers = Counter(_key(used) for used in overloaded)
    key, _ = tiers.most_common(1)[0]
    links = [used for used in overloaded if _key(used) == key]
    most = max(links, key=lambda used: used.offered_bps)
    wanted_bps = most.offered_bps / _WANTED
    traffic: Any = run.scenario.traffic[group.row["label"]]
    if traffic.load is not None and tier(traffic.of)[0] == tier(most.link.name)[0]:
        less = f"{math.floor(100 * traffic.load * most.link.carries_bps(group.packet_bytes) / wanted_bps)} %"
        yield f"a load of {less}", {f"traffic.{group.row['label']}.load": less}
    elif most.link.spec["rate_pps"] is None and "rate" not in most.link.spec and most.link.shaped_bps == math.inf:
        part = most.link.spec["rate_bps"] / most.link.carries_bps(group.packet_bytes)
        # Of links that have a rate each, only those that carry too little get another.
        own = _has_rates(run, most)
        asked = sorted(links, key=lambda used: used.offered_bps) if own else [most]
        rates = {used.link.name.removesuffix(".reverse") if own else tier(used.link.name)[0]:
                 used.offered_bps / _WANTED * part for used in asked}  # fmt: skip
        written = {f"{key}.rate{name[name.index('[') :] if own else ''}": two_digits(bps, math.ceil)
                   for name, bps in rates.items()}  # fmt: skip
        yield (
            f"a rate of {span(rates.values(), lambda bps: two_digits(bps, math.ceil))} for {named(by_number(rates))}",
            written,
        )


def _collide(run: Run, group: Group) -> Iterator[Tried]:
    """Per-packet spraying, where flows meet on some links of a tier and others have room."""
    routing = run.scenario.explicit().routing
    if routing is None or routing.ecmp != "flow":
        return
    full = [used for used in group.there if used.link.utilization >= FULL and not group.ends(used)]
    for used in full:
        # Spraying asks as much of each link, whatever its rate.
        if group.evenly(used) < _ROOM * used.link.utilization:
            is_rack = (group.path().tcp or {})["recovery"] == "rack"
            more = {} if is_rack else {f"traffic.{group.row['label']}.tcp.recovery": "rack"}
            yield f"per-packet spraying{' with RACK' if more else ''}", {"routing.ecmp": "packet", **more}
            return


def _wait_less(run: Run, group: Group, waits: Delay, filling: Filling, others: Others) -> Iterator[Tried]:
    """A queue for each flow, or a class that goes first, where they wait behind what others send, or larger ones do."""
    used = group.used(waits.where)
    if used is None:
        # Their ACKs wait there: turns let these pass what others send.
        back = group.path(waits.where).returns_by(waits.where)
        if back is not None and back.discipline not in APART and filling.of(back.name, group.row):
            yield fair_queues(back, others)
        return
    if used.link.discipline in APART:
        return
    behind = fills(run, group, waits.where, filling) if used.link.utilization >= _BUSY else ()
    own = group.bytes
    larger = behind and min(map(group.mean_bytes, behind)) >= _UNLIKE * own.mean()
    if larger or (own**2).mean() > _UNLIKE * own.mean() ** 2:
        text, changes = fair_queues(used.link, Others(beside=Beside(rtt_s=others.beside.rtt_s)))
        yield text, dict.fromkeys([_queue(used)], *changes.values())
    label = group.row["label"]
    if larger and group.parts(waits.where).get(label, 0.0) <= _SMALL:
        queue = {"kind": STRICT, "limit": used.link.written() or "unlimited", "order": [_CLASS]}
        changes = {_queue(used): queue, f"traffic.{label}.dscp": _CLASS}
        yield f"class {_CLASS} for {label}, before {named(behind)}", changes


def _connect_sooner(group: Group) -> Iterator[Tried]:
    """Shorter timeouts, that of a handshake among them, which has no round trips to go by."""
    wanted_s = max(_SHORTEST_S, 2 * (group.row["rtt_p99_s"] or 0.0))
    if timeout(group)["initial_s"] >= _LONG * wanted_s:
        wanted, key = units.format_time(float(f"{wanted_s:.2g}")), f"traffic.{group.row['label']}.tcp.rto"
        least = {f"{key}.min": wanted} if timeout(group)["min_s"] > wanted_s else {}
        text = f"{'initial and least timeouts' if least else 'an initial timeout'} of {wanted}"
        yield text, {f"{key}.initial": wanted, **least}


def _hold_bursts(group: Group) -> Iterator[Tried]:
    """A queue that takes the initial windows of those that come at once."""
    where = lost_at(group)
    lost = (group.row["packets_dropped"] or 0) / max(1, group.row["packets_sent"] or 0)
    used, path = group.used(where), group.path(where)
    if used is None or lost < _LOSES or used.link.discipline not in _PLAIN:
        return
    limit, first = used.link.limit_packets(path.packet_bytes), (path.tcp or {})["initial_window_packets"]
    wanted = math.ceil(max(2 * first, group.at_once_packets(where, first)))
    if limit is None or used.link.lost_at_queue <= used.link.lost_on_wire or limit >= wanted:
        return
    in_packets = "packets" in used.link.spec["queue"]["limit"]
    takes = units.format_packets(wanted) if in_packets else units.format_size(wanted * path.packet_bytes)
    mark = used.link.written("mark") if used.link.discipline == "threshold" else None
    queue = takes if mark is None else {"kind": "threshold", "limit": takes, "mark": mark}
    yield f"a queue of {takes} (initial windows of those that come at once)", {_queue(used): queue}


def _has_rates(run: Run, used: Used) -> bool:
    """Whether each link of a tier has a rate that the scenario names."""
    found = _TIER.fullmatch(used.link.name)
    tier = getattr(run.scenario.topology[found["topology"]], found["tier"], None) if found else None
    rate = getattr(tier, "rate", None)
    return isinstance(rate, Sequence) and not isinstance(rate, str)


def _key(used: Used) -> str:
    """The table of a link, or of its tier in a topology."""
    found = _TIER.fullmatch(used.link.name)
    if not used.link.key.startswith("topology.") or found is None:
        return used.link.key
    return f"topology.{found['topology']}.{found['tier']}"


def _queue(used: Used) -> str:
    """The key of a link's queue: in a topology of both directions, as transfers take links in both."""
    key = used.link.key
    return f"{key.removesuffix('.reverse') if key.startswith('topology.') else key}.queue"
