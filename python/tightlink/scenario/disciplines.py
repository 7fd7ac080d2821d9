"""Queue disciplines that decide when a packet comes: what a link does with packets that it cannot send at once.

A new one is a class here, or in `tightlink.scenario.held_disciplines` if it decides when the line is free, its name in
`tightlink.scenario.queues`, and its engine in `crates/sim/src/network/queue`.

Example:
    >>> Pie().target, Pie(limit="200 packets").limit
    ('15 ms', '200 packets')
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import StrictBool

from tightlink import units
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.values import (
    Backlog,
    Fraction,
    MarkingThreshold,
    Period,
    QueueLimit,
    Rate,
    RingLimit,
    ShortPeriod,
    Size,
    Update,
    above,
    between,
    in_si,
    limit_spec,
)

#: RED: upper bound of the largest probability where it adapts itself (Adaptive RED, §4.1).
_RED_MOST_PROBABILITY: Final = 0.5
#: REM: weights in a step of the price, and the base of its probability, where numbers still tell packets apart.
PriceStep = Annotated[float, above(0, 1000, 0.1)]
PriceBase = Annotated[float, between(1.000_001, 10, 1.001)]
#: Of Linux' CoDel and PIE, which keep delays short by themselves, as COBALT does.
SELDOM_REACHED: Final = "1000 packets"


class Discipline(Table):
    """What all disciplines have in common."""

    limit: QueueLimit
    """What fits in packets, bytes, bandwidth-delay products or time on the line; the packet in service counts."""
    kind: str
    """Queue discipline."""

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them, without kind and limit; what depends on others is left to it."""
        return in_si(self, "kind", "limit")

    def classes(self) -> dict[str, tuple[str, ...]]:
        """The code points that the options name, by key."""
        return {}


class DropTail(Discipline):
    """First in, first out; what arrives at a full queue is dropped."""

    kind: Literal["drop-tail"] = "drop-tail"


class Threshold(Discipline):
    """First in, first out; what arrives above a threshold is marked: the switch that DCTCP asks for (RFC 8257)."""

    kind: Literal["threshold"] = "threshold"
    mark: MarkingThreshold
    """What would not fit if this were the limit is marked, if its transport understands marks."""

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {"mark": limit_spec(self.mark)}


class Policer(Discipline):
    """First in, first out, of what a token bucket lets through; what comes when it has too few tokens is dropped.

    Unlike a shaper (`shaper` of a link, `rate` of CAKE) it lets nothing wait.
    """

    kind: Literal["policer"] = "policer"
    rate: Rate
    """Rate at which tokens come, for the bytes of packets without framing."""
    burst: Size
    """Tokens that the bucket holds, which is full at first."""


