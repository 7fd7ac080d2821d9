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
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tightlink.control_code import attributes, code_of
from tightlink.errors import TightlinkError, closest, did_you_mean, one_of
from tightlink.files import run_python
from tightlink.lazy import _core
from tightlink.linux_module import described

if TYPE_CHECKING:
    from tightlink._core import Ack, Handshake, Loss, RateSample, Report

_WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
#: What the engine calls.
_METHODS: Final = ("on_report", "on_loss", "on_mark", "on_timeout", "on_ack", "on_recovery_ack", "on_sample", "on_undo",
                   "on_handshake")  # fmt: skip
#: What it calls only where a class has it: without, slow start is the engine's, and a mark is a loss.
_ASKED_FOR: Final = ("on_ack", "on_mark", "on_sample", "on_undo", "on_recovery_ack", "on_handshake")
#: What the engine reads after each call; names that are so much like these are meant to be them.
_READ: Final = ("cwnd", "ssthresh", "pacing_rate")
_CONTROLS: dict[str, type[CongestionControl]] = {}
_BY_DIGEST: dict[str, type[CongestionControl]] = {}
#: Modules of the files that were loaded: two of these may not define one name, of which the last would be taken.
_LOADED: set[str] = set()


class CongestionControl:
    """Base class of congestion controls in Python: how a window grows and shrinks. All windows are in packets.

    A subclass is known by its ``name``, or by its class's name in small letters with hyphens. Parameters of its
    ``__init__`` are options, which a scenario sets: all need a number or a truth value as default.

    Before each call, that of ``__init__`` too, the engine sets ``cwnd`` and ``ssthresh``, and takes them over
    afterwards. While a window comes down over a round trip, in loss recovery or for a mark, it is the engine's.

    Raises:
        TypeError: When a subclass is defined: its name is taken by the engine or no name, an option has no default, a
            method that begins with ``on_`` is none of these, or it sets what nobody reads, such as ``self.cwmd``.

    Example:
        >>> class Eighth(tl.CongestionControl):
        ...     def on_report(self, report: tl.Report) -> None:
        ...         if report.in_use and self.cwnd >= self.ssthresh:
        ...             self.cwnd += 1
        ...
        ...     def on_loss(self, loss: tl.Loss) -> float:
        ...         return loss.in_use * 7 / 8
        >>> scenario = tl.network("dsl").set_all({"duration": "2 s", "traffic.download.tcp.congestion": "eighth"})
        >>> tl.simulate(scenario).flows["congestion"].to_list()
        ['eighth']
    """

    name: ClassVar[str]
    """Its name in scenarios."""
    cwnd: float
    """Congestion window; less than one packet counts as one. In ``__init__`` the initial window."""
    ssthresh: float
    """Slow-start threshold; infinite at first, unless the scenario sets one."""
    pacing_rate: float | None = None
    """Packets per second at which packets leave, of a class that sets it or has ``on_sample``; None: 1.2 windows a
    round trip, 2 while the window is below half of the threshold."""
    flow: str
    """Label of its flow, such as "ftp" or "ftp[1]"; like seed and payload known in ``__init__``."""
    seed: int
    """Seed of the scenario; ``random.Random(f"{self.seed} {self.flow}")`` draws other numbers for each flow."""
    payload_bytes: int
    """Application bytes in a packet."""
    sampled: ClassVar[Sequence[str]] = ()
    """Names of attributes, or properties, that are metrics of the series of its flows: numbers, or None for no sample.
    A unit stands at the end of a name, as in ``queue_delay_s``."""

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
        _check_sampled(cls)
        _check_set(cls)
        cls.options()
        _CONTROLS[cls.name] = cls

    def on_report(self, report: Report) -> None:
        """A round trip is over.

        Between reports the window is as this leaves it, but in slow start, where the engine lets it grow as the
        scenario's ``tcp.slow_start`` says: by a packet for each ACK (standard), or for each packet that is acknowledged
        (byte-counting, as in Linux). Not called during loss recovery; the first one after it comes a round trip later.
        """

    def on_loss(self, loss: Loss) -> float | None:
        """A loss was detected, at most once a round trip: the window to continue with, in packets.

        It is returned, or set as ``self.cwnd``; it is the threshold, too, unless the call sets ``self.ssthresh``.
        """
        return loss.in_use / 2

    def on_timeout(self, loss: Loss) -> float | None:
        """The retransmission timer expired: the new slow-start threshold, in packets, as for a loss by default.

        It is returned, or set as ``self.ssthresh``. The window is one packet, or what the call sets ``self.cwnd`` to.
        """
        window, threshold = self.cwnd, self.ssthresh
        answer = self.on_loss(loss)
        if answer is None and self.cwnd is not window:
            answer = self.cwnd
        self.cwnd = window
        return answer if self.ssthresh is threshold else None

    def on_handshake(self, handshake: Handshake) -> None:
        """The SYN was acknowledged, and data may be sent; only if a subclass defines it.

        Window, threshold and pacing rate may be set. Not called under profile ns2.
        """

    def on_ack(self, ack: Ack) -> None:
        """An ACK acknowledged new data, outside of loss recovery; only if a subclass defines it.

        Then slow start is its own, too. With ``on_mark`` it hears of ACKs of marked packets as well.
        """

    def on_recovery_ack(self, ack: Ack) -> None:
        """An ACK acknowledged new data during loss recovery; only if a subclass defines it.

        What it sets counts for nothing until the recovery is over: window and threshold are the engine's, and are not
        shown anew. ``ack.in_use`` is false.
        """

    def on_mark(self, loss: Loss) -> float | None:
        """A packet was marked, at most once a round trip: the window to continue with, as after a loss, or nothing.

        Only if a subclass defines it; without it a mark is a loss. Reports and ACKs tell how many were marked, as flows
        of such a class have ``tcp.ecn``. If it neither returns nor sets anything, nothing is reduced.
        """

    def on_sample(self, sample: RateSample) -> bool | None:
        """An ACK told of packets for the first time, in loss recovery or outside; only if a subclass defines it.

        The last call for an ACK: the window and the rate are as it leaves them, slow start is its own, and the
        recovery sends by the window that it sets. Needs ``tcp.recovery`` of sack or rack.

        Returns:
            True if the control itself sends so little that samples of what it sends now will not tell how fast the
            path is: these have ``app_limited``.
        """

    def on_undo(self) -> None:
        """What `on_loss` or `on_timeout` answered last was no loss: packets were late only; only if a class defines it.

        The window and the threshold are those before the reduction. What else the control made of it, such as a
        largest window that it remembers, is its own to give back. Needs ``tcp.recovery`` of rack.
        """

    @classmethod
    def options(cls) -> dict[str, float]:
        """Names and defaults of the options."""
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        if cls.__init__ is object.__init__:
            return {}
        for parameter in parameters:
            if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
                stars = "*" if parameter.kind == parameter.VAR_POSITIONAL else "**"
                place = f"{cls.__name__}.__init__: {stars}{parameter.name}"
                raise TypeError(f"{place}: expected a name and a default for each option, such as step=0.5")
            if not isinstance(parameter.default, int | float) or not math.isfinite(parameter.default):
                raise TypeError(f"{cls.__name__}.__init__: {parameter.name} needs a number as default: it is an option")
        return {parameter.name: parameter.default for parameter in parameters}


