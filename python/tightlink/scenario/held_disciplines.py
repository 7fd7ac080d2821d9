"""Queue disciplines that hold their packets, and decide when the line is free which is next.

Example:
    >>> Codel().target, Cake(rate="18 Mbit/s").isolation
    ('5 ms', 'triple-isolate')
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, StrictBool

from tightlink import units
from tightlink.scenario.disciplines import SELDOM_REACHED, Discipline, Proportional
from tightlink.scenario.dscp import CODE_POINTS, OTHERS, Dscp, DscpOrOthers
from tightlink.scenario.forms import Forms, by_kind
from tightlink.scenario.table import wrong
from tightlink.scenario.values import (
    UNLIMITED,
    Fraction,
    MarkingThreshold,
    Overhead,
    QueueLimit,
    Rate,
    ShortPeriod,
    Size,
    Update,
    above,
    between,
    in_si,
    limit_spec,
    whole,
)

_SHARED_LIMIT: Final = "10240 packets"
Gain = Annotated[float, above(0, 1000, 0.16)]
Queues = Annotated[int, whole(1, 2**16, "queues")]


class _Controlled(Discipline):
    """What CoDel has alone and over the queue of each flow."""

    target: ShortPeriod = "5 ms"
    """Acceptable time in the queue, that of a flow where each has its own (TARGET)."""
    interval: ShortPeriod = "100 ms"
    """How long the time in the queue may be above target: the order of a round trip (INTERVAL)."""
    ecn: StrictBool = False
    """Whether packets are marked instead of dropped."""

    def _check(self) -> None:
        if units.time(self.target) < units.time(self.interval):
            return
        raise wrong(f"a time below interval, which is {self.interval}", key="target", value=self.target)


class Codel(_Controlled):
    """Controlled delay: drops packets that wait too long for too long, when they leave the queue (RFC 8289)."""

    kind: Literal["codel"] = "codel"
    limit: QueueLimit = SELDOM_REACHED


class _ControlledFlows(_Controlled):
    """What CoDel and COBALT have over the queues of flows that take turns."""

    limit: QueueLimit = _SHARED_LIMIT
    """What fits in all queues together: packets, bytes or bandwidth-delay products, the packet in service included."""
    flows: Queues = 1024
    """Queues that flows are hashed to."""
    quantum: Size = "1514 B"
    """What a queue may send in its turn."""


class FqCodel(_ControlledFlows):
    """Fair queueing: flows take turns, with CoDel over the queue of each (RFC 8290)."""

    kind: Literal["fq-codel"] = "fq-codel"
    ecn: StrictBool = True
    """Whether packets are marked instead of dropped, as Linux's does unless told otherwise (RFC 8290)."""


class FqPie(Proportional):
    """Fair queueing: flows take turns, with PIE over the queue of each (Linux's fq_pie)."""

    kind: Literal["fq-pie"] = "fq-pie"
    limit: QueueLimit = _SHARED_LIMIT
    """What fits in all queues together, the packet in service included."""
    flows: Queues = 1024
    """Queues that flows are hashed to."""
    quantum: Size = "1514 B"
    """What a queue may send in its turn."""
    ecn: StrictBool = False
    """Whether packets are marked instead of dropped, while the probability is at most 10 %."""


class Cobalt(_Controlled):
    """CoDel, whose drops thin out as they came, and BLUE against flows that do not answer (CAKE's)."""

    kind: Literal["cobalt"] = "cobalt"
    limit: QueueLimit = SELDOM_REACHED


class FqCobalt(_ControlledFlows):
    """Fair queueing: flows take turns, with COBALT over the queue of each."""

    kind: Literal["fq-cobalt"] = "fq-cobalt"


