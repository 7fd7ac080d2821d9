"""What queues add to the delay of a flow's path, and which queue adds most of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tightlink import units
from tightlink.diagnosis import frames
from tightlink.diagnosis.answers import Delay
from tightlink.diagnosis.kinds import APART, DRR, FAIR, STRICT
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import ALIKE, Path
from tightlink.diagnosis.words import DISCIPLINES, ms, named, span, times

#: Queues that add less than this part of the base delay are said to add little, and which it is is not said.
LITTLE: Final = 0.1
#: Less than this part of it is not said of a wire that delays packets; where queues add more, less than above.
_SLIGHT: Final = 0.02
#: A percentile that is no larger than that is not said beside the mean.
_ABOVE: Final = 1.05
#: A longest wait of so many times the mean is one of few that make it.
_FAR: Final = 10.0
#: A delay of less is not worth its digits, beside base delays that are not as short themselves.
_NOTHING_S: Final = 0.0001
#: Of flows that share a queue, means that differ so far are all said.
_UNLIKE: Final = 1.25
#: A link whose packets are less than so many times as large as ACKs carries hardly anything else.
_ACKS: Final = 2.0
#: Outages of a link are what waits there wait for, where they account for so much of it.
_MOST: Final = 0.5
#: What makes packets wait for longer than a whole queue takes, by its discipline.
_CLASSES: Final = {STRICT: "higher classes go first", DRR: "other classes have turns"}
#: A second queue is named that adds so much of what the first does.
_SECOND: Final = 0.3


def delay(
    row: Mapping[str, Any], path: Path, shortest_s: float | None = None, *, fill: Callable[[str], str] = lambda _: ""
) -> Delay:
    """The delay that queues add to the round trip of a flow, or to the way of its datagrams.

    A shortest round trip that was measured stands instead of that of the scenario with empty queues. ``fill``: which
    flows fill the queue of a link, in words.
    """
    path = frames.as_sent(row, path)
    own, rtt = row.get("queueing_delay_mean_s"), row.get("rtt_mean_s")
    base = path.base_rtt_s
    if shortest_s is not None:
        # All round trips of a flow that begins in a full queue have waited there, the shortest, too.
        beside_s = math.inf if own is None or rtt is None else max(base, rtt - own)
        # A SYN takes far less of a slow line than a full packet does.
        is_of_syn = ALIKE * shortest_s < base and not any(link.delay_changes for link in (*path.forward, *path.reverse))
        base = (base if is_of_syn else min(shortest_s, 2 * base)) if shortest_s <= ALIKE * beside_s else beside_s
    on_links, back = (sum(link.queueing_s for link in side) for side in (path.forward, path.reverse))
    there = on_links if own is None else own
    changing = [[link for link in side if link.delay_changes] for side in (path.forward, path.reverse)]
    one_way, moves = row.get("one_way_delay_mean_s"), [0.0, 0.0]
    if changing[0] and one_way is not None:
        # What a packet takes beyond an empty path and its queues is what the wire adds.
        moves[0] = max(0.0, one_way - path.base_one_way_s - there)
    # Means of a link are of all its packets, of which other flows' may have waited longer; a round trip is the flow's.
    if own is not None and rtt is not None:
        returning = max(0.0, rtt - base - there - moves[0])
        back = min(back, returning)
        moves[1] = returning - back if changing[1] else 0.0
    waits = _parts(path, there, back)
    first, mean, whole = _longest(path, waits)[0], there + back, sum(moves)
    p95 = _p95(row, path, first, waits[first.name], both=back > _SECOND * there, beside_s=base + whole)
    found = Delay(first.name, mean, p95, base, path.tcp is not None, text="")
    both_s = _variation_p95_s(row, path) if p95 is None or whole > mean else None
    if whole >= (LITTLE if mean > whole else _SLIGHT) * base:
        found = replace(found, wire=_wire(changing, moves), wire_s=whole, variation_p95_s=both_s)
    elif p95 is None:
        found = replace(found, p95_s=both_s)
    if mean < LITTLE * base:
        little = f"under {ms(_NOTHING_S)}" if mean < _NOTHING_S <= LITTLE * base else ms(mean)
        text = f"queues add {little} to {_what(path, base)}"
        return replace(found, text=_with_wire(text, [found], before=True))
    full = max(path.processors, key=lambda each: each.load, default=None)
    if full is not None and there - on_links > waits[first.name]:
        # What no link accounts for is spent at the processors' rings.
        where = f"the interface of {full.name}" if full.sends else f"the input ring of {full.name}"
        text = f"{where} adds {ms(mean)}{_upper(row, path, first, found)} to {_what(path, base)}"
        return replace(found, where=full.name, text=_with_wire(text, [found]))
    return replace(found, text=_with_wire(_queues(row, path, found, waits, fill), [found]))


def _longest(path: Path, waits: Mapping[str, float]) -> list[Link]:
    """The links there and back, those first where packets wait longest."""
    return sorted((*path.forward, *path.reverse), key=lambda link: -waits[link.name])


def _what(path: Path, base_s: float) -> str:
    return f"a {'base delay' if path.tcp is None else 'base RTT'} of {ms(base_s)}"


def _queues(
    row: Mapping[str, Any], path: Path, found: Delay, waits: Mapping[str, float], fill: Callable[[str], str]
) -> str:
    """What the queues of links add, in words: which of them does, and who fills it, or outages."""
    (first, *others), mean, what = _longest(path, waits), found.mean_s, _what(path, found.base_s)
    second = next((link for link in others if waits[link.name] > _SECOND * waits[first.name]), None)
    # Where flows take turns, or a class goes first, nobody waits behind what others put there.
    first_class = first.discipline == STRICT and path.spec.get("dscp") in first.spec["queue"]["order"]
    others_fill = "" if first.discipline in FAIR or first_class else fill(first.name)
    down_s = of_outages_s(row, path, first)
    if down_s > _MOST * mean:
        return f"{_outages(row, _down(first, path), mean, found.p95_s)} to {what}"
    behind = f", {others_fill}," if others_fill else _after_others(first, path, waits[first.name])
    of_first = f"that of {first.name} ({_limit(first, path)}){behind}"
    adds = f"{ms(mean)}{_upper(row, path, first, found)}"
    if path.tcp is not None and down_s > LITTLE * mean:
        adds += f", {ms(down_s)} of it by outages,"
    if second is not None:
        of_second = f"that of {second.name} ({_limit(second, path)})"
        parts = (_part(row, path, *each, waits) for each in ((first, of_first), (second, of_second)))
        return f"queues add {adds} to {what}, {' and '.join(parts)}"
    if waits[first.name] < (1 - LITTLE) * mean:
        return f"queues, most {of_first}{'' if behind else ','} add {adds} to {what}"
    return f"the queue{of_first.removeprefix('that')} adds {adds} to {what}"


def _after_others(link: Link, path: Path, waits_s: float) -> str:
    """That others go first where packets wait for longer than the line takes for all that its queue holds."""
    limit = link.limit_packets(path.packet_bytes)
    if link.discipline not in _CLASSES or limit is None or waits_s <= limit * link.interval_s(path.packet_bytes):
        return ""
    return f", where {_CLASSES[link.discipline]},"


def _upper(row: Mapping[str, Any], path: Path, first: Link, found: Delay) -> str:
    """What more than the mean says of waits: their p95, or the longest where hardly any wait, and these for long."""
    mean_s, p95_s = found.mean_s, found.p95_s
    if p95_s is None:
        return ""
    if p95_s > _ABOVE * mean_s:
        return f" ({ms(p95_s)} at p95)"
    longest_s = row.get("queueing_delay_max_s") if first in path.forward else first.totals.get("queueing_delay_max_s")
    return f" ({ms(longest_s)} at most)" if longest_s is not None and longest_s > _FAR * mean_s else ""


def _wire(changing: Sequence[Sequence[Link]], moves: Sequence[float]) -> str:
    """What adds delay on the links whose delay changes, there or back, by their names."""
    links = [each[0] for each, adds in zip(changing, moves, strict=True) if adds >= LITTLE * sum(moves)]
    words = {link.delayed_by for link in links}
    what = words.pop() if len(words) == 1 else "changing delay"
    return f"the {what} of {named(link.name for link in links)}"


def of_outages_s(row: Mapping[str, Any], path: Path, link: Link) -> float:
    """What packets wait at a link because it is down at times, on average, rather than for what others put there.

    Of datagrams, that of a link that is hardly busy. A window waits as a whole for each end, unless it is lost: as it
    is what is sent in a round trip, the mean wait is a round trip for the share of the time in which the link is down.
    """
    times_s = row["start_s"], row["stop_s"]
    if path.tcp is None:
        return link.outages_add_s(*times_s)
    if link.spec.get("outages", {}).get("flush") or times_s[1] <= times_s[0]:
        return 0.0
    rtt_s = row.get("rtt_mean_s") or path.base_rtt_s
    return float(rtt_s * link.down_s(*times_s) / (times_s[1] - times_s[0]))


def _part(row: Mapping[str, Any], path: Path, link: Link, queue: str, waits: Mapping[str, float]) -> str:
    """What a link has of the delay, in words: its queue, or outages, where datagrams wait for the end of these."""
    is_down = path.tcp is None and of_outages_s(row, path, link) > _MOST * waits[link.name]
    return f"{f'the outages of {_down(link, path)}' if is_down else queue} {ms(waits[link.name])}"


def _down(link: Link, path: Path) -> str:
    """What is down where a link is: both of its directions, if the other one is at the same times."""
    both = link.name.removesuffix(".reverse")
    other = path.crosses(both) or link
    return both if other.spec["outages"] == link.spec["outages"] else link.name


def _outages(row: Mapping[str, Any], link: str, mean_s: float, p95_s: float | None) -> str:
    """What they add, and the longest wait, which is what a receiver's buffer has to bridge."""
    longest = row.get("queueing_delay_max_s")
    said = [f"{ms(p95_s)} at p95"] if p95_s is not None else []
    said += [f"{ms(longest)} at most"] if longest is not None else []
    upper = f" ({', '.join(said)})" if said else ""
    return f"the outages of {link} add {ms(mean_s)}{upper}"


