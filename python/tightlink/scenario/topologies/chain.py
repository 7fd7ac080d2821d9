"""The chain: routers in a row, with hosts at its ends."""

from __future__ import annotations

from typing import Annotated, Literal

from tightlink.scenario.topologies.base import MOST_NODES
from tightlink.scenario.topologies.row import Row
from tightlink.scenario.values import whole


class Chain(Row):
    """Routers in a row, joined by ``hops`` links, with pairs of hosts at the two ends.

    Nodes NAME.router[0] to NAME.router[hops], NAME.left[i], NAME.right[i]; links NAME.hop[i]
    (router[i] to router[i + 1]), NAME.access_left[i] (left[i] to the first router),
    NAME.access_right[i] (the last router to right[i]). Without pairs, traffic goes from router to
    router. Links of their own can join more hosts to any router: ``ends = ["x", "net.router[3]"]``.

    Example:
        >>> net = tl.Chain(hops=2, hop={"rate": "10 Mbit/s"})
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
        else:
            self._refuse(
                "nothing here: there are no access links without pairs", "access", "access_left", "access_right"
            )
