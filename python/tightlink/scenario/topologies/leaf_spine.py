"""Leaf and spine: a data centre's network of two tiers, each leaf switch with a link to each spine switch."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from tightlink.scenario.topologies.base import GroupLink
from tightlink.scenario.topologies.tiers import Tiers
from tightlink.scenario.values import whole

_COUNT: Final = whole(1, 1024)


class LeafSpine(Tiers):
    """Leaf switches with as many hosts each, all of them linked to all spine switches.

    Nodes NAME.spine[i], NAME.leaf[i], NAME.host[i]; links NAME.host_link[i] (host[i] to its leaf) and
    NAME.spine_link[i] (leaf i div spines up to a spine). Leaf l has the hosts from l · hosts on.

    Between two leaves there are as many paths of four links as spines: each flow takes one of them by its hash, or each
    packet one at random (``routing.ecmp``). Where the hosts of a leaf are faster together than its links up, it is
    oversubscribed by that factor.

    Example:
        >>> net = tl.LeafSpine(leaves=4, spines=2, hosts=8, link={"rate": "10 Gbit/s"})
        >>> net.groups("net")["net.host"], len(list(net.spans("net")))
        (32, 40)
    """

    kind: Literal["leaf-spine"] = "leaf-spine"
    leaves: Annotated[int, _COUNT]
    """Leaf switches."""
    spines: Annotated[int, _COUNT]
    """Spine switches."""
    hosts: Annotated[int, _COUNT]
    """Hosts of each leaf."""
    link: GroupLink | None = None
    """All links."""
    host_link: GroupLink | None = None
    """What differs between hosts and leaves."""
    spine_link: GroupLink | None = None
    """What differs between leaves and spines."""

    def _sizes(self) -> dict[str, int]:
        return {"spine": self.spines, "leaf": self.leaves, "host": self.leaves * self.hosts}

    def _counts(self) -> dict[str, int]:
        return {"host_link": self.leaves * self.hosts, "spine_link": self.leaves * self.spines}

    def _ends(self) -> dict[str, dict[int, tuple[str, str]]]:
        """Each leaf has its links in another order, so that the first paths of leaves lead over unlike spines."""
        ends: dict[str, dict[int, tuple[str, str]]] = {tier: {} for tier in self._counts()}
        for leaf in range(self.leaves):
            for host in range(leaf * self.hosts, (leaf + 1) * self.hosts):
                ends["host_link"][host] = (f"host[{host}]", f"leaf[{leaf}]")
            for turn in range(self.spines):
                spine = (leaf + turn) % self.spines
                ends["spine_link"][leaf * self.spines + spine] = (f"leaf[{leaf}]", f"spine[{spine}]")
        return ends
