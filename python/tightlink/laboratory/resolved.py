"""The scenario of a laboratory with keys changed: each change resolved once, in tables that are cheap to compare.

Thousands of links share a few wires, and most sliders change nothing but these. So the tables have wires in the place
of links, as long as no change lays out other links than the scenario has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, TypeAlias

from tightlink.errors import ScenarioError
from tightlink.scenario import Scenario
from tightlink.scenario.memory import check_fits, outline
from tightlink.scenario.network import Layout, Network, check_thresholds
from tightlink.scenario.resolve import depends_on_others, relative

#: Networks that are kept, the latest ones: keys of traffic change none.
_NETWORKS: Final = 8
_LINKS: Final = "/links/"

#: A place in the tables as a JSON pointer, and what is done there.
Change: TypeAlias = tuple[str, dict[str, Any]]


class OtherLinksError(Exception):
    """A change lays out other links, where tables have wires in their place."""


@dataclass(frozen=True)
class _Found:
    tables: dict[str, Any]
    is_right: bool | None
    """Whether it resolves if the engine can draw and route it; nothing where the engine has quantities to find."""


class Resolved:
    """A scenario and what becomes of it where keys are changed; what depends on others is left to the engine."""

    def __init__(self, scenario: Scenario, *, by_wires: bool = True) -> None:
        self.scenario = scenario
        self._by_wires = by_wires
        self._known: dict[str, _Found | str | None] = {}
        self._networks: dict[str, Network] = {}
        self._layout: Layout | None = None
        self._own = self._find({})

    def tables(self, changes: Mapping[str, Any]) -> dict[str, Any] | str:
        """The tables with some keys changed, or one sentence why there are none.

        Raises:
            OtherLinksError: There are other links than those of the scenario.
        """
        found = self._find(changes)
        if found is None:
            raise OtherLinksError
        return found.tables if isinstance(found, _Found) else found

    def is_right(self, key: str, value: object) -> bool:
        """Whether the scenario with one key changed resolves, where it does with none."""
        found = self._find({key: value})
        if isinstance(found, str):
            return False
        if found is not None and found.is_right is not None and self._is_drawn_alike(found.tables):
            return found.is_right
        try:
            self.scenario.set(key, value).resolve()
        except ScenarioError:
            return False
        return True

    def with_links(self, tables: dict[str, Any]) -> dict[str, Any]:
        """Tables with links, whatever they have in their place."""
        return tables | {"links": self._layout.specs(tables["links"])} if self._by_wires and self._layout else tables

    def of_links(self, changes: Iterable[Change]) -> Iterator[Change]:
        """Changes of the tables as those of tables with links."""
        for is_link, group in groupby(changes, lambda change: change[0].startswith(_LINKS)):
            if not is_link or not self._by_wires or self._layout is None:
                yield from group
                continue
            of_wires: dict[int, list[Change]] = {}
            for place, change in group:
                number, _, key = place.removeprefix(_LINKS).partition("/")
                of_wires.setdefault(int(number), []).append((key, change))
            for index, wire in enumerate(self._layout.wires):
                for key, change in of_wires.get(wire, ()):
                    if key:
                        yield f"{_LINKS}{index}/{key}", change
                    else:
                        yield f"{_LINKS}{index}", {"set": self._layout.spec(index, change["set"])}

    def _is_drawn_alike(self, tables: dict[str, Any]) -> bool:
        """Whether the engine draws the same transfers as without changes, and routes them alike, if it does at all."""
        if not tables.keys() & {"routing", "transfers"}:
            return True
        return isinstance(self._own, _Found) and _drawn(tables) == _drawn(self._own.tables)

    def _find(self, changes: Mapping[str, Any]) -> _Found | str | None:
        key = repr(changes)
        if key not in self._known:
            try:
                self._known[key] = self._resolved(self.scenario.set_all(changes) if changes else self.scenario)
            except ScenarioError as error:
                error.file = None
                self._known[key] = error.sentence()
        return self._known[key]

    def _resolved(self, scenario: Scenario) -> _Found | None:
        explicit = scenario.explicit()
        network = self._network(explicit)
        if not self._by_wires:
            return _Found(grouped(relative(explicit, network)), None)
        tables = relative(explicit, network, Network.wire_specs)
        if self._layout is None:
            self._layout = network.layout
        elif network.layout != self._layout:
            return None
        return _Found(grouped(tables), None if depends_on_others(tables) else _is_right(explicit, network, tables))

    def _network(self, explicit: Scenario) -> Network:
        written = explicit.written()
        key = repr([written.get(name) for name in ("topology", "link", "node")])
        network = self._networks.pop(key, None) or Network(explicit)
        self._networks[key] = network
        if len(self._networks) > _NETWORKS:
            del self._networks[next(iter(self._networks))]
        return network


def _is_right(explicit: Scenario, network: Network, tables: dict[str, Any]) -> bool:
    """Whether a scenario resolves of which no quantity depends on others."""
    try:
        check_fits(outline(explicit))
        check_thresholds(network.wires.values(), tables["links"])
    except ScenarioError:
        return False
    return True


def _drawn(tables: dict[str, Any]) -> dict[str, Any]:
    """What the engine draws transfers and finds paths by: no transports, and of links no more than their delays."""
    by_delay = tables.get("routing", {}).get("by_delay")
    return tables | {
        "links": [link["delay_s"] for link in tables["links"]] if by_delay else [],
        "groups": [group | {"transport": list(group["transport"])} for group in tables["groups"]],
        "transfers": [
            group | {"flow": group["flow"] | {"transport": list(group["flow"]["transport"])}}
            for group in tables.get("transfers", ())
        ],
    }


def grouped(tables: dict[str, Any]) -> dict[str, Any]:
    """Resolved tables with what the flows of a group have in common written once."""
    groups: dict[str, dict[str, Any]] = {}
    for flow in tables["flows"]:
        common = {key: flow[key] for key in ("traffic", "transport")}
        group = groups.setdefault(flow["group"], common | {"flows": []})
        group["flows"].append({key: value for key, value in flow.items() if key not in common})
    return {key: value for key, value in tables.items() if key != "flows"} | {"groups": list(groups.values())}