def _parts(path: Path, there: float, back: float) -> dict[str, float]:
    """What each link's queue has of the delay on the way there, and back.

    Means of links are of all packets: where queues tell flows apart, the flow waits there for what others do not tell.
    """
    parts: dict[str, float] = {}
    for links, whole in ((path.forward, there), (path.reverse, back)):
        alike, apart = ([link for link in links if (link.discipline in APART) == told] for told in (False, True))
        for each in (alike, apart):
            total = sum(link.queueing_s for link in each)
            share = whole / total if total > 0 else 0.0
            if path.processors or (each is alike and any(link.queueing_s for link in apart)):
                # More than the links' is spent elsewhere.
                share = min(1.0, share)
            parts |= {link.name: share * link.queueing_s for link in each}
            whole -= share * total
    return parts


def together(delays: Sequence[Delay], middle: Delay, where: str = "") -> Delay:
    """The delay of several flows: that of the one in the middle, with ranges where others differ, as in fair queues."""
    means, bases = ([getattr(each, name) for each in delays] for name in ("mean_s", "base_s"))
    upper = [each.p95_s for each in delays if each.p95_s is not None]
    upper = upper if len(upper) == len(delays) else []
    alike = max(bases) <= ALIKE * min(bases)
    unlike, above = (_are_unlike(waits, max(bases)) for waits in (means, upper or means))
    if not where and alike and not unlike and not above:
        return middle
    name = "base RTT" if middle.round_trip else "base delay"
    what = f"a {name} of {ms(middle.base_s)}" if alike and not where else f"{name}s of {span(bases, ms)}"
    most = f"those of {where}" if where else f"that of {middle.where}{_which(middle)}"
    text = f"queues, most {most}, add {span(means, ms)}"
    if upper and above:
        text += f" ({span(upper, ms)} at p95)"
    return replace(middle, text=_with_wire(f"{text} to {what}", delays))


