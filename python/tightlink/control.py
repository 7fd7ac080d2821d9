"""Congestion controls written in Python, used by name like those of the engine.

A control hears of its connection once a round trip, of each ACK if it has a method ``on_ack``, of each sample of the
delivery rate if it has ``on_sample``, and sets the congestion window and the pacing rate. It is known by its name from
its definition on.

Example:
    >>> import tightlink as tl
    >>> class Cautious(tl.CongestionControl):
    ...     '''Half a packet a round trip more, a quarter less after a loss.'''
    ...
    ...     def __init__(self, step: float = 0.5) -> None:
    ...         self.step = step
    ...
    ...     def on_report(self, report: tl.Report) -> None:
    ...         if report.in_use and self.cwnd >= self.ssthresh:
    ...             self.cwnd += self.step
    ...
    ...     def on_loss(self, loss: tl.Loss) -> float:
    ...         return 0.75 * loss.in_use
    >>> run = tl.simulate(tl.loads('''
    ... duration = "10 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "20 ms", queue = "20 packets" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b", tcp = { congestion = "cautious" } }
    ... '''))
    >>> run.flows["congestion"].to_list()
    ['cautious']
"""

from __future__ import annotations

import hashlib
import inspect
import math
import os
import re
import traceback
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tightlink.control_code import attributes, code_of
from tightlink.errors import TightlinkError, closest, did_you_mean, one_of
from tightlink.files import run_python
from tightlink.lazy import _core

if TYPE_CHECKING:
    from tightlink._core import Ack, Loss, RateSample, Report

_WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
#: What the engine calls.
_METHODS: Final = ("on_report", "on_loss", "on_mark", "on_timeout", "on_ack", "on_sample")
#: What the engine reads after each call; names that are so much like these are meant to be them.
_READ: Final = ("cwnd", "ssthresh", "pacing_rate")
_CONTROLS: dict[str, type[CongestionControl]] = {}
_BY_DIGEST: dict[str, type[CongestionControl]] = {}
#: Modules of the files that were loaded: two of these may not define one name, of which the last would be taken.
_LOADED: set[str] = set()


class CongestionControl:
    """How a congestion window grows, and how far it shrinks. All windows are in packets.

    A subclass is known by its ``name``, or by its class's name in small letters with hyphens. Parameters of its
    ``__init__`` are options, which a scenario sets: all need a number or a truth value as default.

    Before each call the engine sets ``cwnd`` and ``ssthresh``; what a call leaves there, it takes over.

    Raises:
        TypeError: When a subclass is defined: its name is taken by the engine or no name, an option has no default, a
            method that begins with ``on_`` is none of these, or it sets what nobody reads, such as ``self.cwmd``.
    """

    name: ClassVar[str]
    """Its name in scenarios."""
    cwnd: float
    """Congestion window."""
    ssthresh: float
    """Slow-start threshold; infinite at first, unless the scenario sets one."""
    pacing_rate: float | None
    """Packets per second at which packets leave, of a class that sets it or has ``on_sample``; None: 1.2 windows a
    round trip, 2 while the window is below half of the threshold."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            cls.name = _WORDS.sub("-", cls.__name__).lower()
        if _NAME.fullmatch(cls.name) is None:
            raise TypeError(f"name = {cls.name!r}: expected small letters, digits and hyphens")
        if is_built_in(cls.name):
            raise TypeError(f"name = {cls.name!r}: the engine has a congestion control of that name")
        for method in (each for each in vars(cls) if each.startswith("on_") and each not in _METHODS):
            raise TypeError(f"{cls.__name__}.{method} is never called: expected {one_of(_METHODS)}"
                            f"{did_you_mean(method, _METHODS)}")  # fmt: skip
        _check_set(cls)
        cls.options()
        _CONTROLS[cls.name] = cls

    def on_report(self, report: Report) -> None:
        """A round trip is over.

        Between reports the window is as this leaves it, but in slow start, where the engine adds a packet for each
        that is acknowledged. Not called during loss recovery.
        """

    def on_loss(self, loss: Loss) -> float:
        """A loss was detected, at most once a round trip: the window to continue with, in packets."""
        return loss.in_use / 2

    def on_timeout(self, loss: Loss) -> float:
        """The retransmission timer expired: the new slow-start threshold, in packets; the window is one packet."""
        return self.on_loss(loss)

    if TYPE_CHECKING:

        def on_ack(self, ack: Ack) -> None:
            """An ACK acknowledged new data; only if a subclass defines it. Then slow start is its own, too."""

        def on_mark(self, loss: Loss) -> float | None:
            """A packet was marked, at most once a round trip: the window to continue with, in packets, or nothing.

            Only if a subclass defines it; without it a mark is a loss. Reports and ACKs tell how many were marked.
            """

        def on_sample(self, sample: RateSample) -> bool | None:
            """An ACK told of packets for the first time, in loss recovery or outside; only if a subclass defines it.

            The last call for an ACK: the window and the rate are as it leaves them, slow start is its own, and the
            recovery sends by the window that it sets. Needs ``tcp.recovery`` of sack or rack.

            Returns:
                True if the control itself sends so little that samples of what it sends now will not tell how fast the
                path is: these have ``app_limited``.
            """

    @classmethod
    def options(cls) -> dict[str, float]:
        """Names and defaults of the options."""
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        if cls.__init__ is object.__init__:
            return {}
        for parameter in parameters:
            if not isinstance(parameter.default, int | float) or not math.isfinite(parameter.default):
                raise TypeError(f"{cls.__name__}.__init__: {parameter.name} needs a number as default: it is an option")
        return {parameter.name: parameter.default for parameter in parameters}


def _check_set(control: type[CongestionControl]) -> None:
    """Refuse a control that sets a window or a rate by another name, which neither the engine nor its methods read."""
    stored, read = attributes(control)
    for name in (each for each in stored if each not in read and each not in _READ):
        if meant := closest(name, _READ, likeness=0.75):
            place = f"{control.__name__} sets self.{name}, which nothing reads"
            raise TypeError(f"{place}: expected {one_of(_READ)}; did you mean {meant}?")


def is_built_in(name: str) -> bool:
    """Whether a control is the engine's, rather than written in Python."""
    return name in _built_in()


