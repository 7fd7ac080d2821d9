"""Changing single keys of a scenario by their full dotted paths.

Example:
    >>> data = {"link": {"a": {"rate": "1 Mbit/s"}, "b": {"rate": "1 Mbit/s"}}}
    >>> override(data, "link[*].rate", "2 Mbit/s")["link"]["b"]
    {'rate': '2 Mbit/s'}
    >>> override({"link": {"a": {"queue": "20 packets"}}}, "link.a.queue.kind", "codel")["link"]["a"]["queue"]
    {'kind': 'codel', 'limit': '20 packets'}
    >>> override({"link": {"a": {"network": "cable"}}}, "link.a.reverse.queue.target", "5 ms")["link"]["a"]["reverse"]
    {'queue': {'kind': 'pie', 'limit': '250 ms', 'target': '5 ms', 'update': '16 ms', 'burst': '142 ms'}}
    >>> data = {"link": {"a": {"outages": {"schedule": [{"at": "1 s", "for": "1 s"}, {"at": "5 s", "for": "1 s"}]}}}}
    >>> override(data, "link.a.outages.schedule[1].for", "2 s")["link"]["a"]["outages"]["schedule"]
    [{'at': '1 s', 'for': '1 s'}, {'at': '5 s', 'for': '2 s'}]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from tightlink.errors import Argument, ScenarioError, closest, one_of
from tightlink.scenario.networks import networks
from tightlink.scenario.table import Table, merged
from tightlink.scenario.toml import DEEPEST, parse

_STEP: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)(?:\[(\d+|\*)\])?", re.ASCII)
#: Tables whose keys are names that the user gave.
_NAMED: Final = ("link", "topology", "traffic", "node")
_LARGEST_INDEX = 9
#: A scenario without names.
_NO_NAMES: Final[Mapping[str, Any]] = MappingProxyType({})
#: Steps to a table that has a name, such as link.wire.
_WHOLE: Final = 2


def parse_option(text: str) -> tuple[str, object]:
    """Split ``key=value``; the value is TOML if it parses as such, and text otherwise.

    >>> parse_option("seed=7"), parse_option("link.a.rate=20 Mbit/s")
    (('seed', 7), ('link.a.rate', '20 Mbit/s'))
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError('key=value, such as link.bottleneck.rate="20 Mbit/s"', value=text, file=Argument("set"))
    return key.strip(), parse_value(value.strip())


def parse_value(text: str) -> object:
    """A value as it stands in an option: TOML if it parses as such, and text otherwise.

    >>> parse_value("7"), parse_value("20 Mbit/s"), parse_value("[1, 2]")
    (7, '20 Mbit/s', [1, 2])
    """
    try:
        parsed = parse(f"value = {text}")
    except ScenarioError:
        return text
    return parsed["value"] if list(parsed) == ["value"] else text


