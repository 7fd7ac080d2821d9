"""Calls that Python itself refuses: one sentence says which argument is wrong, and what to write instead.

Example:
    >>> @answered()
    ... def simulate(scenario, *, seed=None, threads=None): ...
    >>> simulate("a scenario", thread=4)
    Traceback (most recent call last):
    tightlink.errors.CallError: tl.simulate: no argument is called thread; did you mean threads?
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, ParamSpec, TypeAlias, TypeVar

from tightlink.errors import CallError, closest, one_of

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: What to write in place of an argument that there is not, by its name, its value, and the arguments without a name.
Hint: TypeAlias = Callable[[str, object, Sequence[object]], str | None]

#: The ``stacklevel`` of a warning in an `answered` function that is to name the line of who calls it.
CALLER: Final = 3

#: What other packages call an argument; the first that a function has is meant.
_MEANT: Final[Mapping[str, tuple[str, ...]]] = {
    "vary": ("factors", "factor", "grid", "levels", "parameters", "params", "space", "varied"),
    "replications": ("n", "reps", "repeat", "repeats", "repetitions", "replicas", "seeds", "trials"),
    "jobs": ("cores", "n_jobs", "num_workers", "parallel", "processes", "threads", "workers"),
    "threads": ("cores", "jobs", "n_threads", "parallel", "processes", "workers"),
    "output": ("dest", "dir", "directory", "file", "filename", "folder", "out", "outdir", "output_dir", "path", "to"),
    "folder": ("dest", "dir", "directory", "file", "filename", "out", "output", "path", "to"),
    "path": ("dest", "file", "filename", "folder", "out", "output", "to"),
    "watch": ("callback", "on_progress", "progress", "progress_bar", "verbose"),
    "trace": ("packets", "record", "trace_packets"),
    "packets": ("trace",),
    "only": ("filter", "hosts"),
    "by": ("column", "columns", "group_by", "on"),
    "set": ("changes", "overrides", "update"),
    "changes": ("overrides", "set", "update"),
    "ax": ("axes", "axis"),
    "flow": ("label", "name"),
    "entity": ("flow", "label", "link", "of"),
    "metric": ("column", "name", "what", "y"),
    "name": ("table",),
}


def answered(hint: Hint | None = None, *, beside: str = "") -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Give a function sentences for calls that do not fit its arguments, in place of Python's.

    Args:
        hint: What to write for an argument that there is not, where it is known better than by its name.
        beside: What to say in addition where an argument is missing.
    """

    def of(function: Callable[_P, _T]) -> Callable[_P, _T]:
        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                # An error within the function has its frame below this one.
                if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                    raise
                raise CallError(_sentence(function, args, kwargs, hint, beside) or str(error)) from None

        return call

    return of


def _sentence(
    function: Callable[..., object], args: Sequence[object], named: Mapping[str, object], hint: Hint | None, beside: str
) -> str:
    """What is wrong with a call; nothing where it is none of what is known here."""
    parameters = inspect.signature(function).parameters
    place = function.__qualname__ if "." in function.__qualname__ else f"tl.{function.__qualname__}"
    given = [name for name, each in parameters.items() if each.kind is not each.KEYWORD_ONLY]
    own = [name for name in parameters if name != "self"]
    for name, value in named.items():
        if name not in parameters:
            if meant := hint and hint(name, value, args):
                return f"{place}: {meant}"
            near = _meant(name, own)
            ending = f"; did you mean {near}?" if near else f"; expected {one_of(own)}" if own else ""
            return f"{place}: no argument is called {name}{ending}"
    if len(args) > len(given):
        rest = [name for name in own if name not in given]
        most = len(given) - (given[:1] == ["self"])
        what = f"{most} argument{'' if most == 1 else 's'} without a name at most"
        others = f"{rest[0]}=…" if len(rest) == 1 else f"the others as NAME=VALUE, of {', '.join(rest)}"
        return f"{place}: expected {what}" + (f"; write {others}" if rest else "")
    there = {*given[: len(args)], *named}
    missing = [name for name, each in parameters.items() if each.default is each.empty and name not in there]
    if missing:
        needed = [name for name in own if parameters[name].default is inspect.Parameter.empty]
        verb = "is" if len(missing) == 1 else "are"
        return f"{place}: {' and '.join(missing)} {verb} missing; expected {place}({', '.join(needed)}){beside}"
    return ""


def _meant(name: str, known: Iterable[str]) -> str | None:
    """The argument that was probably meant by a name that there is not."""
    names = list(known)
    others = (each for each in names if name.lower() in _MEANT.get(each, ()))
    return closest(name, names, likeness=0.75) or next(others, None) or closest(name, names)
