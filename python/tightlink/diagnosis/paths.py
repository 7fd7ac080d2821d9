"""The paths of a scenario's flows: their links and processors, with what a run's tables say of these.

Example:
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "100 packets" }
    ... traffic.ftp = { kind = "bulk", flows = 2, from = "a", to = "b" }
    ... ''')
    >>> paths = Paths(tl.simulate(scenario))
    >>> paths.of("ftp[1]").slowest.name, paths.users["wire"], paths.group("ftp[1]")
    ('wire', ('ftp[0]', 'ftp[1]'), 'ftp')
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from tightlink import units
from tightlink.diagnosis.completions import open_loop
from tightlink.diagnosis.kinds import BY_RATE, DEAF, MARKS_ALIKE, SCALABLE, YIELDING
from tightlink.diagnosis.links import Link, Processor
from tightlink.diagnosis.path import ALIKE, Longest, Path, control_of
from tightlink.diagnosis.spans import Spans
from tightlink.diagnosis.words import tier
from tightlink.scenario.network import Network, limit_of
from tightlink.scenario.paths import Router
from tightlink.scenario.profiles import LINUX

if TYPE_CHECKING:
    from tightlink.run import Run

#: A traffic group with so much of what TCP carries over a link leaves next to nothing to others.
_NEARLY_ALL: Final = 0.75
#: Links and flows of a scenario that is resolved at once.
_SMALL: Final = 2000
#: What of the table of flows says something of paths.
_KNOWN: Final = ("label", "start_s", "stop_s", "throughput_bps", "rtt_mean_s", "queueing_delay_mean_s")
_Span = tuple[float, float]
#: Those that were found, as long as their runs are there.
_FOUND: Final[WeakKeyDictionary[Run, Paths]] = WeakKeyDictionary()


def paths_of(run: Run) -> Paths:
    """The paths of a run's flows, found once for each run: to resolve a scenario of many transfers takes seconds."""
    if run not in _FOUND:
        _FOUND[run] = Paths(run)
    return _FOUND[run]


