"""What the probe sends, and what became of it: flows, patterns, and rows of what was sent and received.

Times of results are those of ``time.time_ns()``.

Example:
    >>> flow = ReceivedFlow(0, "10.0.0.1:5", 0, True, np.array([0, 10**9]), np.array([1000, 3000]))
    >>> flow.goodput_bps(0, 2 * 10**9)
    12000.0
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from tightlink.lazy import NDArray, np

if TYPE_CHECKING:
    Whole = NDArray[np.int64]

Address: TypeAlias = tuple[Any, ...]

_NS: Final = 1e9


@dataclass(frozen=True)
class TcpFlow:
    """A TCP connection to make, and what to send over it. Times are in seconds after the beginning."""

    to: Address
    """Address and port."""
    flow: int = 0
    """Number that the receiver will know it by."""
    start_s: float = 0.0
    """When it connects."""
    stop_s: float | None = None
    """When it stops; without it, when all is sent or the time is up."""
    size_bytes: int | None = None
    """How much it sends; without it, data never end."""
    window_bytes: int | None = None
    """Most bytes outstanding, sent or not; without it, the kernel decides."""
    receiver_keeps_window: bool = False
    """Whether the receiver was told of that window (`receive_tcp`): the kernel keeps it then, once data have come."""
    segment_bytes: int | None = None
    """Payload of a segment; without it, what the kernel takes. It limits the connection's segments, too."""
    pattern: Pattern | None = None
    """When the application writes a segment; without it, as soon as there is room. What saturates has none."""
    congestion: str | None = None
    """Congestion control of the kernel, such as "reno"; without it, the kernel's default."""
    from_: Address | None = None
    """Address and port to send from; without it, the kernel chooses."""


@dataclass(frozen=True)
class TcpInfo:
    """What the kernel knew of a connection (``TCP_INFO``); zero is what it does not know."""

    segment_bytes: int
    unacked_packets: int
    lost_packets: int
    rtt_us: int
    rtt_min_us: int
    cwnd_packets: int
    ssthresh_packets: int
    retransmitted_packets: int
    sent_packets: int
    sent_data_packets: int
    acked_bytes: int
    sent_bytes: int
    unsent_bytes: int
    busy_us: int
    receiver_limited_us: int
    buffer_limited_us: int
    receiver_window_bytes: int
    timeouts: int


@dataclass(frozen=True)
class TimeSpent:
    """What a sender waited for, in seconds."""

    handshake_s: float
    application_s: float
    window_s: float
    """At the window that it keeps, or at the socket's buffer, with all of it sent."""
    kernel_s: float
    """With data that the kernel held back: for the congestion window, the window of the receiver, or pacing."""


@dataclass(frozen=True)
class SentFlow:
    """What became of a TCP flow."""

    flow: int
    start_ns: int | None
    """When it began to connect, if it did."""
    connected_ns: int | None
    """When it was connected, if it was."""
    stop_ns: int | None
    """When its last byte was acknowledged, or when it was told to stop."""
    from_: str | None
    written_bytes: int
    outstanding_bytes: int
    """Bytes that were not acknowledged when it stopped."""
    info: TcpInfo
    """What the kernel knew when it stopped."""
    spent: TimeSpent
    error: str | None
    """Why it failed, if it did."""

    def limited_by(self, *, has_window: bool = True) -> dict[str, float | None]:
        """The shares of time as the table ``flows`` has them; nothing for what a sender cannot see.

        Time at the window that the probe keeps counts as time at the receiver's window, whose part it plays; whether
        the path was full meanwhile (``network``) only the path knows. Pacing, where the kernel paces, is part of the
        congestion window's share, and so is the send buffer, which is what is full where the probe was given no window
        (``has_window``). Without time there are no shares.
        """
        spent = self.spent
        receiver = min(spent.kernel_s, self.info.receiver_limited_us / 1e6)
        kept_s = spent.window_s if has_window else 0.0
        total = spent.handshake_s + spent.application_s + spent.window_s + spent.kernel_s
        seconds = {
            "handshake": spent.handshake_s,
            "application": spent.application_s,
            "receiver_window": kept_s + receiver,
            "network": None,
            "pacing": None,
            "sender_rate": None,
            "congestion_window": spent.kernel_s - receiver + spent.window_s - kept_s,
        }
        known = total > 0
        return {
            f"limited_by_{name}": part / total if known and part is not None else None for name, part in seconds.items()
        }


