"""Scattered datagrams: each node sends to all others at random, as studies of congestion on networks do.

Example:
    >>> Scatter(at="net.router[*]", rate="100 packets/s").rate
    '100 packets/s'
"""

from __future__ import annotations

from typing import Literal

from tightlink.scenario.endpoints import Endpoints
from tightlink.scenario.sizes import DatagramSize, check_sizes
from tightlink.scenario.table import Table
from tightlink.scenario.values import Delay, Name, PacketRate, Period


class Scatter(Table):
    """Datagrams from each of a set of nodes, at the times of a Poisson process, to any other of them.

    They take the fewest links. Nothing answers them, and nothing that is lost is retransmitted.

    Raises:
        ScenarioError: A value is out of its range or lacks its unit, shares do not sum to 1, or a key is
            unknown.

    Example:
        >>> tl.Scatter(at=["a", "b", "c"], rate="100 packets/s").rate
        '100 packets/s'
    """

    kind: Literal["scatter"] = "scatter"
    at: Endpoints
    """The nodes that send and receive: a group such as "net.router[*]", or a list."""
    rate: PacketRate
    """What each of them sends, in the mean."""
    sizes: dict[Name, DatagramSize] | None = None
    """Sizes of the datagrams, drawn for each (default: all of 1500 B)."""
    start: Delay | None = None
    """When it begins (default "0 s")."""
    stop: Period | None = None
    """When it ends (default: the duration)."""

    def _check(self) -> None:
        check_sizes(self.sizes)
