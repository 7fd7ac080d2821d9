"""Datagrams of several sizes in one stream, as on the Internet.

Example:
    >>> DatagramSize(size="40B", share="50 %").size
    '40 B'
"""

from __future__ import annotations

from collections.abc import Mapping

from tightlink.scenario.shares import check_shares
from tightlink.scenario.table import Table
from tightlink.scenario.values import Fraction, Size


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
