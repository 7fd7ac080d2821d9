"""The network of a scenario: all nodes and links by name, topologies expanded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from tightlink import units
from tightlink.errors import ABSENT, ScenarioError, in_quotes, one_of, show
from tightlink.scenario.changes import Changing
from tightlink.scenario.delays import LeoDelay, least_delay
from tightlink.scenario.disciplines import Discipline, Red, Threshold
from tightlink.scenario.dscp import CODE_POINTS, OTHERS
from tightlink.scenario.endpoints import A_NODE, meant_node
from tightlink.scenario.held_disciplines import MarkedClasses
from tightlink.scenario.loss import loses_nothing, loss_spec
from tightlink.scenario.outages import RandomOutages
from tightlink.scenario.problems import below
from tightlink.scenario.queues import discipline
from tightlink.scenario.rates import RateTrace, nominal_rate
from tightlink.scenario.table import given, kind_of
from tightlink.scenario.values import LARGEST_PACKET, limit_spec

if TYPE_CHECKING:
    from tightlink.scenario.links import Span, Wire
    from tightlink.scenario.model import Scenario
    from tightlink.scenario.nodes import Node, Processor

_Line: TypeAlias = tuple[float, float | None, float, int | None]

_INDEXED: Final = re.compile(r"(.*)\[(\d+|\*)\](\.reverse)?", re.ASCII)
#: Beyond that many names, elements of groups are not considered for "did you mean".
_MANY: Final = 1000


def span_s(key: str, start: str | None, stop: str | None, duration_s: float) -> tuple[float, float]:
    """From when to when something lasts whose table is at ``key``, in seconds."""
    start_s, stop_s = units.time(given(start)), units.time(given(stop))
    check_stop(key, stop, duration_s)
    if start_s >= stop_s:
        raise ScenarioError(f"a time before the stop, which is {stop}", key=f"{key}.start", value=start)
    return start_s, stop_s


def check_stop(key: str, stop: str | None, duration_s: float) -> None:
    """An error where the ``stop`` of the table at ``key`` is after the run."""
    if units.time(stop) > duration_s:
        expected = f"a time not after the duration, which is {units.format_time(duration_s)}"
        raise ScenarioError(expected, key=f"{key}.stop", value=stop)


class Hop(NamedTuple):
    """One link, that is, one direction of a wire."""

    name: str
    #: Dotted path of the table that it comes from.
    key: str
    origin: int
    target: int
    wire: Wire
    #: In bit/s; with a rate in packets that of packets of 1500 B.
    rate: float
    #: In packets/s, where that limits it.
    packet_rate: float | None
    delay: float
    mtu: int | None

    def carries(self, size: int) -> Fraction:
        """Bit/s of packets of ``size`` bytes that it carries, framing aside."""
        return units.exact(self.rate) if self.packet_rate is None else units.exact(self.packet_rate) * 8 * size


@dataclass(frozen=True)
class Layout:
    """What links do not share with all others of their wire."""

    #: Name, and the nodes where it begins and ends.
    ends: list[tuple[str, int, int]]
    #: The number of its wire.
    wires: list[int]
    #: Links whose transmitters pause.
    paused: set[int]
    #: Links that go down, or take another path, when another one does.
    drawn_with: dict[int, dict[str, str]]

    def specs(self, wires: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The links as the engine reads them, with what they have of their wires."""
        return [self.spec(index, wires[number]) for index, number in enumerate(self.wires)]

    def spec(self, index: int, wire: dict[str, Any]) -> dict[str, Any]:
        """One of the links, with what it has of its wire."""
        name, origin, target = self.ends[index]
        ends = {"name": name, "from": origin, "to": target}
        return {**ends, **wire, "flow_control": index in self.paused, **self.drawn_with.get(index, {})}