def _with_wire(text: str, delays: Sequence[Delay], *, before: bool = False) -> str:
    """What queues add to flows, in words, and what wires add beside that; both together where not known apart."""
    what = {each.wire for each in delays if each.wire}
    if not what:
        return text
    adds = f"{what.pop() if len(what) == 1 else 'changing delays'} adds {span((each.wire_s for each in delays), ms)}"
    whole = [each.variation_p95_s for each in delays if each.variation_p95_s is not None]
    upper = f", together {span(whole, ms)} at p95" if len(whole) == len(delays) else ""
    return f"{adds}, {text}{upper}" if before else f"{text}; {adds} more{upper}"


def _which(middle: Delay) -> str:
    """What the queue of a delay is, as its text says behind the link's name."""
    found = re.search(rf" of {re.escape(middle.where)}( \([^)]*\))", middle.text)
    return found[1] if found else ""


def _are_unlike(waits_s: Sequence[float], base_s: float) -> bool:
    """Whether what queues add to flows differs so far that one of them does not stand for all."""
    return max(waits_s) > max(_UNLIKE * min(waits_s), LITTLE * base_s)


def is_little(delay: Delay) -> bool:
    """Whether what queues add is not worth telling which they are."""
    return delay.mean_s < LITTLE * delay.base_s


