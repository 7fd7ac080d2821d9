"""Which of several shortest paths a flow takes.

Example:
    >>> Routing(ecmp="flow").written()
    {'ecmp': 'flow'}
"""

from __future__ import annotations

from typing import Any, Literal

from tightlink.scenario.table import Table


class Routing(Table):
    """Which of several shortest paths the flows take that do not spell theirs out."""

    ecmp: Literal["none", "flow", "packet"] | None = None
    """Equal-cost paths: at each node a hash of the flow chooses one (flow, the default in fat trees and leaf-spines),
    each packet takes one at random (packet: per-packet spraying), or all flows from a node towards a switch and its
    hosts take the same (none)."""
    by: Literal["hops", "delay"] | None = None
    """What is shortest: the fewest links (hops, the default) or the least propagation delay (delay)."""

    def spec(self) -> dict[str, Any]:
        """The table as the engine's resolver reads it, where it is not what the engine does by itself."""
        ecmp, by_delay = self.ecmp or "none", self.by == "delay"
        return {"routing": {"ecmp": ecmp, "by_delay": by_delay}} if ecmp != "none" or by_delay else {}
