"""Arguments of public functions: what is of the wrong type is refused in one sentence, and what others mean is taken.

Example:
    >>> whole("jobs", 2.5, least=1)
    Traceback (most recent call last):
    tightlink.errors.ScenarioError: jobs = 2.5: expected a whole number of at least 1
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from tightlink.errors import Argument, ScenarioError

#: Units of time in nanoseconds, the largest first.
_UNITS: Final = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
#: Types of values that nearly all of a scenario consists of, and that are as its file has them: asked first.
_PLAIN: Final = frozenset({str, int, float, bool, dict, type(None)})


def plain(value: Any) -> Any:
    """A value as a scenario's file has it: numbers and arrays of NumPy, series of pandas, times, decimals, fractions.

    >>> from datetime import timedelta
    >>> import numpy as np
    >>> plain(np.int64(3)), plain([np.float32(0.5)]), plain(np.arange(2)), plain(Decimal("0.01"))
    (3, [0.5], [0, 1], 0.01)
    >>> plain(timedelta(milliseconds=20)), plain(np.timedelta64(1500, "ns"))
    ('20 ms', '1500 ns')
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, list | tuple):
        found = [plain(item) for item in value]
        return value if all(map(operator.is_, found, value)) else found
    if isinstance(value, timedelta):
        # Those of pandas have nanoseconds, too.
        return _time(value // timedelta(microseconds=1) * 1000 + getattr(value, "nanoseconds", 0))
    if isinstance(value, Decimal | Fraction):
        number = float(value)
        return int(value) if number.is_integer() else number
    if hasattr(value, "dtype") and str(value.dtype).startswith("timedelta64["):
        # As Python's own such times they would lose their nanoseconds, or be whole numbers without a unit.
        return _time(value.astype("timedelta64[ns]").astype("int64").tolist())
    return value.tolist() if hasattr(value, "tolist") else value


def _time(nanoseconds: Any) -> Any:
    """A time, or a list of them, with the largest unit of which there is a whole number."""
    if isinstance(nanoseconds, list):
        return [*map(_time, nanoseconds)]
    return next(f"{nanoseconds // each} {unit}" for unit, each in _UNITS.items() if nanoseconds % each == 0)


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