class Cake(_Controlled):
    """Shaper, classes, fair queueing over hosts and their flows, COBALT over each flow, and a filter of ACKs (CAKE)."""

    kind: Literal["cake"] = "cake"
    limit: QueueLimit = _SHARED_LIMIT
    """What fits for all flows together: packets, bytes or bandwidth-delay products, the packet in service included."""
    ecn: StrictBool = True
    """Whether packets are marked instead of dropped, as CAKE always does."""
    rate: Rate | None = None
    """Rate of the shaper, below the line's so that the queue is here (default: none, the line decides)."""
    overhead: Overhead = "0 B"
    """Bytes that the shaper adds to each packet."""
    smallest: Overhead = "0 B"
    """Smallest packet for the shaper, overhead included (Linux: mpu)."""
    cells: Literal["none", "atm", "ptm"] = "none"
    """How the link layer cuts packets: cells of 53 bytes for 48 (atm), a byte more for each 64 (ptm)."""
    isolation: Literal["flows", "dual-srchost", "dual-dsthost", "triple-isolate"] = "triple-isolate"
    """Between whom the line is divided: flows; sending hosts, receiving hosts or both, and then their flows."""
    tins: Literal["besteffort", "diffserv3", "diffserv4"] = "diffserv3"
    """Classes by the traffic's dscp: one; best effort, bulk and low latency; or best effort, bulk, video and voice."""
    ack_filter: Literal["none", "normal", "aggressive"] = "none"
    """Which ACKs are dropped that a later one in the queue makes superfluous."""

    def _check(self) -> None:
        super()._check()
        if self.rate is None:
            for key, default in (("overhead", "0 B"), ("smallest", "0 B"), ("cells", "none")):
                if (value := getattr(self, key)) != default:
                    raise wrong("nothing here without rate, of which it is the shaper's", key=key, value=value)

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        size = {"bytes": units.size(self.overhead), "smallest_bytes": units.size(self.smallest), "cells": self.cells}
        return in_si(self, "kind", "limit", "overhead", "smallest", "cells") | {"overhead": size}


class DualPi2(Discipline):
    """One queue for L4S and one for Classic traffic, coupled so that their flows share evenly (RFC 9332)."""

    kind: Literal["dualpi2"] = "dualpi2"
    limit: QueueLimit = "10000 packets"
    """What fits in both queues together, the packet in service included."""
    target: ShortPeriod = "15 ms"
    """Delay of the Classic queue that it aims at (target)."""
    update: Update = "16 ms"
    """Time from one update of the probability to the next (Tupdate)."""
    alpha: Gain = 0.16
    """Weight of the delay's distance from its target in an update, per second (alpha)."""
    beta: Gain = 3.2
    """Weight of the delay's change in an update, per second (beta)."""
    coupling: Annotated[float, between(1, 100, 2)] = 2.0
    """How much larger the base probability is for L4S (k)."""
    min_threshold: ShortPeriod = "0.8 ms"
    """Delay of the L4S queue above which it begins to mark by itself, beside the coupled marks (minTh)."""
    max_threshold: ShortPeriod = "1.2 ms"
    """Delay of the L4S queue from which it marks all; the same as min_threshold makes a step (maxTh)."""
    threshold_packets: Annotated[int, whole(0, 1000, "packets")] = 1
    """Packets in the L4S queue up to which all its marks are coupled ones, whatever their delay (Th_len)."""
    scheduler: Literal["wrr", "time-shifted"] = "wrr"
    """Which queue is served: weighted round robin, or whichever has waited longer, L4S with an advance."""
    classic_share: Fraction = 0.1
    """With wrr, the share of the line that the Classic queue has at least."""
    shift: ShortPeriod | None = None
    """With time-shifted, the advance of the L4S queue (default 40 ms)."""
    overload: Literal["drop", "overflow"] = "drop"
    """Where marks do not help: drop from both queues, or let them grow up to the limit."""
    l4s: list[Dscp] = Field(default_factory=list)
    """Classes that join the L4S queue beside packets that say ECT(1) or were marked, by dscp (default none)."""

    def _check(self) -> None:
        if units.time(self.max_threshold) < units.time(self.min_threshold):
            expected = f"a time of at least min_threshold, which is {self.min_threshold}"
            raise wrong(expected, key="max_threshold", value=self.max_threshold)
        if not 0 < units.fraction(self.classic_share) < 1:
            raise wrong("a fraction above 0 and below 1", key="classic_share", value=self.classic_share)
        if self.scheduler == "wrr":
            self._refuse('nothing here without scheduler = "time-shifted"', "shift")

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        shifted = {"time-shifted": units.time(self.shift or "40 ms")}
        return {
            "target_s": units.time(self.target),
            "update_s": units.time(self.update),
            "alpha": self.alpha,
            "beta": self.beta,
            "coupling": self.coupling,
            "ramp_s": [units.time(self.min_threshold), units.time(self.max_threshold)],
            "ramp_packets": self.threshold_packets,
            "scheduler": {"wrr": units.fraction(self.classic_share)} if self.scheduler == "wrr" else shifted,
            "overload": self.overload,
            "l4s": [CODE_POINTS[name] for name in self.l4s],
        }

    def classes(self) -> dict[str, tuple[str, ...]]:
        """The code points that the options name, by key."""
        return {"l4s": tuple(self.l4s)}


