"""Sizes of packets: their bound, and those of datagrams as the engine reads them.

Example:
    >>> from tightlink.scenario.sizes import DatagramSize
    >>> size_shares({"ack": DatagramSize(size="40 B", share=0.5), "full": DatagramSize(size="1500 B", share=0.5)})
    [{'bytes': 40, 'share': 0.5}, {'bytes': 1500, 'share': 0.5}]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario.network import given
from tightlink.scenario.sizes import DatagramSize
from tightlink.scenario.values import LARGEST_PACKET


def check_packet(key: str, text: str, payload: int, header: int = 0) -> None:
    """An IP packet has 16 bits for its length (RFC 791), and so has the engine.

    Raises:
        ScenarioError: The packet is larger.
    """
    if payload + header > LARGEST_PACKET:
        included = f", headers of {header} B included" if header else ""
        raise ScenarioError(f"an IP packet of at most {LARGEST_PACKET} B{included}", key=key, value=text)


def size_shares(sizes: Mapping[str, DatagramSize]) -> list[dict[str, Any]]:
    """Bytes and shares as the engine reads them; every share is known."""
    return [{"bytes": units.size(entry.size), "share": given(entry.share)} for entry in sizes.values()]


def check_whole(key: str, sizes: Mapping[str, DatagramSize], mtu: int, whose: str) -> None:
    """All of them fit into an MTU.

    Raises:
        ScenarioError: One does not.
    """
    for name, entry in sizes.items():
        if units.size(entry.size) > mtu:
            expected = f"at most {mtu} B, {whose}: these datagrams are not sent in fragments"
            raise ScenarioError(expected, key=f"{key}.sizes.{name}.size", value=entry.size)
