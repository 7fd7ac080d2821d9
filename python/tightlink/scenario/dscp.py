"""Classes of traffic: the code points of RFC 2474 by their names.

Example:
    >>> CODE_POINTS["EF"], CODE_POINTS["AF41"], CODE_POINTS["CS1"]
    (46, 34, 8)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, WithJsonSchema

from tightlink.errors import ScenarioError
from tightlink.scenario.table import wrong
from tightlink.scenario.values import choice

#: Class selectors (RFC 2474 §4.2.2), assured forwarding (RFC 2597), expedited forwarding (RFC 3246), voice admit
#: (RFC 5865), lower effort (RFC 8622).
CODE_POINTS: Final = {
    **{f"CS{number}": 8 * number for number in range(8)},
    **{f"AF{group}{drop}": 8 * group + 2 * drop for group in range(1, 5) for drop in range(1, 4)},
    "EF": 46,
    "VA": 44,
    "LE": 1,
}

#: By the words for what is sent, the class that RFC 4594 and RFC 8622 recommend for it.
_SERVICES: Final = {
    "EF": "voice voip telephony audio",
    "AF41": "video conference",
    "CS0": "be df default best-effort besteffort",
    "LE": "background scavenger bulk",
}
_NAMES: Final = {number: name for name, number in CODE_POINTS.items()}


def _named(value: object) -> object:
    """Refuses the number of a code point, and what is sent instead of one, with its name."""
    if type(value) is int and value in _NAMES:
        raise wrong("the name of a code point, not its number", value=value, suggestion=f'"{_NAMES[value]}"')
    word = value.casefold() if isinstance(value, str) else ""
    if service := next((name for name, words in _SERVICES.items() if word in words.split()), None):
        raise wrong('the name of a code point, such as "EF" or "AF41"', value=value, suggestion=f'"{service}"')
    return value


#: The name of a code point.
Dscp = Annotated[
    str,
    choice(*CODE_POINTS),
    BeforeValidator(_named),
    WithJsonSchema({"type": "string", "enum": list(CODE_POINTS), "examples": ["EF", "CS1"]}),
]

#: What all classes are called, together, that have no name where they are.
OTHERS: Final = "others"
#: The name of a code point, or of all others.
DscpOrOthers = Annotated[
    str,
    choice(*CODE_POINTS, OTHERS),
    BeforeValidator(_named),
    WithJsonSchema({"type": "string", "enum": [*CODE_POINTS, OTHERS], "examples": ["EF", OTHERS]}),
]


def check_classes(named: Iterable[tuple[str, Mapping[str, tuple[str, ...]]]], flows: Iterable[dict[str, Any]]) -> None:
    """Refuse classes of queues that no packet has."""
    wanted = [
        (f"{key}.{option}", name) for key, classes in named for option, names in classes.items() for name in names
    ]
    if not wanted:
        return
    there = {flow.get("dscp", 0) for flow in flows}
    for key, name in wanted:
        if CODE_POINTS[name] not in there:
            have = ", ".join(sorted(known for known, number in CODE_POINTS.items() if number in there))
            raise ScenarioError(
                f"a class that some traffic has as its dscp, of which there is {have}", key=key, value=name
            )
