"""The chain: routers in a row, with hosts at its ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from tightlink.scenario.links import Span
from tightlink.scenario.table import merged, wrong
from tightlink.scenario.topologies.base import MOST_NODES, table_of
from tightlink.scenario.topologies.row import Row
from tightlink.scenario.values import whole


class Chain(Row):
    """Routers in a row, joined by ``hops`` links, with pairs of hosts at the two ends.

    Nodes NAME.router[0] to NAME.router[hops], NAME.left[i], NAME.right[i]; links NAME.hop[i]
    (router[i] to router[i + 1]), NAME.access_left[i] (left[i] to the first router),
    NAME.access_right[i] (the last router to right[i]). Without pairs, traffic goes from router to
    router. Links of their own can join more hosts to any router: ``ends = ["x", "net.router[3]"]``.

    Example:
        >>> net = Chain(hops=2, hop={"rate": "10 Mbit/s"})
        >>> [span.ends for span in net.spans("net")]
        [('net.router[0]', 'net.router[1]'), ('net.router[1]', 'net.router[2]')]
    """

    kind: Literal["chain"] = "chain"
    pairs: Annotated[int, whole(0, MOST_NODES, "pairs")] = 0
    """Hosts at each end."""

    def _check(self) -> None:
        self.check_hops()
        if self.pairs > 0:
            self.check_access()
            return
        for key in ("access", "access_left", "access_right"):
            if (unused := getattr(self, key)) is not None:
                raise wrong("nothing here: there are no access links without pairs", key=key, value=table_of(unused))

    def nodes(self, name: str) -> Iterator[str]:
        """The routers, then the hosts in pairs."""
        yield from self.router_nodes(name)
        yield from self.host_nodes(name)

    def spans(self, name: str) -> Iterator[Span]:
        """The hops, then the access links in pairs."""
        yield from self.hop_spans(name)
        yield from self.host_spans(name, f"{name}.router[0]", f"{name}.router[{self.hops}]")

    def groups(self, name: str) -> dict[str, int]:
        """Routers, hops, hosts and access links."""
        return self.row_groups(name) | (self.host_groups(name) if self.pairs else {})

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults for links where it is silent."""
        return self.written() | {"hop": merged(defaults, self.hop.written())} | self.filled_access(defaults)
