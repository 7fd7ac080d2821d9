"""A path probed: round trips of several sizes, trains, and an overload. What they say is for `analysis.path_estimate`.

Nothing is sent to anyone but the address that is given, and no more than `Plan` says beforehand.
"""

from __future__ import annotations

import re
import shutil
import socket as sockets
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from tightlink import units
from tightlink.errors import TightlinkError
from tightlink.lazy import Array as Times
from tightlink.lazy import NDArray, np
from tightlink.measure.child import run
from tightlink.measure.probe import receive_udp, send_udp
from tightlink.measure.probe_sockets import family
from tightlink.measure.talk import Received
from tightlink.measure.traffic import Address, Constant, Pattern, Trains, UdpFlow, UdpReceived, UdpSent
from tightlink.measure.visitor import visiting

#: IP and UDP, by version; ICMP's is as long as UDP's.
HEADERS_BYTES: Final = {4: 28, 6: 48}
#: Options IP_MTU and IPV6_MTU, with their level: what the kernel knows a path to take whole.
_MTU: Final = {4: (sockets.IPPROTO_IP, 14), 6: (sockets.IPPROTO_IPV6, 24)}
_NS: Final = 1e9
_ECHO_EVERY_S: Final = 0.02
_FEW: Final = 10
#: Pings of each size, and the least interval that the system allows everyone.
PINGS: Final = 10
_PING_EVERY_S: Final = 0.2
#: Trains follow each other after so many times what one takes, at least so long.
_APART: Final = 3.0
_LEAST_APART_S: Final = 0.02
#: The overload is this much faster than what trains found.
OVERLOAD: Final = 1.5
#: The most time that trains may take together.
_TRAINS_S: Final = 45.0
#: It takes no longer than this.
_OVERLOAD_S: Final = 5.0
#: Below this interval no sender here keeps time.
_LEAST_INTERVAL_S: Final = 5e-6
_SLACK_S: Final = 3.0
#: A silence that ends a visit, beyond that between trains: longer than a queue.
_IDLE_S: Final = 0.7
#: What paths take whole that take IPv6 (RFC 8200 §5), with room for a tunnel.
_SMALLER: Final = "1200 B"
_PING: Final = re.compile(r"time=([\d.]+) ms")


@dataclass(frozen=True)
class Plan:
    """What will be sent at most."""

    payload_bytes: int = 1400
    """Of the datagrams of trains and overload."""
    echoes: int = 20
    """Round trips of each size."""
    trains: int = 25
    train_packets: int = 24
    overload_packets: int = 1500
    version: int = 4
    """Of IP."""

    @property
    def headers_bytes(self) -> int:
        """What each datagram has beside its payload."""
        return HEADERS_BYTES[self.version]

    @property
    def sizes(self) -> tuple[int, int]:
        """Payloads of round trips: a small one, and that of the trains."""
        return (64, self.payload_bytes)

    @property
    def packet_bytes(self) -> int:
        """A datagram of the trains with its headers."""
        return self.payload_bytes + self.headers_bytes

    @property
    def packets(self) -> int:
        """How many packets all probes send together."""
        return self.echoes * len(self.sizes) + self.train_packets * (1 + self.trains) + self.overload_packets

    @property
    def bytes(self) -> int:
        """Their bytes, headers included."""
        large = self.packets - self.echoes
        return large * self.packet_bytes + self.echoes * (self.sizes[0] + self.headers_bytes)


@dataclass(frozen=True)
class Sent:
    """Datagrams that were sent, and which of them arrived when; times are in seconds after the first was sent."""

    seq: NDArray[np.int64]
    sent_s: Times
    received_seq: NDArray[np.int64]
    received_s: Times
    """By the clock of the other end."""
    delay_s: Times
    """Of those that were received, up to the distance of the two clocks."""
    overflowed: int
    """Datagrams that the other end was too slow for."""


