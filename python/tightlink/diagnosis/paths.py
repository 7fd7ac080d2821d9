"""The paths of a scenario's flows: their links and processors, with what a run's tables say of these.

Example:
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "100 packets" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> path = Paths(tl.simulate(scenario)).of("ftp")
    >>> path.slowest.name, round(path.base_rtt_s * 1000, 2), round(path.bdp_packets, 1)
    ('wire', 21.24, 17.7)
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tightlink.diagnosis.completions import open_loop
from tightlink.diagnosis.links import Link, Processor
from tightlink.diagnosis.spans import Spans
from tightlink.diagnosis.words import family
from tightlink.scenario.network import Network
from tightlink.scenario.paths import Router

if TYPE_CHECKING:
    from tightlink.run import Run

#: A window that lacks so little of a packet fills the path, too.
_ROUNDED: Final = 0.2
#: Base round trips that differ by less are one for who reads of them.
ALIKE: Final = 1.2
#: Controls that give way to any other flow, and are meant to.
YIELDING: Final = frozenset({"ledbat", "ledbat++"})
#: Controls that do not take each loss for congestion.
DEAF: Final = frozenset({"bbr", "bbr3"})
#: Controls that take delay for congestion.
BY_DELAY: Final = frozenset({"vegas", "fast", "fast-at", "ledbat", "ledbat++", "copa"})
#: Queues that give flows turns.
FAIR: Final = ("drr", "fq-codel", "fq-pie", "fq-cobalt", "cake")
#: Queues that decide by themselves what they drop.
MANAGED: Final = (*FAIR[1:], "codel", "pie", "red", "rem", "cobalt", "dualpi2")
#: The queue whose classes go one before the other.
STRICT: Final = "strict"
#: A traffic group with so much of what TCP carries over a link leaves next to nothing to others.
_NEARLY_ALL: Final = 0.75
#: A link whose packets are less than so many times as large as ACKs carries hardly anything else.
_ACKS: Final = 2.0
#: A link that is busy for so much of the time has no room for more.
_FULL: Final = 0.9
#: HyStart leaves slow start where round trips are longer by a part of the shortest, within these (Ha and Rhee 2011).
_HYSTART_PART, _HYSTART_S = 8, (0.004, 0.016)
#: Links and flows of a scenario that is resolved at once.
_SMALL: Final = 2000
_Span = tuple[float, float]


@dataclass(frozen=True)
class Path:
    """The way of a flow through the network, there and back."""

    spec: Mapping[str, Any]
    """The flow as the engine reads it."""
    forward: tuple[Link, ...]
    reverse: tuple[Link, ...]
    """Empty where nothing returns, as to a sender of datagrams."""
    processors: tuple[Processor, ...]
    written_window: str | None
    """The receiver's window as the scenario writes it."""
    longest: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    """Links with the longest base round trip of the flows whose data or ACKs take them, in seconds, and whose it is.

    Nobody's where all are about as long.
    """
    mean_rtt_s: float | None = None
    """Of the flow in the run; nothing where nobody measured it."""
    waits_s: float | None = None
    """What its packets wait in queues on the way there, in the mean; nothing where nobody measured it."""

    def down(self, start_s: float, stop_s: float) -> tuple[float, Link]:
        """For how long of a time the link is down that is so for longest, there or back, and which it is."""
        links = (*self.forward, *self.reverse)
        return max(((link.down_s(start_s, stop_s), link) for link in links), key=lambda found: found[0])

    def link(self, name: str) -> Link:
        """The link of this name on the way there."""
        return next(link for link in self.forward if link.name == name)

    @property
    def tcp(self) -> Mapping[str, Any] | None:
        """The TCP connection as the engine reads it; nothing of datagrams."""
        found: Mapping[str, Any] | None = self.spec["transport"].get("tcp")
        return found

    @property
    def sprayed(self) -> bool:
        """Whether its packets take several paths, of which this is the one with the busiest link."""
        return "spraying" in self.spec

    @cached_property
    def packet_bytes(self) -> int:
        """Size of a full data packet, headers included; of datagrams that are cut, of a full fragment."""
        (transport,) = self.spec["transport"].values()
        largest = min(link.spec["mtu_bytes"] or math.inf for link in self.forward)
        return int(min(transport["payload_bytes"] + transport["header_bytes"], largest))

    @cached_property
    def slowest(self) -> Link:
        """The link with the smallest rate, the first of equals."""
        return min(self.forward, key=lambda link: link.carries_bps(self.packet_bytes))

    @cached_property
    def busiest(self) -> Link:
        """The link that is busy for the largest share of the time; of equals the slowest one."""
        return max(self.forward, key=lambda link: (round(link.utilization, 3), link is self.slowest))

    @cached_property
    def base_one_way_s(self) -> float:
        """Propagation, transmission and processing of a full packet with empty queues."""
        size = self.packet_bytes
        links = sum(link.spec["delay_s"] + link.shortest_s(size) for link in self.forward)
        return float(links + sum(each.service_s(size) for each in self.processors))

    @cached_property
    def base_rtt_s(self) -> float:
        """The same there, and back of an ACK; there only, where nothing returns."""
        tcp = self.tcp
        if tcp is None:
            return self.base_one_way_s
        back = sum(link.spec["delay_s"] + link.shortest_s(tcp["ack_bytes"]) for link in self.reverse)
        return float(self.base_one_way_s + back)

    @property
    def propagation_s(self) -> float:
        """Propagation there and back."""
        return float(sum(link.spec["delay_s"] for link in (*self.forward, *self.reverse)))

    @cached_property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product of the slowest link and the base round trip, in full packets."""
        return self.base_rtt_s / self.slowest.interval_s(self.packet_bytes)

    @cached_property
    def unfilled_rtt_s(self) -> float:
        """The round trip of the path with empty queues: the base RTT, and what media, changing delays and hosts add.

        Receivers delay ACKs of short windows, and not of longer ones.
        """
        return self._beside_s if self.longer else self._least_s

    @cached_property
    def _least_s(self) -> float:
        """The base round trip with the waits for media that there are without any queue."""
        ack = (self.tcp or {}).get("ack_bytes", 0)
        there = sum(link.medium_s(self.packet_bytes) for link in self.forward)
        return float(self.base_rtt_s + there + sum(link.medium_s(ack) for link in self.reverse))

    @property
    def _waited_s(self) -> float:
        return self.busiest.queueing_s if self.waits_s is None else self.waits_s

    @cached_property
    def acks_wait_s(self) -> float:
        """What ACKs wait for others in queues on their way back, no more than round trips tell."""
        ack = (self.tcp or {}).get("ack_bytes", 0)
        waits_s = sum(max(0.0, link.queueing_s - link.medium_s(ack)) for link in self.reverse)
        if self.mean_rtt_s is None:
            return waits_s
        return min(waits_s, max(0.0, self.mean_rtt_s - self._waited_s - self._least_s))

    @property
    def acks_wait(self) -> bool:
        """Whether that is much of the round trips."""
        return self.acks_wait_s > (ALIKE - 1) * self.base_rtt_s

    @property
    def acks_wait_for_data(self) -> bool:
        """Whether they wait behind data of others, rather than for each other."""
        alone = all(link.mean_bytes < _ACKS * (self.tcp or {}).get("ack_bytes", 0) for link in self.reverse)
        return self.acks_wait and not alone

    @property
    def acks_wait_at(self) -> str:
        """The link where they wait longest."""
        return max(self.reverse, key=lambda link: link.queueing_s).name

    @property
    def _beside_s(self) -> float:
        return (self.mean_rtt_s or 0.0) - self._waited_s - self.acks_wait_s

    @cached_property
    def longer(self) -> str:
        """What makes a round trip longer than the base RTT, other than queues, in words."""
        more = self._beside_s - self._least_s
        if more <= 0 or (self.waits_s is None and self.busiest.utilization >= _FULL):
            return ""
        if any(link.delay_changes for link in (*self.forward, *self.reverse)):
            return "with its changing delay"
        hosts_s = (self.tcp or {}).get("processing_delay_s") or 0.0
        return "as hosts take their time" if more > (ALIKE - 1) * self.base_rtt_s and hosts_s >= more / 2 else ""

    @property
    def leaves_early(self) -> Link | None:
        """The link whose wire delays packets so unlike each other that HyStart leaves slow start, if one does."""
        if (self.tcp or {}).get("slow_start") != "hystart":
            return None
        least_s, most_s = _HYSTART_S
        link = max((*self.forward, *self.reverse), key=lambda each: each.later_s)
        return link if link.later_s >= min(max(self.base_rtt_s / _HYSTART_PART, least_s), most_s) else None

    @property
    def filling_packets(self) -> float:
        """Packets that fill the path: the bandwidth-delay product, of the round trip that there is to fill."""
        return self.bdp_packets * self.unfilled_rtt_s / self.base_rtt_s

    @property
    def full_packets(self) -> int:
        """The same in whole packets: rounded up, unless a fifth of a packet is missing."""
        return _whole(self.filling_packets)

    @cached_property
    def most_packets(self) -> int:
        """The same at the highest rate that it has for more than a little of the flow's time."""
        times_s = (self.spec["start_s"], self.spec["stop_s"])
        highest = min(link.rarely_exceeds_bps(self.packet_bytes, times_s) for link in self.forward)
        return _whole(self.filling_packets * max(1.0, highest / self.slowest.carries_bps(self.packet_bytes)))

    @property
    def window_packets(self) -> int | None:
        """The largest window that the receiver advertises."""
        return None if self.tcp is None else int(self.tcp["window_packets"])

    @property
    def congestion(self) -> str:
        """Name of the congestion control; empty for datagrams."""
        return _control(self.tcp)


