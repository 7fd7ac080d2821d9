"""Who fills the queue of a link: TCP connections that saturate it, or datagrams, always or in bursts.

Example:
    >>> scenario = tl.loads('''
    ... duration = "20 s"
    ... link.up = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "200 packets" }
    ... traffic.backup = { kind = "bulk", from = "a", to = "b", start = "5 s", stop = "10 s" }
    ... traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B" }
    ... ''')
    >>> run = tl.simulate(scenario)
    >>> Filling(run, Paths(run)).others("up", run.flows.row(1, named=True))
    'which backup fills'
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tightlink.diagnosis import frames
from tightlink.diagnosis.bounds import SATURATED, lasted
from tightlink.diagnosis.kinds import DRR, FAIR, STRICT
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.words import named

if TYPE_CHECKING:
    from tightlink.run import Run

#: A connection that saturates its path for so much of its time fills the queue there.
_FILLS: Final = 0.25
#: One that does for so much of it, or loses packets there, fills it where it is much of what comes and packets wait.
_AT_TIMES, _WAITS_S = 0.05, 0.005
#: Datagrams that are so much of what comes to a link fill its queue, where that carries no more, at times at least.
_PART: Final = 0.2
#: What is less than so many times a part of a link is no more than that part.
MORE: Final = 1.05
#: A rate that is below what comes for less of the time is not worth a word.
_LEAST: Final = 0.05
#: Packets of a video wait for their own frame where that accounts for so much of what they wait.
_MOSTLY, _FRAMES = 0.5, "which each frame fills"
_VIDEO: Final = "video"
#: Of more flows nobody looks which fill a queue.
_MOST: Final = 2000
_BITS: Final = 8


@dataclass(frozen=True)
class Datagrams:
    """Datagrams that fill a link."""

    fill: Mapping[str, float]
    """What those send that fill it, in bit/s, by traffic groups."""
    rest_bps: float
    """What others send over it."""
    carries_bps: float
    """What it carries for nearly all of the time."""
    classes: Mapping[str, tuple[int | None, float]]
    """Of each of the groups the class that takes turns with others, and its weight; one for all where none do."""
    of_one: bool = False
    """Whether these are of one flow, and what it carries is its turn."""


@dataclass(frozen=True)
class Sent:
    """What a traffic group sends over a link, in bit/s."""

    bps: float
    by_tcp: bool
    frames: bool
    """Whether these are frames of a video, of which the packets come at once."""


class Filling:
    """The flows of a run that fill the queues of its links."""

    def __init__(self, run: Run, paths: Paths) -> None:
        self._paths = paths
        self._rows = {row["label"]: row for row in run.flows.iter_rows(named=True)}
        self._known: dict[tuple[str, bool], tuple[str, ...]] = {}

    def of(self, link: str, row: Mapping[str, Any]) -> tuple[str, ...]:
        """Names of the flows that fill the queue of a link while the flow of a row lasts, itself included."""
        # What says ECT(1) goes first at DualPI2, and waits behind nothing else (RFC 9332).
        dual = link in self._paths.users and self._paths.named(link).discipline == "dualpi2"
        first = dual and self._is_scalable(row["label"])
        if (link, first) not in self._known:
            self._known[link, first] = self._all(link, scalable=first)
        found = self._known[link, first]
        of_data = any(map(self._paths.control, (row["label"], *found)))
        if not of_data and link in self._paths.acknowledging:
            rows = self._rows if len(self._rows) < _MOST else {}
            found += tuple(label for label, each in rows.items() if self._acks_fill(label, each, link))
        return tuple(label for label in found if self._paths.meanwhile(label, row))

    def _is_scalable(self, label: str) -> bool:
        """Whether packets of a flow say ECT(1), with which they join the queue of L4S (RFC 9331)."""
        (transport,) = self._paths.of(label).spec["transport"].values()
        control = transport.get("congestion")
        asks = control.get("ect1", False) if isinstance(control, Mapping) else self._paths.control(label) == "prague"
        return transport.get("ecn") == "ect1" or bool(transport.get("ecn") and asks)

    def _all(self, link: str, *, scalable: bool) -> tuple[str, ...]:
        """Those that fill the queue of a link; ``scalable``: among those alone whose packets say ECT(1)."""
        users = self._paths.users.get(link, ()) if len(self._rows) < _MOST else ()
        rows = self._rows_of(each for each in users if not scalable or self._is_scalable(each))
        found = [label for label, each in rows.items() if self._fills(label, each, link)]
        tcp = [label for label in found if self._paths.control(label)]
        if not tcp:
            return tuple(found)
        # Beside TCP, datagrams make others wait with what is more than their part, or than the link carries.
        path = self._paths.of(tcp[0])
        carries_bps = path.link(link).carries_bps(path.packet_bytes)
        sent = [math.inf if label in tcp else offered_bps(each) for label, each in rows.items()]
        part_bps = MORE * _part(carries_bps, sent)
        more = {label for label in found if label not in tcp and offered_bps(rows[label]) > part_bps}
        more |= {label for label in found if carries_bps < peak_bps(rows[label], self._paths.of(label)) < math.inf}
        return tuple(label for label in found if label in tcp or label in more)

    def others(self, link: str, row: Mapping[str, Any]) -> str:
        """Which others do, in words, or their ACKs, or frames of its own; nothing where the flow itself does."""
        if self.waits_for_frames(link, row):
            return _FRAMES
        found = self.of(link, row)
        users = self._rows_of(self._paths.users.get(link, ()))
        data, acks = ([name for name in found if (name in users) == there] for there in (True, False))
        return "" if row["label"] in found else filled_by(data, acks)

    def waits_for_frames(self, link: str, row: Mapping[str, Any]) -> bool:
        """Whether the packets of a video wait at a link for those of their own frame, most of all."""
        path = self._paths.of(row["label"])
        own_s = math.fsum(frames.waits_s(path, each) for each in path.forward if each.name == link)
        return own_s > 0 and own_s >= _MOSTLY * (row.get("queueing_delay_mean_s") or math.inf)

    def connections(self, link: str, row: Mapping[str, Any]) -> list[Path]:
        """The paths of the TCP connections among those that do, one for each traffic group."""
        groups = {self._paths.group(label): label for label in self.of(link, row) if self._paths.control(label)}
        return [self._paths.of(label) for label in groups.values()]

    def by_class(self, name: str) -> dict[int, dict[str, Sent]]:
        """What is sent over a link, by code points and traffic groups."""
        found: dict[int, dict[str, Sent]] = {}
        for label, row in self._rows_of(self._paths.users.get(name, ())).items():
            spec, group = self._paths.of(label).spec, self._paths.group(label)
            there = found.setdefault(spec.get("dscp", 0), {})
            none = Sent(0.0, bool(self._paths.control(label)), spec["traffic"]["kind"] == _VIDEO)
            before = there.get(group, none)
            there[group] = replace(before, bps=before.bps + offered_bps(row))
        return found

    def returns(self, link: Link) -> bool:
        """Whether ACKs return over a link."""
        return link.name in self._paths.acknowledging

    def datagrams(self, name: str, row: Mapping[str, Any]) -> Datagrams:
        """What datagrams that fill a link send, and what it carries; none where TCP would take what they leave.

        Where flows take turns nobody takes it: there it is what the flow sends, and its part.
        """
        path = self._paths.of(row["label"])
        if any(each.name == name and each.discipline in FAIR[1:] for each in path.forward):
            in_turn = self.turn(name, row)
            if in_turn.fill:
                return in_turn
        # Nobody of a lower class takes what a higher one leaves.
        first = self._rows_of(self._first(name, row["label"]))
        fill = [label for label in self.of(name, row) if label in first]
        beside = [label for label in first if self._paths.meanwhile(label, row)]
        if not fill or any(map(self._paths.control, (row["label"], *fill, *beside))):
            return Datagrams({}, 0.0, 0.0, {})
        rates: dict[str, float] = {}
        for label, each in self._rows_of(fill).items():
            group = self._paths.group(label)
            rates[group] = rates.get(group, 0.0) + offered_bps(each)
        rest = {label: each for label, each in first.items() if label not in fill}
        path = self._paths.of(fill[0])
        link = path.link(name)
        carries = link.always_carries_bps(path.packet_bytes, (row["start_s"], row["stop_s"]))
        classes: dict[str, tuple[int | None, float]] = dict.fromkeys(rates, (None, 1.0))
        if link.discipline == DRR:
            codes = {self._paths.group(label): self._paths.of(label).spec.get("dscp", 0) for label in fill}
            classes = {group: (codes[group], link.weight(codes[group])) for group in rates}
        return Datagrams(rates, math.fsum(map(offered_bps, rest.values())), carries, classes)

    def _first(self, name: str, label: str) -> tuple[str, ...]:
        """The flows that take a link with their data, without those that a strict queue serves after a flow."""
        users = self._paths.users.get(name, ())
        queue = self._paths.named(name).spec["queue"] if users else {}
        if queue.get("kind") != STRICT:
            return users
        places = {code: place for place, code in enumerate(queue["order"])}
        last = {each: places.get(self._paths.of(each).spec.get("dscp", 0), len(places)) for each in (label, *users)}
        return tuple(each for each in users if last[each] <= last[label])

    def turn(self, name: str, row: Mapping[str, Any]) -> Datagrams:
        """What a flow of datagrams sends, and what its turn beside TCP would be; nothing where there is none."""
        path, users, none = self._paths.of(row["label"]), self._paths.users.get(name, ()), Datagrams({}, 0.0, 0.0, {})
        link = path.crosses(name)
        if link is None or path.tcp is not None or not any(map(self._paths.control, users)):
            return none
        rows = self._rows_of(users)
        sent = [math.inf if self._paths.control(label) else offered_bps(each) for label, each in rows.items()]
        part_bps = _part(link.always_carries_bps(path.packet_bytes, (row["start_s"], row["stop_s"])), sent)
        group = self._paths.group(row["label"])
        return Datagrams({group: offered_bps(row)}, 0.0, part_bps, {group: (None, 1.0)}, of_one=True)

    def _rows_of(self, labels: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """Rows by the names of flows; of flows that the table does not tell apart the one of their group, once."""
        found = {label: label if label in self._rows else self._paths.group(label) for label in labels}
        return {name: self._rows[name] for name in dict.fromkeys(found.values()) if name in self._rows}

    def _fills(self, label: str, row: Mapping[str, Any], name: str) -> bool:
        path = self._paths.of(label)
        # Packets that are sprayed take other links, too.
        link = path.crosses(name)
        if link is None:
            return False
        waited_s = max(link.queueing_s, row.get("queueing_delay_mean_s") or 0.0)
        much = is_much(row, link, self._paths)
        if path.tcp is not None:
            full, loses = row.get("limited_by_network") or 0.0, bool(row["packets_dropped"] and link.lost_at_queue)
            at_times = waited_s >= _WAITS_S and much and (full >= _AT_TIMES or loses)
            return path.busiest.name == name and (full >= _FILLS or at_times)
        # While a link is down packets wait there, however few come at once.
        in_bursts = waited_s - link.outages_add_s(row["start_s"], row["stop_s"]) >= _WAITS_S
        in_bursts = in_bursts and peak_bps(row, path) > link.carries_bps(path.packet_bytes)
        return much and (link.utilization >= SATURATED or falls(row, path, link) > 0 or in_bursts)

    def _acks_fill(self, label: str, row: Mapping[str, Any], name: str) -> bool:
        """Whether ACKs of a connection are much of what a link carries, which is busy all the time."""
        path = self._paths.of(label)
        link = path.returns_by(name)
        if link is None or link.utilization < SATURATED:
            return False
        return acks_bps(path, (row["packets_delivered"] or 0) / lasted(row)) > _PART * link.carries_bps(path.ack_bytes)


def filled_by(data: Sequence[str], acks: Sequence[str] = ()) -> str:
    """Which flows fill a queue, and whose ACKs do, as a clause; nothing where there are none.

    >>> filled_by(["up"]), filled_by(["up[0]", "up[1]"]), filled_by([], ["down"]), filled_by(["tv"], ["down"])
    ('which up fills', 'which up[0..1] fill', 'which ACKs of down fill', 'which tv and ACKs of down fill')
    """
    who = [*([named(data)] if data else []), *([f"ACKs of {named(acks)}"] if acks else [])]
    return f"which {' and '.join(who)} {'fills' if len(data) == 1 and not acks else 'fill'}" if who else ""


def acks_bps(path: Path, packets_per_s: float) -> float:
    """Bits per second of ACKs for so many packets of a connection, of which receivers acknowledge every second one."""
    at_once = 1 if (path.tcp or {})["delayed_ack_s"] is None else 2
    return _BITS * path.ack_bytes * packets_per_s / at_once


def peak_bps(row: Mapping[str, Any], path: Path) -> float:
    """What a source of datagrams sends while it does, in bit/s; frames of a video come at once, unless spread."""
    traffic = path.spec["traffic"]
    if traffic["kind"] == "video":
        return offered_bps(row) if traffic["spread"] else math.inf
    pace = traffic.get("pace", {})
    if "interval_s" in pace:
        return float(_BITS * path.packet_bytes / pace["interval_s"])
    return float(max(pace.get("rate_bps", 0.0), offered_bps(row)))


def burst_waits_s(row: Mapping[str, Any], path: Path, part_bps: float) -> float:
    """How long the end of a mean on-time waits behind its beginning, where a source has a rate to itself."""
    lasts_s = path.spec["traffic"].get("on", {}).get("mean_s", 0.0)
    return float(lasts_s * max(0.0, peak_bps(row, path) / part_bps - 1))


def _part(carries_bps: float, sent_bps: Sequence[float]) -> float:
    """What each of those gets that send more, where a link is shared fairly (max-min)."""
    left, more = carries_bps, len(sent_bps)
    for each in sorted(sent_bps):
        if each > left / more:
            break
        left, more = left - each, more - 1
    return left / max(1, more)


def offered_bps(row: Mapping[str, Any]) -> float:
    """What a flow of datagrams sends, in bits per second of its time."""
    return float((row["bytes_sent"] or 0) * _BITS / lasted(row))


def is_much(row: Mapping[str, Any], link: Link, paths: Paths) -> bool:
    """Whether datagrams of a flow and of those of its group are much of what comes to a link."""
    return offered_bps(row) * paths.members(link.name, row["label"]) > _PART * comes_bps(row, link)


def comes_bps(row: Mapping[str, Any], link: Link) -> float:
    """Bits per second that come to a link, its drops as large as other packets; at least those of a flow."""
    through = link.totals.get("packets_out")
    if not through:
        return offered_bps(row)
    bits = _BITS * link.totals["bytes_out"] * link.totals["packets_in"] / through
    return max(float(bits / link.duration_s), offered_bps(row))


def falls(row: Mapping[str, Any], path: Path, link: Link) -> float:
    """The share of a flow's time in which a link whose rate changes carries less than what comes; little is none."""
    share = link.share_below(comes_bps(row, link), path.packet_bytes, (row["start_s"], row["stop_s"]))
    return share if share >= _LEAST else 0.0
