"""Options that several commands share, and values of options: quantities, numbers and shares, exactly as written.

Example:
    >>> option("--bitrate", "1.5 Mbit/s", units.RATE)
    Fraction(1500000, 1)
    >>> option("--bitrate", "1.5 mbps", units.RATE)
    Traceback (most recent call last):
    tightlink.errors.ScenarioError: --bitrate = "1.5 mbps": expected a rate such as "2 Mbit/s"; did you mean \
"1.5 Mbit/s"?
    >>> number("--frame-rate", 29.97)
    Fraction(2997, 100)
    >>> number("--frame-rate", 0)
    Traceback (most recent call last):
    tightlink.errors.ScenarioError: --frame-rate = 0: expected a number above zero
    >>> share("--loss", "0.5 %"), share("--loss", "0.005")
    (Fraction(1, 200), Fraction(1, 200))
"""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Final, TypeAlias, overload

from cyclopts import Group, Parameter, Token

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario import parse_option

_JOBS: Final = "Runs to execute at a time; the results do not depend on it."
_CLUSTER: Final = "Address of a Dask scheduler to execute them instead, such as tcp://10.0.0.1:8786."
_WITH_LAB: Final = "Put a laboratory into the report, in which every scenario that a browser can simulate has sliders."

#: Headings below which long lists of options stand in the help, in this order, behind the command's own.
FILES: Final = Group.create_ordered("What is written")
PACKETS: Final = Group.create_ordered("Packets")
TABLES: Final = Group.create_ordered("What is printed")

Jobs: TypeAlias = Annotated[int, Parameter(name=["--jobs", "-j"], help=_JOBS)]


def _separated(_: type, words: Sequence[Token]) -> list[str]:
    return [part.strip() for word in words for part in word.value.split(",") if part.strip()]


#: Names, times or pairs: separated by commas, by repeating the option, or both.
Names: TypeAlias = Annotated[list[str] | None, Parameter(negative="", metavar="NAME,…", converter=_separated)]
Cluster: TypeAlias = Annotated[str | None, Parameter(help=_CLUSTER)]
#: Of commands whose docstring says what of it.
JsonOf: TypeAlias = Annotated[bool, Parameter(name="--json", negative="", group=TABLES)]
Json: TypeAlias = Annotated[
    bool, Parameter(name="--json", negative="", group=TABLES, help="Print everything that was found as JSON.")
]
Set: TypeAlias = Annotated[
    list[str] | None,
    Parameter(name="--set", negative="", help="key=value, to change a key by its dotted path; may be repeated."),
]
Output: TypeAlias = Annotated[Path | None, Parameter(name=["--output", "-o"])]
WithLab: TypeAlias = Annotated[bool, Parameter(negative="", help=_WITH_LAB)]

LARGEST_PORT: Final = 65_535
_NUMBER: Final = re.compile(r"\d*\.?\d+", re.ASCII)


def option(name: str, text: str, kind: units.Kind, *, zero: bool = False) -> Fraction:
    """The exact value of an option, in SI units.

    Raises:
        ScenarioError: It is no quantity of this kind, or not above zero (not even zero where ``zero`` is true).
    """
    try:
        exact = units.parse(text, kind)[1].exact
    except ScenarioError as error:
        raise ScenarioError(error.expected, key=name, value=text, suggestion=error.suggestion) from None
    if exact < 0 or (exact == 0 and not zero):
        sign = "that is not negative" if zero else "above zero"
        raise ScenarioError(f'{kind.name} {sign}, such as "{kind.example}"', key=name, value=text)
    return exact


@overload
def seconds(name: str, text: str, *, zero: bool = ...) -> float: ...
@overload
def seconds(name: str, text: str | None, otherwise: float, *, zero: bool = ...) -> float: ...
@overload
def seconds(name: str, text: str | None, *, zero: bool = ...) -> float | None: ...
def seconds(name: str, text: str | None, otherwise: float | None = None, *, zero: bool = False) -> float | None:
    """An option that is a time, in seconds; ``otherwise`` where it was not given.

    >>> seconds("--end", "250 ms"), seconds("--end", None, math.inf)
    (0.25, inf)

    Raises:
        ScenarioError: As `option` says.
    """
    return otherwise if text is None else float(option(name, text, units.TIME, zero=zero))


def changes(given: list[str] | None) -> dict[str, object]:
    """Values by keys, of ``--set``.

    >>> changes(["link.wire.rate=2 Mbit/s", "seed=3"])
    {'link.wire.rate': '2 Mbit/s', 'seed': 3}
    """
    return dict(map(parse_option, given or []))


def number(name: str, value: float, *, zero: bool = False) -> Fraction:
    """The exact value of an option that is a plain number.

    Raises:
        ScenarioError: It is not above zero (not even zero where ``zero`` is true), or not finite.
    """
    if not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        sign = "that is not negative" if zero else "above zero"
        raise ScenarioError(f"a number {sign}", key=name, value=plain(value))
    return units.exact(value)


def whole(name: str, value: int, least: int = 1, most: int | None = None) -> int:
    """An option that is a whole number from a least one on."""
    if value < least or (most is not None and value > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ScenarioError(f"a whole number {bounds}", key=name, value=value)
    return value


def plain(value: float) -> float:
    """A number as it was probably written: 4000 rather than 4000.0."""
    return int(value) if float(value).is_integer() else value


def share(name: str, text: str) -> Fraction:
    """The exact value of an option that is a percentage or a number from 0 to 1."""
    try:
        exact = Fraction(text) if _NUMBER.fullmatch(text) else units.parse(text, units.FRACTION)[1].exact
    except ScenarioError:
        exact = Fraction(-1)
    if not 0 <= exact <= 1:
        raise ScenarioError('a fraction from 0 to 1, or such as "1 %"', key=name, value=text)
    return exact
