"""Pairs of hosts at two routers, which several topologies have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tightlink.scenario.links import Span
from tightlink.scenario.table import merged
from tightlink.scenario.topologies.base import GroupLink, Topology, check_lists, check_rate, directions, table_of


class Hosts(Topology):
    """Pairs of hosts, the left ones at one router and the right ones at another."""

    access: GroupLink | None = None
    """The links of the hosts to their routers."""
    access_left: GroupLink | None = None
    """What differs for the links on the left, from each host to its router."""
    access_right: GroupLink | None = None
    """What differs for the links on the right, from the router to each host."""

    if TYPE_CHECKING:
        #: Hosts on each side, as many as each topology takes.
        pairs: int

    def check_access(self) -> None:
        """An error where an access link has no rate, or a list not one value for each link."""
        for key in ("access", "access_left", "access_right"):
            check_lists(table_of(getattr(self, key)), self.pairs, key)
        for side in ("left", "right"):
            key = "access" if self.access_left is self.access_right is None else f"access_{side}"
            check_rate(self._over("access", f"access_{side}"), key)

    def nodes(self, name: str) -> Iterator[str]:
        """The hosts in pairs: left[0], right[0], left[1] and so on."""
        for index in range(self.pairs):
            yield f"{name}.left[{index}]"
            yield f"{name}.right[{index}]"

    def groups(self, name: str) -> dict[str, int]:
        """Hosts and access links, where there are any."""
        groups = ("left", "right", "access_left", "access_right") if self.pairs else ()
        return {f"{name}.{group}": self.pairs for group in groups}

    def host_spans(self, name: str, left_router: str, right_router: str) -> Iterator[Span]:
        """Their links in pairs: access_left[0], access_right[0], access_left[1] and so on."""
        sides = ("access_left", "access_right")
        left, right = (directions(self._over("access", side), self.pairs) for side in sides)
        # Where a key of theirs is changed with effect.
        begin, end = (f"topology.{name}.{side if getattr(self, side) else 'access'}" for side in sides)
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            yield Span(f"{name}.access_left[{index}]", begin, (f"{name}.left[{index}]", left_router), *one)
            yield Span(f"{name}.access_right[{index}]", end, (right_router, f"{name}.right[{index}]"), *other)

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults for access links where it is silent."""
        if self.access is not None:
            own = {"access_left": table_of(self.access_left), "access_right": table_of(self.access_right)}
            tables = {"access": merged(defaults, self.access.written()), **own}
        else:
            sides = {"access_left": self.access_left, "access_right": self.access_right}
            tables = {key: merged(defaults, table_of(side)) for key, side in sides.items() if side}
        return self.written() | {key: table for key, table in tables.items() if table}
