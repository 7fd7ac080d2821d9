"""Arguments of public functions: what is of the wrong type is refused in one sentence, and NumPy's numbers are numbers.

Example:
    >>> whole("jobs", 2.5, least=1)
    Traceback (most recent call last):
    tightlink.errors.ScenarioError: jobs = 2.5: expected a whole number of at least 1
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tightlink.errors import Argument, ScenarioError


def plain(value: Any) -> Any:
    """A value with numbers and arrays of NumPy, or series of pandas, as Python's numbers and lists.

    >>> import numpy as np
    >>> plain(np.int64(3)), plain([np.float32(0.5)]), plain(np.arange(2))
    (3, [0.5], [0, 1])
    """
    if isinstance(value, list | tuple):
        return [*map(plain, value)] if any(hasattr(item, "tolist") for item in value) else value
    return value.tolist() if hasattr(value, "tolist") else value


def whole(name: str, value: object, *, least: int, most: int | None = None) -> int:
    """A whole number within bounds.

    Raises:
        ScenarioError: It is none.
    """
    number = plain(value)
    if isinstance(number, int) and not isinstance(number, bool) and number in range(least, (most or number) + 1):
        return number
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise ScenarioError(f"a whole number {bounds}", key=Argument(name), value=number)


def truth(name: str, value: object, beside: str = "") -> bool:
    """What is either True or False.

    Args:
        name: Of the argument.
        value: What it is.
        beside: What to say to whoever meant something else.

    Raises:
        ScenarioError: It is neither.
    """
    found = plain(value)
    if not isinstance(found, bool):
        raise ScenarioError(f"True or False{beside}", key=Argument(name), value=found)
    return found


def text(name: str, value: object, expected: str = "text") -> str:
    """What must be a text.

    Raises:
        ScenarioError: It is something else.
    """
    if not isinstance(value, str):
        raise ScenarioError(expected, key=Argument(name), value=value)
    return value


def path(name: str, value: object) -> Path:
    """A file or a folder by its name.

    Raises:
        ScenarioError: It is no name.
    """
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ScenarioError("the name of a file or a folder", key=Argument(name), value=value)
    return Path(value)


def table(name: str, value: Any, expected: str) -> Mapping[str, Any]:
    """The values by name that an argument gives.

    Raises:
        ScenarioError: It is something else.
    """
    if not isinstance(value, Mapping):
        raise ScenarioError(expected, key=Argument(name), value=value)
    return value


def several(name: str, value: Any) -> list[Any]:
    """A list, of which a single text would be the letters.

    Raises:
        ScenarioError: It is one text, one table, or nothing that can be listed.
    """
    if isinstance(value, str | Mapping):
        raise ScenarioError(f"a list, such as [{value!r}]", key=Argument(name), value=value)
    if not isinstance(value, Iterable):
        raise ScenarioError("a list", key=Argument(name), value=value)
    return list(value)