def override(data: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy of the scenario's dictionary with one key set, or removed where the value is None.

    Raises:
        ScenarioError: The path hits nothing: a name that is not in the scenario, or a value where a
            table would have to be.
    """
    steps = _steps(path, list(data.get("node", {})))
    if len(steps) > DEEPEST:
        raise ScenarioError("a dotted key, such as link.bottleneck.rate", value=path, file=Argument("set"))
    first, index = steps[0]
    # A table of a scenario alone has none of these.
    of_scenario = any(table in data for table in _NAMED)
    if of_scenario and first not in _NAMED and (meant := whole_path(path, data)):
        raise _error(path, "unknown key", meant)
    if first in _NAMED and index == "*":
        names = list(data.get(first, {}))
        if not names:
            raise _error(path, f"there is no {first} to change")
        for name in names:
            data = _put(data, [(first, None), (name, None), *steps[1:]], value, path)
        return data
    # A node may have no table yet: links make nodes. A whole table may be of a new name.
    whole = len(steps) == _WHOLE and isinstance(value, dict | Table)
    if first in _NAMED and first != "node" and len(steps) > 1 and not whole:
        _check_name(data, first, steps[1][0], path)
    return _put(data, steps, value, path)


def in_unit_of_before(error: ScenarioError, before: dict[str, Any]) -> ScenarioError:
    """The same error, which suggests the unit that a key had where it was changed to a bare number.

    ``before`` is the scenario's dictionary without the changes.
    """
    for problem in (error, *error.others):
        number, had = problem.value, next(iter(values_at(before, problem.key or "")), None)
        # Of two units that may be meant both are told: a delay of 0.1 is ns-2's in seconds.
        plain = re.fullmatch(rf'"{re.escape(str(number))} [^"]*"', problem.suggestion or "")
        if plain and isinstance(had, str) and " " in had:
            problem.suggestion = f'"{number} {had.partition(" ")[2]}"'
    return error


def values_at(data: Mapping[str, Any], key: str) -> list[Any]:
    """The values at a dotted path of a scenario's dictionary, several with ``[*]``; None where a table lacks it.

    >>> values_at({"link": {"a": {"loss": 0.1}, "b": {"loss": 0.2}}}, "link[*].loss")
    [0.1, 0.2]
    """
    found: list[Any] = [data]
    for part in key.split("."):
        name, _, index = part.removesuffix("]").partition("[")
        found = [table.get(name) for table in found if isinstance(table, dict)]
        if index == "*":
            found = [item for group in found for item in (group.values() if isinstance(group, dict) else group or ())]
        elif index.isdecimal():
            found = [group[int(index)] for group in found if isinstance(group, list) and int(index) < len(group)]
    return found


def kinds_at(data: Mapping[str, Any], keys: Iterable[str]) -> set[str]:
    """The kinds of the tables at some paths of a scenario's dictionary; what is no table has none.

    >>> kinds_at({"link": {"a": {"queue": {"kind": "codel"}}, "b": {"queue": "20 packets"}}}, ["link[*].queue"])
    {'codel'}
    """
    found = (value for key in keys for value in values_at(data, key))
    return {table["kind"] for table in found if isinstance(table, dict) and "kind" in table}


def whole_path(path: str, data: Mapping[str, Any] = _NO_NAMES) -> str | None:
    """The whole path where somebody has left out what it begins with: the table, or that and the name in it.

    Args:
        path: As it was written.
        data: The scenario's dictionary, whose names are those that are meant.

    >>> whole_path("rate", {"link": {"wire": {}}}), whole_path("cca"), whole_path("seed")
    ('link.wire.rate', 'traffic.NAME.tcp.congestion', None)
    >>> whole_path("tcp.cc", {"traffic": {"ftp": {}}})
    'traffic.ftp.tcp.congestion'
    """
    # Not at the top: the model reads overrides.
    from tightlink.scenario.links import Link
    from tightlink.scenario.model import Scenario
    from tightlink.scenario.synonyms import called
    from tightlink.scenario.traffic import Bulk, Flow

    path = _of_tcp(path)
    first = re.split(r"[.\[]", path, maxsplit=1)[0]
    keys = {"scenario": Scenario.keys(), "link": Link.keys(), "traffic": Flow.keys()}
    if first in keys["scenario"]:
        return None
    for table in _NAMED:
        below = data.get(table)
        if not isinstance(below, dict):
            continue
        if first in below:
            return f"{table}.{path}"
        for name, given in below.items():
            if first in keys.get(table, ()) or (isinstance(given, dict) and first in given):
                return f"{table}.{name}.{path}"
    if called(first, Scenario):
        return None
    for table, kind in (("link", Link), ("traffic", Bulk)):
        if meant := called(first, kind):
            names = data.get(table)
            name = next(iter(names)) if names and isinstance(names, dict) else "NAME"
            return f"{table}.{name}.{meant}{path.removeprefix(first)}"
    return None


def _of_tcp(path: str) -> str:
    """A path of a key of TCP, by the name that it has here."""
    from tightlink.scenario.protocols import Tcp
    from tightlink.scenario.synonyms import called

    table, _, key = path.partition(".")
    meant = called(key, Tcp) if table == "tcp" else None
    return f"{table}.{meant}" if meant else path


def _check_name(data: dict[str, Any], table: str, name: str, path: str) -> None:
    names = list(data.get(table, {}))
    if name in names:
        return
    meant = closest(name, names)
    known = f"; there is {one_of(names).removeprefix('one of ')}" if names and not meant else ""
    suggestion = f"{table}.{meant}" if meant else None
    raise _error(path, f'there is no {table} "{name}" in the scenario{known}', suggestion)


def _put(
    table: Any, steps: list[tuple[str, str | None]], value: object, path: str, like: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A copy of a table with one key set; ``like`` has what a ready network says of keys that are not there."""
    (name, index), rest = steps[0], steps[1:]
    if not isinstance(table, dict):
        raise _error(path, f"{name} would have to stand in a table, and there is {type(table).__name__} instead")
    result = dict(table)
    like = _of_network(table) or like or {}
    if index is not None:
        result[name] = _put_element(result.get(name), index, rest, value, path)
    elif rest:
        below = result.get(name, {} if name == "reverse" else like.get(name, {}))
        if name == "queue" and isinstance(below, str):
            # A limit is short for a drop-tail queue of it; another discipline keeps the limit.
            below = {"kind": "drop-tail", "limit": below}
        if not isinstance(below, dict):
            raise _error(path, f"{name} is a single value here, not a table that has {rest[0][0]}")
        result[name] = _put(below, rest, value, path, like.get(name) if name == "reverse" else None)
    elif value is None:
        result.pop(name, None)
    else:
        result[name] = value
    return result


def _of_network(table: dict[str, Any]) -> dict[str, Any]:
    """What its ready network says of a link, in both directions; an unknown one is an error elsewhere."""
    network = networks().get(str(table.get("network")))
    if network is None:
        return {}
    forward = {key: value for key, value in network.link.items() if key != "reverse"}
    return forward | {"reverse": merged(forward, network.link.get("reverse", {}))}


def _put_element(elements: Any, index: str, rest: list[Any], value: object, path: str) -> list[Any]:
    """A copy of a list with one element set, or a key of it where it is a table; with ``*`` of all elements."""
    if not isinstance(elements, list):
        raise _error(path, f"[{index}] needs a list there, and it is none")
    if index != "*" and (len(index) > _LARGEST_INDEX or int(index) >= len(elements)):
        raise _error(path, f"[{index}] is beyond the list, which has {len(elements)} values")
    places = range(len(elements)) if index == "*" else (int(index),)
    found = list(elements)
    for place in places:
        found[place] = _put(found[place], rest, value, path) if rest else value
    return found


def _steps(path: str, nodes: list[str]) -> list[tuple[str, str | None]]:
    steps: list[tuple[str, str | None]] = []
    table, _, rest = path.partition(".")
    # Names of nodes of topologies have dots: those that are there are known by them.
    dotted = [name for name in nodes if "." in name and rest.startswith(f"{name}.")]
    if table == "node" and dotted:
        name = max(dotted, key=len)
        steps, path = [(table, None), (name, None)], rest.removeprefix(f"{name}.")
    for part in path.split("."):
        match = _STEP.fullmatch(part)
        if match is None:
            raise ScenarioError("a dotted key, such as link.bottleneck.rate", value=path, file=Argument("set"))
        steps.append((match[1], match[2]))
    return steps


def _error(path: str, statement: str, suggestion: str | None = None) -> ScenarioError:
    return ScenarioError(statement, key=path, file=Argument("set"), suggestion=suggestion, statement=True)
