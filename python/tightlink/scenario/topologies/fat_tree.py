"""The fat tree: a data centre's network of equal switches (Al-Fares, Loukissas and Vahdat 2008)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator

from tightlink.scenario.links import Span
from tightlink.scenario.table import merged, wrong
from tightlink.scenario.topologies.base import GroupLink, Topology, check_lists, check_rate, group_spans, table_of

_FEWEST_PORTS: Final = 2
_MOST_PORTS: Final = 128


def _check_ports(value: object) -> int:
    expected = f"an even number of ports from {_FEWEST_PORTS} to {_MOST_PORTS}"
    if not isinstance(value, int) or isinstance(value, bool) or not _FEWEST_PORTS <= value <= _MOST_PORTS:
        raise wrong(expected, value=value)
    if value % 2:
        raise wrong(expected, value=value, suggestion=str(value + 1))
    return value


class FatTree(Topology):
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
        >>> net = FatTree(k=4, link={"rate": "1 Gbit/s"})
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

    def _check(self) -> None:
        for tier in _TIERS:
            check_rate(self._tier(tier), "link" if getattr(self, tier) is None else tier)
            check_lists(self._tier(tier), self.k**3 // 4, "link" if getattr(self, tier) is None else tier)

    def _tier(self, tier: str) -> dict[str, Any]:
        return merged(table_of(self.link), table_of(getattr(self, tier)))

    def nodes(self, name: str) -> Iterator[str]:
        """Core, aggregation and edge switches, then the hosts."""
        for group, size in self._sizes().items():
            for index in range(size):
                yield f"{name}.{group}[{index}]"

    def _sizes(self) -> dict[str, int]:
        half = self.k // 2
        return {"core": half**2, "aggregation": self.k * half, "edge": self.k * half, "host": self.k * half**2}

    def spans(self, name: str) -> Iterator[Span]:
        """The links of the hosts, of the edge and of the core.

        Among equal paths, the first links of the scenario win: each switch has its links in another order, so
        that the paths towards different edge switches lead over different switches.
        """
        half = self.k // 2
        switches = self.k * half
        ends: dict[str, dict[int, tuple[str, str]]] = {tier: {} for tier in _TIERS}
        for switch in range(switches):
            pod, place = divmod(switch, half)
            for port in range(half):
                host = switch * half + port
                ends["host_link"][host] = (f"host[{host}]", f"edge[{switch}]")
                up = (place + port) % half
                ends["edge_link"][switch * half + up] = (f"edge[{switch}]", f"aggregation[{pod * half + up}]")
                up = (pod + port) % half
                ends["core_link"][switch * half + up] = (f"aggregation[{switch}]", f"core[{place * half + up}]")
        for tier in _TIERS:
            yield from group_spans(name, tier, tier if getattr(self, tier) else "link", self._tier(tier), ends[tier])

    def groups(self, name: str) -> dict[str, int]:
        """Switches, hosts and the links of the three tiers."""
        sizes = self._sizes() | dict.fromkeys(_TIERS, self.k**3 // 4)
        return {f"{name}.{group}": size for group, size in sizes.items()}

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults for links where it is silent."""
        return self.written() | {"link": merged(defaults, table_of(self.link))}


_TIERS: Final = ("host_link", "edge_link", "core_link")
