"""Routers in a row, which chains and parking lots have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from tightlink.scenario.links import Span
from tightlink.scenario.topologies.base import GroupLink, check_lists, check_rate, group_spans
from tightlink.scenario.topologies.hosts import Hosts
from tightlink.scenario.values import whole


class Row(Hosts):
    """Routers in a row, joined by ``hops`` links."""

    hops: Annotated[int, whole(1, 250, "hops")]
    """Links between the routers, which are one more."""
    hop: GroupLink
    """The links between the routers."""

    def check_hops(self) -> None:
        """An error where the links between the routers have no rate, or a list not one value for each."""
        check_rate(self.hop.written(), "hop")
        check_lists(self.hop.written(), self.hops, "hop")

    def router_nodes(self, name: str) -> Iterator[str]:
        """The routers, from the left to the right."""
        for index in range(self.hops + 1):
            yield f"{name}.router[{index}]"

    def hop_spans(self, name: str) -> Iterator[Span]:
        """The links between them, from the left to the right."""
        ends = {index: (f"router[{index}]", f"router[{index + 1}]") for index in range(self.hops)}
        yield from group_spans(name, "hop", "hop", self.hop.written(), ends)

    def row_groups(self, name: str) -> dict[str, int]:
        """The groups that the routers and their links make."""
        return {f"{name}.router": self.hops + 1, f"{name}.hop": self.hops}
