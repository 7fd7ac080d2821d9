"""A class for who waits behind connections where a queue tells classes apart.

Example:
    >>> scenario = tl.loads('''
    ... profile = "linux"
    ... duration = "10 s"
    ... [link.up]
    ... ends = ["a", "b"]
    ... rate = "10 Mbit/s"
    ... delay = "10 ms"
    ... queue = { kind = "strict", limit = "100 packets", order = ["EF"] }
    ... [traffic]
    ... backup = { kind = "bulk", from = "a", to = "b" }
    ... old = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B" }
    ... phone = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B", dscp = "EF" }
    ... ''')
    >>> run = tl.simulate(scenario)
    >>> from tightlink.diagnosis.paths import Paths
    >>> paths = Paths(run)
    >>> class_for(paths.of("old"), "up", {"old": None}, Filling(run, paths))
    ('class EF for old, as phone has', {'traffic.old.dscp': 'EF'})
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from tightlink.diagnosis.commands import Tried
from tightlink.diagnosis.filling import Filling, Sent
from tightlink.diagnosis.kinds import DRR, STRICT
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.words import listed, named
from tightlink.scenario.dscp import CODE_POINTS

#: Classes for media that adapt less than TCP does (RFC 4594 §4.3 and §4.5).
_CLASSES: Final = ("AF41", "AF31")
#: Sources that send at their own rate, whatever carries them.
_AT_A_RATE: Final = ("cbr", "on-off", "video")
#: What of the turns of a class may be sent, so that there is room for bursts.
_ROOM: Final = 0.85
#: What goes first is to be no more of a link.
_FIRST: Final = 0.5
#: Queues in which all wait for their turn.
_PLAIN: Final = ("drop-tail", "threshold")
_NAMES: Final = {number: name for name, number in CODE_POINTS.items()}


def class_for(path: Path, where: str, classes: Mapping[str, int | None], filling: Filling) -> Tried | None:
    """A class for traffic groups at a link where they have none that is told from that of connections.

    One that others' datagrams alone have, if these go first there, or have turns, and there is room; else one behind
    those that a strict queue puts in an order, or with turns of its weight; and a larger weight for one that they have.
    Code points of the groups are ``classes``, nothing where they have none.
    """
    link = path.crosses(where)
    if link is None or link.discipline not in {STRICT, DRR} or path.spec["traffic"]["kind"] not in _AT_A_RATE:
        return None
    sent, mine = filling.by_class(where), {code or 0 for code in classes.values()}
    own_bps = math.fsum(each.bps for there in sent.values() for name, each in there.items() if name in classes)
    others = {code: {name: each for name, each in there.items() if name not in classes} for code, there in sent.items()}
    carries_bps = link.carries_bps(path.packet_bytes)
    if link.discipline == STRICT:
        if not mine.isdisjoint(link.spec["queue"]["order"]):
            return None
        joined = _joined(path, classes, others, own_bps, _first(link, others, carries_bps))
        return joined or _behind(link, classes)
    alone = [code for code in mine & sent.keys() if not _has_tcp(sent[code].values())]
    if alone:
        # Its turns are too few.
        return _heavier(link, alone[0], sent, carries_bps)
    in_turn = ((code, room_bps) for code, room_bps in _turns(link, others, carries_bps) if code not in mine)
    return _joined(path, classes, others, own_bps, in_turn) or _unused(link, classes, sent, own_bps / carries_bps)


def strict_for(path: Path, where: str, classes: Mapping[str, int | None], filling: Filling) -> Tried | None:
    """A strict queue where datagrams have a class already, that of no connection, and the queue tells none apart."""
    link, marked = path.crosses(where), {*classes.values()} - {None, 0}
    if link is None or path.tcp is not None or len(marked) != 1 or link.discipline not in _PLAIN:
        return None
    (code,) = marked
    there = filling.by_class(where).get(code or 0, {}).values()
    sent_bps = math.fsum(each.bps for each in there)
    if _has_tcp(there) or sent_bps > _FIRST * link.carries_bps(path.packet_bytes):
        return None
    queue = {"kind": STRICT, "limit": link.written() or "unlimited", "order": [_NAMES[code or 0]]}
    return f"a strict queue, at which class {_NAMES[code or 0]} goes first", {f"{link.key}.queue": queue}


def _joined(
    path: Path,
    classes: Mapping[str, int | None],
    others: Mapping[int, Mapping[str, Sent]],
    own_bps: float,
    room: Iterable[tuple[int, float]],
) -> Tried | None:
    """A class that others' datagrams have: TCP, and frames, come in bursts, for which calls would wait."""
    is_video = path.spec["traffic"]["kind"] == "video"
    for code, room_bps in room if path.tcp is None else ():
        there = others[code]
        if own_bps <= room_bps and all(each.frames == is_video for each in there.values()):
            text = (
                f"class {_NAMES[code]} for {named(classes)}, as {named(there)} {'has' if len(there) == 1 else 'have'}"
            )
            return text, _marked(classes, _NAMES[code])
    return None


