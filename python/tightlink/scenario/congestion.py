"""Congestion controls as the engine reads them: a name, or a kind and its options as numbers."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final, NamedTuple, cast

from tightlink import control, units
from tightlink.errors import ScenarioError, in_quotes, one_of
from tightlink.lazy import _core
from tightlink.scenario.synonyms import meant_control

#: Kinds of loss recovery.
RECOVERIES: Final = ("tahoe", "reno", "newreno", "sack", "rack")
_ANY: Final = sys.float_info.max
#: What options of controls that are not the engine's are, by the kind of their defaults; of others numbers.
_UNITS: Final = {bool: "switch", int: "whole"}
#: Controls that do not begin with TCP's slow start.
_WITHOUT_SLOW_START: Final = frozenset({"bbr", "bbr3", "ledbat", "vivace"})
#: Options of controls of which the first is at most the second.
_ORDERED: Final = {
    "bic": [("min_increment", "max_increment")],
    "compound": [("gamma_least", "gamma")],
    "fast-at": [
        ("alpha_low", "alpha_middle"),
        ("alpha_middle", "alpha_high"),
        ("low_below", "middle_above"),
        ("middle_below", "high_above"),
        ("middle_above", "middle_below"),
    ],
    "highspeed": [("low_window", "high_window")],
    "illinois": [("alpha_min", "alpha_max"), ("beta_min", "beta_max")],
    "vegas": [("alpha", "beta")],
}
_NONE: Final[Mapping[str, Mapping[str, float]]] = {}


class Option(NamedTuple):
    """An option of a congestion control; numbers are in packets, seconds, or 0 and 1 for a switch."""

    name: str
    unit: str
    default: float
    least: float
    most: float
    help: str

    def written(self, value: float) -> str:
        """A value as a scenario gives it.

        >>> Option("alpha", "packets", 200.0, 1.0, 1e6, "packets kept in queues").written(200.0)
        '"200 packets"'
        """
        match self.unit:
            case "switch":
                return "true" if value else "false"
            case "packets":
                return f'"{value:.10g} packets"'
            case "seconds":
                return f'"{units.format_time(value)}"'
            case _:
                return f"{value:.10g}"

    def read(self, key: str, value: object) -> float:
        """The number that a scenario gives."""
        number = self._number(value)
        if number is None or not self.least <= number <= self.most or (self.unit == "whole" and number % 1):
            example = self.written(self.default)
            bounds = f"value from {self.written(self.least)} to {self.written(self.most)}"
            any_number = (self.least, self.most) == (-_ANY, _ANY)
            what = "whole number" if self.unit == "whole" else "number" if any_number else bounds
            expected = (
                "true or false" if self.unit == "switch"
                else f"a {what}, such as {example}"
            )  # fmt: skip
            raise ScenarioError(expected, key=f"{key}.{self.name}", value=value)
        return number

    def _number(self, value: object) -> float | None:
        if self.unit == "switch" or isinstance(value, bool):
            return float(value) if self.unit == "switch" and isinstance(value, bool) else None
        kind = {"packets": units.PACKETS, "seconds": units.TIME}.get(self.unit)
        if kind is None:
            return float(value) if isinstance(value, int | float) else None
        try:
            return float(units.parse(value, kind)[1].exact)
        except ScenarioError:
            return None


def options(name: str) -> dict[str, Option]:
    """The options of a congestion control, by name; none of a control that is not known.

    Those of a control written in Python are the parameters of its class: numbers of any size, or switches.

    >>> options("veno")["beta"].written(3.0)
    '"3 packets"'
    """
    if (written := control.find(name)) is not None:
        return {
            key: Option(key, _UNITS.get(type(default), "number"), float(default), -_ANY, _ANY, "")
            for key, default in written.options().items()
        }
    return {option[0]: Option(*option) for option in _core.congestion_options(name)}


def control_name(value: str | Mapping[str, object] | type[control.CongestionControl]) -> str:
    """The name of a congestion control as a scenario gives it.

    >>> control_name("cubic"), control_name({"kind": "cubic", "beta": 0.5})
    ('cubic', 'cubic')
    """
    if isinstance(value, Mapping):
        kind = value.get("kind")
        return kind if isinstance(kind, str) else str(kind)
    return value if isinstance(value, str) else control.given(value)


def reads_marks(name: str) -> bool:
    """Whether a congestion control needs the congestion marks of ``tcp.ecn``: one in Python if it has ``on_mark``.

    >>> reads_marks("dctcp"), reads_marks("reno")
    (True, False)
    """
    written = control.find(name)
    return _core.reads_marks(name) if written is None else control.reads_marks(written)


def has_slow_start(value: str | Mapping[str, object] | type[control.CongestionControl]) -> bool:
    """Whether a congestion control, as a scenario gives it, begins with the slow start that ``tcp.slow_start`` names.

    >>> has_slow_start("cubic"), has_slow_start("bbr"), has_slow_start({"kind": "ledbat", "slow_start": True})
    (True, False, True)
    """
    name = control_name(value)
    if written := control.find(name):
        return not control.has_own_slow_start(written)
    option = isinstance(value, Mapping) and value.get("slow_start") is True
    return option or name not in _WITHOUT_SLOW_START


def works_with(value: str | Mapping[str, object], recovery: str) -> bool:
    """Whether a congestion control, as a scenario gives it, works with a kind of loss recovery.

    >>> works_with("reno", "newreno"), works_with("bbr", "newreno")
    (True, False)
    """
    name = control_name(value)
    return control.find(name) is not None or recovery in _core.congestion_recoveries(name)


def congestion_spec(
    key: str, value: str | Mapping[str, object], profile: Mapping[str, Mapping[str, float]] = _NONE
) -> str | dict[str, str | float]:
    """The control with all of its options; its name alone if it has none, or all have its own defaults.

    >>> congestion_spec("tcp.congestion", "veno", {"veno": {"beta": 4.0}})
    {'kind': 'veno', 'beta': 4.0}

    A control written in Python has a digest of its code beside them: other code is another scenario.

    Args:
        key: Dotted path of the value, for errors.
        value: A name, or a table with a kind and options.
        profile: Defaults of a profile, by control and option, where they differ from the controls' own.

    Raises:
        ScenarioError: There is no such control or option, or a value is wrong.
    """
    given: dict[str, object] = {"kind": value} if isinstance(value, str) else dict(value)
    kind = given.pop("kind")
    if not isinstance(kind, str):
        raise ScenarioError("the name of a congestion control", key=f"{key}.kind", value=kind)
    if isinstance(kind, control.Given) and control.find(kind) is None:
        # What a stored run did is in its tables; only to simulate it once more takes the code.
        return {"kind": str(kind), "external": "", **{name: float(cast("float", given[name])) for name in given}}
    _check(key if isinstance(value, str) else f"{key}.kind", kind)
    known = options(kind)
    for name in given:
        if name not in known:
            expected = f"expected {one_of(known)}" if known else f"{kind} has no options"
            suggestion = in_quotes(name, known)
            raise ScenarioError(f"unknown key; {expected}", key=f"{key}.{name}", suggestion=suggestion, statement=True)
    defaults = {name: option.default for name, option in known.items()} | dict(profile.get(kind, {}))
    filled = {
        name: option.read(key, given[name]) if name in given else defaults[name] for name, option in known.items()
    }
    for less, more in _ORDERED.get(kind, ()):
        if filled[less] > filled[more]:
            # The one that was given, as the other may be a default.
            name, other, word = (less, more, "most") if less in given else (more, less, "least")
            expected = f"at {word} {other}, which is {known[other].written(filled[other])}"
            raise ScenarioError(expected, key=f"{key}.{name}", value=given.get(name, filled[name]))
    written = control.find(kind)
    if written is not None:
        return {"kind": kind, "external": control.digest(written), **filled}
    if all(filled[name] == option.default for name, option in known.items()):
        # Two ways to write one scenario must not be two runs.
        return kind
    return {"kind": kind, **filled}


def control_beside(recovery: object) -> str | None:
    """The congestion control that somebody has in mind who names it as a loss recovery, as a key with its value.

    Example:
        >>> control_beside("vegas"), control_beside("sak")
        ('congestion = "vegas" beside it', None)
    """
    return f'congestion = "{recovery}" beside it' if recovery in _names() else None


def _names() -> list[str]:
    return [*(known for known, _ in _core.congestion()), *control.names()]


def _check(key: str, name: str) -> None:
    names = _names()
    if name not in names:
        # Textbooks call the whole of both by the name of the recovery.
        meant = meant_control(name, [*names, *RECOVERIES])
        suggestion = f'"{meant}"' if meant in names else meant and f'recovery = "{meant}" beside it'
        option = "tightlink run, sweep or study with --controls"
        hint = "" if suggestion else f"; one written in Python needs its class: an import, or {option} FILE.py"
        if name.startswith("linux-"):
            suggestion, hint = (
                None,
                f"; a module of Linux needs its source: {option} tcp_{name.removeprefix('linux-')}.c",
            )
        raise ScenarioError(f"{one_of(names)}{hint}", key=key, value=name, suggestion=suggestion)
