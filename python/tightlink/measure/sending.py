"""Senders of a planned scenario: what all of them are given, and what they say of each flow afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tightlink import units
from tightlink.errors import ScenarioError, located, one_of
from tightlink.lazy import _core
from tightlink.measure.plan import Plan
from tightlink.measure.settings import PLAIN_HEADER, TIMESTAMPS, UDP_HEADER
from tightlink.measure.testbed import Bed
from tightlink.measure.traffic import Constant, Times
from tightlink.scenario.congestion import control_name
from tightlink.scenario.profiles import LINUX

Address = tuple[str, int]

#: Where receivers listen: the port of flow i is this plus i.
FIRST_PORT: Final = 5201
_BITS: Final = 8
#: Kinds of traffic that senders send, over what the model allows them.
_SENT: Final = ("bulk", "cbr", "on-off", "saturate")
#: Packets that are outstanding while their ACKs are on their way, beyond those on the link and in its queue.
_SPARE_PACKETS: Final = 10


@dataclass(frozen=True)
class Job:
    """A flow to send."""

    index: int
    label: str
    sender: str
    """Host."""
    receiver: str
    source: str
    """Address of the sender."""
    target: Address
    """Address and port of the receiver."""
    start_s: float
    stop_s: float
    payload_bytes: int
    """Application bytes in a full packet, as the packet is as large as in the scenario."""
    size_bytes: int | None
    """Application bytes in all; without end if nothing."""
    tcp: bool
    congestion: str
    window_bytes: int | None
    """Window that the receiver advertises; nothing where it is as large as the kernel's own may grow."""
    reaches_window: bool
    """Whether the path holds as much as that."""
    option_bytes: int
    """What options take of each segment."""
    pattern: Constant | Times | None
    """When its application gives its transport a packet; nothing for as much as the transport takes."""


@dataclass
class Sent:
    """What a sender says of a flow."""

    index: int
    columns: dict[str, Any] = field(default_factory=dict)
    """Columns of the table ``flows`` that the sender and the receiver know."""
    samples: dict[str, tuple[Sequence[float], Sequence[float]]] = field(default_factory=dict)
    """By the metric: times, and values."""
    errors: list[str] = field(default_factory=list)
    """What went wrong."""
    kernel: dict[str, float] = field(default_factory=dict)
    """What the sender's kernel says of the connection (``tcp_info``), in seconds."""
    done_s: float | None = None
    """When the last of a given number of bytes had arrived in order, if it had."""


class Sender(Protocol):
    """What sends and receives the flows of a scenario."""

    name: str
    """As ``--sender`` has it."""
    times_transfers: bool
    """Whether it knows when the last byte of a flow arrived."""

    def check(self, jobs: Sequence[Job]) -> None:
        """Whether it can send these flows, before anything is made.

        Raises:
            ScenarioError: A flow is of a kind that it does not send.
            TightlinkError: A program that it takes is not there.
        """

    def prepare(self, bed: Bed, jobs: Sequence[Job], *, sample_s: float) -> None:
        """Start what receives the flows, before anything is sent.

        Raises:
            TightlinkError: The machine lacks something.
        """

    def begin(self, begin_ns: int) -> None:
        """Be told when the scenario begins, a time of ``time.monotonic_ns()``, soon."""

    def step(self) -> None:
        """Do what is due by now; called all the time from then on."""

    def finish(self) -> None:
        """End what has not ended: the scenario is over."""

    def results(self, first_data_s: Mapping[int, float]) -> list[Sent]:
        """What became of each flow, with when its first data were sent, in seconds of the scenario, by its number."""

    def stop(self) -> None:
        """End everything at once."""

    def ends(self) -> Mapping[int, tuple[Address, Address]]:
        """Addresses and ports of sender and receiver of each flow that was sent, as its packets have them."""

    def facts(self) -> Mapping[str, str | float]:
        """What a manifest says of it beside its name: which version it was, how late it sent, in seconds."""


def jobs(plan: Plan) -> list[Job]:
    """The flows of a plan."""
    with located(plan.scenario.file):
        return [_job(plan, index, flow) for index, flow in enumerate(plan.flows())]


