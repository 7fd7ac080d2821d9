"""The parking lot: a row of bottlenecks, each with traffic that crosses it alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from tightlink.scenario.links import Span
from tightlink.scenario.table import merged
from tightlink.scenario.topologies.base import MOST_NODES, GroupLink, check_lists, check_rate, group_spans, table_of
from tightlink.scenario.topologies.row import Row
from tightlink.scenario.values import whole


class ParkingLot(Row):
    """Routers in a row, pairs of hosts at the two ends, and pairs of hosts that cross one hop each.

    Nodes NAME.router[0] to NAME.router[hops], NAME.left[i], NAME.right[i], NAME.enter[i], NAME.leave[i];
    links NAME.hop[i] (router[i] to router[i + 1]), NAME.access_left[i], NAME.access_right[i],
    NAME.access_enter[i] (enter[i] to its router), NAME.access_leave[i] (the next router to leave[i]).
    What goes from enter[i] to leave[i] crosses hop i mod ``hops`` and no other.

    Example:
        >>> net = tl.ParkingLot(hops=3, hop={"rate": "10 Mbit/s"}, access={"rate": "1 Gbit/s"})
        >>> [span.ends for span in net.spans("net") if "enter" in span.name]
        [('net.enter[0]', 'net.router[0]'), ('net.enter[1]', 'net.router[1]'), ('net.enter[2]', 'net.router[2]')]
    """

    kind: Literal["parking-lot"] = "parking-lot"
    pairs: Annotated[int, whole(1, MOST_NODES, "pairs")] = 1
    """Hosts at each end."""
    cross: Annotated[int, whole(1, MOST_NODES, "pairs for each hop")] = 1
    """Pairs of hosts that cross each hop."""
    access_cross: GroupLink | None = None
    """What differs for the links of the hosts that cross a hop."""

    def _check(self) -> None:
        self.check_hops()
        self.check_access()
        across = self._over("access", "access_cross")
        check_rate(across, "access_cross")
        check_lists(across, self.hops * self.cross, "access_cross")

    def nodes(self, name: str) -> Iterator[str]:
        """The routers, the hosts at the ends in pairs, then those between in pairs."""
        yield from super().nodes(name)
        for index in range(self.hops * self.cross):
            yield f"{name}.enter[{index}]"
            yield f"{name}.leave[{index}]"

    def spans(self, name: str) -> Iterator[Span]:
        """The hops, the access links at the ends in pairs, then those of the hosts that enter and that leave."""
        yield from super().spans(name)
        crossed = {index: index % self.hops for index in range(self.hops * self.cross)}
        enter = {index: (f"enter[{index}]", f"router[{hop}]") for index, hop in crossed.items()}
        leave = {index: (f"router[{hop + 1}]", f"leave[{index}]") for index, hop in crossed.items()}
        key = "access_cross" if self.access_cross else "access"
        across = self._over("access", "access_cross")
        yield from group_spans(name, "access_enter", key, across, enter)
        yield from group_spans(name, "access_leave", key, across, leave)

    def groups(self, name: str) -> dict[str, int]:
        """Routers, hops, hosts and access links."""
        between = ("enter", "leave", "access_enter", "access_leave")
        return super().groups(name) | {f"{name}.{group}": self.hops * self.cross for group in between}

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults for links where it is silent."""
        own = super().filled(defaults) | {"pairs": self.pairs, "cross": self.cross}
        across = table_of(self.access_cross) if self.access else merged(defaults, table_of(self.access_cross))
        return own | ({"access_cross": across} if across else {})