@cache
def _built_in() -> frozenset[str]:
    return frozenset(name for name, _ in _core.congestion())


def find(name: str) -> type[CongestionControl] | None:
    """The control of a name, if it is written in Python: the one that was given, or the last that was called so."""
    own = name.control if isinstance(name, Given) else None
    return own or _CONTROLS.get(name)


def names() -> list[str]:
    """Names of all controls that are written in Python."""
    return list(_CONTROLS)


def load(path: str | os.PathLike[str]) -> list[str]:
    """Run a Python file for the controls that it defines, and return their names.

    Raises:
        TightlinkError: There is no such file, it fails, or it defines none.
    """
    file = Path(path)
    before = dict(_CONTROLS)
    module = run_python(file, "with subclasses of tightlink.CongestionControl")
    found = [name for name, control in _CONTROLS.items() if control.__module__ == module.__name__]
    if not found:
        raise TightlinkError(f"{file}: defines no subclass of tightlink.CongestionControl")
    for name in found:
        other = before.get(name)
        if other is not None and other.__module__ in _LOADED - {module.__name__}:
            raise TightlinkError(f"{file}: defines {name}, as {other.__module__} does: expected another name")
    _LOADED.add(module.__name__)
    return found


def given(control: type[CongestionControl]) -> Given:
    """The name of a control that was given as its class: it stays that class, whatever is called so later."""
    name = Given(control.name)
    name.control = control
    return name


def stored(name: str) -> str:
    """The name of a control in a stored run: one that the engine does not have is written in Python, here or not."""
    return name if is_built_in(name) else Given(name)


def absent(names: Iterable[str]) -> str | None:
    """The first of the names that is of no control here: one written in Python, by whose name alone a run knows it."""
    return next((name for name in names if not is_built_in(name) and find(name) is None), None)


class Given(str):  # noqa: SLOT000  # A str has no room for a slot with a value.
    """The name of a control, and the class that is meant by it; without one, one that a stored run was made with."""

    control: type[CongestionControl] | None = None

    def __eq__(self, other: object) -> bool:
        same = not isinstance(other, Given) or other.control is self.control
        return same and str.__eq__(self, other) is True

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """In another process the class of that name is another."""
        return str if self.control else Given, (str(self),)


def digest(control: type[CongestionControl]) -> str:
    """A digest of a control's code: runs of other code are other runs.

    It is of the file in which the class is defined, and of the functions, numbers and modules that its methods reach:
    a class made by a function is another for each value that it was made with.
    """
    found = hashlib.sha256("\n".join(code_of(control)).encode()).hexdigest()[:16]
    _BY_DIGEST[found] = control
    return found


def trouble(error: Exception) -> str:
    """What went wrong in a control, and where: in the run and in its code."""
    cause = error.__cause__
    if cause is None:
        return str(error)
    frames = traceback.extract_tb(cause.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{error}: {type(cause).__name__}: {cause}{where}"


def make(digest: str, options: Mapping[str, float]) -> CongestionControl:
    """The control of a connection, for the engine."""
    control = _BY_DIGEST.get(digest)
    if control is None:
        raise LookupError(
            "expected a control that is defined here: one written in Python runs where its class is, after an import "
            "or with --controls FILE.py"
        )
    if all(getattr(control, method, None) is getattr(CongestionControl, method, None) for method in _METHODS):
        raise LookupError(f"expected a control that does something, in {one_of(_METHODS).removeprefix('one of ')}")
    defaults = control.options()
    given: dict[str, Any] = {key: type(defaults[key])(value) for key, value in options.items()}
    made = control(**given)
    if "pacing_rate" in attributes(control)[0] and not hasattr(made, "pacing_rate"):
        # That there is such an attribute tells the engine to pace.
        made.pacing_rate = None
    return made