def _unused(link: Link, classes: Mapping[str, int | None], sent: Mapping[int, object], needs: float) -> Tried | None:
    """A class that nobody has, whose turns are as many as one of weight 1 has."""
    wanted = next((name for name in _CLASSES if CODE_POINTS[name] not in sent), None)
    if wanted is None or needs > 1 / (sum(link.weight(code) for code in sent) + 1):
        return None
    return f"class {wanted} for {named(classes)}, which has turns", _marked(classes, wanted)


def _heavier(link: Link, code: int, sent: Mapping[int, Mapping[str, Sent]], carries_bps: float) -> Tried | None:
    """A weight with which a class has turns enough for what it sends, where that leaves others some."""
    needs = math.fsum(each.bps for each in sent[code].values()) / (_ROOM * carries_bps)
    taken = sum(link.weight(each) for each in sent if each != code)
    if needs >= 1 or not taken:
        return None
    wanted = math.ceil(needs / (1 - needs) * taken)
    if wanted <= link.weight(code):
        return None
    text = f"a weight of {wanted} for {_NAMES[code]}, of which the turns are enough for {named(sent[code])}"
    return text, {f"{link.key}.queue.weights.{_NAMES[code]}": wanted}


def _first(link: Link, others: Mapping[int, Mapping[str, Sent]], carries_bps: float) -> Iterator[tuple[int, float]]:
    """The classes of datagrams that go first at a strict queue, and how much more of them there is room for."""
    ahead_bps = 0.0
    for code in link.spec["queue"]["order"]:
        there = others.get(code, {}).values()
        if _has_tcp(there):
            return
        ahead_bps += math.fsum(each.bps for each in there)
        if there:
            yield code, _FIRST * carries_bps - ahead_bps


def _turns(link: Link, others: Mapping[int, Mapping[str, Sent]], carries_bps: float) -> Iterator[tuple[int, float]]:
    """The classes of datagrams that have turns by their weights, and how much more fits into these."""
    taken = sum(link.weight(code) for code in others)
    for code in sorted(others, key=lambda code: -link.weight(code)):
        there = others[code].values()
        if there and not _has_tcp(there):
            yield code, carries_bps * link.weight(code) / taken - math.fsum(each.bps for each in there)


def _behind(link: Link, classes: Mapping[str, int | None]) -> Tried | None:
    order = [_NAMES[number] for number in link.spec["queue"]["order"]]
    wanted = next((name for name in _CLASSES if name not in order), None)
    if wanted is None:
        return None
    text = f"class {wanted} for {named(classes)}, behind {listed(order)}"
    return text, {f"{link.key}.queue.order": [*order, wanted], **_marked(classes, wanted)}


def _marked(classes: Mapping[str, int | None], wanted: str) -> dict[str, str]:
    return {f"traffic.{group}.dscp": wanted for group in classes}


def _has_tcp(there: Iterable[Sent]) -> bool:
    return any(each.by_tcp for each in there)