def echoes(to: Address, plan: Plan) -> dict[int, Times]:
    """Round-trip times by the size of the packets, headers included; without those that were lost."""
    found = {}
    for payload in plan.sizes:
        seconds = plan.echoes * _ECHO_EVERY_S
        flow = UdpFlow(to, payload, Constant(_ECHO_EVERY_S), stop_s=seconds)
        with (
            visiting(to, "echo", most=plan.echoes, seconds=seconds + _SLACK_S, idle_s=_IDLE_S) as visit,
            sockets.socket(family(to), sockets.SOCK_DGRAM) as end,
            ThreadPoolExecutor(1) as pool,
        ):
            end.connect(to)
            check_whole(to, plan)
            back = pool.submit(receive_udp, end, most=plan.echoes, limit_s=seconds + _SLACK_S, idle_s=_IDLE_S)
            sent = send_udp([flow], limit_s=seconds + _SLACK_S, most=plan.echoes, ends=[end])
            try:
                came = back.result()
            finally:
                # A router may just have said so, which is an error of the socket.
                check_whole(to, plan)
            visit.echoed()
        found[payload + plan.headers_bytes] = round_trips(sent, came)
    return {size: times for size, times in found.items() if times.size}


def check_whole(to: Address, plan: Plan) -> None:
    """Refuse datagrams that would go as fragments, by what the kernel knows of the path."""
    if plan.packet_bytes > (mtu_bytes := known_mtu(to, plan.version)):
        raise TightlinkError(
            f"{to[0]}: the path takes packets of {mtu_bytes} B whole: choose a payload of "
            f"{mtu_bytes - plan.headers_bytes} B or less"
        )


def known_mtu(to: Address, version: int) -> int:
    """The largest IP packet that the path takes whole, in bytes, as far as the kernel knows."""
    with sockets.socket(family(to), sockets.SOCK_DGRAM) as end:
        end.connect(to)
        return end.getsockopt(*_MTU[version])


def round_trips(sent: UdpSent, back: UdpReceived) -> Times:
    """Round-trip times of datagrams that came back, in seconds, by when they were sent here.

    What they say of that themselves, and that they came back at all, is what the other end made of them.
    """
    known = (back.seq >= 0) & (back.seq < sent.seq.size)
    seq, first = np.unique(back.seq[known], return_index=True)
    times: Times = (back.received_ns[known][first] - sent.sent_ns[seq]) / _NS
    return times[times > 0]


def trains(to: Address, plan: Plan, back: Collection[int] = ()) -> Sent:
    """Trains, so far apart that the path is empty again: one alone tells how far that is.

    Where none arrives, ``back``, the sizes of packets that came back before, tells why.
    """
    first = _trains(to, plan, 1, _LEAST_APART_S)
    if not first.received_s.size:
        why = "no datagram arrives there: something on the way stops UDP"
        if back:
            smaller = f", such as {_SMALLER}" if units.size(_SMALLER) < plan.payload_bytes else ""
            why = (
                f"packets of {min(back)} B come back, and none of {plan.packet_bytes} B arrives: the path takes "
                f"none of that size, and no router says so; choose a smaller payload{smaller}"
            )
        raise TightlinkError(f"{to[0]} port {to[1]}: {why}")
    every = max(_LEAST_APART_S, _APART * float(np.ptp(first.received_s)))
    count = min(plan.trains, int(_TRAINS_S / every))
    if count < _FEW:
        raise TightlinkError(
            f"a train of {plan.train_packets} datagrams takes {every / _APART:.2g} s, which is too long for {_FEW} "
            "of them: choose a smaller payload"
        )
    return _trains(to, plan, count, every)


def _trains(to: Address, plan: Plan, count: int, every_s: float) -> Sent:
    pattern = Trains(plan.train_packets, every_s)
    return _sent(to, plan.payload_bytes, pattern, packets=count * plan.train_packets, seconds=count * every_s)