class Network:
    """Nodes and links by name and by index, in the order of the scenario: topologies, then links."""

    def __init__(self, scenario: Scenario) -> None:
        self._profile = scenario.profile
        self.nodes: dict[str, int] = {}
        self.hops: list[Hop] = []
        self.links: dict[str, int] = {}
        #: The links of a group share their wire, and what follows from it.
        self._lines: dict[int, _Line] = {}
        #: Sizes of the groups, such as net.left.
        self.groups: dict[str, int] = {}
        #: Elements of groups that have a name of their own: where they are.
        self._aliases: dict[str, int] = {}
        for name, topology in scenario.topology.items():
            self.groups |= topology.groups(name)
            for node in topology.nodes(name):
                self.nodes[node] = len(self.nodes)
            self._aliases |= {alias: self.nodes[node] for alias, node in topology.aliases(name).items()}
            for span in topology.spans(name):
                self._add(span)
        for name, link in scenario.link.items():
            for node in link.ends:
                if self._find(node) is None:
                    if "." in node:
                        raise self._unknown(f"link.{name}.ends", node, self.nodes, "a node of a topology")
                    self.nodes[node] = len(self.nodes)
            self._add(link.span(name))
        #: Nodes with a processor, and the key of its table.
        self.processors: dict[int, tuple[str, Processor]] = {}
        self._place(scenario.node)
        #: Links with flow control that a processor at their far end can pause.
        self.paused: set[int] = self._find_paused()

    def _place(self, nodes: dict[str, Node]) -> None:
        """Gives nodes their processors: those named singly have theirs rather than their group's."""
        for name, node in sorted(nodes.items(), key=lambda item: "[*]" not in item[0]):
            places = [self.node(f"node.{name}", name, index, written=False) for index in range(self._size(name))]
            if node.processor is not None:
                self.processors |= dict.fromkeys(places, (f"node.{name}.processor", node.processor))
        for index, hop in enumerate(self.hops):
            _, processor = self.processors.get(hop.origin, (None, None))
            if processor is not None and processor.output_ring is not None:
                wire = hop.wire.model_copy(update={"queue": processor.output_ring})
                self.hops[index] = hop._replace(wire=wire)

    def _find_paused(self) -> set[int]:
        """The links whose transmitters pause: of a wire with flow control, or of a group, those that can be paused.

        Raises:
            ScenarioError: A table asks for flow control, and nothing pauses any of its links.
        """
        wanted = [index for index, hop in enumerate(self.hops) if hop.wire.flow_control]
        if not wanted:
            return set()
        onward: dict[int, set[int]] = {}
        for hop in self.hops:
            onward.setdefault(hop.origin, set()).add(hop.target)

        def pauses(hop: Hop) -> bool:
            _, processor = self.processors.get(hop.target, (None, None))
            forwards = onward.get(hop.target, set()) - {hop.origin}
            return processor is not None and (bool(processor.receive) or bool(forwards))

        paused = {index for index in wanted if pauses(self.hops[index])}
        tables = {self.hops[index].key.removesuffix(".reverse") for index in paused}
        for hop in (self.hops[index] for index in wanted):
            if hop.key.removesuffix(".reverse") not in tables:
                expected = (
                    f"{self.name(hop.target)} to have a processor that serves packets from this link: only a router's "
                    "processor, or a host's with receive = true, pauses who sends to it"
                )
                raise ScenarioError(expected, key=f"{hop.key}.flow_control", value=True)
        return paused

    def _find(self, node: str) -> int | None:
        return self.nodes.get(node, self._aliases.get(node))

    def _add(self, span: Span) -> None:
        first, second = span.ends
        origin, target = given(self._find(first)), given(self._find(second))
        self._hop(span.name, span.key, origin, target, span.forward)
        if span.reverse is not None:
            self._hop(f"{span.name}.reverse", f"{span.key}.reverse", target, origin, span.reverse)

    def _hop(self, name: str, key: str, origin: int, target: int, wire: Wire) -> None:
        self.links[name] = len(self.hops)
        line = self._lines.get(id(wire))
        if line is None:
            line = self._lines[id(wire)] = _line(key, wire, self._profile)
        self.hops.append(Hop(name, key, origin, target, wire, *line))

    def node(self, key: str, name: str, index: int, *, written: bool = True) -> int:
        """The node that ``name`` means for flow ``index``; ``key`` is where it was written, or its table."""
        found = self._find(self._element(name, index))
        if found is None:
            none = "" if self.nodes else ", and there is none without a link, such as link.wire"
            error = self._unknown(key, name, self.nodes, f"{A_NODE}{none}")
            if not written:
                error.value = ABSENT
            raise error
        return found

    @cached_property
    def _names(self) -> list[str]:
        return list(self.nodes)

    def name(self, node: int) -> str:
        """The name of a node."""
        return self._names[node]

    def members(self, key: str, names: str | list[str]) -> list[int]:
        """All nodes that one or several names of nodes and of groups mean; ``key`` is where they were written."""
        found: list[int] = []
        for name in [names] if isinstance(names, str) else names:
            stem = name.removesuffix("[*]")
            size = self.groups.get(stem) if name.endswith("[*]") else None
            elements = [name] if size is None else [f"{stem}[{index}]" for index in range(size)]
            for index, element in enumerate(elements):
                node = self.nodes.get(element)
                found.append(self.node(key, name, index) if node is None else node)
        return found

    def link(self, key: str, name: str, index: int) -> int:
        """The link that ``name`` means for flow ``index``; ``key`` is where it was written."""
        found = self.links.get(self._element(name, index))
        if found is None:
            raise self._unknown(key, name, self.links, "the name of a link")
        return found

    def links_of(self, key: str, name: str) -> list[int]:
        """All links that the name of a link or of a group means; ``key`` is where it was written."""
        return [self.link(key, name, index) for index in range(self._size(name.removesuffix(".reverse")))]

    def _size(self, name: str) -> int:
        return self.groups.get(name.removesuffix("[*]"), 1) if name.endswith("[*]") else 1

    def _element(self, name: str, index: int) -> str:
        if "[*]" not in name:
            return name
        stem, _, rest = name.partition("[*]")
        size = self.groups.get(stem)
        return name if size is None else f"{stem}[{index % size}]{rest}"

    def _unknown(self, key: str, name: str, known: Iterable[str], expected: str) -> ScenarioError:
        indexed = _INDEXED.fullmatch(name)
        if indexed and indexed[2] != "*" and indexed[1] in self.groups:
            last = f"{indexed[1]}[{self.groups[indexed[1]] - 1}]"
            return ScenarioError(f"{indexed[1]}[0] to {last}", key=key, value=name)
        names = list(known)
        if len(names) > _MANY:
            names = [other for other in names if "[" not in other]
        names += [f"{group}[*]" for group in self.groups]
        meant = in_quotes(name, names)
        if meant is None and expected.startswith(A_NODE):
            near = meant_node(name, list(self.nodes), self.groups)
            meant = show(near) if near else None
        known = f", {one_of(names)}" if names and not meant else ""
        return ScenarioError(f"{expected}{known}", key=key, value=name, suggestion=meant)

    @cached_property
    def wires(self) -> dict[int, Hop]:
        """The first link of each wire, by the wire's identity: those of a group share theirs, and what follows."""
        found: dict[int, Hop] = {}
        for hop in self.hops:
            found.setdefault(id(hop.wire), hop)
        return found

    @property
    def smallest_mtu(self) -> int | None:
        """The smallest MTU of a link, in bytes; nothing where none has any."""
        return min((hop.mtu for hop in self.wires.values() if hop.mtu is not None), default=None)

    @cached_property
    def layout(self) -> Layout:
        """Which links there are, without what they have of their wires."""
        numbers = {wire: number for number, wire in enumerate(self.wires)}
        drawn_with = {}
        if any(_is_random(hop.wire) for hop in self.wires.values()):
            for index, (before, hop) in enumerate(pairwise(self.hops), start=1):
                if _is_drawn_once(hop, before):
                    drawn_with[index] = {"drawn_with": before.name}
        ends = [(hop.name, hop.origin, hop.target) for hop in self.hops]
        return Layout(ends, [numbers[id(hop.wire)] for hop in self.hops], self.paused, drawn_with)

    def specs(self) -> list[dict[str, Any]]:
        """The links as the engine reads them; what depends on others is left to it (`tightlink._core.fill`)."""
        return self.layout.specs(self.wire_specs())

    def wire_specs(self) -> list[dict[str, Any]]:
        """What links have of their wires, as the engine reads it."""
        return [wire_spec(hop) for hop in self.wires.values()]


