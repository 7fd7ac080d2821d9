"""Queues that would add less delay than the one of a link, as changes of a scenario.

Example:
    >>> scenario = tl.loads('''
    ... profile = "linux"
    ... duration = "10 s"
    ... link.sat = { ends = ["net", "home"], rate = "10 Mbit/s", delay = "300 ms", queue = "4 BDP" }
    ... traffic.down = { kind = "bulk", from = "net", to = "home" }
    ... ''')
    >>> from tightlink.diagnosis.beside import Beside
    >>> from tightlink.diagnosis.paths import Paths
    >>> path = Paths(tl.simulate(scenario)).of("down")
    >>> fair_queues(path.busiest, Others(beside=Beside(rtt_s=path.unfilled_rtt_s)))[1]
    {'link.sat.queue': {'kind': 'fq-codel', 'interval': '650 ms', 'target': '32.5 ms'}}
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from tightlink import units
from tightlink.diagnosis.beside import SMALL, Others
from tightlink.diagnosis.commands import Tried
from tightlink.diagnosis.kinds import BY_RATE, DEAF, FAIR, STRICT
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.queue_lengths import burst, holds, long_enough, many, rate_changes
from tightlink.diagnosis.queueing import carries_acks_alone
from tightlink.diagnosis.words import listed

#: A queueing delay is worth a change from here on: CoDel's target (RFC 8289).
STANDING_S: Final = 0.005
#: A queue of so many times what the path holds is not too long.
LONG: Final = 1.5
#: CAKE is told this share of a link's rate, so that its queue is the one that stands.
_SHAPED: Final = 0.98
_TARGET_PACKETS, _FULL_BYTES = 1.5, 1500
#: CoDel's interval is the longest usual round trip, by default so many seconds, and its target so much of that
#: (RFC 8289 §4.2 and §4.3); where the rate changes so many times as long, and as much of it as there may be.
_INTERVAL_S, _TARGET = 0.1, 0.05
_CHANGING, _TARGET_OF_CHANGING = 3, 0.1
#: Longer intervals are suggested in steps of so many seconds.
_STEP_S: Final = 0.05


def other_queues(link: Link, path: Path, others: Others, *, fills: bool, fair: bool) -> Iterator[Tried]:
    """Queues that would add less delay than the one of a link.

    ``fills``: all that share it fill it alike; ``fair``: a part of it that is as large as that of others is enough.
    """
    if (link.limit_packets(path.packet_bytes) or math.inf) <= burst(path):
        return
    if link.discipline in (*FAIR, STRICT):
        # What it gives to classes stays.
        yield from _as_path(link, path, ".limit")
    elif others.beside.together or (path.acks_wait_for_data and link in path.forward):
        # Round trips are longer than on an empty path: a queue of what that holds is too short, and so is CoDel's.
        if fair or path.tcp is not None:
            yield fair_queues(link, others)
    else:
        yield from _shorter(link, path, others, fills=fills, fair=fair)


def _shorter(link: Link, path: Path, others: Others, *, fills: bool, fair: bool) -> Iterator[Tried]:
    if link.mean_bytes < SMALL * path.packet_bytes and path.tcp is not None:
        # Its queue stands at its target, which on a slow link is as long as one and a half full packets take.
        if link.queueing_s > _TARGET_PACKETS * link.service_s(_FULL_BYTES):
            yield fair_queues(link, others)
    elif not fills and fair:
        yield fair_queues(link, others)
    elif (link.limit_packets(path.packet_bytes) or math.inf) <= LONG * many(link) * holds(link, path):
        if path.tcp is not None:
            return
    # What collects while a link waits for its medium is more; and who sends at a rate that it has measured loses what
    # exceeds a short queue whenever the link gets slower.
    elif not link.sends_bursts and not (rate_changes(link) and BY_RATE.intersection(_controls(path, others))):
        yield from _as_path(link, path)
    yield from _codel(link, path, others)


def _as_path(link: Link, path: Path, key: str = "") -> Iterator[Tried]:
    """A queue of what the path holds for TCP, where that is much shorter, and shorter than it was at its longest."""
    limit = link.limit_packets(path.packet_bytes) or math.inf
    text, packets = long_enough(link, path)
    reached = link.totals.get("queue_max_packets") or math.inf
    if (
        path.tcp is not None
        and max(holds(link, path), burst(path)) < limit / LONG
        and int(packets.split()[0]) < reached
    ):
        yield f"a {text}", {f"{link.key}.queue{key}": packets}


def _codel(link: Link, path: Path, others: Others) -> Iterator[Tried]:
    """CoDel, whose drops tell senders to slow down: they are losses for nothing where those that fill it do not.

    Data among many ACKs would pay for these; and where the rate of a schedule rises far, windows grow too late for it.
    """
    fill = _controls(path, others)
    deaf = (BY_RATE if rate_changes(link) else DEAF).intersection(fill) or not (all(others.fill.values()) and any(fill))
    pays = link.name in others.beside.acked and not carries_acks_alone(link, path)
    rises = link.highest_over_mean > LONG
    if link.queueing_s > STANDING_S and not (deaf or pays or rises):
        timed, lasts = interval_for(link, others.beside.rtt_s)
        codel = {"kind": "codel", "limit": link.written() or "unlimited"} | timed
        yield f"CoDel{lasts and f' ({lasts})'}", {f"{link.key}.queue": codel}


def lower_shaper(link: Link, path: Path) -> Iterator[Tried]:
    """A rate of a shaper before a link that is below the link's, so that what waits does so at the shaper.

    A router's shaper before a modem, or a provider's policer, is meant to be; one that counts no framing, or too high a
    rate, is not.
    """
    side = path.forward if link in path.forward else path.reverse
    shaper = next((each for each in side[: side.index(link)] if each.shapes), None)
    if shaper is None or link.spec["rate_bps"] is None or "rate" in link.spec:
        return
    by_cake, framing = "shaper" not in shaper.spec, link.spec["framing"]
    framed = by_cake and framing["overhead_bytes"] > 0
    uncounted = framed and shaper.spec["queue"]["overhead"]["bytes"] < framing["overhead_bytes"]
    line_bps = min(link.spec["rate_bps"], link.shaped_bps) if framed else link.carries_bps(path.packet_bytes)
    if shaper.shaped_bps <= _SHAPED * line_bps and not uncounted:
        return
    table = f"{shaper.key}.{'queue' if by_cake else 'shaper'}"
    rate = units.format_rate(min(_SHAPED * line_bps, shaper.shaped_bps))
    counted = {key: units.format_size(framing[f"{key}_bytes"]) for key in ("overhead", "smallest") if uncounted}
    changes = {f"{table}.{key}": size for key, size in counted.items() if framing[f"{key}_bytes"]}
    more = f" and {counted['overhead']} of framing" if uncounted else ""
    most = f"{link.name} {'lets through' if link.polices else 'carries'}"
    yield f"a shaper at {shaper.name} of {rate}{more} (less than {most})", {f"{table}.rate": rate, **changes}


def _controls(path: Path, others: Others) -> list[str]:
    """Those of who fills the queue; empty for datagrams."""
    return [*others.fill.values()] or [path.congestion, *others.controls]


def fair_queues(link: Link, others: Others) -> Tried:
    """Queues that give flows turns, at a link and those that belong to it; where ACKs are many, one that filters."""
    together = others.beside.together
    where: dict[str, list[str]] = {}
    changes: dict[str, Any] = {}
    for each in together if link in together else (link,):
        timed, lasts = interval_for(each, others.beside.rtt_s)
        if each.name in others.beside.acked:
            text, queue = f"CAKE with its ACK filter{lasts and f' ({lasts})'}", _cake(each)
        else:
            text = f"FQ-CoDel (a queue for each flow{lasts and f', {lasts}'})"
            queue = {"kind": "fq-codel"}
        where.setdefault(text, []).append(each.name)
        changes[f"{each.key}.queue"] = queue | timed
    if len(changes) == 1:
        return next(iter(where)), changes
    return " and ".join(f"{text} at {listed(names)}" for text, names in where.items()), changes


def interval_for(link: Link, rtt_s: float) -> tuple[dict[str, str], str]:
    """CoDel's interval and target, where round trips, or a rate that changes far, take longer than it has."""
    changing = many(link) > 1 or link.highest_over_mean > LONG
    longest_s = max(_INTERVAL_S, math.ceil(rtt_s / _STEP_S) * _STEP_S) * (_CHANGING if changing else 1)
    if longest_s <= _INTERVAL_S:
        return {}, ""
    target_s = (_TARGET_OF_CHANGING if changing else _TARGET) * longest_s
    interval, target = (units.format_time(round(each, 4)) for each in (longest_s, target_s))
    return {"interval": interval, "target": target}, f"interval {interval}"


def _cake(link: Link) -> dict[str, str]:
    """CAKE that knows the rate of its link, if that is one: its target allows for packets that take long to send."""
    queue = {"kind": "cake", "ack_filter": "normal"}
    known = link.spec["rate_bps"] if "rate" not in link.spec and link.shaped_bps == math.inf else None
    return queue | ({"rate": units.format_rate(_SHAPED * known)} if known else {})
