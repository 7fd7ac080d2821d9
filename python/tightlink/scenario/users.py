"""Users: sources behind routers that think, connect, send a file and think again.

Example:
    >>> web = Users(
    ...     places={"campus": Place(at="campus", sources=200), "farm": Place(at="farm", receivers=20)},
    ...     interfaces={"ethernet": Interface(rate="100Mbps")},
    ...     think="5 s",
    ...     files={"page": File(mean="50 packets", shape=1.5)},
    ... )
    >>> web.interfaces["ethernet"].rate
    '100 Mbit/s'
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from tightlink.scenario.endpoints import Endpoints
from tightlink.scenario.forms import Forms
from tightlink.scenario.links import NodeName
from tightlink.scenario.protocols import Tcp
from tightlink.scenario.shares import check_shares
from tightlink.scenario.table import Table, given, wrong
from tightlink.scenario.values import (
    Congestion,
    Delay,
    FileSize,
    Fraction,
    LineRate,
    Name,
    PacketRate,
    Period,
    PropagationDelay,
    choice,
    number,
    whole,
)

#: Under what name the files of a crowd are counted.
CROWD: Final = "crowd"
#: Pairs of classes, and whatever else transfers are told apart by, are numbered in a byte.
_MOST: Final = {"places": 22, "interfaces": 250, "files": 250, "controls": 250}
_STEEPEST: Final = 1e6

Shape = Annotated[float, number(lambda value: 1 < value < _STEEPEST, "a number above 1, such as 1.5")]


def check_shape(distribution: str | None, shape: float | None) -> None:
    """An error, relative to the table being validated, where a shape is given to a law that has none."""
    if shape is not None and distribution != "pareto":
        raise wrong('nothing here: shape has an effect with distribution = "pareto" only', key="shape", value=shape)


def law(distribution: str, mean: float, shape: float | None) -> dict[str, Any]:
    """A law as the engine reads it; it draws sizes as it does times.

    >>> law("exponential", 5.0, None), law("pareto", 5.0, 1.5)
    ({'distribution': 'exponential', 'mean_s': 5.0}, {'distribution': 'pareto', 'mean_s': 5.0, 'shape': 1.5})
    """
    spec = {"distribution": distribution, "mean_s": mean}
    return spec | {"shape": given(shape)} if distribution == "pareto" else spec


Hosts = Annotated[int, whole(0, 10_000_000)]


class Place(Table):
    """A class of routers behind which users live: each of them has this many."""

    at: Endpoints
    """The routers: a node, a group such as "net.fast[*]", or a list of them."""
    sources: Hosts = 0
    """Sources behind each of these routers (default 0)."""
    receivers: Hosts = 0
    """Receivers behind each of these routers (default 0)."""

    def _check(self) -> None:
        if self.sources == self.receivers == 0:
            raise wrong("sources or receivers: nobody lives there", key="sources", value=0)


class Interface(Table):
    """A kind of network interface, which a host has with some probability; its queue has no limit."""

    rate: LineRate
    """Transmission rate, in bits or in packets."""
    delay: PropagationDelay | None = None
    """Propagation delay between host and router (default "0 s")."""
    share: Fraction | None = None
    """Share of the hosts that have it (default: the rest)."""


class Think(Table):
    """The times between two transfers of a source."""

    mean: Period
    """Their mean."""
    distribution: Annotated[str, choice("exponential", "pareto")] = "exponential"
    """Their distribution: exponential or pareto."""
    shape: Shape | None = None
    """Shape of the Pareto distribution (default 1.5)."""

    def _check(self) -> None:
        check_shape(self.distribution, self.shape)


class File(Table):
    """A kind of file, which a transfer is with some probability."""

    mean: FileSize
    """Mean size; bytes are counted in packets of ``tcp.payload``."""
    shape: Shape | None = None
    """Shape of the Pareto distribution of the sizes, which are rounded up (default: all of the mean's size)."""
    share: Fraction | None = None
    """Share of the transfers (default: the rest)."""


class Control(Table):
    """A congestion control, which a source has with some probability."""

    congestion: Congestion
    """By name, or a table of its name as ``kind`` and options."""
    share: Fraction | None = None
    """Share of the sources that use it (default: the rest)."""


class Patience(Table):
    """How long users wait: a transfer of n packets is given up after least + n / rate."""

    least: Period
    """For any file."""
    rate: PacketRate
    """The slowest that users put up with."""


class Crowd(Table):
    """A time and a place of heavy traffic: there and then, some transfers are of a very large file."""

    at: Endpoints
    """The routers whose sources take part."""
    start: Delay
    """When it begins."""
    stop: Period
    """When it ends."""
    share: Fraction
    """Share of the transfers that are of such a file."""
    mean: FileSize
    """Size of such a file."""


class LongLived(Table):
    """A transfer without end from one router to another."""

    from_: NodeName = Field(validation_alias="from", serialization_alias="from")
    """The router of its source."""
    to: NodeName
    """The router of its receiver."""
    interface: Name | None = None
    """Interface of both ends (default: the first)."""
    start: Delay | None = None
    """When it begins (default "0 s")."""


class Users(Table):
    """Sources that think, connect, send a file and think again, each behind its router.

    A source chooses a receiver behind any other router, all equally likely. Hosts are no nodes of the network.

    Raises:
        ScenarioError: A value is out of its range or lacks its unit, shares do not sum to 1, or a key is
            unknown or has no effect.
    """

    kind: Literal["users"] = "users"
    places: dict[Name, Place]
    """Where they live, by the name of the class."""
    interfaces: dict[Name, Interface]
    """Network interfaces, drawn for each host."""
    think: Annotated[Period | Think, Forms()]
    """Time between two transfers: its mean, or { mean, distribution, shape }."""
    files: dict[Name, File]
    """What they send, drawn for each transfer."""
    controls: dict[Name, Control] | None = None
    """Congestion controls, drawn for each source; instead of ``tcp.congestion``."""
    tcp: Tcp | None = None
    """What carries it; windows are in packets or bytes."""
    connect_tries: Annotated[int, whole(1, 20, "SYNs")] = 3
    """SYNs that are sent before a source gives up; it waits ``tcp.rto.initial`` for the first, then twice as long."""
    patience: Patience | None = None
    """How long users wait for a transfer (default: without end)."""
    crowd: Crowd | None = None
    """A time and a place of heavy traffic (default: none)."""
    long_lived: dict[Name, LongLived] | None = None
    """Transfers without end, by name (default: none)."""
    sending_at_start: Fraction = 0.0
    """Share of the sources that begin with a transfer, spread over one mean of ``think``; the others think first."""

    def _check(self) -> None:
        if not self.places:
            raise wrong("at least one class of routers", key="places")
        for key, most in _MOST.items():
            if len(getattr(self, key) or ()) > most:
                raise wrong(f"at most {most} {key}", key=key)
        check_shares("interfaces", {name: kind.share for name, kind in self.interfaces.items()}, "interface")
        check_shares("files", {name: kind.share for name, kind in self.files.items()}, "file")
        if CROWD in self.files:
            raise wrong(f"another name: {CROWD} is what files of a crowd are called", key=f"files.{CROWD}")
        if self.controls is not None:
            check_shares("controls", {name: kind.share for name, kind in self.controls.items()}, "congestion control")
            if self.tcp is not None and self.tcp.congestion is not None:
                raise wrong("either tcp.congestion or controls, not both", key="tcp.congestion")