@dataclass(frozen=True)
class TcpSent:
    """What was sent over TCP."""

    began_ns: int
    ended: str
    """``done``, ``time_up`` or ``stopped``."""
    flows: list[SentFlow]
    samples: dict[str, Whole] = field(repr=False)
    """Samples of connections: flow, time_ns, cwnd_packets, rtt_us, … as `TcpInfo` has them."""


@dataclass(frozen=True)
class ReceivedFlow:
    """A TCP connection as its receiver saw it: ``bytes[i]`` had arrived in order at ``time_ns[i]``."""

    flow: int
    from_: str
    accepted_ns: int
    complete: bool
    """Whether the sender ended it, rather than something else."""
    time_ns: Whole = field(repr=False)
    bytes: Whole = field(repr=False)

    def bytes_before(self, time_ns: int) -> int:
        """How many bytes had arrived in order just before a time.

        >>> flow = ReceivedFlow(0, "", 0, True, np.array([10, 20]), np.array([1000, 3000]))
        >>> flow.bytes_before(10), flow.bytes_before(11), flow.bytes_before(99)
        (0, 1000, 3000)
        """
        place = int(np.searchsorted(self.time_ns, time_ns, side="left"))
        return int(self.bytes[place - 1]) if place else 0

    def goodput_bps(self, start_ns: int, stop_ns: int) -> float:
        """Payload that arrived in order from one time until just before another, in bit/s."""
        arrived = self.bytes_before(stop_ns) - self.bytes_before(start_ns)
        return 8 * arrived / ((stop_ns - start_ns) / _NS)


@dataclass(frozen=True)
class TcpReceived:
    """What was received over TCP."""

    ended: str
    flows: list[ReceivedFlow]


@dataclass(frozen=True)
class Constant:
    """A datagram each interval."""

    interval_s: float
    kind: ClassVar[str] = "constant"


@dataclass(frozen=True)
class Trains:
    """Trains of datagrams that follow each other at once, or with gaps; two make a pair."""

    packets: int
    every_s: float
    gap_s: float = 0.0
    kind: ClassVar[str] = "trains"


@dataclass(frozen=True)
class OnOff:
    """A datagram each interval for a while, then none for a while, again and again."""

    on_s: float
    off_s: float
    interval_s: float
    kind: ClassVar[str] = "on-off"


@dataclass(frozen=True)
class Times:
    """Datagrams at given times after the start, in order."""

    at_s: tuple[float, ...]
    kind: ClassVar[str] = "times"


@dataclass(frozen=True)
class Saturate:
    """Datagrams as fast as the socket takes them."""

    kind: ClassVar[str] = "saturate"


Pattern = Constant | Trains | OnOff | Times | Saturate


@dataclass(frozen=True)
class UdpFlow:
    """Datagrams to send. Times are in seconds after the beginning."""

    to: Address
    """Address and port."""
    payload_bytes: int
    """At least 16."""
    pattern: Pattern
    flow: int = 0
    """Number that the receiver will know it by, up to 65,535."""
    start_s: float = 0.0
    stop_s: float | None = None
    """When it stops; without it, when its pattern ends or the time is up."""


@dataclass(frozen=True)
class UdpSent:
    """Datagrams that were sent, in the order of sending."""

    began_ns: int
    ended: str
    refused: int
    """Datagrams that the kernel refused."""
    unreachable: int
    """Times that the other end said that nobody listens."""
    blocked_s: float
    """How long the sockets took nothing."""
    flow: Whole = field(repr=False)
    seq: Whole = field(repr=False)
    due_ns: Whole = field(repr=False)
    sent_ns: Whole = field(repr=False)

    def lateness(self) -> dict[str, float]:
        """How much later than they were due they were sent, in seconds, as manifests have it; nothing of none."""
        late_s = (self.sent_ns - self.due_ns) / _NS
        return (
            {"late_p99_s": float(np.quantile(late_s, 0.99)), "late_max_s": float(late_s.max())} if late_s.size else {}
        )


@dataclass(frozen=True)
class UdpReceived:
    """Datagrams that arrived, in the order of arrival."""

    ended: str
    overflowed: int
    """Datagrams for which the socket had no room: lost by the receiver, not by the network."""
    foreign: int
    """Datagrams of others, or of other programs."""
    flow: Whole = field(repr=False)
    seq: Whole = field(repr=False)
    sent_ns: Whole = field(repr=False)
    """By the clock of the sender."""
    received_ns: Whole = field(repr=False)
    payload_bytes: Whole = field(repr=False)
