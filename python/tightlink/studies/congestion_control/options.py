"""What the study can be asked for: the scale of its networks, the simulated time, which experiments."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from tightlink import units
from tightlink.errors import Argument, ScenarioError, closest, one_of
from tightlink.studies.congestion_control import setup
from tightlink.studies.congestion_control.setup import Chosen
from tightlink.studies.congestion_control.setup.experiment import HEAVIER, Size, file_of, heavier

#: A period must have some intervals.
_SHORTEST_S: Final = 30
#: Options of a size that are shares, with what is expected of them.
_SHARES: Final = {
    "routers": "a part of the access routers, such as 1/3",
    "scale": "a part of the document's networks, such as 1/10 or 0.1",
}

OPTIONS: Final = {
    "routers": "the part of the access routers that have users, each as it is, such as 1/3",
    "scale": "sources and speeds, of those of the document's networks, such as 1/10",
    "duration": 'simulated time of each run, such as "25 min"',
    "experiments": "which to run, such as sensitivity,1b",
    "evidence": '"run" simulates the heavier runs instead, hours of them; "stored" takes what is stored of these',
}


def chosen(options: Mapping[str, str]) -> Chosen:
    """What is run with these options.

    Raises:
        ScenarioError: An option has no such value.
    """
    what = options.get("evidence")
    if what is not None:
        _known(what, ("run", "stored"), "evidence")
    names = _names(options.get("experiments", ""), HEAVIER if what == "run" else setup.KNOWN)
    if what == "run":
        sizes = {name: _size(options, heavier(name)[1]) for name in names or HEAVIER}
        return setup.at_heavier_sizes(setup.chosen(()), sizes)
    if what == "stored":
        return _stored(options, names)
    return setup.chosen(names or setup.CHOSEN, _size(options, setup.DEFAULT))


def _stored(options: Mapping[str, str], names: tuple[str, ...]) -> Chosen:
    """The heavier runs as they are stored, which have their own sizes."""
    for option in (*_SHARES, "duration"):
        if option in options:
            expected = 'to be left out beside evidence = "stored", which has its own size'
            raise ScenarioError(expected, key=Argument(option), value=options[option])
    there = [name for name in HEAVIER if file_of(name).exists() and (not names or name in names)]
    own = setup.chosen(names or setup.CHOSEN)
    return setup.at_heavier_sizes(own, dict.fromkeys(there, setup.DEFAULT), stored=True)


def _size(options: Mapping[str, str], size: Size) -> Size:
    """A size with what is given of it."""
    given: dict[str, Any] = {name: _part(name, options[name]) for name in _SHARES if name in options}
    if "duration" in options:
        given["duration"] = _duration(options["duration"])
    return replace(size, **given)


def _part(option: str, text: str) -> Fraction:
    try:
        part = Fraction(text)
    except (ValueError, ZeroDivisionError):
        part = Fraction(0)
    if not 0 < part <= 1:
        raise ScenarioError(_SHARES[option], key=Argument(option), value=text)
    return part


def _duration(text: str) -> str:
    try:
        seconds = units.time(text)
    except ScenarioError as error:
        raise ScenarioError('a time, such as "25 min"', key=Argument("duration"), value=text) from error
    if seconds < _SHORTEST_S:
        raise ScenarioError(
            f'at least "{_SHORTEST_S} s", of which three periods are a fifth each', key=Argument("duration"), value=text
        )
    return text


def _names(text: str, known: Collection[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if text))
    for name in names:
        _known(name, known, "experiments")
    return names


def _known(name: str, known: Collection[str], option: str) -> None:
    if name not in known:
        raise ScenarioError(one_of(known), key=Argument(option), value=name, suggestion=closest(name, known))