def _whole(packets: float) -> int:
    return max(1, math.ceil(packets - _ROUNDED))


def _control(tcp: Mapping[str, Any] | None) -> str:
    control = "" if tcp is None else tcp["congestion"]
    return str(control if isinstance(control, str) else control["kind"])


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
        self._throughput = dict(run.flows.select("label", "throughput_bps").iter_rows())
        self._rtt = dict(run.flows.select("label", "rtt_mean_s").iter_rows())
        waits = "queueing_delay_mean_s"
        self._waits = dict(run.flows.select("label", waits).iter_rows()) if waits in run.flows.columns else {}
        times = run.flows.select("label", "start_s", "stop_s").iter_rows()
        self._times = {label: (start_s, stop_s) for label, start_s, stop_s in times}
        self._spans: dict[tuple[str, bool], tuple[Spans, Spans]] = {}
        self._most: dict[str, tuple[str, float] | None] = {}
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
        mean_rtt_s, waits_s = self._mean_rtt_s(label, path), self._waits.get(label)
        return replace(path, longest=self._longest, mean_rtt_s=mean_rtt_s, waits_s=waits_s)

    def _mean_rtt_s(self, label: str, path: Path) -> float | None:
        """The mean round trip, with what hosts take before a packet is stamped: a window's rate alone tells of that."""
        mean, throughput = self._rtt.get(label), (self._throughput.get(label) or 0.0) / self.flows_of(label)
        if mean is None or not throughput or not (path.tcp or {}).get("processing_delay_s"):
            return mean
        return float(max(mean, 8 * path.packet_bytes * (path.window_packets or 0) / throughput))

    def _path(self, flow: Mapping[str, Any]) -> Path:
        forward, reverse = (max(self._side(flow, side), key=self._busy) for side in ("path", "reverse_path"))
        nodes = [self._network.hops[index].origin for index in forward]
        passed = [(place, node) for place, node in enumerate(nodes) if node in self._network.processors]
        return Path(
            flow,
            tuple(map(self.link_at, forward)),
            tuple(map(self.link_at, reverse)) if "tcp" in flow["transport"] else (),
            tuple(self._processor(node, sends=place == 0) for place, node in passed),
            self._window(flow["group"]),
        )

    @property
    def small(self) -> bool:
        """Whether resolving the scenario again takes no time to speak of."""
        return len(self._network.hops) + len(self._resolved["flows"]) < _SMALL

    @cached_property
    def _longest(self) -> Mapping[str, tuple[float, str]]:
        """The longest base round trip at each link, and whose it is where those of other flows are unlike."""
        found: dict[str, list[tuple[float, str]]] = {}
        for flow in self._resolved["flows"] if self.small else ():
            path = self._path(flow)
            for name in {link.name for link in (*path.forward, *path.reverse)} if path.tcp is not None else ():
                found.setdefault(name, []).append((path.base_rtt_s, flow["label"]))
        longest = {}
        for link, each in found.items():
            base_s, label = max(each, key=lambda one: one[0])
            longest[link] = base_s, label if base_s > ALIKE * min(each)[0] else ""
        return longest

    def _window(self, group: str) -> str | None:
        tcp = getattr(self._explicit.traffic[group], "tcp", None)
        return None if tcp is None else str(tcp.window)

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
            first_s, last_s = self.lasted(label)
            if label != row["label"] and first_s < stop_s and last_s > start_s:
                if self.group(label) in self._open_loop:
                    transfers.setdefault(self.control(label), []).append((first_s, last_s))
                else:
                    found.append(self.control(label))
        for control, spans in transfers.items():
            found += [control] * Spans(spans).at_once(start_s, stop_s)
        return found

    def has_alone(self, link: str, row: Mapping[str, Any]) -> bool:
        """Whether of all TCP connections only those of a row's group take a link with their data while it lasts."""
        start_s, stop_s, group = row["start_s"], row["stop_s"], self.group(row["label"])
        users = (label for label in self.users.get(link, ()) if self.control(label) and self.group(label) != group)
        return not any(first_s < stop_s and last_s > start_s for first_s, last_s in map(self.lasted, users))

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
        """Who gets nearly all of a link beside as many other flows that want all, and its share: a flow, or a group."""
        if link not in self._most:
            rates: dict[str, float] = {}
            for label in self.users.get(link, ()):
                traffic = self._flows[label]["traffic"]
                if traffic["kind"] == "bulk" and not traffic.get("bytes") and self.control(label) not in YIELDING:
                    rates[label] = self._rate(label)
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

    def _rate(self, label: str) -> float:
        """What arrives of a flow, in bit/s; of one that the table does not tell apart, its part of its group's."""
        if label in self._throughput:
            return self._throughput[label] or 0.0
        group = self.group(label)
        return (self._throughput.get(group) or 0.0) / self.flows_of(group)

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
        return _control(self._flows[label]["transport"].get("tcp"))

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
        back = hop.name.endswith(".reverse")
        return family(hop.name.removesuffix(".reverse")), back, hop.target if back else hop.origin

    @cached_property
    def _tiers(self) -> Mapping[tuple[str, bool, int], Sequence[int]]:
        found: dict[tuple[str, bool, int], list[int]] = {}
        for link in range(len(self._network.hops)):
            found.setdefault(self._place(link), []).append(link)
        return found

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
            self._links[index] = Link(hop.name, hop.key, spec, totals, self._resolved["duration_s"])
        return self._links[index]

    def _processor(self, node: int, *, sends: bool) -> Processor:
        name, spec = self._network.name(node), self._resolved["nodes"][node]["processor"]
        return Processor(name, self._network.processors[node][0], spec, self._nodes.get(name, {}), sends)