def of_trains(sent: Sent, plan: Plan) -> list[Times]:
    """When the packets of each train arrived, by their numbers; NaN for those that were lost."""
    trains, places = np.divmod(sent.received_seq, plan.train_packets)
    found = []
    for each in np.unique(trains):
        own = trains == each
        arrived_s = np.full(plan.train_packets, np.nan)
        arrived_s[places[own]] = sent.received_s[own]
        found.append(arrived_s)
    return found


def overload(to: Address, plan: Plan, rate_bps: float) -> Sent | None:
    """Datagrams at more than the rate of the path; nothing where that is faster than can be sent in time."""
    interval = 8 * plan.packet_bytes / (OVERLOAD * rate_bps)
    if interval < _LEAST_INTERVAL_S:
        return None
    packets = max(_FEW, min(plan.overload_packets, int(_OVERLOAD_S / interval)))
    return _sent(to, plan.payload_bytes, Constant(interval), packets=packets, seconds=packets * interval)


def pings(host: str, plan: Plan) -> dict[int, Times]:
    """The same as `echoes` by the system's ``ping``, which needs nobody's help."""
    ping = shutil.which("ping")
    if ping is None:
        raise TightlinkError("ping is not installed: without it nothing tells the round-trip time")
    found = {}
    for payload in plan.sizes:
        command = [ping, "-n", "-c", str(PINGS), "-i", str(_PING_EVERY_S), "-W", "2", "-s", str(payload), host]
        try:
            done = run(command, timeout_s=PINGS * _PING_EVERY_S + 2 * _SLACK_S)
        except TimeoutError:
            raise TightlinkError(f"{host}: ping does not end") from None
        times = [float(text) / 1e3 for text in _PING.findall(done.output)]
        if times:
            found[payload + plan.headers_bytes] = np.array(times)
        elif payload == plan.sizes[0]:
            said = done.errors.strip().splitlines() or ["no answer"]
            raise TightlinkError(f"{host}: ping: {said[-1].removeprefix('ping: ')}")
    return found


def _sent(to: Address, payload_bytes: int, pattern: Pattern, *, packets: int, seconds: float) -> Sent:
    flow = UdpFlow(to, payload_bytes, pattern)
    idle = _IDLE_S + (pattern.every_s if isinstance(pattern, Trains) else 0)
    with visiting(to, "receive", most=packets, seconds=seconds + _SLACK_S, idle_s=idle) as visit:
        sent: UdpSent = send_udp([flow], limit_s=seconds + _SLACK_S, most=packets)
        answer = visit.received()
    try:
        return arrived(sent, answer, within_s=seconds + _SLACK_S)
    except ValueError as error:
        raise TightlinkError(f"{to[0]} port {to[1]}: {error}") from None


def arrived(sent: UdpSent, answer: Received, *, within_s: float) -> Sent:
    """What was sent, and what the other end says that arrived of it.

    Raises:
        ValueError: It says what cannot be; the text says what.
    """
    seq, times = np.array(answer.seq, np.int64), np.array(answer.received_ns, np.int64)
    if seq.size != times.size or not (seq < sent.seq.size).all():
        raise ValueError("an answer about datagrams that were not sent")
    if times.size and np.ptp(times) > within_s * _NS:
        raise ValueError(
            "an answer about datagrams that arrived later than it waited for them, or a clock that was set"
        )
    _, first = np.unique(seq, return_index=True)
    first.sort()
    begin = sent.sent_ns[0] if sent.sent_ns.size else 0
    seq, received_s, sent_s = seq[first], (times[first] - begin) / _NS, (sent.sent_ns - begin) / _NS
    return Sent(sent.seq, sent_s, seq, received_s, received_s - sent_s[seq], answer.overflowed)


def resolved(host: str, port: int) -> Address:
    """The address of a host and a port."""
    try:
        found = sockets.getaddrinfo(host, port, type=sockets.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TightlinkError(f"{host}: no such host ({reason.lower()})") from None
    address: Address = found[0][4]
    return address