def _job(plan: Plan, index: int, flow: Mapping[str, Any]) -> Job:
    key = f"traffic.{flow['group']}"
    kind = flow["traffic"]["kind"]
    ((transport, spec),) = flow["transport"].items()
    tcp = transport == "tcp"
    if kind not in _SENT:
        raise ScenarioError(f"{one_of(_SENT)}, to be sent live", key=f"{key}.kind", value=kind)
    if spec.get("sizes"):
        raise ScenarioError("datagrams of one size, to be sent live", key=f"{key}.sizes", statement=False)
    sender, receiver = plan.hosts[plan.node(flow["from"])], plan.hosts[plan.node(flow["to"])]
    way = [plan.directions[link] for link in plan.route(sender.name, receiver.name).links]
    size = spec["payload_bytes"] + spec["header_bytes"]
    options = TIMESTAMPS if tcp and spec["header_bytes"] == PLAIN_HEADER + TIMESTAMPS else 0
    header = PLAIN_HEADER + options if tcp else UDP_HEADER
    if not tcp:
        _check_whole(f"{key}.udp", size, way)
    return Job(
        index=index,
        label=flow["label"],
        sender=sender.name,
        receiver=receiver.name,
        source=sender.address,
        target=(receiver.address, FIRST_PORT + index),
        start_s=flow["start_s"],
        stop_s=flow["stop_s"],
        payload_bytes=size - header,
        size_bytes=flow["traffic"].get("bytes"),
        tcp=tcp,
        congestion=control_name(spec["congestion"]) if tcp else "",
        window_bytes=_window(spec) if tcp else None,
        reaches_window=tcp and _reaches(way, plan.round_trip_s(sender.name, receiver.name), spec, size),
        option_bytes=options,
        pattern=_pattern(plan, index, flow, size),
    )


def _check_whole(key: str, size: int, way: Sequence[Mapping[str, Any]]) -> None:
    for link in way:
        mtu, name = link["mtu_bytes"], link["name"]
        if mtu is not None and size > mtu:
            text = f"datagrams of at most {mtu} B, the MTU of {name}: fragments cannot be told apart"
            raise ScenarioError(text, key=key, value=f"{size} B")


def _pattern(plan: Plan, index: int, flow: Mapping[str, Any], size: int) -> Constant | Times | None:
    match flow["traffic"]:
        case {"kind": "saturate"}:
            return Constant(_saturating(plan, index, f"traffic.{flow['group']}", size))
        case {"kind": "cbr", "random": _} | {"kind": "on-off"}:
            return _drawn(flow, plan.resolved["seed"])
        case {"kind": "cbr", "pace": {"interval_s": interval_s}}:
            return Constant(interval_s)
        case {"kind": "cbr", "pace": {"rate_bps": rate_bps}}:
            return Constant(_BITS * size / rate_bps)
    return None


def _drawn(flow: Mapping[str, Any], seed: int) -> Times:
    """The random times of a flow: those that it has in the simulator."""
    times = _core.departures(json.dumps(flow), seed)
    if times is None:
        raise AssertionError("they have a clock, and datagrams of one size")
    return Times(tuple((times - flow["start_s"]).tolist()))


def _saturating(plan: Plan, index: int, key: str, size: int) -> float:
    """From datagram to datagram, of a sender whose interface is always busy."""
    link = plan.resolved["links"][plan.first_links[index]]
    if link["name"].removesuffix(".reverse") in plan.links:
        expected = f"cbr: {link['name']} is the sender's own interface, which is emulated and cannot hold it back"
        raise ScenarioError(expected, key=f"{key}.kind", value="saturate")
    if link["rate_pps"] is not None:
        return float(1 / link["rate_pps"])
    framed = max(size + link["framing"]["overhead_bytes"], link["framing"]["smallest_bytes"])
    return float(_BITS * framed / link["rate_bps"])


def _window(tcp: Mapping[str, Any]) -> int | None:
    """The window in bytes of payload, unless it is the kernel's own."""
    window = int(tcp["window_packets"]) * int(tcp["payload_bytes"])
    return window if window + tcp["payload_bytes"] <= units.size(LINUX.tcp.window) else None


def not_kept(jobs: Sequence[Job]) -> list[str]:
    """That windows which a path holds are the kernel's own, in a sentence; nothing where there are none."""
    free = [job.label for job in jobs if job.tcp and job.window_bytes is None and job.reaches_window]
    if not free:
        return []
    return [f"windows of {LINUX.tcp.window} and more are as large as the receiver's kernel has them: {', '.join(free)}"]


def _reaches(way: Sequence[Mapping[str, Any]], round_trip_s: float, tcp: Mapping[str, Any], size: int) -> bool:
    """Whether the path holds as much as the window, so that it limits."""
    limits = [link["queue"]["limit"] for link in way]
    if "unlimited" in limits:
        return True
    rate = min(link["rate_bps"] if link["rate_pps"] is None else link["rate_pps"] * size * _BITS for link in way)
    held = sum(limit["packets"] if "packets" in limit else limit["bytes"] / size for limit in limits)
    # Acknowledgements may wait for a second packet, and a few are on the way back.
    return bool(tcp["window_packets"] < rate * round_trip_s / _BITS / size + held + _SPARE_PACKETS)
