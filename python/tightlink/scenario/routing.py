"""Which of several shortest paths a flow takes.

Example:
    >>> Routing(ecmp="flow").written()
    {'ecmp': 'flow'}
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from tightlink.scenario.table import Table
from tightlink.scenario.values import choice


class Routing(Table):
    """Which of several shortest paths the flows take that do not spell theirs out."""

    ecmp: Annotated[Literal["none", "flow", "packet"], choice("none", "flow", "packet")] | None = None
    """Equal-cost paths: at each node a hash of the flow chooses one (flow, the default in fat trees), each packet takes
    one at random (packet: per-packet spraying), or all flows take the first (none)."""
    by: Annotated[Literal["hops", "delay"], choice("hops", "delay")] | None = None
    """What is shortest: the fewest links (hops, the default) or the least propagation delay (delay)."""

    def spec(self) -> dict[str, Any]:
        """The table as the engine's resolver reads it, where it is not what the engine does by itself."""
        ecmp, by_delay = self.ecmp or "none", self.by == "delay"
        return {"routing": {"ecmp": ecmp, "by_delay": by_delay}} if ecmp != "none" or by_delay else {}
