"""What is evaluated: a congestion control or a queue discipline by its name, or with options.

Example:
    >>> subject("fast:alpha=50 packets")
    Subject(label='fast:alpha=50 packets', value={'kind': 'fast', 'alpha': '50 packets'})
    >>> subject({"kind": "fast", "alpha": "50 packets"}) == subject("fast:alpha=50 packets")
    True
    >>> subject("codel:target=2 ms", "queue").value
    {'kind': 'codel', 'target': '2 ms'}
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from tightlink.control import CongestionControl
from tightlink.control import given as named
from tightlink.errors import Argument, ScenarioError
from tightlink.experiment.levels import split
from tightlink.scenario import parse_value
from tightlink.scenario.congestion import congestion_spec
from tightlink.scenario.disciplines import Discipline
from tightlink.scenario.table import as_set
from tightlink.studies.evaluation.setup.path import Path

Kind: TypeAlias = Literal["control", "queue"]
Given: TypeAlias = str | type[CongestionControl] | Mapping[str, Any] | Discipline

#: What messages call them, an example, and one with an option.
_KINDS: Final = {
    "control": ("congestion control", "cubic", "fast:alpha=50 packets"),
    "queue": ("queue", "codel", "codel:target=2 ms"),
}
_CONTROL: Final = "congestion"


class Subject(NamedTuple):
    """A control or a queue under evaluation."""

    label: str
    """What tables and figures call it: its name, and the options that were set."""
    value: str | dict[str, Any]
    """As a scenario has it: in ``tcp.congestion``, or in a link's ``queue`` without the limit unless it was given."""


def subjects(given: Iterable[Given], kind: Kind = "control") -> list[Subject]:
    """What to evaluate, in order.

    Raises:
        ScenarioError: There is nothing, something is listed twice, or not known.
    """
    word, example, _ = _KINDS[kind]
    found = [subject(each, kind) for each in given]
    if not found:
        raise ScenarioError(f'at least one {word}, such as "{example}"', key=f"{kind}s", value=[])
    labels = [each.label for each in found]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise ScenarioError(f"each {word} once", key=f"{kind}s", value=label)
    return found


def subject(given: Given, kind: Kind = "control") -> Subject:
    """A control or a queue from its name, NAME:option=value,…, its class, or a scenario's table.

    Raises:
        ScenarioError: There is none of this name, no such option, or a value is wrong.
    """
    if given is CongestionControl:
        raise ScenarioError("a control that is derived from CongestionControl", key=f"{kind}s", value=given)
    given = named(given) if isinstance(given, type) and issubclass(given, CongestionControl) else as_set(given)
    if not isinstance(given, str | Mapping):
        raise ScenarioError(f'a name, such as "{_KINDS[kind][1]}"', key=f"{kind}s", value=given)
    table = _parsed(given, _KINDS[kind][2]) if isinstance(given, str) else dict(given)
    if "kind" not in table:
        expected = f'a name, or a table with a kind, such as {{ kind = "{_KINDS[kind][2].partition(":")[0]}" }}'
        raise ScenarioError(expected, key=f"{kind}s", value=table)
    options = ",".join(f"{key}={_written(value)}" for key, value in table.items() if key != "kind")
    name = table["kind"]
    if kind == "queue":
        _check_queue(name, table)
    else:
        _check_control(name, table)
    # What has no options is named only, so that equal scenarios are written alike.
    bare = kind == "control" and not options
    return Subject(f"{name}:{options}" if options else name, name if bare else table)


def listed(text: str) -> list[str]:
    """The names in a list; what comes behind a comma and is an option belongs to the one before.

    >>> listed("reno, fast:alpha=20 packets,gamma=0.5, cubic")
    ['reno', 'fast:alpha=20 packets,gamma=0.5', 'cubic']
    """
    found: list[str] = []
    for part in split(text):
        if found and "=" in part and ":" not in part.partition("=")[0]:
            found[-1] += f",{part.strip()}"
        elif part.strip():
            found.append(part.strip())
    return found


def _check_control(name: object, table: Mapping[str, Any]) -> None:
    """Raise an error that names the control whose option is wrong, as it is listed."""
    try:
        congestion_spec(_CONTROL, table)
    except ScenarioError as error:
        option = (error.key or "").removeprefix(f"{_CONTROL}.")
        if option != "kind":
            error.file, error.key = Argument(_CONTROL), f"{name}:{option}"
        raise


def _check_queue(name: object, table: Mapping[str, Any]) -> None:
    """Raise an error in the words of who lists queues, not of the link that they are tried on."""
    try:
        Path(10, 100, queue=dict(table)).link()
    except ScenarioError as error:
        for problem in (error, *error.others):
            option = (problem.key or "").removeprefix("queue.")
            problem.file, problem.key = None, "queues" if option == "kind" else f"queues: {name}:{option}"
        raise


def _parsed(text: str, example: str) -> dict[str, Any]:
    """The table of NAME:option=value,…."""
    name, _, rest = text.partition(":")
    table: dict[str, Any] = {"kind": text if text == name.strip() else name.strip()}
    for part in split(rest) if rest.strip() else ():
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise ScenarioError(f'NAME or NAME:option=value,…, such as "{example}"', value=text)
        table[key.strip()] = parse_value(value.strip())
    return table


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
