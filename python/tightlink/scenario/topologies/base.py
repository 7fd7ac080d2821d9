"""What every topology is made of: groups of links, and the nodes and links that they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Discriminator, Tag

from tightlink import units
from tightlink.scenario.links import Medium, Span, Wire, both
from tightlink.scenario.table import Table, merged, wrong
from tightlink.scenario.values import Delay, LineRate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_NODES: Final = 1_000_000


class Spread(Table):
    """Delays of a group of links, evenly spaced: link i has first + i × every."""

    first: Delay = "0 s"
    """Delay of the first link."""
    every: Delay
    """From the delay of a link to the delay of the next."""


def _one_or_each(value: object) -> str:
    return "<each>" if isinstance(value, list | tuple) else "<one>"


def _form_of_delays(value: object) -> str:
    return "<spread>" if isinstance(value, dict | Spread) else _one_or_each(value)


Rates = Annotated[
    Annotated[LineRate, Tag("<one>")] | Annotated[list[LineRate], Tag("<each>")], Discriminator(_one_or_each)
]
Delays = Annotated[
    Annotated[Delay, Tag("<one>")] | Annotated[list[Delay], Tag("<each>")] | Annotated[Spread, Tag("<spread>")],
    Discriminator(_form_of_delays),
]


class GroupWire(Medium):
    """One direction of each link of a group; rates and delays may differ from link to link."""

    rate: Rates | None = None
    """Transmission rate in bits or in packets, or one for each link."""
    delay: Delays | None = None
    """Propagation delay, one for each link, or { first, every } (default "0 s")."""


class GroupReverse(GroupWire):
    """What differs in the reverse direction of the links of a group."""


class GroupLink(GroupWire):
    """The links of a group: all alike but for what is a list."""

    reverse: GroupReverse | None = None
    """What differs from the second end to the first."""


class Topology(Table):
    """A network made from a few keys: it names its nodes, its links and its groups."""

    def nodes(self, name: str) -> Iterator[str]:
        """The names of all nodes, in their order."""
        raise NotImplementedError

    def spans(self, name: str) -> Iterator[Span]:
        """All links, in their order."""
        raise NotImplementedError

    def groups(self, name: str) -> dict[str, int]:
        """The groups of nodes and of links, such as ``net.left``, with their sizes."""
        raise NotImplementedError

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults for links where it is silent."""
        raise NotImplementedError


def directions(written: Mapping[str, Any], count: int) -> Iterator[tuple[Wire, Wire]]:
    """The two directions of each of the ``count`` links of a group."""
    if not _differ(written) and not _differ(written.get("reverse", {})):
        alike = both(dict(written))
        for _ in range(count):
            yield alike
        return
    for index in range(count):
        yield both(_nth(written, index))


def _differ(written: Mapping[str, Any]) -> bool:
    return isinstance(written.get("delay"), list | dict) or isinstance(written.get("rate"), list)


def check_lists(written: Mapping[str, Any], count: int, key: str) -> None:
    """An error where a list has not one value for each of the ``count`` links."""
    for name, value in written.items():
        if name == "reverse":
            check_lists(value, count, f"{key}.reverse")
        elif isinstance(value, list) and len(value) != count:
            raise wrong(f"{count} values, one for each link, not {len(value)}", key=f"{key}.{name}", value=value)


def _nth(written: Mapping[str, Any], index: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in written.items():
        if key == "reverse":
            result[key] = _nth(value, index)
        elif key == "delay" and isinstance(value, dict):
            first, every = (units.parse(value.get(part, "0 s"), units.TIME)[1].exact for part in ("first", "every"))
            result[key] = units.format_time(float(first + index * every))
        else:
            result[key] = value[index] if isinstance(value, list) else value
    return result


def table_of(table: Table | None) -> dict[str, Any]:
    """What a table says, or nothing where there is none."""
    return {} if table is None else table.written()


class Hosts(Topology):
    """Pairs of hosts, the left ones at one router and the right ones at another."""

    access: GroupLink | None = None
    """The links of the hosts to their routers."""
    access_left: GroupLink | None = None
    """What differs for the links on the left, from each host to its router."""
    access_right: GroupLink | None = None
    """What differs for the links on the right, from the router to each host."""

    @property
    def hosts(self) -> int:
        """Hosts on each side."""
        raise NotImplementedError

    def side(self, side: str) -> dict[str, Any]:
        """The table of the access links of one side, ``left`` or ``right``."""
        own = self.access_left if side == "left" else self.access_right
        return merged(table_of(self.access), table_of(own))

    def check_access(self) -> None:
        """An error where an access link has no rate, or a list not one value for each link."""
        for key in ("access", "access_left", "access_right"):
            check_lists(table_of(getattr(self, key)), self.hosts, key)
        for side in ("left", "right"):
            if "rate" not in self.side(side):
                key = "access" if self.access_left is self.access_right is None else f"access_{side}"
                raise wrong('a rate such as "1 Gbit/s"', key=f"{key}.rate")

    def host_nodes(self, name: str) -> Iterator[str]:
        """The hosts in pairs: left[0], right[0], left[1] and so on."""
        for index in range(self.hosts):
            yield f"{name}.left[{index}]"
            yield f"{name}.right[{index}]"

    def host_groups(self, name: str) -> dict[str, int]:
        """The groups that the hosts and their links make."""
        return {f"{name}.{group}": self.hosts for group in ("left", "right", "access_left", "access_right")}

    def host_spans(self, name: str, left_router: str, right_router: str) -> Iterator[Span]:
        """Their links in pairs: access_left[0], access_right[0], access_left[1] and so on."""
        left = directions(self.side("left"), self.hosts)
        right = directions(self.side("right"), self.hosts)
        key = f"topology.{name}.access"
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            yield Span(f"{name}.access_left[{index}]", key, (f"{name}.left[{index}]", left_router), *one)
            yield Span(f"{name}.access_right[{index}]", key, (right_router, f"{name}.right[{index}]"), *other)

    def filled_access(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The access tables with the defaults where they are silent."""
        if self.access is not None:
            own = {"access_left": table_of(self.access_left), "access_right": table_of(self.access_right)}
            tables = {"access": merged(defaults, self.access.written()), **own}
        else:
            sides = {"access_left": self.access_left, "access_right": self.access_right}
            tables = {key: merged(defaults, table_of(side)) for key, side in sides.items() if side}
        return {key: table for key, table in tables.items() if table}
