"""Sizes of packets: their bounds, and datagrams of several sizes in one stream, as on the Internet.

Example:
    >>> DatagramSize(size="40B", share="50 %").size
    '40 B'
    >>> size_shares({"ack": DatagramSize(size="40 B", share=0.5), "full": DatagramSize(size="1500 B", share=0.5)})
    [{'bytes': 40, 'share': 0.5}, {'bytes': 1500, 'share': 0.5}]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario.shares import check_shares
from tightlink.scenario.table import Table, given
from tightlink.scenario.values import LARGEST_PACKET, Fraction, Size


class DatagramSize(Table):
    """A size of datagrams."""

    size: Size
    """The whole IP datagram, headers included."""
    share: Fraction | None = None
    """Share of the datagrams (default: the rest)."""


def check_sizes(sizes: Mapping[str, DatagramSize] | None) -> None:
    """An error, relative to the table being validated, unless their shares sum to 1."""
    if sizes is not None:
        check_shares("sizes", {name: entry.share for name, entry in sizes.items()}, "size")


def check_packet(key: str, text: str, payload: int, header: int = 0) -> None:
    """An IP packet has 16 bits for its length (RFC 791), and so has the engine."""
    if payload + header > LARGEST_PACKET:
        included = f", headers of {header} B included" if header else ""
        raise ScenarioError(f"an IP packet of at most {LARGEST_PACKET} B{included}", key=key, value=text)


def size_shares(sizes: Mapping[str, DatagramSize]) -> list[dict[str, Any]]:
    """Bytes and shares as the engine reads them; every share is known."""
    return [{"bytes": units.size(entry.size), "share": given(entry.share)} for entry in sizes.values()]


def check_whole(key: str, sizes: Mapping[str, DatagramSize], mtu: int, whose: str) -> None:
    """All of them fit into an MTU."""
    for name, entry in sizes.items():
        if units.size(entry.size) > mtu:
            expected = f"at most {mtu} B, {whose}: these datagrams are not sent in fragments"
            raise ScenarioError(expected, key=f"{key}.sizes.{name}.size", value=entry.size)
