"""Traffic: what applications offer, and the TCP or UDP that carries it.

Example:
    >>> Cbr(from_="a", to="b", rate="2 Mbit/s", udp=Udp(payload="1000 B")).kind
    'cbr'
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, StrictBool, WithJsonSchema

from tightlink.scenario.dscp import Dscp
from tightlink.scenario.endpoints import Endpoint, LinkName
from tightlink.scenario.forms import Forms
from tightlink.scenario.protocols import Tcp, Udp
from tightlink.scenario.scatter import Scatter
from tightlink.scenario.sizes import DatagramSize, check_sizes
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.transfers import Transfers
from tightlink.scenario.users import Shape, Users, check_shape
from tightlink.scenario.values import Amount, Delay, Name, Period, Rate, above, between, choice, switch_or, whole


class Starts(Table):
    """Start times of a group of flows: evenly spaced, flow i at first + i × every, or drawn from a part of the run."""

    first: Delay = "0 s"
    """When the first flow starts, or the earliest time at which one may."""
    every: Delay | None = None
    """From the start of a flow to the start of the next."""
    within: Period | None = None
    """Instead of ``every``: each flow starts at a uniformly random time, from first to so much later."""

    def _check(self) -> None:
        if self._only("every", "within") is None:
            raise wrong('every, such as "100 ms", for even spacing, or within, such as "1 s", for random times')


Start = Annotated[Delay | list[Delay] | Starts, Forms()]


PathLinks = Annotated[list[LinkName], Field(min_length=1)]
Flows = Annotated[int, whole(1, 1_000_000, "flows")]


class Flow(Table):
    """What all kinds of traffic share.

    Raises:
        ScenarioError: A value is out of its range or lacks its unit, or a key is unknown or has no
            effect.
    """

    from_: Endpoint = Field(validation_alias="from", serialization_alias="from")
    """Sending node; of a group such as "net.left[*]", flow i takes element i modulo its size."""
    to: Endpoint
    """Receiving node or group."""
    flows: Flows | None = None
    """Number of flows, labelled NAME[0], NAME[1], …; without it there is one, labelled NAME."""
    start: Start | None = None
    """When the application starts: one time, one for each flow, or { first, every or within } (default "0 s")."""
    stop: Period | None = None
    """When the application stops (default: the duration)."""
    path: PathLinks | None = None
    """Links from sender to receiver (default: the fewest links)."""
    reverse_path: PathLinks | None = None
    """Links from receiver to sender (default: the fewest links)."""
    dscp: Dscp | None = None
    """Class of its packets, and of those that answer them, for queues that tell classes apart (default CS0)."""
    tcp: Tcp | None = None
    """Carried by TCP."""
    udp: Udp | None = None
    """Carried by UDP."""
    carrier: ClassVar[Literal["tcp", "udp"]] = "udp"
    """What carries it unless ``tcp`` is set."""

    def _check(self) -> None:
        self._only("tcp", "udp")
        if self.flows is None:
            for key, end in (("from", self.from_), ("to", self.to)):
                if end.endswith("[*]"):
                    raise wrong("a single node, or flows = a number of flows beside it", key=key, value=end)
            drawn = isinstance(self.start, Starts) and self.start.within is not None
            if isinstance(self.start, Starts | list) and not drawn:
                value = self.start.written() if isinstance(self.start, Starts) else self.start
                raise wrong("a single time, or flows = a number of flows beside it", key="start", value=value)
        elif isinstance(self.start, list) and len(self.start) != self.flows:
            raise wrong(f"{self.flows} times, one for each flow, not {len(self.start)}", key="start", value=self.start)

    @property
    def transport(self) -> Literal["tcp", "udp"]:
        """The transport protocol that carries the traffic: UDP unless ``tcp`` is set, but for bulk traffic."""
        return "tcp" if self.tcp is not None else self.carrier


class Bulk(Flow):
    """Bulk data, as fast as the transport takes it: a file, or data without end. Over TCP unless ``udp`` is set.

    Example:
        >>> tl.Bulk(from_="home", to="isp", bytes="10 MB", tcp={"congestion": "cubic"}).bytes
        '10 MB'
    """

    kind: Literal["bulk"] = "bulk"
    bytes: Amount | None = None
    """Application bytes to send (default: without end)."""
    carrier: ClassVar[Literal["tcp", "udp"]] = "tcp"

    def _check(self) -> None:
        super()._check()
        self._refuse("tcp: bulk traffic has no rate, which UDP needs; use cbr", "udp")


class Mixed(Flow):
    """What may have datagrams of several sizes."""

    sizes: dict[Name, DatagramSize] | None = None
    """Sizes of the datagrams, drawn for each (default: all as ``udp`` says)."""

    def _check(self) -> None:
        super()._check()
        check_sizes(self.sizes)
        if self.sizes is not None and self.tcp is not None:
            raise wrong("nothing here: TCP sends segments of tcp.payload; datagrams have sizes", key="sizes")
        for key, size in (self.udp.written() if self.sizes is not None and self.udp is not None else {}).items():
            if key != "ecn":
                raise wrong("either sizes or the one size of all, not both", key=f"udp.{key}", value=size)


class Saturate(Mixed):
    """UDP as fast as the host sends: its interface, or the queue of its first link, pushes back.

    Example:
        >>> tl.Saturate(from_="a", to="b", udp={"payload": "1450 B"}).udp.payload
        '1450 B'
    """

    kind: Literal["saturate"] = "saturate"

    def _check(self) -> None:
        super()._check()
        self._refuse('udp: over TCP, kind = "bulk" sends as fast as it can', "tcp")


class _Paced(Mixed):
    """Traffic at its own rate, over UDP unless ``tcp`` is set."""

    rate: Rate | None = None
    """Bits per second of IP packets: after each the next one, 8 × (its bytes of payload and headers) / rate later."""
    interval: Period | None = None
    """From packet to packet; instead of ``rate``."""

    def _check(self) -> None:
        super()._check()
        if self._only("rate", "interval") is None:
            raise wrong('a rate, such as "2 Mbit/s", or an interval, such as "1 ms"', key="rate")


#: Intervals of a Poisson process.
EXPONENTIAL: Final = "exponential"
Drawn = Annotated[
    bool | str,
    switch_or(EXPONENTIAL, lambda _: f'"{EXPONENTIAL}"'),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"enum": [EXPONENTIAL]}], "examples": [True, EXPONENTIAL]}),
]


class Cbr(_Paced):
    """Constant bit rate: one packet at a constant interval.

    Example:
        >>> tl.Cbr(from_="a", to="b", rate="1 Mbit/s", udp={"payload": "1000 B"}).rate
        '1 Mbit/s'
    """

    kind: Literal["cbr"] = "cbr"
    random: Drawn = False
    """Whether each interval is drawn: true, uniformly from half of it to one and a half, as by ns-2's ``random_``, so
    that several sources, or one beside TCP, are not in step; or "exponential": packets come as a Poisson process, but
    not by ``rate`` with several ``sizes``, where each interval goes with the packet before it."""


class OnOff(_Paced):
    """Constant bit rate during on-times, silence during off-times; both random, or all alike.

    Example:
        >>> tl.OnOff(from_="a", to="b", rate="1 Mbit/s", on="500 ms", off="1 s", udp={"payload": "1000 B"}).on
        '500 ms'
    """

    kind: Literal["on-off"] = "on-off"
    on: Period
    """Mean length of the on-times."""
    off: Period
    """Mean length of the off-times."""
    distribution: Annotated[str, choice("exponential", "pareto", "constant")] = "exponential"
    """Distribution of both: exponential or pareto; or constant, all of the mean's length."""
    shape: Shape | None = None
    """Shape of the Pareto distribution (default 1.5)."""

    def _check(self) -> None:
        super()._check()
        check_shape(self.distribution, self.shape)


