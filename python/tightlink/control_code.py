"""What the code of a class in Python is, as far as it can be read: its file, and all that its methods reach.

Two classes with the same lines here do the same; editing a file, a number that a method looks up or a module that it
imports gives other lines. What cannot be read, such as an open connection, counts by its type alone.
"""

from __future__ import annotations

import dis
import hashlib
import pickle
import sys
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

#: Not followed: Tightlink has a version of its engine, and Python's own modules do the same on all machines.
_OWN: Final = __name__.partition(".")[0]
_KNOWN: Final = {_OWN, *sys.stdlib_module_names}
_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), type(...))


def code_of(value: object) -> list[str]:
    """Lines that differ when the code of a class, a function or a module does.

    >>> code_of({"step": 0.5}) == code_of({"step": 0.25})
    False
    """
    return list(_lines(value, set()))


def attributes(control: type) -> tuple[list[str], set[str]]:
    """Attributes that the methods of a class, and those of its bases, set on its objects, and those that they read.

    To add to one is not to read it.

    >>> class Counter:
    ...     def count(self):
    ...         self.last, self.total = 1, 0
    ...         return self.total
    >>> attributes(Counter)
    (['last', 'total'], {'total'})
    """
    stored: dict[str, None] = {}
    read = set()
    members = (member for base in control.__mro__ for member in vars(base).values())
    for function in (member for member in members if isinstance(member, types.FunctionType)):
        own = function.__code__.co_varnames[:1]
        for code in _codes(function.__code__):
            before: tuple[str, Any] = ("", "")
            for step in dis.get_instructions(code):
                # Where two variables are loaded at once, the object is the second.
                loaded = before[1][-1:] if isinstance(before[1], tuple) else (before[1],)
                if step.opname == "STORE_ATTR" and loaded == own:
                    stored[step.argval] = None
                elif step.opname in {"LOAD_ATTR", "LOAD_METHOD"} and before[0] != "COPY":
                    read.add(step.argval)
                before = (step.opname, step.argval)
    return list(stored), read


def _lines(value: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(value, _PLAIN):
        yield repr(value)
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, types.FunctionType | staticmethod | classmethod | property):
        yield from _function(value, seen)
    elif isinstance(value, type):
        yield from _class(value, seen)
    elif isinstance(value, types.ModuleType):
        known = value.__name__.partition(".")[0] in _KNOWN
        yield f"module {value.__name__} {None if known else _file(getattr(value, '__file__', None))}"
    elif isinstance(value, list | tuple | set | frozenset):
        for item in sorted(value, key=repr) if isinstance(value, set | frozenset) else value:
            yield from _lines(item, seen)
        yield type(value).__name__
    elif isinstance(value, dict):
        for key, item in value.items():
            yield repr(key)
            yield from _lines(item, seen)
        yield "dict"
    else:
        yield f"{type(value).__qualname__} {_content(value)}"


def _class(value: type, seen: set[int]) -> Iterator[str]:
    if value.__module__.partition(".")[0] in _KNOWN:
        yield f"class {value.__module__}.{value.__qualname__}"
        return
    yield f"class {value.__qualname__}"
    for base in value.__bases__:
        yield from _lines(base, seen)
    for name, item in vars(value).items():
        # What every class has, and a place for its instances' values.
        if name not in {"__module__", "__dict__", "__weakref__", "__doc__"} and not _without_code(item):
            yield name
            yield from _lines(item, seen)


def _without_code(item: object) -> bool:
    """Whether something in a class is there for its instances only, with no code."""
    return isinstance(item, types.MemberDescriptorType | types.GetSetDescriptorType)


def _function(value: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(value, property):
        for part in (value.fget, value.fset):
            yield from _lines(part, seen)
        return
    function = getattr(value, "__func__", value)
    if function.__module__ is not None and function.__module__.partition(".")[0] in _KNOWN:
        yield f"function {function.__module__}.{function.__qualname__}"
        return
    yield f"function {function.__qualname__} {_file(function.__code__.co_filename)}"
    # Objects that last, as what has been seen is known by where it lies.
    for part in (function.__defaults__, function.__kwdefaults__):
        yield from _lines(part, seen)
    for cell in function.__closure__ or ():
        try:
            yield from _lines(cell.cell_contents, seen)
        except ValueError:
            yield "empty"
    for code in _codes(function.__code__):
        yield f"{code.co_firstlineno - function.__code__.co_firstlineno} {code.co_names} {code.co_varnames}"
        # Where no file can be read, what was compiled of it.
        yield hashlib.sha256(code.co_code).hexdigest() if _file(code.co_filename) is None else "in its file"
        yield from (repr(constant) for constant in code.co_consts if isinstance(constant, _PLAIN))
        for name in code.co_names:
            if name in function.__globals__:
                yield name
                yield from _lines(function.__globals__[name], seen)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """That of a function, and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _file(name: str | None) -> str | None:
    """A digest of a file; none of what is not in a file."""
    try:
        return None if name is None else _read(name, Path(name).stat().st_mtime_ns)
    except OSError:
        return None


@cache
def _read(name: str, _changed: int) -> str:
    return hashlib.sha256(Path(name).read_bytes()).hexdigest()[:16]


def _content(value: object) -> str:
    try:
        return hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()
    except Exception:  # noqa: BLE001  # Whatever a class's own pickling raises.
        return "unknown"
