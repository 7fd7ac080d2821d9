"""What is evaluated: a queue discipline by its name, or with options.

Example:
    >>> discipline("codel:target=2 ms")
    Discipline(label='codel:target=2 ms', value={'kind': 'codel', 'target': '2 ms'})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tightlink.errors import ScenarioError
from tightlink.studies.evaluation.setup.controls import labelled, parsed
from tightlink.studies.evaluation.setup.pack import Subject
from tightlink.studies.evaluation.setup.path import Path

GivenQueue: TypeAlias = "str | Mapping[str, Any]"


class Discipline(Subject):
    """A queue discipline under evaluation; its value is a link's ``queue``, without its limit unless that was given."""


def disciplines(given: Iterable[GivenQueue]) -> list[Discipline]:
    """The queue disciplines to evaluate, in order.

    Raises:
        ScenarioError: There are none, one is listed twice, or one is not known.
    """
    found = [discipline(each) for each in given]
    if not found:
        raise ScenarioError('at least one queue, such as "codel"', key="queues", value=[])
    labels = [each.label for each in found]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise ScenarioError("each queue once", key="queues", value=label)
    return found


def discipline(given: GivenQueue) -> Discipline:
    """A queue discipline from its name, from NAME:option=value,…, or from a scenario's table.

    Raises:
        ScenarioError: There is no such discipline or option, or a value is wrong.
    """
    table = parsed(given, "codel:target=2 ms") if isinstance(given, str) else dict(given)
    if "kind" not in table:
        raise ScenarioError('a name, or a table with a kind, such as { kind = "codel" }', key="queues", value=table)
    found = Discipline(labelled(table)[0], table)
    Path(10, 100, queue=table).link()
    return found