def check_thresholds(hops: Iterable[Hop], links: Iterable[dict[str, Any]]) -> None:
    """Refuse thresholds that lie above their queue's limit; both are in packets or bytes by now."""
    for hop, link in zip(hops, links, strict=True):
        queue, limit = discipline(given(hop.wire.queue)), link["queue"]["limit"]
        if isinstance(queue, Red) and queue.min is not None and isinstance(limit, dict):
            least = {"bytes" if link["queue"]["in_bytes"] else "packets": link["queue"]["min"]}
            if _reaches(least, limit):
                expected = f"less than the limit, which is {queue.limit}: the average never reaches it"
                raise ScenarioError(expected, key=f"{hop.key}.queue.min", value=queue.min)
        if isinstance(limit, dict):
            for place, written, mark in _marks(queue, link["queue"]):
                if _reaches(mark, limit):
                    expected = f"less than the limit, which is {queue.limit}: what does not fit is dropped, not marked"
                    raise ScenarioError(expected, key=f"{hop.key}.queue.{place}", value=written)


def _marks(queue: Discipline, spec: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, int]]]:
    """The thresholds from which a queue marks: key, as it was written, and as it is by now."""
    if isinstance(queue, Threshold):
        yield "mark", queue.mark, spec["mark"]
    elif isinstance(queue, MarkedClasses) and queue.mark is not None:
        mark = queue.mark
        known = {**dict(spec["mark"]["classes"]), OTHERS: spec["mark"]["others"]}
        if isinstance(mark, str):
            yield "mark", mark, known[OTHERS]
        else:
            for name, written in mark.items():
                yield f"mark.{name}", written, known[OTHERS if name == OTHERS else CODE_POINTS[name]]


