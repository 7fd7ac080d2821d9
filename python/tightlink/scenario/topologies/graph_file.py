"""Graphs as others have them: GraphML and GML files, such as those of the Internet Topology Zoo, and networkx.

Rates and delays come from attributes of edges, delays also from the coordinates of nodes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from tightlink import units
from tightlink.errors import ScenarioError, one_of, show
from tightlink.files import check_stored
from tightlink.lazy import nx
from tightlink.scenario.problems import why_unreadable
from tightlink.scenario.table import NAME
from tightlink.scenario.topologies.geography import Place, delay, is_on_earth
from tightlink.scenario.values import FASTEST, LONGEST_TIME, SLOWEST

#: Attributes with the rate of an edge, the first that it has; the first is the Topology Zoo's, in bit/s.
RATES: Final = ("LinkSpeedRaw", "capacity", "rate")
DELAYS: Final = ("delay",)
_COORDINATES: Final = (("Latitude", "Longitude"), ("latitude", "longitude"), ("lat", "lon"))
_SUFFIXES: Final = {".graphml": "graphml", ".xml": "graphml", ".gml": "gml"}
_LARGEST_FILE: Final = 64 * 2**20
COORDINATES: Final = "coordinates"


@dataclass(frozen=True)
class Reading:
    """Where rates and delays come from."""

    #: Attribute of edges; none: the first of `RATES` that there is.
    rate_from: str | None
    #: Attribute of edges, or ``coordinates``; none: the first of `DELAYS` that there is, then coordinates.
    delay_from: str | None
    #: What bare numbers are multiples of.
    rate_unit: str
    delay_unit: str
    #: Of edges without; none: an error, and no delay.
    rate: str | None
    delay: str


@dataclass(frozen=True)
class Joint:
    """An edge between two nodes, which are given by their numbers."""

    ends: tuple[int, int]
    rate: str
    delay: str
    one_way: bool


def read(path: Path) -> Any:
    """The graph in a file."""
    shape = _SUFFIXES.get(path.suffix.lower())
    if shape is None:
        raise ScenarioError(f"the name of a file that ends in {one_of(_SUFFIXES).removeprefix('one of ')}", key="file",
                            value=str(path))  # fmt: skip
    try:
        check_stored(path, _LARGEST_FILE)
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        said = f"cannot be read: {why_unreadable(error)}"
        raise ScenarioError(said, key="file", value=str(path), statement=True) from None
    try:
        return _parsed(text, shape)
    except Exception as error:  # noqa: BLE001
        # networkx and the XML parser raise whatever they stumble over.
        too_deep = isinstance(error, RecursionError)
        reason = "nested too deeply" if too_deep else " ".join(str(error).split()) or type(error).__name__
        expected = f"a graph in {'GraphML' if shape == 'graphml' else 'GML'}: {reason}"
        raise ScenarioError(expected, key="file", value=str(path)) from None


@lru_cache(maxsize=1)
def _parsed(text: str, shape: str) -> Any:
    """The graph, which nobody changes; kept, as all runs of a sweep and all positions of a slider read it again."""
    return nx.parse_graphml(text) if shape == "graphml" else nx.parse_gml(_several(text), label="id")


def _several(text: str) -> str:
    """The text of a GML file that may have several edges between two nodes, which few such files announce."""
    if re.search(r"^\s*multigraph\s", text, re.MULTILINE):
        return text
    return re.sub(r"\bgraph\s*\[", "graph [ multigraph 1 ", text, count=1)


def names(graph: Any) -> list[str | None]:
    """What each node is called: its label, with ``_`` for what no name may hold.

    Nothing where that is no name, or several nodes have the same.
    """
    found: list[str | None] = []
    for node, attributes in graph.nodes(data=True):
        label = re.sub(r"[^A-Za-z0-9_-]+", "_", str(attributes.get("label", node))).strip("_")
        found.append(label if NAME.fullmatch(label) else None)
    often = Counter(found)
    return [name if often[name] == 1 else None for name in found]


def joints(graph: Any, reading: Reading) -> list[Joint]:
    """The edges of a graph, in its order.

    Raises:
        ScenarioError: It is no network: empty, not connected, with an edge from a node to itself, or without rates.
    """
    numbers = {node: number for number, node in enumerate(graph)}
    edges = list(graph.edges(data=True))
    _check(graph, edges)
    delay_from = None if reading.delay_from == COORDINATES else reading.delay_from
    for key, attribute in (("rate_from", reading.rate_from), ("delay_from", delay_from)):
        if attribute is not None and not any(attribute in found for _, _, found in edges):
            known = sorted({str(name) for _, _, found in edges for name in found})
            has = f"edges have {', '.join(known)}" if known else "they have none"
            raise ScenarioError(f"an attribute of edges: {has}", key=key, value=attribute)
    places = dict(_places(graph))
    made = []
    for first, second, found in edges:
        edge = _Edge(_said(graph, first), _said(graph, second), found)
        between = (places.get(first), places.get(second))
        ends = (numbers[first], numbers[second])
        made.append(Joint(ends, _rate(edge, reading), _delay(edge, between, reading), graph.is_directed()))
    return made


def _check(graph: Any, edges: list[Any]) -> None:
    if not edges:
        raise ScenarioError("a graph with edges")
    for first, second, _ in edges:
        if first == second:
            raise ScenarioError(f"edges between two different nodes: {_said(graph, first)} has one to itself")
    root, *others = graph
    there = nx.descendants(graph, root)
    back = nx.ancestors(graph, root) if graph.is_directed() else there
    apart = [(root, node) for node in others if node not in there] + [
        (node, root) for node in others if node not in back
    ]
    if apart:
        first, second = (_said(graph, node) for node in apart[0])
        raise ScenarioError(f"a connected graph: there is no path from {first} to {second}")


def _said(graph: Any, node: Any) -> str:
    return show(str(graph.nodes[node].get("label", node)))


@dataclass(frozen=True)
class _Edge:
    first: str
    second: str
    attributes: Mapping[str, Any]

    def __str__(self) -> str:
        return f"the edge from {self.first} to {self.second}"


def _places(graph: Any) -> Iterator[tuple[Any, Place]]:
    for node, found in graph.nodes(data=True):
        for north, east in _COORDINATES:
            if isinstance(found.get(north), int | float) and isinstance(found.get(east), int | float):
                yield node, (float(found[north]), float(found[east]))
                break


def _rate(edge: _Edge, reading: Reading) -> str:
    for attribute in RATES if reading.rate_from is None else (reading.rate_from,):
        if attribute in edge.attributes:
            return _quantity(edge, attribute, reading.rate_unit, units.RATE, units.PACKET_RATE)
    if reading.rate is None:
        wanted = one_of(RATES).removeprefix("one of ") if reading.rate_from is None else reading.rate_from
        raise ScenarioError(f'a rate such as "1 Gbit/s", as {edge} has no {wanted}', key="link.rate")
    return reading.rate


def _delay(edge: _Edge, places: tuple[Place | None, Place | None], reading: Reading) -> str:
    asked = reading.delay_from
    for attribute in DELAYS if asked is None else (asked,):
        if attribute in edge.attributes:
            return _quantity(edge, attribute, reading.delay_unit, units.TIME)
    if asked in {None, COORDINATES} and places[0] is not None and places[1] is not None:
        for end, place in ((edge.first, places[0]), (edge.second, places[1])):
            if not is_on_earth(place):
                north, east = (f"{angle:g}" for angle in place)
                raise ScenarioError(
                    "a latitude from -90 to 90 degrees and a longitude from -360 to 360, "
                    f"not {north} and {east} as {end} has them"
                )
        return delay(places[0], places[1])
    if asked == COORDINATES:
        raise ScenarioError(f"coordinates of all nodes: {edge} lacks some", key="delay_from", value=asked)
    return reading.delay


def _quantity(edge: _Edge, attribute: str, unit: str, *kinds: units.Kind) -> str:
    value = edge.attributes[attribute]
    try:
        if isinstance(value, str) and re.fullmatch(r"[-+.\deE]+", value) is None:
            kind, quantity = units.parse(value, *kinds)
            exact = quantity.exact
        else:
            kind, one = units.parse(unit, *kinds)
            exact = units.exact(float(value)) * one.exact
    except (ScenarioError, ValueError, TypeError):
        exact = None
    least, most = (0, LONGEST_TIME) if units.TIME in kinds else (SLOWEST, FASTEST)
    if exact is None or not least <= exact <= most:
        expected = f"{units.expected(*kinds)}, or a number, as {attribute} of {edge}, not {show(value)}"
        raise ScenarioError(expected)
    if kind is units.TIME:
        return units.format_time(float(exact))
    return units.format_rate(float(exact)) if kind is units.RATE else units.format_packet_rate(float(exact))