class Red(Discipline):
    """Random early detection (Floyd and Jacobson 1993), gentle, and adaptive where asked for."""

    kind: Literal["red"] = "red"
    min: RingLimit | None = None
    """Average queue below which nothing is dropped (default half of what is sent in 5 ms, at least 5 packets)."""
    max: RingLimit | None = None
    """Average queue at which the probability is max_probability (default three times min)."""
    weight: Fraction | None = None
    """Weight of each arrival in the average (default so that it follows in ten round trips of at least 100 ms)."""
    max_probability: Fraction = 0.1
    """Probability of a drop or mark at max."""
    gentle: StrictBool = True
    """Whether the probability rises on to 1 at twice max, rather than jump to 1 at max."""
    wait: StrictBool = True
    """Whether drops keep a distance from each other, of at least 1/probability packets."""
    packet: Size = "1000 B"
    """Typical packet: turns time into packets, where thresholds, weight and idle times need it."""
    adaptive: StrictBool = False
    """Whether max_probability adapts itself, to hold the average in the middle between min and max."""
    interval: Period | None = None
    """Time from one adaptation to the next (default 500 ms)."""
    ecn: StrictBool = False
    """Whether packets are marked instead of dropped, below max."""

    def _check(self) -> None:
        if not self.adaptive:
            self._refuse("nothing here without adaptive = true", "interval")
        if self.weight is not None and not 0 < units.fraction(self.weight) <= 1:
            raise wrong("a fraction above 0", key="weight", value=self.weight)
        if not 0 < units.fraction(self.max_probability) <= 1:
            raise wrong("a fraction above 0", key="max_probability", value=self.max_probability)
        if self.min is not None and self.max is not None:
            (low, low_in_bytes), (high, high_in_bytes) = _amount(self.min), _amount(self.max)
            if low_in_bytes != high_in_bytes:
                raise wrong("packets or bytes, as for min", key="max", value=self.max)
            if high <= low:
                raise wrong(f"more than min, which is {self.min}", key="max", value=self.max)

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them; null what it takes from the link (`tightlink._core.fill`)."""
        thresholds = [None if text is None else _amount(text) for text in (self.min, self.max)]
        low, high = (None if amount is None else amount[0] for amount in thresholds)
        adaptation = {"interval_s": units.time(self.interval or "500 ms"), "least": None, "most": _RED_MOST_PROBABILITY}
        return {
            "min": low,
            "max": high,
            "in_bytes": any(amount is not None and amount[1] for amount in thresholds),
            "weight": None if self.weight is None else units.fraction(self.weight),
            "max_probability": units.fraction(self.max_probability),
            "gentle": self.gentle,
            "wait": self.wait,
            "packet_bytes": units.size(self.packet),
            "adaptive": adaptation if self.adaptive else None,
            "ecn": self.ecn,
        }


class Proportional(Discipline):
    """What PIE has alone and over the queue of each flow."""

    target: ShortPeriod = "15 ms"
    """Queueing delay that it aims at, that of each flow where each has its own queue (QDELAY_REF)."""
    update: Update = "15 ms"
    """Time from one update of the probability to the next (T_UPDATE)."""
    burst: ShortPeriod = "150 ms"
    """How long a burst may pass a queue that was short (MAX_BURST)."""


class Pie(Proportional):
    """Proportional-integral controller of the queueing delay (RFC 8033)."""

    kind: Literal["pie"] = "pie"
    limit: QueueLimit = SELDOM_REACHED
    ecn: StrictBool = False
    """Whether packets are marked instead of dropped, while the probability is at most 10 %."""


class Rem(Discipline):
    """Random exponential marking (Athuraliya, Low, Li, Yin 2001): the link has a price, which marks tell to senders."""

    kind: Literal["rem"] = "rem"
    gamma: PriceStep = 0.001
    """By how much each packet too many raises the price, in each update (γ)."""
    alpha: PriceStep = 0.1
    """Weight of a packet above target over that of one above what the link carries (α)."""
    phi: PriceBase = 1.001
    """An arrival is chosen with the probability 1 − phi^−price (φ)."""
    target: Backlog = "20 packets"
    """Packets waiting or in service that it aims at (b*)."""
    interval: Update = "2 ms"
    """Time from one update of the price to the next."""
    packet: Size = "1500 B"
    """Typical packet: bytes that come and wait are counted in it; on links in packets each is one."""
    ecn: StrictBool = False
    """Whether chosen packets are marked instead of dropped."""
    drop: StrictBool = True
    """With ecn, whether chosen packets are dropped that cannot be marked: ACKs, retransmissions, flows without ECN."""

    def _check(self) -> None:
        if not self.drop and not self.ecn:
            raise wrong("nothing here without ecn = true", key="drop", value=self.drop)

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return super().spec() | {"target_packets": _amount(self.target)[0]}


def _amount(text: str | None) -> tuple[float, bool]:
    """A number of packets or of bytes, and whether it is the latter."""
    kind, quantity = units.parse(text, units.PACKETS, units.SIZE)
    return float(quantity.exact), kind is units.SIZE