class Video(Flow):
    """A coded video over UDP: frames of random sizes, each cut into packets of ``udp.payload``.

    Example:
        >>> tl.Video(from_="studio", to="tv", rate="2 Mbit/s", udp={"payload": "1400 B"}).frames_per_second
        25.0
    """

    kind: Literal["video"] = "video"
    rate: Rate
    """Mean bit rate of the coded stream, without headers."""
    frames_per_second: Annotated[float, above(0, 10_000, 25)] = 25.0
    """Frames per second."""
    group_of_pictures: Annotated[int, whole(1, 10_000, "frames")] = 12
    """Frames from one key frame to the next."""
    key_frame_ratio: Annotated[float, between(1, 1000, 5)] = 5.0
    """Mean size of a key frame over that of the other frames."""
    variation: Annotated[float, between(0, 10, 0.2)] = 0.2
    """Coefficient of variation of the sizes, which are log-normal."""
    spread: StrictBool = False
    """Whether the packets of a frame are spread over its interval; otherwise they leave at once."""

    def _check(self) -> None:
        super()._check()
        self._refuse("udp: a video is carried in datagrams", "tcp")


#: Every kind of traffic. A new kind is one class, one entry here and its part in resolve.py.
Traffic = Annotated[Bulk | Saturate | Cbr | OnOff | Video | Transfers | Users | Scatter, Forms()]
