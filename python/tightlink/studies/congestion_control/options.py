"""What the study can be asked for: the scale of its networks, the simulated time, which experiments."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from tightlink import units
from tightlink.errors import ScenarioError, closest, one_of
from tightlink.studies.congestion_control import setup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.studies.congestion_control.setup import Chosen

#: A period must have some intervals.
_SHORTEST_S: Final = 30

OPTIONS: Final = {
    "scale": "the part of the document's networks to simulate, such as 1/100",
    "duration": 'simulated time of each run, such as "25 min"',
    "experiments": "which to run, such as sensitivity,1b",
}


def chosen(options: Mapping[str, str]) -> Chosen:
    """What is run with these options.

    Raises:
        ScenarioError: An option has no such value.
    """
    size = setup.DEFAULT
    if "scale" in options:
        size = replace(size, scale=_scale(options["scale"]))
    if "duration" in options:
        size = replace(size, duration=_duration(options["duration"]))
    return setup.chosen(setup.CHOSEN if "experiments" not in options else _names(options["experiments"]), size)


def command(options: Mapping[str, str]) -> str:
    """The options as on a command line."""
    return "".join(f' --{name} "{value}"' if " " in value else f" --{name} {value}" for name, value in options.items())


def _scale(text: str) -> Fraction:
    try:
        scale = Fraction(text)
    except (ValueError, ZeroDivisionError):
        scale = Fraction(0)
    if not 0 < scale <= 1:
        raise ScenarioError("a part of the document's networks, such as 1/100 or 0.01", key="--scale", value=text)
    return scale


def _duration(text: str) -> str:
    try:
        seconds = units.time(text)
    except ScenarioError as error:
        raise ScenarioError('a time, such as "25 min"', key="--duration", value=text) from error
    if seconds < _SHORTEST_S:
        raise ScenarioError(
            f'at least "{_SHORTEST_S} s", of which three periods are a fifth each', key="--duration", value=text
        )
    return text


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in setup.KNOWN:
            raise ScenarioError(
                one_of(setup.KNOWN), key="--experiments", value=name, suggestion=closest(name, setup.KNOWN)
            )
    return names