class Paths:
    """The paths of all flows of a run."""

    def __init__(self, run: Run) -> None:
        scenario = run.scenario
        self._resolved = scenario.resolve()
        self._explicit = scenario.explicit()
        self._network = Network(self._explicit)
        self._router = Router.of(self._network)
        self._totals = {row["link"]: row for row in run.links.iter_rows(named=True)}
        nodes = run.nodes.iter_rows(named=True) if "nodes" in run.tables else []
        self._nodes = {row["node"]: row for row in nodes}
        known = run.flows[[name for name in _KNOWN if name in run.flows.columns]]
        self._rows = {row["label"]: row for row in known.iter_rows(named=True)}
        self._times = {label: (row["start_s"], row["stop_s"]) for label, row in self._rows.items()}
        self._spans: dict[tuple[str, bool], tuple[Spans, Spans]] = {}
        self._most: dict[str, tuple[str, float] | None] = {}
        self._busy_while: dict[tuple[str, _Span], float] = {}
        self._members: dict[str, Counter[str]] = {}
        self._links: dict[int, Link] = {}
        self._flows: dict[str, Mapping[str, Any]] = {}
        for flow in self._resolved["flows"]:
            # Where the run has a row for each group, the first of its flows stands for it.
            self._flows.setdefault(flow["label"], flow)
            self._flows.setdefault(flow["group"], flow)
        self._open_loop = open_loop(run)
        self._times |= self._of_transfers(run)

    @property
    def profile(self) -> str:
        """The profile of the scenario."""
        return str(self._resolved["profile"])

    @property
    def flows(self) -> Sequence[Mapping[str, Any]]:
        """The flows as the engine reads them, each open-loop transfer among them."""
        found: Sequence[Mapping[str, Any]] = self._resolved["flows"]
        return found

    def _of_transfers(self, run: Run) -> dict[str, tuple[float, float]]:
        """From when until when each open-loop transfer was under way; of one that was not complete, until the end."""
        if not self._open_loop or "completions" not in run.tables:
            return {}
        end_s = self._resolved["duration_s"]
        rows = run.completions.select("label", "transfer", "start_s", "completion_s").iter_rows()
        lasted = {(label, transfer): (start_s, end_s if took_s is None else min(end_s, start_s + took_s))
                  for label, transfer, start_s, took_s in rows}  # fmt: skip
        found, counts = {}, Counter[str]()
        for flow in self.flows:
            if flow["group"] in self._open_loop:
                found[flow["label"]] = lasted[flow["group"], counts[flow["group"]]]
                counts[flow["group"]] += 1
        return found

    def of(self, label: str) -> Path:
        """The path of a flow by its name, or of the first flow of a group by the group's.

        Of packets that are sprayed over several it is the one with the busiest link.
        """
        path = self._path(self._flows[label])
        row = self._rows.get(label, {})
        mean_rtt_s, waits_s = self._mean_rtt_s(label, row, path), row.get("queueing_delay_mean_s")
        return replace(path, longest=self._longest, largest=self._largest, mean_rtt_s=mean_rtt_s, waits_s=waits_s)

    def _mean_rtt_s(self, label: str, row: Mapping[str, Any], path: Path) -> float | None:
        """The mean round trip, with what hosts take before a packet is stamped: a window's rate alone tells of that."""
        mean: float | None = row.get("rtt_mean_s")
        throughput = (row.get("throughput_bps") or 0.0) / self.flows_of(label)
        if mean is None or not throughput or not (path.tcp or {}).get("processing_delay_s"):
            return mean
        return float(max(mean, 8 * path.packet_bytes * (path.window_packets or 0) / throughput))

    def _path(self, flow: Mapping[str, Any]) -> Path:
        forward, reverse = (max(self._side(flow, side), key=self._busy) for side in ("path", "reverse_path"))
        nodes = [self._network.hops[index].origin for index in forward]
        tcp = getattr(self._explicit.traffic[flow["group"]], "tcp", None)
        linux = self.profile == LINUX.name
        passed = [(place, node) for place, node in enumerate(nodes) if node in self._network.processors]
        return Path(
            flow,
            tuple(map(self.link_at, forward)),
            tuple(map(self.link_at, reverse)) if "tcp" in flow["transport"] else (),
            tuple(self._processor(node, sends=place == 0) for place, node in passed),
            None if tcp is None else str(tcp.window),
            constant_bytes=units.size(LINUX.tcp.window) if linux else math.inf,
            minds_lost_syns=not linux,
        )

    @property
    def small(self) -> bool:
        """Whether resolving the scenario again takes no time to speak of."""
        return len(self._network.hops) + len(self._resolved["flows"]) < _SMALL

    @cached_property
    def _every(self) -> Sequence[Path]:
        """The paths of all flows, where these are not too many."""
        return [self._path(flow) for flow in self._resolved["flows"]] if self.small else ()

    @cached_property
    def _largest(self) -> Mapping[str, int]:
        """The largest packets of connections whose data take each link, in bytes."""
        largest: dict[str, int] = {}
        for path in (each for each in self._every if each.tcp is not None):
            largest |= {link.name: max(path.packet_bytes, largest.get(link.name, 0)) for link in path.forward}
        return largest

    @cached_property
    def _longest(self) -> Mapping[str, Longest]:
        """The longest round trip at each link, and whose it is where those of other connections are unlike."""
        found: dict[str, list[Path]] = {}
        for path in self._every:
            for name in {link.name for link in (*path.forward, *path.reverse)}:
                found.setdefault(name, []).append(path)
        longest = {}
        for link, every in found.items():
            connections = [path for path in every if path.tcp is not None]
            if connections:
                bases = {path.spec["label"]: path.base_rtt_s for path in connections}
                whose = max(bases, key=lambda label: bases[label])
                unlike = bases[whose] > ALIKE * min(bases.values())
                propagation_s = max(path.propagation_s for path in every)
                longest[link] = Longest(bases[whose], propagation_s, whose if unlike else "")
        return longest

    @cached_property
    def users(self) -> Mapping[str, tuple[str, ...]]:
        """The flows that take each link with their data, by the link's name."""
        found: dict[str, list[str]] = {}
        for flow in self._resolved["flows"]:
            for index in dict.fromkeys(itertools.chain(*self._side(flow, "path"))):
                found.setdefault(self._network.hops[index].name, []).append(flow["label"])
        return {link: tuple(labels) for link, labels in found.items()}

    @cached_property
    def acknowledging(self) -> frozenset[str]:
        """The links that ACKs take back to their senders."""
        flows = (flow for flow in self._resolved["flows"] if "tcp" in flow["transport"])
        indices = (index for flow in flows for index in itertools.chain(*self._side(flow, "reverse_path")))
        return frozenset(self._network.hops[index].name for index in set(indices))

    def sharing(self, link: str, row: Mapping[str, Any]) -> int:
        """How many flows take a link with their data while the flow, or group, of this row lasts, itself included.

        Of open-loop transfers, which come and go, as many as are under way at a time on average.
        """
        return self._count(link, row, heeding=False)

    def beside(self, link: str, row: Mapping[str, Any], *, heeding: bool = False) -> int:
        """How many of them are others; ``heeding``: without those that give way. A group has no row among flows."""
        label = row["label"]
        counted = self._flows[label]["label"] == label and not (heeding and self.control(label) in YIELDING)
        return self._count(link, row, heeding=heeding) - counted

    def controls_beside(self, link: str, row: Mapping[str, Any]) -> list[str]:
        """The congestion controls of the others; empty for datagrams."""
        start_s, stop_s, found, transfers = row["start_s"], row["stop_s"], [], dict[str, list[tuple[float, float]]]()
        for label in self.users.get(link, ()):
            if label != row["label"] and self.meanwhile(label, row):
                if self.group(label) in self._open_loop:
                    transfers.setdefault(self.control(label), []).append(self.lasted(label))
                else:
                    found.append(self.control(label))
        for control, spans in transfers.items():
            found += [control] * Spans(spans).at_once(start_s, stop_s)
        return found

    def meanwhile(self, label: str, row: Mapping[str, Any]) -> bool:
        """Whether a flow is sending in some of the time of a row's."""
        first_s, last_s = self.lasted(label)
        return bool(first_s < row["stop_s"] and last_s > row["start_s"])

    def has_alone(self, link: str, row: Mapping[str, Any]) -> bool:
        """Whether of all TCP connections only those of a row's group take a link with their data while it lasts."""
        group = self.group(row["label"])
        users = (label for label in self.users.get(link, ()) if self.control(label) and self.group(label) != group)
        return not any(self.meanwhile(label, row) for label in users)

    def busy_while(self, link: Link, row: Mapping[str, Any]) -> float:
        """How busy a link is while the flow of a row lasts: it carries of all what those that take it send meanwhile.

        Each as if it sent evenly, as tables have totals of the whole run. A link as it is while transfers are under way
        is told as that.
        """
        start_s, stop_s = times_s = row["start_s"], row["stop_s"]
        whole_s = self._resolved["duration_s"]
        if not self.small or link.duration_s != whole_s or not 0 < stop_s - start_s < whole_s:
            return link.utilization
        key = link.name, times_s
        if key not in self._busy_while:
            sent = [(bits, self.lasted(label)) for label, bits in self._sent.get(link.name, {}).items()]
            inside = sum(bits * _overlap(times_s, each) for bits, each in sent)
            whole = sum(bits for bits, _ in sent)
            scale = whole_s / (stop_s - start_s)
            self._busy_while[key] = min(1.0, link.utilization * scale * inside / whole) if whole else 0.0
        return self._busy_while[key]

    @cached_property
    def _sent(self) -> Mapping[str, Mapping[str, float]]:
        """What flows send over each link, in bits by their names, that of ACKs included."""
        found: dict[str, dict[str, float]] = {}
        for path in self._every:
            label = str(path.spec["label"])
            start_s, stop_s = self.lasted(label if label in self._rows else self.group(label))
            bits = self._rate(label) * (stop_s - start_s)
            acks = path.ack_bytes / (2 * path.packet_bytes)
            for links, part in ((path.forward, 1.0), (path.reverse, acks)):
                for link in links:
                    each = found.setdefault(link.name, {})
                    each[label] = each.get(label, 0.0) + part * bits
        return found

    def _count(self, link: str, row: Mapping[str, Any], *, heeding: bool) -> int:
        """Of the flows that have begun before the end of a row's time those that are not over at its beginning."""
        key = link, heeding
        if key not in self._spans:
            labels = [label for label in self.users.get(link, ()) if not (heeding and self.control(label) in YIELDING)]
            sides: tuple[list[_Span], list[_Span]] = ([], [])
            for label in labels:
                sides[self.group(label) in self._open_loop].append(self.lasted(label))
            self._spans[key] = Spans(sides[0]), Spans(sides[1])
        flows, transfers = self._spans[key]
        times = row["start_s"], row["stop_s"]
        return flows.overlapping(*times) + transfers.at_once(*times)

    def lasted(self, label: str) -> tuple[float, float]:
        """From when until when a flow was sending; of flows that the table does not tell apart, all of them."""
        flow = self._flows[label]
        return self._times.get(label) or self._times.get(flow["group"]) or (flow["start_s"], flow["stop_s"])

    def takes_most(self, link: str) -> tuple[str, float] | None:
        """Who gets nearly all of a link beside as many other flows that want all, and its share: a flow, or a group.

        Those that yield want all where there are no others.
        """
        if link not in self._most:
            traffic = {label: self._flows[label]["traffic"] for label in self.users.get(link, ())}
            bulk = [label for label, each in traffic.items() if each["kind"] == "bulk" and not each.get("bytes")]
            want = [label for label in bulk if self.control(label) not in YIELDING] or bulk
            rates = {label: self._rate(label) for label in want}
            groups: dict[str, list[float]] = {}
            for label, rate in rates.items():
                groups.setdefault(self.group(label), []).append(rate)
            total = sum(rates.values()) or 1.0
            parts = {name: (sum(own) / total, len(own)) for name, own in groups.items()}
            parts |= {label: (rate / total, 1) for label, rate in rates.items()}
            most = [(name, share) for name, (share, flows) in parts.items()
                    if share >= _NEARLY_ALL and 2 * flows <= len(rates)]  # fmt: skip
            # A flow that has most of what its group has is named rather than that.
            self._most[link] = most[-1] if most else None
        return self._most[link]

    def deaf_to_marks(self, link: Link) -> tuple[str, frozenset[str]]:
        """Who gets nearly all of a link and does not answer its marks, and the controls of those that do.

        Nobody where there are none of these; and other queues than a threshold drop what they cannot mark.
        """
        most = self.takes_most(link.name) if link.discipline == "threshold" else None
        answers = [label for label in self.users.get(link.name, ()) if self._answers_marks(label)] if most else []
        if most is None or not answers or any(self.is_of(label, most[0]) for label in answers):
            return "", frozenset()
        return most[0], frozenset(map(self.control, answers))

    def halved_by_marks(self, link: Link) -> tuple[tuple[str, ...], str, str]:
        """The groups that take each mark of a link for a loss beside who reduces by their share, and its control.

        Nobody where that one does not get nearly all of it (Judd 2015). Where a queue drops what it cannot mark, those
        that lose these as well; the last of the three says what each of it is to them.
        """
        alike = link.discipline in MARKS_ALIKE and link.spec["queue"].get("ecn", True)
        most = self.takes_most(link.name) if alike else None
        users = self.users.get(link.name, ()) if most else ()
        own = {self.control(label) for label in users if most and self.is_of(label, most[0])}
        others = [
            label
            for label in users
            if self.control(label) not in {"", *SCALABLE, *BY_RATE}
            and (link.discipline != "threshold" or self._answers_marks(label))
        ]
        if len(own) != 1 or not own <= SCALABLE:
            return (), "", ""
        each = {"them" if self._answers_marks(label) else "the drops" for label in others}
        return tuple(dict.fromkeys(map(self.group, others))), own.pop(), " and ".join(sorted(each, reverse=True))

    def _answers_marks(self, label: str) -> bool:
        asks = bool(self._flows[label]["transport"].get("tcp", {}).get("ecn"))
        return asks and self.control(label) not in BY_RATE

    def _rate(self, label: str) -> float:
        """What arrives of a flow, in bit/s; of one that the table does not tell apart, its part of its group's."""
        name = label if label in self._rows else self.group(label)
        return (self._rows.get(name, {}).get("throughput_bps") or 0.0) / self.flows_of(name)

    def flows_of(self, label: str) -> int:
        """How many flows a row of the table of flows is about: one, unless it is that of a group."""
        return 1 if self._flows[label]["label"] == label else self._sizes[label]

    @cached_property
    def _sizes(self) -> Counter[str]:
        return Counter(str(flow["group"]) for flow in self._resolved["flows"])

    def is_of(self, label: str, name: str) -> bool:
        """Whether a flow is the flow, or one of the group, of this name."""
        return name in {label, self.group(label)}

    def are_unlike(self, link: str) -> bool:
        """Whether some of the flows that share a link would suffer from a short queue more than others.

        As datagrams do beside TCP, and controls that heed losses beside those that do not.
        """
        controls = {self.control(label) for label in self.users.get(link, ())}
        return len({control in DEAF if control else None for control in controls}) > 1

    def group(self, label: str) -> str:
        """Name of a flow's traffic group."""
        return str(self._flows[label]["group"])

    def members(self, link: str, label: str) -> int:
        """How many flows of the group of a flow take a link; one where the table has a row for each group."""
        if self._flows[label]["label"] != label:
            return 1
        if link not in self._members:
            self._members[link] = Counter(map(self.group, self.users.get(link, ())))
        return self._members[link][self.group(label)]

    def control(self, label: str) -> str:
        """Name of a flow's congestion control; empty for datagrams."""
        return control_of(self._flows[label]["transport"].get("tcp"))

    def _side(self, flow: Mapping[str, Any], side: str) -> list[list[int]]:
        """The links of each path of a flow in one direction: of one, unless its packets are sprayed."""
        several = flow.get("spraying", {}).get(f"{side}s")
        if several:
            return [path["links"] for path in several]
        if flow[side] is not None:
            return [flow[side]]
        ends = (flow["from"], flow["to"]) if side == "path" else (flow["to"], flow["from"])
        return [self._router.path(*ends) or []]

    def shares(self, flow: Mapping[str, Any], side: str) -> dict[int, float]:
        """The links of a flow in one direction, ``path`` or ``reverse_path``, each with the share of its packets."""
        several = flow.get("spraying", {}).get(f"{side}s")
        if not several:
            return dict.fromkeys(self._side(flow, side)[0], 1.0)
        found: dict[int, float] = {}
        for path in several:
            for link in path["links"]:
                found[link] = found.get(link, 0.0) + path["share"]
        return found

    def alike(self, link: int) -> Sequence[int]:
        """The links of a tier that lead to, or from, the same lower node as one of them: a flow takes any of these."""
        return self._tiers[self._place(link)]

    def _place(self, link: int) -> tuple[str, bool, int]:
        hop = self._network.hops[link]
        name, back = tier(hop.name)
        return name, back, hop.target if back else hop.origin

    @cached_property
    def _tiers(self) -> Mapping[tuple[str, bool, int], Sequence[int]]:
        found: dict[tuple[str, bool, int], list[int]] = {}
        for link in range(len(self._network.hops)):
            found.setdefault(self._place(link), []).append(link)
        return found

    def named(self, link: str) -> Link:
        """The link of this name."""
        return self.link_at(self._network.links[link])

    def nodes(self, link: str) -> tuple[int, int]:
        """Where a link begins and ends."""
        hop = self._network.hops[self._network.links[link]]
        return hop.origin, hop.target

    def _busy(self, path: list[int]) -> float:
        """How busy the busiest link of a path was."""
        return max((self.link_at(index).utilization for index in path), default=0.0)

    def link_at(self, index: int) -> Link:
        """The link of this number."""
        if index not in self._links:
            hop, spec = self._network.hops[index], self._resolved["links"][index]
            totals = self._totals.get(hop.name, {})
            written = limit_of(hop.wire)
            self._links[index] = Link(hop.name, hop.key, spec, totals, self._resolved["duration_s"], written)
        return self._links[index]

    def _processor(self, node: int, *, sends: bool) -> Processor:
        name, spec = self._network.name(node), self._resolved["nodes"][node]["processor"]
        return Processor(name, self._network.processors[node][0], spec, self._nodes.get(name, {}), sends)


def _overlap(times_s: _Span, other_s: _Span) -> float:
    """The share of another time that falls into a time."""
    (start_s, stop_s), (first_s, last_s) = times_s, other_s
    return max(0.0, min(stop_s, last_s) - max(start_s, first_s)) / (last_s - first_s or 1.0)
