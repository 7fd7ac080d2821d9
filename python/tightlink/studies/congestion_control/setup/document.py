"""What the document prints, from ``data/document.toml``: its tables of effects and of influence.

It calls its responses Y1 to Y18 and its parameters X1 to X20.
"""

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any, Final

from tightlink.scenario import PARAMETERS

_FILE: Final = resources.files(__package__) / "data" / "document.toml"
_TABLE: Final[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
#: The level of its marks of the first kind.
STRONG: Final = 0.01
#: Above this |r| it keeps a pair of responses.
THRESHOLD: Final = 0.65
CLASS_OF: Final[dict[str, str]] = {number: name for name, numbers in _TABLE["classes"].items() for number in numbers}
CANDIDATES: Final[dict[str, list[str]]] = _TABLE["candidates"]
TOLD: Final[dict[str, str]] = _TABLE["told"]
UNKNOWN: Final[list[str]] = _TABLE["unknown"]
LEADING: Final[list[str]] = _TABLE["leading"]
WITHOUT_EFFECT: Final[list[str]] = _TABLE["without_effect"]
SIX: Final[list[str]] = _TABLE["six"]
#: Names of our parameters by the document's.
NAME_OF: Final = {parameter.id: name for name, parameter in PARAMETERS.items()}
#: What it calls them, in a sentence.
TITLE_OF: Final = {parameter.id: parameter.name.replace(" & ", " and ").lower() for parameter in PARAMETERS.values()}


@cache
def effects() -> dict[str, dict[str, tuple[str, bool]]]:
    """By response and parameter: the sign, and whether p is below 0.01.

    >>> effects()["Y9"]["X1"], effects()["Y9"]["X12"]
    (('−', True), ('+', False))
    """
    return {
        number: {
            name: (sign.replace("-", "−"), not weak) for sign, name, weak in re.findall(r"([-+])(X\d+)(o?)", marks)
        }
        for number, marks in _TABLE["effects"].items()
    }


def influence() -> dict[str, dict[str, float]]:
    """By period or control, and parameter: Ψ, from 0 to 1.

    >>> influence()["weighted"]["X1"]
    0.87
    """
    return {
        row: {f"X{number}": percent / 100 for number, percent in enumerate(percents, start=1)}
        for row, percents in _TABLE["influence"].items()
    }