def _p95(
    row: Mapping[str, Any], path: Path, first: Link, waits_s: float, *, both: bool, beside_s: float
) -> float | None:
    """The 95th percentile of the flow's own packets; where queues delay ACKs, too, of its round trips.

    Where it is not known, as over delays that change, that of the link's packets if they wait as long on average. More
    of these come while it is fast: where what wires add at most leaves more to queues, the flow's packets wait longer.
    """
    own, rtt = row.get("queueing_delay_p95_s"), row.get("rtt_p95_s")
    if rtt is not None and both:
        return max(0.0, float(rtt) - beside_s)
    if own is not None and first in path.forward:
        return float(own)
    of_link, whole_s = first.queueing_p95_s, _variation_p95_s(row, path)
    if of_link is None or not first.queueing_s / ALIKE <= waits_s <= first.queueing_s * ALIKE:
        return None
    if whole_s is None:
        return of_link
    wires_s = sum(link.adds_at_most_s for link in path.forward)
    return None if _ABOVE * of_link < whole_s - wires_s else min(of_link, whole_s)


def _variation_p95_s(row: Mapping[str, Any], path: Path) -> float | None:
    """The 95th percentile of what queues and wires add to the delay of datagrams."""
    whole = row.get("one_way_delay_p95_s") if path.tcp is None else None
    return None if whole is None else max(0.0, float(whole) - path.base_one_way_s)


def _limit(link: Link, path: Path) -> str:
    """The limit of a queue, in bandwidth-delay products where it is drop-tail's; otherwise the discipline."""
    if link.discipline == "threshold":
        return f"marks above {link.written('mark')}"
    if link.discipline in DISCIPLINES:
        return DISCIPLINES[link.discipline]
    limit = link.limit_packets(_size(link, path))
    if limit is None:
        return "without a limit"
    # Of datagrams, which may be of any size, nobody says bandwidth-delay products.
    more = f", {_in_bdp(link, path, limit)}" if path.tcp is not None and _propagation_s(link, path) else ""
    return f"{link.written()}{more}"


def _in_bdp(link: Link, path: Path, limit: float) -> str:
    """A limit in the unit that scenarios have: as it is written there, or as a number, with whose BDP these are.

    Where that is less than a packet, in time on the line. A BDP is of the largest packets of its flows, its rate, or
    the mean of one that changes, and the longest propagation of its flows: one for all of them.
    """
    amount, _, unit = link.written_limit.partition(" ")
    interval_s = link.unit_interval_s(_size(link, path))
    is_bdp, propagation_s = unit in units.BDP.spellings, _propagation_s(link, path)
    if propagation_s < interval_s and not is_bdp:
        # Of a product of less than a packet a queue has hundreds, which says nothing.
        return f"up to {ms(limit * interval_s)}"
    said = amount if is_bdp else times(limit * interval_s / propagation_s)
    whose = path.longest[link.name].whose if link.name in path.longest else ""
    in_acks = carries_acks_alone(link, path) and not is_bdp
    return f"{said} BDP{f' of {whose}' if whose else ' of ACKs' if in_acks else ''}"


def _propagation_s(link: Link, path: Path) -> float:
    """The longest propagation there and back of the flows at a link."""
    return path.longest[link.name].propagation_s if link.name in path.longest else path.propagation_s


def base_rtt_s(link: Link, path: Path) -> float:
    """The longest base round trip of the flows at a link."""
    own_s = path.base_rtt_s if path.tcp is not None else 2 * path.base_one_way_s
    return path.longest[link.name].base_s if link.name in path.longest else own_s


def carries_acks_alone(link: Link, path: Path) -> bool:
    """Whether ACKs of a flow return over a link that carries hardly anything else."""
    returns = path.tcp is not None and link in path.reverse and link not in path.forward
    return returns and link.mean_bytes < _ACKS * int((path.tcp or {})["ack_bytes"])


def _size(link: Link, path: Path) -> int:
    """Bytes of the largest packets that wait at a link: on the way back of ACKs theirs, unless data come that way."""
    if carries_acks_alone(link, path):
        return int((path.tcp or {})["ack_bytes"])
    return path.largest.get(link.name, path.packet_bytes)
