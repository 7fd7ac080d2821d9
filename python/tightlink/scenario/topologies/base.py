"""What every topology is made of: groups of links, and the nodes and links that they become."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import WithJsonSchema, model_validator

from tightlink import units
from tightlink.scenario.forms import Forms
from tightlink.scenario.links import Medium, Span, Wire, both, like_its_network
from tightlink.scenario.loss import Loss
from tightlink.scenario.outages import LinkOutages
from tightlink.scenario.rates import ChangingRate
from tightlink.scenario.table import Table, merged, wrong
from tightlink.scenario.values import PropagationDelay

MOST_NODES: Final = 1_000_000


class Spread(Table):
    """Delays of a group of links, evenly spaced: link i has first + i × every."""

    first: PropagationDelay = "0 s"
    """Delay of the first link."""
    every: PropagationDelay
    """From the delay of a link to the delay of the next."""


Rates = Annotated[ChangingRate | list[ChangingRate], Forms()]
Losses = Annotated[Loss | list[Loss], Forms()]
Failures = Annotated[LinkOutages | list[LinkOutages], Forms()]
Delays = Annotated[PropagationDelay | list[PropagationDelay] | Spread, Forms()]


class GroupWire(Medium):
    """One direction of each link of a group; rates, delays, losses and outages may differ from link to link."""

    rate: Rates | None = None
    """Transmission rate in bits or in packets, or a table of how it changes; or one for each link."""
    delay: Delays | None = None
    """Propagation delay, one for each link, or { first, every } (default "0 s")."""
    loss: Losses | None = None  # type: ignore[assignment]  # or one for each
    """What the wire loses after its transmission: a share, or a table of a model; or one for each link (default 0)."""
    outages: Failures | None = None  # type: ignore[assignment]
    """When the link is down, by a schedule or at random; or for each link, be it "none" (default never)."""


class GroupReverse(GroupWire):
    """What differs in the reverse direction of the links of a group."""


class GroupLink(GroupWire):
    """The links of a group: all alike but for what is a list."""

    network: Annotated[str, WithJsonSchema({"type": "string", "examples": ["lte"]})] | None = None
    """Ready network that each is like but for what is said here, such as "lte" (``tightlink list networks``)."""
    reverse: GroupReverse | None = None
    """What differs from the second end to the first."""

    @model_validator(mode="before")
    @classmethod
    def _like_its_network(cls, data: object) -> object:
        """Writes out what the network says, whose name is not needed any more."""
        found = like_its_network(data)
        if not isinstance(found, dict) or found.get("network") is None:
            return found
        name = found.pop("network")
        if isinstance(data, dict) and "delay" not in data and isinstance(found.get("delay"), dict):
            raise wrong("a network with a constant delay, as the links of a group have, or a delay beside it",
                        key="network", value=name)  # fmt: skip
        return found


class Topology(Table):
    """A network made from a few keys: it names its nodes, its links and its groups."""

    def _sizes(self) -> dict[str, int]:
        """How many nodes each group has, in the order of nodes."""
        raise NotImplementedError

    def nodes(self, name: str) -> Iterator[str]:
        """The names of all nodes, in their order: those of one group after those of another."""
        for group, size in self._sizes().items():
            for index in range(size):
                yield f"{name}.{group}[{index}]"

    def spans(self, name: str) -> Iterator[Span]:
        """All links, in their order."""
        raise NotImplementedError

    def groups(self, name: str) -> dict[str, int]:
        """The groups of nodes and of links, such as ``net.left``, with their sizes."""
        raise NotImplementedError

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults for links where it is silent."""
        raise NotImplementedError

    def stands_in(self, folder: Path) -> None:
        """Says which folder names of files in the table are relative to."""
        del folder

    def written_out(self) -> Self:
        """The same with what it reads from files written out."""
        return self

    def _over(self, common: str, own: str) -> dict[str, Any]:
        """What the table of all links says, with what that of some of them says instead."""
        return merged(table_of(getattr(self, common)), table_of(getattr(self, own)))

    def aliases(self, name: str) -> dict[str, str]:
        """Elements of groups of nodes that have a name of their own, and that name."""
        del name
        return {}


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
    return isinstance(written.get("delay"), dict) or any(isinstance(value, list) for value in written.values())


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


def check_rate(written: Mapping[str, Any], key: str) -> None:
    """An error where the links of a group have no rate."""
    if "rate" not in written:
        raise wrong('a rate such as "1 Gbit/s"', key=f"{key}.rate")


def group_spans(
    name: str, group: str, key: str, written: Mapping[str, Any], ends: Mapping[int, tuple[str, str]]
) -> Iterator[Span]:
    """The links ``name.group[i]`` of a topology in the order of ``ends``, which gives both ends of each by its number.

    ``written`` is what all have, or lists of it, and comes from the table at ``key``, for errors.
    """
    table = f"topology.{name}.{key}"
    wires = list(directions(written, len(ends)))
    for index, (first, second) in ends.items():
        yield Span(f"{name}.{group}[{index}]", table, (f"{name}.{first}", f"{name}.{second}"), *wires[index])


def table_of(table: Table | None) -> dict[str, Any]:
    """What a table says, or nothing where there is none."""
    return {} if table is None else table.written()
