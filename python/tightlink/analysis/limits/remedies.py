"""What would have to change where no packet length keeps a stream clear.

Example:
    >>> from tightlink.analysis.limits.packetize import packetize
    >>> voice = Stream(bitrate_bps=Fraction(64_000), headers_bytes=40)
    >>> router = Bottleneck(limit_packets_per_s=Fraction(4000), background_packets_per_s=Fraction(3960))
    >>> limits = {"mtu_bytes": 1500, "max_delay_s": Fraction(20, 1000)}
    >>> found = packetize(voice, router, **limits)
    >>> for remedy in remedies(voice, router, found, **limits):
    ...     print(remedy.against, {need: float(value) for need, value in remedy.needs.items()})
    limit {'limit': 4010.0}
    limit {'background': 3950.0}
    None {'delay': 0.025125}
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

from tightlink.analysis.limits.packetize import Bottleneck, Constraint, Packetization, Stream, packetize

_BITS: Final = 8
#: Largest IP packet (RFC 791: the total length is 16 bits).
_LARGEST_PACKET: Final = 65535

#: What could be another: the router's limit (more than), other traffic there (less than), the stream's bit rate
#: (less than; with frames at most), link, ring, MTU and longest time to fill a packet (at least).
Need = Literal["limit", "background", "bitrate", "link", "ring", "mtu", "delay"]


@dataclass(frozen=True)
class Remedy:
    """A change that meets one constraint, all else being equal."""

    #: The constraint that it meets; nothing: all that are not met.
    against: Constraint | None
    #: Values in SI units, bytes or packets: all of them together.
    needs: dict[Need, Fraction]


def remedies(
    stream: Stream, bottleneck: Bottleneck, found: Packetization, *, mtu_bytes: int, max_delay_s: Fraction | None = None
) -> list[Remedy]:
    """What would make room for a stream, by what `packetize` found; nothing where some length is clear."""
    if found.smallest is not None:
        return []
    wanted: list[Remedy] = []
    if (length := found.longest) is not None:
        for bound in found.unmet:
            match bound.constraint:
                case "limit":
                    wanted += _against_the_limit(stream, bottleneck, length, max_delay_s)
                case "link":
                    wanted.append(Remedy("link", {"link": stream.rate_on_link_bps(length)}))
                case "ring":
                    wanted.append(Remedy("ring", {"ring": Fraction(stream.burst_packets(length))}))
    return [*wanted, *_longer(stream, bottleneck, mtu_bytes, max_delay_s)]


def _against_the_limit(
    stream: Stream, bottleneck: Bottleneck, length: int, max_delay_s: Fraction | None
) -> Iterator[Remedy]:
    own = stream.packets_per_s(length)
    yield Remedy("limit", {"limit": own + bottleneck.background_packets_per_s})
    if own < bottleneck.limit_packets_per_s:
        yield Remedy("limit", {"background": bottleneck.limit_packets_per_s - own})
    bitrate = _largest_bitrate(stream, bottleneck, length)
    # A slower stream takes longer to fill a packet.
    if bitrate and (max_delay_s is None or replace(stream, bitrate_bps=bitrate).fill_s(length) < max_delay_s):
        yield Remedy("limit", {"bitrate": bitrate})


def _largest_bitrate(stream: Stream, bottleneck: Bottleneck, length: int) -> Fraction:
    """The bit rate that a payload length keeps under the router's limit; zero where none does."""
    room = bottleneck.limit_packets_per_s - bottleneck.background_packets_per_s
    if stream.frames_per_s is None:
        return room * _BITS * length
    return (math.ceil(room / stream.frames_per_s) - 1) * stream.frames_per_s * _BITS * length


def _longer(stream: Stream, bottleneck: Bottleneck, mtu_bytes: int, max_delay_s: Fraction | None) -> Iterator[Remedy]:
    """The packets that would do, if the MTU and the time to fill them allowed for them."""
    payload = packetize(stream, bottleneck, mtu_bytes=_LARGEST_PACKET).smallest
    if payload is None:
        return
    needs: dict[Need, Fraction] = {}
    if payload + stream.headers_bytes > mtu_bytes:
        needs["mtu"] = Fraction(payload + stream.headers_bytes)
    if max_delay_s is not None and stream.fill_s(payload) > max_delay_s:
        needs["delay"] = stream.fill_s(payload)
    yield Remedy(None, needs)
