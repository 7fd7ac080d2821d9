"""Which packet length keeps a stream clear of a router's packet limit, and what bounds it from both sides.

A router that is governed by packets per second forgives long packets and punishes short ones (M.
Paredes-Farrera et al.: Router Response to Traffic at a Bottleneck Link, 2006). Against long packets speak the
MTU and, at low bit rates, the time that it takes to fill one. Each of these bounds the length from one side:
what is left between them is clear.

Example:
    >>> stream = Stream(bitrate_bps=Fraction(1_500_000), headers_bytes=28)
    >>> bottleneck = Bottleneck(limit_packets_per_s=Fraction(4000), background_packets_per_s=Fraction(1000))
    >>> found = packetize(stream, bottleneck, mtu_bytes=1500)
    >>> found.smallest, found.recommended
    (63, 1472)
    >>> round(float(stream.packets_per_s(63)), 1)
    2976.2
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

_BITS: Final = 8

#: What bounds a length: the router's limit, the link and the ring from below, the MTU and the delay from above.
Constraint = Literal["limit", "link", "ring", "mtu", "delay"]


@dataclass(frozen=True, kw_only=True)
class Stream:
    """What is to be sent: a constant bit rate or, with a frame rate, video in frames."""

    #: Bit rate of the payload.
    bitrate_bps: Fraction
    #: Headers of each packet, down to IP: 28 B for UDP, 40 B for RTP.
    headers_bytes: int
    #: Frames a second; a packet never holds parts of two. Nothing: a stream without frames.
    frames_per_s: Fraction | None = None
    #: The largest frame, such as a key frame, over the mean; the burst that it makes is what a ring must hold.
    largest_frame: Fraction = Fraction(1)

    @property
    def frame_bytes(self) -> Fraction | None:
        """Payload of a mean frame."""
        return None if self.frames_per_s is None else self.bitrate_bps / (_BITS * self.frames_per_s)

    def packets_per_frame(self, payload: int) -> int | None:
        """Packets that carry a frame: ⌈frame / payload⌉."""
        return None if self.frame_bytes is None else math.ceil(self.frame_bytes / payload)

    def burst_packets(self, payload: int) -> int:
        """Packets that carry the largest frame; one packet in a stream without frames."""
        return 1 if self.frame_bytes is None else math.ceil(self.largest_frame * self.frame_bytes / payload)

    def packets_per_s(self, payload: int) -> Fraction:
        """Packets a second at a payload length in bytes."""
        if self.frames_per_s is None:
            return self.bitrate_bps / (_BITS * payload)
        return self.frames_per_s * math.ceil(self.bitrate_bps / (_BITS * self.frames_per_s * payload))

    def rate_on_link_bps(self, payload: int) -> Fraction:
        """Bits of IP packets a second, headers included."""
        return self.bitrate_bps + _BITS * self.headers_bytes * self.packets_per_s(payload)

    def header_share(self, payload: int) -> Fraction:
        """Share of the headers in what the link carries."""
        return 1 - self.bitrate_bps / self.rate_on_link_bps(payload)

    def fill_s(self, payload: int) -> Fraction:
        """Time in which a payload comes together at the bit rate; with frames, at most that of a frame."""
        filled = Fraction(_BITS * payload) / self.bitrate_bps
        return filled if self.frames_per_s is None else min(filled, 1 / self.frames_per_s)

    def frame_hit(self, payload: int, loss: float) -> float | None:
        """Probability 1 − (1 − p)ⁿ that a frame of n packets loses one, if packets are lost independently.

        Real losses come in bursts, which hit fewer frames, and each of them harder.
        """
        packets = self.packets_per_frame(payload)
        if packets is None:
            return None
        return 1.0 if loss >= 1 else -math.expm1(packets * math.log1p(-loss))


@dataclass(frozen=True, kw_only=True)
class Bottleneck:
    """Where the stream must not be the last straw."""

    #: Packets per second from which the router is unstable.
    limit_packets_per_s: Fraction
    #: Packets per second of all other traffic there.
    background_packets_per_s: Fraction = Fraction(0)
    #: Rate of the link for the stream's IP packets; nothing: it is no matter.
    link_bps: Fraction | None = None
    #: Packets that the router's input ring holds; nothing: it is no matter.
    ring_packets: int | None = None


@dataclass(frozen=True)
class Bound:
    """A constraint on the payload length, from below or from above."""

    constraint: Constraint
    #: The first length that meets it (from below), or the last (from above); nothing: none does.
    payload: int | None


@dataclass(frozen=True)
class Packetization:
    """Which lengths are clear, and why no others. Lengths are bytes of payload."""

    #: The constraints that not every length meets, the strictest of a side first.
    from_below: tuple[Bound, ...]
    from_above: tuple[Bound, ...]
    #: Largest payload that the constraints from above allow; nothing: not even one byte.
    longest: int | None
    #: Smallest payload that meets all; nothing: no length keeps clear.
    smallest: int | None

    @property
    def recommended(self) -> int | None:
        """The longest of the clear lengths: fewest packets, headers and packets in a frame."""
        return None if self.smallest is None else self.longest

    def missed(self, payload: int) -> tuple[Constraint, ...]:
        """The constraints that a payload length does not meet; none: it is clear."""
        short = (b.constraint for b in self.from_below if b.payload is None or payload < b.payload)
        long = (b.constraint for b in self.from_above if b.payload is None or payload > b.payload)
        return (*short, *long)

    @property
    def unmet(self) -> tuple[Bound, ...]:
        """The constraints from below that no length meets which those from above allow."""
        return tuple(b for b in self.from_below if b.payload is None or b.payload > (self.longest or 0))


def packetize(
    stream: Stream, bottleneck: Bottleneck, *, mtu_bytes: int, max_delay_s: Fraction | None = None
) -> Packetization:
    """The payload lengths that keep a stream clear.

    ``max_delay_s`` is the longest time to fill a packet; without it, that does not matter.
    """
    largest = mtu_bytes - stream.headers_bytes
    from_above = [Bound("mtu", largest)]
    if max_delay_s is not None:
        last = (
            bisect_left(range(1, largest + 1), x=True, key=lambda length: stream.fill_s(length) > max_delay_s) or None
        )
        if last != largest:
            from_above.insert(0, Bound("delay", last))
    longest = from_above[0].payload
    firsts = {constraint: _first(meets, largest) for constraint, meets in _wishes(stream, bottleneck).items()}
    from_below = [Bound(constraint, first) for constraint, first in firsts.items() if first != 1]
    from_below.sort(key=lambda bound: -(bound.payload or math.inf))
    smallest = from_below[0].payload if from_below else 1
    clear = smallest is not None and longest is not None and smallest <= longest
    return Packetization(tuple(from_below), tuple(from_above), longest, smallest if clear else None)


def _wishes(stream: Stream, bottleneck: Bottleneck) -> dict[Constraint, Callable[[int], bool]]:
    """What asks for long packets: once a length meets it, every longer one does."""
    room = bottleneck.limit_packets_per_s - bottleneck.background_packets_per_s
    wishes: dict[Constraint, Callable[[int], bool]] = {"limit": lambda length: stream.packets_per_s(length) < room}
    link, ring = bottleneck.link_bps, bottleneck.ring_packets
    if link is not None:
        wishes["link"] = lambda length: stream.rate_on_link_bps(length) <= link
    if ring is not None:
        wishes["ring"] = lambda length: stream.burst_packets(length) <= ring
    return wishes


def _first(meets: Callable[[int], bool], largest: int) -> int | None:
    """The first length that meets a wish for long packets."""
    found = bisect_left(range(1, largest + 1), x=True, key=meets) + 1
    return found if found <= largest else None