def _check_sampled(control: type[CongestionControl]) -> None:
    """Refuse names of samples that are no names, or that series have already."""
    if isinstance(control.sampled, str):
        raise TypeError(f"{control.__name__}.sampled = {control.sampled!r}: expected a tuple of names, with a comma")
    taken = {name for name, _ in _core.metrics()}
    for name in control.sampled:
        if not str(name).isidentifier():
            raise TypeError(f"{control.__name__}.sampled: {name!r}: expected the name of an attribute")
        if name in taken:
            raise TypeError(f"{control.__name__}.sampled: {name}: series have a metric of that name; expected another")


def _check_set(control: type[CongestionControl]) -> None:
    """Refuse a control that sets a window or a rate by another name, which neither the engine nor its methods read."""
    stored, read = attributes(control)
    for name in (each for each in stored if each not in {*read, *_READ, *control.sampled}):
        if meant := closest(name, _READ, likeness=0.75):
            place = f"{control.__name__} sets self.{name}, which nothing reads"
            raise TypeError(f"{place}: expected {one_of(_READ)}; did you mean {meant}?")


def _has(control: object, method: str) -> bool:
    """Whether a class, or an object of one, has a method that is not the one that does nothing."""
    found = getattr(control, method)
    return getattr(found, "__func__", found) is not getattr(CongestionControl, method)