def wire_spec(hop: Hop) -> dict[str, Any]:
    """What a link has of its wire, as the engine reads it; what depends on others is left to it."""
    queue = discipline(given(hop.wire.queue))
    with below(hop.key):
        loss = loss_spec(given(hop.wire.loss))
    return {
        "rate_bps": hop.rate,
        "rate_pps": hop.packet_rate,
        "delay_s": hop.delay,
        "queue": queue_spec(f"{hop.key}.queue", queue),
        "framing": _framing(hop.wire),
        "loss": loss,
        **({"bleaches_ecn": True} if hop.wire.ecn == "bleach" else {}),
        "mtu_bytes": hop.mtu,
        **_changes(hop),
    }


def _is_random(wire: Wire) -> bool:
    return isinstance(wire.outages, RandomOutages) or isinstance(wire.delay, LeoDelay)


def _is_drawn_once(hop: Hop, before: Hop) -> bool:
    """Whether a link goes down or takes another path when the one before it does, of which it is the reverse."""
    alike = hop.wire.outages == before.wire.outages and hop.wire.delay == before.wire.delay
    return _is_random(hop.wire) and alike and hop.name == f"{before.name}.reverse"


def _changes(hop: Hop) -> dict[str, Any]:
    wire = hop.wire
    found: dict[str, Any] = {}
    for key in ("rate", "delay", "jitter", "reorder", "outages", "shaper", "arq"):
        table = getattr(wire, key)
        if isinstance(table, Changing):
            found[key] = table.spec()
    if any(isinstance(table, Changing) and table.reorder for table in (wire.delay, wire.jitter)):
        found["overtaking"] = True
    if duplicate := units.fraction(given(wire.duplicate)):
        found["duplicate"] = duplicate
    if isinstance(wire.delay, LeoDelay) and (outages := wire.delay.outages()):
        if isinstance(wire.outages, Changing):
            expected = 'nothing here: the delay of kind "leo" says when the link is down'
            raise ScenarioError(expected, key=f"{hop.key}.outages", value=wire.outages.written())
        found["outages"] = outages
    if isinstance(wire.arq, Changing) and loses_nothing(wire.loss):
        raise ScenarioError("a loss beside it: else nothing is retransmitted", key=f"{hop.key}.arq",
                            value=wire.arq.written())  # fmt: skip
    return found


def queue_spec(key: str, queue: Discipline) -> dict[str, Any]:
    """A queue as the engine reads it, whose table is at ``key``; what depends on others is left to it."""
    spec = {"kind": kind_of(queue), "limit": limit_spec(queue.limit), **queue.spec()}
    # The keys are for errors: what a wire gives to its links is written once.
    for name, value in spec.items():
        for amount in relative_in(value):
            amount["key"] = key if name == "limit" else f"{key}.{name}"
    return spec


def relative_in(value: object) -> Iterator[dict[str, Any]]:
    """What in an option of a queue depends on others.

    >>> list(relative_in({"classes": [[46, {"bdp": "1/5", "written": "0.2 BDP"}]], "others": {"packets": 3}}))
    [{'bdp': '1/5', 'written': '0.2 BDP'}]
    """
    if isinstance(value, dict) and "written" in value:
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from relative_in(each)


def _reaches(mark: dict[str, int], limit: dict[str, int]) -> bool:
    """Whether nothing is above a mark that is not above the limit of its queue, too."""
    ((unit, most),) = limit.items()
    if unit == "packets" and "bytes" in mark:
        return mark["bytes"] >= most * LARGEST_PACKET
    return mark.get(unit, 0) >= most


def _line(key: str, wire: Wire, profile: str) -> _Line:
    """Rate in bit/s, rate in packets/s where that limits, delay and MTU of a wire."""
    with below(key):
        rate, packet_rate = nominal_rate(given(wire.rate))
        delay = least_delay(given(wire.delay), profile)
    by_trace = isinstance(wire.rate, RateTrace)
    if (packet_rate is not None or by_trace) and any(_framing(wire).values()):
        expected = f'nothing here: with a rate of "{wire.rate}" each packet takes as long, whatever its size'
        if by_trace:
            expected = "nothing here: with a trace each packet counts four bytes more than its own"
        raise ScenarioError(expected, key=f"{key}.framing", value=given(wire.framing).written())
    return rate, packet_rate, delay, None if wire.mtu is None else units.size(wire.mtu)


def limit_of(wire: Wire) -> str:
    """The limit of a link's queue as it was written."""
    return discipline(given(wire.queue)).limit


def _framing(wire: Wire) -> dict[str, int]:
    framing = given(wire.framing)
    return {
        "overhead_bytes": units.size(given(framing.overhead)),
        "smallest_bytes": units.size(given(framing.smallest)),
    }
