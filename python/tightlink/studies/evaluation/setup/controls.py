"""What is evaluated: a congestion control by its name, or with options.

Example:
    >>> control("fast:alpha=50 packets")
    Control(label='fast:alpha=50 packets', value={'kind': 'fast', 'alpha': '50 packets'})
    >>> control({"kind": "fast", "alpha": "50 packets"}) == control("fast:alpha=50 packets")
    True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tightlink.control import CongestionControl
from tightlink.errors import ScenarioError
from tightlink.experiment.levels import split
from tightlink.scenario import parse_value
from tightlink.scenario.congestion import congestion_spec
from tightlink.studies.evaluation.setup.pack import Subject

Given: TypeAlias = "str | type[CongestionControl] | Mapping[str, Any]"


class Control(Subject):
    """A congestion control under evaluation; its value is what a scenario has as ``tcp.congestion``."""


def controls(given: Iterable[Given]) -> list[Control]:
    """The congestion controls to evaluate, in order.

    Raises:
        ScenarioError: There are none, one is listed twice, or one is not known.
    """
    found = [control(each) for each in given]
    if not found:
        raise ScenarioError('at least one congestion control, such as "cubic"', key="controls", value=[])
    labels = [each.label for each in found]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise ScenarioError("each congestion control once", key="controls", value=label)
    return found


def listed(text: str) -> list[str]:
    """The controls in a list; what comes behind a comma and is an option belongs to the one before.

    >>> listed("reno, fast:alpha=20 packets,gamma=0.5, cubic")
    ['reno', 'fast:alpha=20 packets,gamma=0.5', 'cubic']
    """
    found: list[str] = []
    for part in split(text):
        if found and "=" in part and ":" not in part.partition("=")[0]:
            found[-1] += f",{part.strip()}"
        else:
            found.append(part.strip())
    return found


def control(given: Given) -> Control:
    """A congestion control from its name, from NAME:option=value,…, from its class, or from a scenario's table.

    Raises:
        ScenarioError: There is no such control or option, or a value is wrong.
    """
    if isinstance(given, type):
        given = given.name
    table = parsed(given, "fast:alpha=50 packets") if isinstance(given, str) else dict(given)
    if "kind" not in table:
        raise ScenarioError('a name, or a table with a kind, such as { kind = "fast" }', key="controls", value=table)
    congestion_spec("congestion", table)
    label, bare = labelled(table)
    return Control(label, label if bare else table)


def labelled(table: Mapping[str, Any]) -> tuple[str, bool]:
    """What tables and figures call a table with a kind and options, and whether it has none of these."""
    written = ",".join(f"{key}={_written(value)}" for key, value in table.items() if key != "kind")
    return (f"{table['kind']}:{written}", False) if written else (str(table["kind"]), True)


def parsed(text: str, example: str) -> dict[str, Any]:
    """The table of NAME:option=value,….

    Raises:
        ScenarioError: It is written otherwise.
    """
    name, _, rest = text.partition(":")
    table: dict[str, Any] = {"kind": name.strip()}
    for part in split(rest) if rest.strip() else ():
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise ScenarioError(f'NAME or NAME:option=value,…, such as "{example}"', value=text)
        table[key.strip()] = parse_value(value.strip())
    return table


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