def reads_marks(control: type[CongestionControl]) -> bool:
    """Whether flows with this control need congestion marks."""
    return _has(control, "on_mark")


def has_own_slow_start(control: type[CongestionControl]) -> bool:
    """Whether a control hears of what would let its window grow in slow start, so that it grows as the control says."""
    return _has(control, "on_ack") or _has(control, "on_sample")


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
    """Run a Python file for the controls that it defines, or compile one of Linux in C, and return their names.

    Raises:
        TightlinkError: There is no such file, it fails, or it defines none.
    """
    file = Path(path)
    before = dict(_CONTROLS)
    if file.suffix == ".c":
        base, members = described(file)
        made: type[CongestionControl] = type(str(members["name"]), (base, CongestionControl), members)
        return [made.name]
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

    def __reduce__(self) -> tuple[Callable[..., str], tuple[str, ...]]:
        """A class goes by what it does: where a process does not have it, it is what is called so there."""
        return (_recalled, (str(self), digest(self.control))) if self.control else (Given, (str(self),))


def _recalled(name: str, found: str) -> str:
    """The name of the control with a digest; where there is none, the name."""
    control = _BY_DIGEST.get(found)
    return name if control is None else given(control)


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
    return f"{error}: {type(cause).__name__}: {cause}{_meant(cause)}{where}"


def _meant(error: BaseException) -> str:
    """The attribute that was probably meant, as Python's own tracebacks say it."""
    if not isinstance(error, AttributeError) or not error.name or error.obj is None:
        return ""
    return did_you_mean(error.name, [name for name in dir(error.obj) if not name.startswith("_")])


def make(  # noqa: PLR0913, PLR0917  # What the engine knows of a connection.
    digest: str, options: Mapping[str, float], flow: str, seed: int, payload_bytes: int, cwnd: float, ssthresh: float
) -> str | tuple[CongestionControl, tuple[bool, ...], list[str]]:
    """The control of a connection, for the engine, or why there is none; what is raised is its own fault.

    Beside it, whether it has each of the methods that are only called where a class has them, whether it paces, and
    what of it is sampled.
    """
    control = _BY_DIGEST.get(digest)
    if control is None:
        return (
            "expected a control that is defined here: one written in Python runs where its class is, after an import "
            "or with --controls FILE.py"
        )
    if not any(_has(control, method) for method in _METHODS):
        return f"expected a control that does something, in {one_of(_METHODS).removeprefix('one of ')}"
    made = control.__new__(control)
    made.flow, made.seed, made.payload_bytes = flow, seed, payload_bytes
    made.cwnd, made.ssthresh = cwnd, ssthresh
    defaults = control.options()
    given: dict[str, Any] = {key: type(defaults[key])(value) for key, value in options.items()}
    made.__init__(**given)  # type: ignore[misc]
    # What the code does not show counts from when it sets a rate.
    paces = "pacing_rate" in attributes(control)[0] or "pacing_rate" in _set(made)
    return made, (*(_has(made, method) for method in _ASKED_FOR), paces), list(control.sampled)


def _set(made: CongestionControl) -> set[str]:
    """Attributes that an object of a control has, beside those that all controls have."""
    own = (vars(base) for base in type(made).__mro__ if base is not CongestionControl)
    return set(vars(made)).union(*own)
