"""The fat tree: a data centre's network of equal switches (Al-Fares, Loukissas and Vahdat 2008)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator

from tightlink.scenario.table import wrong
from tightlink.scenario.topologies.base import GroupLink
from tightlink.scenario.topologies.tiers import Tiers

_FEWEST_PORTS: Final = 2
_MOST_PORTS: Final = 128


def _check_ports(value: object) -> int:
    expected = f"an even number of ports from {_FEWEST_PORTS} to {_MOST_PORTS}"
    if not isinstance(value, int) or isinstance(value, bool) or not _FEWEST_PORTS <= value <= _MOST_PORTS:
        raise wrong(expected, value=value)
    if value % 2:
        raise wrong(expected, value=value, suggestion=str(value + 1))
    return value


class FatTree(Tiers):
    """A fat tree of switches with ``k`` ports: k pods, k³/4 hosts, as many links in each of its three tiers.

    Nodes NAME.core[i] (k²/4), NAME.aggregation[i], NAME.edge[i] (k²/2 each), NAME.host[i]; links
    NAME.host_link[i] (host[i] to its edge switch), NAME.edge_link[i] (edge to aggregation),
    NAME.core_link[i] (aggregation to core). Numbers run through the pods: pod p has the edge and the
    aggregation switches from p k/2, the hosts from p k²/4 on. Link i of edge_link and of core_link leads up from
    switch i div k/2.

    Between pods there are k²/4 paths of six links: each flow takes one of them by its hash, or each packet one at
    random (``routing.ecmp``).
    Users and datagrams take one to each edge switch, those of a pod through different aggregation and core switches.

    Example:
        >>> net = tl.FatTree(k=4, link={"rate": "1 Gbit/s"})
        >>> net.groups("net")["net.host"], len(list(net.spans("net")))
        (16, 48)
    """

    kind: Literal["fat-tree"] = "fat-tree"
    k: Annotated[int, BeforeValidator(_check_ports)]
    """Ports of each switch: an even number."""
    link: GroupLink | None = None
    """All links."""
    host_link: GroupLink | None = None
    """What differs between hosts and edge switches."""
    edge_link: GroupLink | None = None
    """What differs between edge and aggregation switches."""
    core_link: GroupLink | None = None
    """What differs between aggregation and core switches."""

    def _sizes(self) -> dict[str, int]:
        half = self.k // 2
        return {"core": half**2, "aggregation": self.k * half, "edge": self.k * half, "host": self.k * half**2}

    def _counts(self) -> dict[str, int]:
        return dict.fromkeys(("host_link", "edge_link", "core_link"), self.k**3 // 4)

    def _ends(self) -> dict[str, dict[int, tuple[str, str]]]:
        """Each switch has its links in another order, so that first paths to edge switches lead over unlike ones."""
        half = self.k // 2
        ends: dict[str, dict[int, tuple[str, str]]] = {tier: {} for tier in self._counts()}
        for switch in range(self.k * half):
            pod, place = divmod(switch, half)
            for port in range(half):
                host = switch * half + port
                ends["host_link"][host] = (f"host[{host}]", f"edge[{switch}]")
                up = (place + port) % half
                ends["edge_link"][switch * half + up] = (f"edge[{switch}]", f"aggregation[{pod * half + up}]")
                up = (pod + port) % half
                ends["core_link"][switch * half + up] = (f"aggregation[{switch}]", f"core[{place * half + up}]")
        return ends