class MarkedClasses(Discipline):
    """What disciplines have in common that give each class its queue."""

    mark: Annotated[MarkingThreshold | dict[DscpOrOthers, MarkingThreshold], Forms()] | None = None
    """What would not fit if this were the limit of its class is marked: one for all, or by dscp (default none)."""

    def spec(self) -> dict[str, Any]:
        """The thresholds as the engine reads them."""
        if self.mark is None:
            return {}
        by_class = {OTHERS: self.mark} if isinstance(self.mark, str) else self.mark
        classes = [[CODE_POINTS[name], limit_spec(text)] for name, text in by_class.items() if name != OTHERS]
        return {"mark": {"classes": classes, "others": limit_spec(by_class.get(OTHERS, UNLIMITED))}}

    def classes(self) -> dict[str, tuple[str, ...]]:
        """The code points that the thresholds name."""
        named = self.mark if isinstance(self.mark, dict) else ()
        return {"mark": tuple(name for name in named if name != OTHERS)}


class Drr(MarkedClasses):
    """Classes take turns in proportion to their weights: deficit round robin (Shreedhar and Varghese 1996)."""

    kind: Literal["drr"] = "drr"
    weights: dict[Dscp, Annotated[float, between(0.001, 1000, 3, what="a weight")]] = Field(default_factory=dict)
    """Weights of classes by dscp, such as { EF = 3, CS1 = 0.5 }; those that are not there have 1 (default none)."""
    quantum: Size = "1514 B"
    """What a class of weight 1 may send in its turn."""

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        weights = [[CODE_POINTS[name], weight] for name, weight in self.weights.items()]
        return {"quantum_bytes": units.size(self.quantum), "weights": weights} | super().spec()

    def classes(self) -> dict[str, tuple[str, ...]]:
        """The code points that the options name, by key."""
        return {"weights": tuple(self.weights)} | super().classes()


class Strict(MarkedClasses):
    """A packet goes when none of a higher class waits: strict priorities."""

    kind: Literal["strict"] = "strict"
    order: Annotated[list[Dscp], Field(min_length=1)]
    """Classes by dscp from the highest down, such as ["EF", "AF41"]; all others come after them, together."""

    def _check(self) -> None:
        for place, name in enumerate(self.order):
            if name in self.order[:place]:
                raise wrong("each class once", key="order", value=name)
        for name in super().classes()["mark"]:
            if name not in self.order:
                expected = f'a class of order, which is {", ".join(self.order)}, or "{OTHERS}"'
                raise wrong(expected, key="mark", value=name)

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {"order": [CODE_POINTS[name] for name in self.order]} | super().spec()

    def classes(self) -> dict[str, tuple[str, ...]]:
        """The code points that the options name, by key."""
        return {"order": tuple(self.order)} | super().classes()


Held = Codel | FqCodel | FqPie | Cobalt | FqCobalt | Cake | DualPi2 | Drr | Strict
#: Those of this module, by the names that scenarios have for them.
HELD: Final = by_kind(Held)
