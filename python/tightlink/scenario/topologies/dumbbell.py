"""The dumbbell: pairs of hosts on both sides of one bottleneck."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from tightlink.scenario.links import Duplex, Span
from tightlink.scenario.table import merged
from tightlink.scenario.topologies.base import MOST_NODES
from tightlink.scenario.topologies.hosts import Hosts
from tightlink.scenario.values import whole


class Dumbbell(Hosts):
    """Pairs of hosts on both sides of one bottleneck between two routers.

    Nodes NAME.left_router, NAME.right_router, NAME.left[i], NAME.right[i]; links NAME.bottleneck,
    NAME.access_left[i] (left[i] to left_router), NAME.access_right[i] (right_router to right[i]).

    Example:
        >>> net = tl.Dumbbell(pairs=1, bottleneck={"rate": "10 Mbit/s"}, access={"rate": "1 Gbit/s"})
        >>> [span.name for span in net.spans("net")]
        ['net.bottleneck', 'net.access_left[0]', 'net.access_right[0]']
    """

    kind: Literal["dumbbell"] = "dumbbell"
    pairs: Annotated[int, whole(1, MOST_NODES, "pairs")]
    """Hosts on each side."""
    bottleneck: Duplex
    """The link between the routers."""

    def _check(self) -> None:
        self.check_access()

    def nodes(self, name: str) -> Iterator[str]:
        """The routers, then the hosts in pairs."""
        yield f"{name}.left_router"
        yield f"{name}.right_router"
        yield from super().nodes(name)

    def spans(self, name: str) -> Iterator[Span]:
        """The bottleneck, then the access links in pairs."""
        ends = (f"{name}.left_router", f"{name}.right_router")
        yield Span(f"{name}.bottleneck", f"topology.{name}.bottleneck", ends, *self.bottleneck.directions())
        yield from self.host_spans(name, *ends)

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults for links where it is silent."""
        return super().filled(defaults) | {"bottleneck": merged(defaults, self.bottleneck.spelled_out())}
