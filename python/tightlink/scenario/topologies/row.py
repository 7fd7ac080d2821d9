"""Routers in a row with hosts at its ends, which chains and parking lots have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from tightlink.scenario.links import Span
from tightlink.scenario.table import merged
from tightlink.scenario.topologies.base import GroupLink, check_lists, check_rate, group_spans
from tightlink.scenario.topologies.hosts import Hosts
from tightlink.scenario.values import whole


class Row(Hosts):
    """Routers in a row, joined by ``hops`` links, with pairs of hosts at the two ends."""

    hops: Annotated[int, whole(1, 250, "hops")]
    """Links between the routers, which are one more."""
    hop: GroupLink
    """The links between the routers."""

    def check_hops(self) -> None:
        """An error where the links between the routers have no rate, or a list not one value for each."""
        check_rate(self.hop.written(), "hop")
        check_lists(self.hop.written(), self.hops, "hop")

    def nodes(self, name: str) -> Iterator[str]:
        """The routers from the left to the right, then the hosts in pairs."""
        for index in range(self.hops + 1):
            yield f"{name}.router[{index}]"
        yield from super().nodes(name)

    def spans(self, name: str) -> Iterator[Span]:
        """The hops from the left to the right, then the access links in pairs."""
        ends = {index: (f"router[{index}]", f"router[{index + 1}]") for index in range(self.hops)}
        yield from group_spans(name, "hop", "hop", self.hop.written(), ends)
        yield from self.host_spans(name, f"{name}.router[0]", f"{name}.router[{self.hops}]")

    def groups(self, name: str) -> dict[str, int]:
        """Routers, hops, hosts and access links."""
        return {f"{name}.router": self.hops + 1, f"{name}.hop": self.hops} | super().groups(name)

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults for links where it is silent."""
        return super().filled(defaults) | {"hop": merged(defaults, self.hop.written())}
