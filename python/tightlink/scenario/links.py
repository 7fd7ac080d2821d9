"""Links: rate, delay, queue, framing, loss, MTU and flow control of a wire.

Example:
    >>> Link(ends=("a", "b"), rate="2Mbps", queue="20 packets").rate
    '2 Mbit/s'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal, NamedTuple, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from tightlink import units
from tightlink.scenario.arq import AnyArq
from tightlink.scenario.delays import AnyJitter, ChangingDelay
from tightlink.scenario.loss import Loss
from tightlink.scenario.networks import ready_network
from tightlink.scenario.outages import LinkOutages
from tightlink.scenario.queues import Queue
from tightlink.scenario.rates import ChangingRate
from tightlink.scenario.reorder import AnyReorder
from tightlink.scenario.shaper import AnyShaper
from tightlink.scenario.table import NAME, Table, as_written, merged, wrong
from tightlink.scenario.toml import literal
from tightlink.scenario.values import Fraction, Mtu, Overhead, ensured, matching, two

#: A node: a plain name, or a node of a topology such as ``net.left[3]``.
NODE: Final = re.compile(rf"{NAME.pattern}(\.{NAME.pattern}(\[\d+\])?)?", re.ASCII)


class Framing(Table):
    """What the link layer adds to each packet: it costs time on the line, no byte total counts it."""

    overhead: Overhead | None = None
    """Bytes added to each packet (default "0 B")."""
    smallest: Overhead | None = None
    """Smallest frame on the line, and more than overhead (default "0 B")."""

    @classmethod
    def _meant(cls, value: object) -> str | None:
        # With preamble, start delimiter, header, check sequence and gap between frames (IEEE 802.3, clauses 3 and 4).
        return '{ overhead = "38 B", smallest = "84 B" }' if value == "ethernet" else super()._meant(value)

    def _check(self) -> None:
        overhead, smallest = (units.size(size or "0 B") for size in (self.overhead, self.smallest))
        if 0 < smallest <= overhead:
            raise wrong(f"more than overhead, which is {self.overhead}", key="smallest", value=self.smallest)


class Medium(Table):
    """What a wire has beside its rate and its delay."""

    queue: Queue | None = None
    """Queue in front of the transmitter: a limit or a table (default: the profile's)."""
    framing: Framing | None = None
    """What the link layer adds to each packet (default nothing)."""
    jitter: AnyJitter | None = None
    """What is added to the delay of each packet (default nothing)."""
    reorder: AnyReorder | None = None
    """Some packets take longer than others, which overtake them (default none does)."""
    duplicate: Fraction | None = None
    """Share of the packets that come out twice (default 0)."""
    loss: Loss | None = None
    """What the wire loses after its transmission: a share of the packets, or a table of a model (default 0)."""
    arq: AnyArq | None = None
    """The link retransmits what the wire loses (default: it is lost)."""
    outages: LinkOutages | None = None
    """When the link is down, by a schedule or at random (default never)."""
    shaper: AnyShaper | None = None
    """A token bucket in front of the line (default there is none)."""
    ecn: Literal["keep", "bleach"] | None = None
    """What becomes of the ECN field of packets: bleach clears it to Not-ECT at the far end (default "keep")."""
    mtu: Mtu | None = None
    """Largest IP packet that fits (default: the profile's)."""
    flow_control: StrictBool | None = None
    """Whether the transmitter pauses while the input ring of the processor at the far end is full (default false)."""


class Wire(Medium):
    """One direction of a wire."""

    rate: ChangingRate | None = None
    """Transmission rate, in bits or in packets, or a table of how it changes."""
    delay: ChangingDelay | None = None
    """Propagation delay, or a table of how it changes (default "0 s")."""

    @classmethod
    def _meant_key(cls, key: str, data: Mapping[str, Any]) -> str | None:
        # How a quantity changes stands in the place of that quantity.
        return f"rate.{key}" if key in {"schedule", "trace"} else super()._meant_key(key, data)


class Reverse(Wire):
    """What differs in the reverse direction of a link."""


def like_its_network(data: object) -> object:
    """A link with what its ready network says, key by key; what the link says takes its place as a whole."""
    if not isinstance(data, dict) or data.get("network") is None:
        return data
    like = dict(ready_network(data["network"], wrong).link)
    reverse, own = like.pop("reverse", {}), data.get("reverse", {})
    own = own.written() if isinstance(own, Table) else own
    _check_whole(data["network"], data, like)
    if isinstance(own, dict):
        _check_whole(data["network"], own, like | reverse, "reverse.")
    if isinstance(own, dict) and not data.get("one_way") and (reverse or own):
        data = data | {"reverse": reverse | own}
    return like | data


def _check_whole(network: str, own: dict[str, Any], like: dict[str, Any], below: str = "") -> None:
    """Refuse a table with some of the keys that the network's has: it takes its place, and lacks the others."""
    for key, value in own.items():
        theirs = like.get(key)
        if isinstance(value, dict) and isinstance(theirs, dict) and not _holds(key, value):
            meant = as_written(theirs | value)
            if _holds(key, meant):
                expected = f'all keys of this table, which takes the place of that of network "{network}"'
                raise wrong(expected, key=f"{below}{key}", value=value, suggestion=literal(meant))


def _holds(key: str, value: dict[str, Any]) -> bool:
    """Whether a wire may have this value."""
    try:
        Wire.model_validate({key: value})
    except ValidationError:
        return False
    return True


class Duplex(Wire):
    """Both directions of a wire: the reverse is like the forward, but for what ``reverse`` says."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["rate"]}, {"required": ["network"]}]})

    network: Annotated[str, WithJsonSchema({"type": "string", "examples": ["lte"]})] | None = None
    """Ready network that it is like but for what is said here, such as "lte" (``tightlink list networks``)."""
    # None does not stay: where it is missing, it is that of the network.
    rate: ChangingRate = Field(default=cast("str", None))
    """Transmission rate, in bits or in packets, or a table of how it changes (default that of the network)."""
    reverse: Reverse | None = None
    """What differs from the second end to the first."""

    @model_validator(mode="before")
    @classmethod
    def _like_its_network(cls, data: object) -> object:
        """Fills in what the network says, key by key; what is said here takes its place as a whole."""
        return like_its_network(data)

    def _check(self) -> None:
        if self.rate is None:
            raise wrong('this key is needed, such as rate = "2 Mbit/s"', key="rate", statement=True)

    def written(self) -> dict[str, Any]:
        """What was set; of a link that is like a network, what differs from it."""
        if self.network is None:
            return super().written()
        like = _spelled_out(self.network)
        own = _beside(super().written(), like)
        reverse = _beside(own.pop("reverse", {}), like.get("reverse", {}))
        return own | ({"reverse": reverse} if reverse else {})

    def spelled_out(self) -> dict[str, Any]:
        """What was set and what its network says."""
        return {key: value for key, value in super().written().items() if key != "network"}

    def directions(self) -> tuple[Wire, Wire]:
        """The forward and the reverse direction, each with all that was set for it."""
        return both(self.spelled_out())


@cache
def _spelled_out(network: str) -> dict[str, Any]:
    return Duplex(network=network).spelled_out()


def _beside(table: dict[str, Any], like: dict[str, Any]) -> dict[str, Any]:
    """The keys of a table that are not alike."""
    return {key: value for key, value in table.items() if key not in like or value != like[key]}


def both(written: dict[str, Any]) -> tuple[Wire, Wire]:
    """The two directions of a duplex link from its table."""
    forward = {key: value for key, value in written.items() if key in Wire.model_fields}
    reverse = merged(forward, written.get("reverse", {}))
    return Wire.model_validate(forward), Wire.model_validate(reverse)


class Span(NamedTuple):
    """A link between two named nodes, of a topology or by itself, before it is resolved."""

    name: str
    #: Full dotted path of the table that it comes from.
    key: str
    ends: tuple[str, str]
    forward: Wire
    #: Nothing where it is one-way.
    reverse: Wire | None


NodeName = Annotated[str, BeforeValidator(matching('the name of a node, such as "sender" or "net.left[3]"', NODE))]


class Link(Duplex):
    """A link between two nodes, which it creates where they do not exist yet.

    It makes two links, ``NAME`` from the first end to the second and ``NAME.reverse``, or one
    where ``one_way`` is true.

    Raises:
        ScenarioError: A value is out of its range or lacks its unit, or a key is unknown.

    Example:
        >>> adsl = tl.Link(ends=("isp", "home"), rate="10 Mbit/s", delay="20 ms", reverse={"rate": "1 Mbit/s"})
        >>> adsl.reverse.rate
        '1 Mbit/s'
    """

    ends: Annotated[
        tuple[NodeName, NodeName],
        two('two nodes, such as ["sender", "receiver"]'),
        AfterValidator(ensured(lambda ends: ends[0] != ends[1], "two different nodes")),
    ]
    """The two nodes that it connects."""
    one_way: StrictBool = False
    """Only from the first end to the second."""

    def _check(self) -> None:
        super()._check()
        if self.one_way:
            self._refuse("nothing here: a one-way link has no reverse", "reverse")

    def span(self, name: str) -> Span:
        """The link with its name and its two directions."""
        forward, reverse = self.directions()
        return Span(name, f"link.{name}", self.ends, forward, None if self.one_way else reverse)
