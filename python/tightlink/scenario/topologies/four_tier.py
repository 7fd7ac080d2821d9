"""The four-tier network of Mills et al. (NIST SP 500-282): backbone, points of presence, access routers, users."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from tightlink import units
from tightlink.scenario.links import Medium, Span, Wire
from tightlink.scenario.queues import RuledQueue
from tightlink.scenario.table import merged, wrong
from tightlink.scenario.topologies.backbones import BACKBONES, Backbone
from tightlink.scenario.topologies.base import Topology, table_of
from tightlink.scenario.values import (
    FASTEST,
    MOST_PACKETS,
    PACKET_BYTES,
    SLOWEST,
    LineRate,
    Period,
    PropagationDelay,
    number,
    whole,
)

_LARGEST_FACTOR: Final = 1e6
_FACTOR = number(lambda value: 1 / _LARGEST_FACTOR <= value <= _LARGEST_FACTOR, "a number from 0.000001 to 1000000")
#: Of routers, and of the links that they are the outer ends of.
_GROUPS: Final = ("backbone", "pop", "direct", "fast", "normal")
#: With one packet profile ns2 would drop all.
_SMALLEST_QUEUE: Final = 2
#: What is filled in where the table is silent.
_DEFAULTS: Final[dict[str, Any]] = {
    "variant": "abilene",
    "backbone_factor": 2.0,
    "pop_divisor": 4.0,
    "normal_divisor": 10.0,
    "fast_factor": 2.0,
    "direct_factor": 10.0,
    "delay_factor": 1.0,
    "pop_delay": "0.1 ms",
    "access_delay": "0.1 ms",
}
_RULE_DEFAULT: Final = "rtt*c"
_FLOWS_DEFAULT: Final = 100


class TierLink(Medium):
    """What all links of the four tiers have beside rate and delay."""

    queue: RuledQueue | None = None
    """Queue of every link; a limit replaces buffers, a table without one has theirs (default: by buffers)."""


class AbileneFourTier(Topology):
    """Four tiers: a backbone, two points of presence in each of its cities, 139 access routers, and users behind.

    Nodes NAME.backbone[i], NAME.pop[i] (of city i // 2), NAME.direct[i] (6, at backbone routers), NAME.fast[i]
    (28) and NAME.normal[i] (105, at points of presence); links NAME.backbone_link[i], NAME.pop_link[i],
    NAME.direct_link[i], NAME.fast_link[i], NAME.normal_link[i], from the outer router to the inner one.
    Users are behind the access routers; other traffic may begin and end at any router.

    A link is as fast as the outer of its routers, in both directions, with one queue for each. Speeds are in
    packets (``"800 packets/ms"``) or in bits. What is known of the original and what is chosen here stands in
    the documentation, in one table.

    Example:
        >>> net = tl.AbileneFourTier(speed="800 packets/ms")
        >>> {group: net.rate(group) for group in ("backbone", "pop", "direct", "fast", "normal")}
        {'backbone': '1600 packets/ms', 'pop': '200 packets/ms', 'direct': '200 packets/ms', \
'fast': '40 packets/ms', 'normal': '20 packets/ms'}
    """

    kind: Literal["abilene-four-tier"] = "abilene-four-tier"
    speed: LineRate
    """Speed from which those of all routers follow."""
    variant: Literal["abilene", "isp"] | None = None
    """Backbone: abilene with 11 routers, or isp with 22 (default "abilene")."""
    backbone_factor: Annotated[float, _FACTOR] | None = None
    """Speed of a backbone router, in speeds (default 2)."""
    pop_divisor: Annotated[float, _FACTOR] | None = None
    """How many times slower than speed a point of presence is (default 4)."""
    normal_divisor: Annotated[float, _FACTOR] | None = None
    """How many times slower than a point of presence a normal access router is (default 10)."""
    fast_factor: Annotated[float, _FACTOR] | None = None
    """Speed of a fast access router, in those of a normal one (default 2)."""
    direct_factor: Annotated[float, _FACTOR] | None = None
    """Speed of a directly attached access router, in those of a normal one (default 10)."""
    delay_factor: Annotated[float, _FACTOR] | None = None
    """What the delays of the backbone's links are multiplied by (default 1)."""
    pop_delay: PropagationDelay | None = None
    """Delay between a point of presence and its backbone router (default "0.1 ms")."""
    access_delay: PropagationDelay | None = None
    """Delay between an access router and what it is attached to (default "0.1 ms")."""
    buffers: Literal["rtt*c", "rtt*c/sqrt(n)"] | None = None
    """Queues: what a link sends in rtt, or that over the square root of its flows (default "rtt*c")."""
    rtt: Period | None = None
    """Round trip in buffers (default: the mean between two access routers without queues)."""
    flows: Annotated[int, whole(1, 10**9, "flows")] | None = None
    """Flows through a normal access router, others having them in proportion to speed; in buffers (default 100)."""
    link: TierLink | None = None
    """What all links have beside rate and delay; a limit of their queue replaces buffers."""

    def _check(self) -> None:
        if self.buffers != "rtt*c/sqrt(n)":
            self._refuse('nothing here without buffers = "rtt*c/sqrt(n)"', "flows")
        if not self._has_buffers():
            self._refuse("nothing here, as link.queue has a limit", "buffers", "rtt")
        self._check_sizes()

    def _has_buffers(self) -> bool:
        """Whether limits are those of the rule for buffers."""
        queue = table_of(self.link).get("queue")
        return queue is None or (isinstance(queue, dict) and "limit" not in queue)

    def _check_sizes(self) -> None:
        kind, speed = units.parse(self.speed, units.RATE, units.PACKET_RATE)
        written = units.format_rate if kind is units.RATE else units.format_packet_rate
        rates = [speed.exact * self._relative(group) for group in _GROUPS]
        if min(rates) < SLOWEST or max(rates) > FASTEST:
            bound = f'least "{written(SLOWEST)}"' if min(rates) < SLOWEST else f'most "{written(FASTEST)}"'
            raise wrong(f"a speed with which all routers have at {bound}", key="speed", value=self.speed)
        if max(self._packets(group) for group in _GROUPS) > MOST_PACKETS:
            raise wrong("a round trip with queues of fewer than 2³¹ packets", key="rtt", value=self.round_trip)

    def _value(self, key: str) -> Any:
        written = getattr(self, key)
        return _DEFAULTS[key] if written is None else written

    @property
    def _backbone(self) -> Backbone:
        return BACKBONES[self._value("variant")]

    @property
    def round_trip(self) -> str:
        """The round trip that queues are sized by."""
        if self.rtt is not None:
            return self.rtt
        return units.format_time(float(_exact(self._backbone.round_trip_ms) * self._factor("delay_factor") / 1000))

    def _factor(self, key: str) -> Fraction:
        return _exact(self._value(key))

    def rate(self, group: str) -> str:
        """The speed of the routers of a group: backbone, pop, direct, fast or normal."""
        kind, speed = units.parse(self.speed, units.RATE, units.PACKET_RATE)
        value = float(speed.exact * self._relative(group))
        return units.format_rate(value) if kind is units.RATE else units.format_packet_rate(value)

    def _relative(self, group: str) -> Fraction:
        """The speed of the routers of a group over ``speed``."""
        if group == "backbone":
            return self._factor("backbone_factor")
        pop = 1 / self._factor("pop_divisor")
        if group == "pop":
            return pop
        normal = pop / self._factor("normal_divisor")
        return normal if group == "normal" else normal * self._factor(f"{group}_factor")

    def queue(self, group: str) -> str:
        """The queue of each link of a group by the rule for buffers, the packet in service included."""
        return units.format_packets(self._packets(group))

    def _packets(self, group: str) -> int:
        kind, speed = units.parse(self.speed, units.RATE, units.PACKET_RATE)
        per_second = speed.exact * self._relative(group) / (8 * PACKET_BYTES if kind is units.RATE else 1)
        in_a_round_trip = per_second * units.parse(self.round_trip, units.TIME)[1].exact
        if (self.buffers or _RULE_DEFAULT) == _RULE_DEFAULT:
            return max(_SMALLEST_QUEUE, math.ceil(in_a_round_trip))
        flows = (self.flows or _FLOWS_DEFAULT) * self._relative(group) / self._relative("normal")
        # A link that anything takes has one flow at least.
        return max(_SMALLEST_QUEUE, math.ceil(in_a_round_trip / math.sqrt(max(1.0, float(flows)))))

    def _sizes(self) -> dict[str, int]:
        net = self._backbone
        outer = {"direct": len(net.direct), "fast": len(net.places(fast=True)), "normal": len(net.places(fast=False))}
        return {"backbone": len(net.cities), "pop": len(net.pops)} | outer

    def groups(self, name: str) -> dict[str, int]:
        """The routers of each class, and the links by their outer routers."""
        sizes = self._sizes()
        links = sizes | {"backbone": len(self._backbone.links)}
        return {f"{name}.{group}": size for group, size in sizes.items()} | {
            f"{name}.{group}_link": size for group, size in links.items()
        }

    def spans(self, name: str) -> Iterator[Span]:
        """The backbone's links, then those of the other routers to the tier above."""
        net = self._backbone
        slower = self._factor("delay_factor")
        for index, cities in enumerate(net.links):
            delay = units.parse(net.delay(index), units.TIME)[1].exact * slower
            first, second = (f"{name}.backbone[{net.router(city)}]" for city in cities)
            wire = self._wire("backbone", units.format_time(float(delay)))
            yield Span(f"{name}.backbone_link[{index}]", f"topology.{name}.link", (first, second), wire, wire)
        above = {
            "pop": [f"backbone[{pop // 2}]" for pop in range(len(net.pops))],
            "direct": [f"backbone[{net.router(city)}]" for city in net.direct],
            "fast": [f"pop[{pop}]" for pop in net.places(fast=True)],
            "normal": [f"pop[{pop}]" for pop in net.places(fast=False)],
        }
        for group, inner in above.items():
            wire = self._wire(group, self._value("pop_delay" if group == "pop" else "access_delay"))
            for index, node in enumerate(inner):
                ends = (f"{name}.{group}[{index}]", f"{name}.{node}")
                yield Span(f"{name}.{group}_link[{index}]", f"topology.{name}.link", ends, wire, wire)

    def _wire(self, group: str, delay: str) -> Wire:
        own = {"rate": self.rate(group), "delay": delay, "queue": self.queue(group)} | table_of(self.link)
        if isinstance(own["queue"], dict):
            own["queue"] = {"limit": self.queue(group)} | own["queue"]
        return Wire.model_validate(own)

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults of topologies and of links where it says nothing."""
        own = _DEFAULTS | self.written()
        medium = {key: value for key, value in defaults.items() if key not in {"delay", "queue"}}
        if self._has_buffers():
            own = {"buffers": _RULE_DEFAULT, "rtt": self.round_trip} | own
            if own["buffers"] != _RULE_DEFAULT:
                own = {"flows": _FLOWS_DEFAULT} | own
        return own | {"link": merged(medium, table_of(self.link))}


def _exact(value: float) -> Fraction:
    return units.exact(float(value))
