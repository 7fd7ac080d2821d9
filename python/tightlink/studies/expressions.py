"""Arithmetic over what a study observed, as its table of claims writes it.

Names may have dots, hyphens and slashes; so operators have a space on each side.

Example:
    >>> observed = {"base.kilobytes": 2421.0, "queue-5.kilobytes": 2088.0}
    >>> lost = "1 - queue-5.kilobytes / base.kilobytes"
    >>> round(evaluate(lost, observed), 3), evaluate("0.1 < " + lost + " < 0.2", observed)
    (0.138, True)
    >>> fill("{" + lost + ":percent 1} are lost of {base.kilobytes:.0f} KB", observed).replace("\u00a0", " ")
    '13.8 % are lost of 2421 KB'

Columns of tables take part row by row:

    >>> queue = pl.DataFrame({"limit": [5, 50], "sent": [100, 100], "lost": [2, 0]})
    >>> evaluate("max(queue.lost / queue.sent)", {"queue": queue}), evaluate("sum(queue.lost > 0)", {"queue": queue})
    (0.02, 1)
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from statistics import fmean, median
from typing import Any, Final

import polars as pl

from tightlink.errors import TightlinkError, closest, did_you_mean
from tightlink.numbers import grouped
from tightlink.reduce import mean_of, median_of
from tightlink.studies import words


def _mean(values: Iterable[float]) -> float:
    return mean_of(values) if isinstance(values, pl.Series) else fmean(values)


def _median(values: Iterable[float]) -> float:
    return median_of(values) if isinstance(values, pl.Series) else median(values)


#: A name, or words in quotes, in which there is none.
_NAME: Final = re.compile(r"'[^']*'|(?<![\w.])[A-Za-z](?:[\w./-]*\w)?")
_FIELD: Final = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")
_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "abs": abs, "all": all, "int": int, "len": len, "max": max, "mean": _mean, "median": _median, "min": min,
    "round": round, "sum": sum, "rises": lambda column: bool((column.diff().drop_nulls() > 0).all()),
    "falls": lambda column: bool((column.diff().drop_nulls() < 0).all()),
}  # fmt: skip
_WORDS: Final = {*_FUNCTIONS, "and", "or", "not", "in", "if", "else"}
_OPERATORS: Final[dict[type[ast.AST], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda part, whole: part in whole,
}
#: How a sentence writes a value, beside what `format` knows; with the number of decimals.
_FORMATS: Final[dict[str, Callable[..., str]]] = {
    "percent": words.percent, "ms": words.ms, "kbit": words.kbit, "mbit": words.mbit, "per_s": words.per_s,
    "list": lambda values: ", ".join(map(str, values)),
}  # fmt: skip
_NOTHING: Final = object()
#: Names of what was observed that an error lists.
_MOST_NAMES: Final = 6


class NotObservedError(TightlinkError):
    """An expression has a name for which there is no value."""


class Names(Mapping[str, object]):
    """What expressions name: entries, attributes, columns and rows of what was observed, one within the other by dots.

    A row of a table is named by what its first column has, or as first or last; rows that have the same there are a
    table, of which the next column names rows.

    >>> found = Names({"queue": pl.DataFrame({"limit": [5, 50], "lost": [0.02, 0.0]})}, {"base.sent": 2385})
    >>> found["queue.lost"].to_list(), found["queue.5.lost"], found["queue.last.lost"], found["base.sent"]
    ([0.02, 0.0], 0.02, 0.0, 2385)
    >>> runs = pl.DataFrame({"control": ["reno", "reno", "bbr"], "limit": [5, 50, 5], "lost": [0.02, 0.0, 0.1]})
    >>> found = Names({"q": runs})
    >>> found["q.reno.50.lost"], found["q.reno.lost"].to_list(), found["q.bbr.lost"]
    (0.0, [0.02, 0.0], 0.1)
    """

    def __init__(self, *observed: object) -> None:
        self._observed = observed

    def __getitem__(self, name: str) -> object:
        for each in self._observed:
            if (found := _within(each, name)) is not _NOTHING:
                return found
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(str(name) for each in self._observed for name in _keys(each)))

    def __len__(self) -> int:
        return len(list(iter(self)))


def _keys(thing: object) -> list[Any]:
    if isinstance(thing, Mapping):
        return list(thing)
    return [name for name in dir(thing) if not name.startswith("_")] if is_dataclass(thing) else []


def _within(thing: object, name: str) -> object:
    """What a name stands for within something: the longest part of it that names something, then the rest in that."""
    if (found := _part(thing, name)) is not _NOTHING:
        return found
    for place in _dots(name):
        inner = _part(thing, name[:place])
        if inner is not _NOTHING and (found := _within(inner, name[place + 1 :])) is not _NOTHING:
            return found
    return _NOTHING


def _part(thing: object, name: str) -> object:
    if isinstance(thing, Mapping):
        return thing[name] if name in thing else next((thing[key] for key in thing if str(key) == name), _NOTHING)
    if isinstance(thing, pl.DataFrame):
        if name in thing.columns:
            return thing[name]
        if name in {"first", "last"}:
            return thing.row(0 if name == "first" else -1, named=True)
        return _rows(thing, name)
    if (is_dataclass(thing) or hasattr(thing, "_fields")) and not name.startswith("_") and "." not in name:
        return getattr(thing, name, _NOTHING)
    return _NOTHING


def _rows(table: pl.DataFrame, name: str) -> object:
    """The row that has the name in the first column; where there are several, they are a table without that column."""
    rows = table.filter(pl.Series([str(value) == name for value in table.to_series()], dtype=pl.Boolean))
    if rows.height > 1 and rows.width > 1:
        return rows[:, 1:]
    return rows.row(0, named=True) if rows.height else _NOTHING


def evaluate(text: str, observed: Mapping[str, object]) -> Any:
    """What an expression comes to.

    Raises:
        ValueError: It is none.
        NotObservedError: There is no value for a name in it.
    """
    tree, names = _parsed(text)
    known = observed if isinstance(observed, Names) else Names(observed)
    return _Evaluation([_known(name, known) for name in names], text).of(tree.body)


@cache
def check(text: str) -> None:
    """Find out whether a text is an expression, or a sentence with expressions in braces, before anything is observed.

    Found out once for each text: families of claims share most of theirs, and a table is read several times.

    Raises:
        ValueError: It is none.

    >>> check("max(queue.lost / queue.sent)"), check("{base.sent:.0f} packets are sent.")
    (None, None)
    >>> check("maximum(queue.lost)")
    Traceback (most recent call last):
    ValueError: "maximum(queue.lost)": there is no function maximum; did you mean max?
    """
    for part in [found[1] for found in _FIELD.finditer(text)] if "{" in text else [text]:
        _parsed(part)


def _parsed(text: str) -> tuple[ast.Expression, list[str]]:
    """The tree of an expression, and the names that stand for values in it, by their numbers."""
    names: list[str] = []

    def numbered(found: re.Match[str]) -> str:
        if found[0] in _WORDS or found[0].startswith("'"):
            return found[0]
        names.append(found[0])
        return f"_{len(names) - 1}"

    try:
        tree = ast.parse(_NAME.sub(numbered, text), mode="eval")
    except SyntaxError:
        raise ValueError(f'"{text}" is no expression; operators have a space on each side') from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in _FUNCTIONS:
            name = names[int(number)] if (number := node.func.id[1:]).isdigit() else node.func.id
            raise ValueError(f'"{text}": there is no function {name}{did_you_mean(name, _FUNCTIONS)}')
    return tree, names


def fill(template: str, observed: Mapping[str, object], *, thousands: bool = False) -> str:
    """A sentence whose expressions in braces are replaced by what they come to.

    ``{EXPRESSION:FORMAT}`` says how: as `format` does, as a "list", or as "percent", "ms", "kbit", "mbit" or "per_s",
    and a number of decimals; with ``thousands`` numbers are written as everywhere in a report (`tightlink.numbers`).
    """

    def written(found: re.Match[str]) -> str:
        value, (kind, _, decimals) = evaluate(found[1], observed), (found[2] or "").partition(" ")
        if kind in _FORMATS:
            text = _FORMATS[kind](value, *([int(decimals)] if decimals else []))
        else:
            text = _formatted(value, found[0], found[2] or "")
        return grouped(text) if thousands and isinstance(value, int | float) else text

    return _FIELD.sub(written, template)


def cell(text: str) -> tuple[str, str | Callable[[Any], str]]:
    r"""The expression in a cell of a table, and how its values are written.

    >>> cell("× {gain:.2f}"), cell("{label}"), cell("{loss:percent 1}")[1](0.0123)
    (('gain', '× {:.2f}'), ('label', ''), '1.2\xa0%')
    """
    before, _, rest = text.partition("{")
    field, _, after = rest.partition("}")
    expression, _, wanted = field.partition(":")
    kind, _, decimals = wanted.partition(" ")
    if kind in _FORMATS:
        return expression, lambda value: _FORMATS[kind](value, *([int(decimals)] if decimals else []))
    return expression, f"{before}{{:{wanted}}}{after}" if before or after else wanted


def _formatted(value: object, field: str, wanted: str) -> str:
    try:
        return format(value, wanted)
    except ValueError:
        known = ", ".join(_FORMATS)
        raise ValueError(f'"{field}": expected one of {known} after the colon, or a format such as .1f') from None


def _known(name: str, observed: Mapping[str, object]) -> object:
    try:
        return observed[name]
    except KeyError:
        inner = next((name[:place] for place in _dots(name) if name[:place] in observed), None)
        if inner is not None and (parts := _parts(observed[inner])):
            own = name[len(inner) + 1 :].partition(".")[0]
            like = closest(own, [part for part in parts if not part[:1].isdigit()])
            raise NotObservedError(
                f'"{name}" was not observed; ' + (f'"{inner}.{like}" was' if like else f"{inner} has {_listed(parts)}")
            ) from None
        like = closest(name, list(observed))
        there = [each for each in observed if each.startswith(name.partition(".")[0] + ".")] or list(observed)
        said = f'; "{like}" was' if like else f"; what was: {_listed(there)}" if there else ""
        raise NotObservedError(f'"{name}" was not observed{said}') from None


def _dots(name: str) -> list[int]:
    """The places of the dots in a name, the last first."""
    return [place for place in range(len(name) - 1, 0, -1) if name[place] == "."]


def _parts(thing: object) -> list[str]:
    """What may follow a dot behind something: of a table its rows by their names, and its columns."""
    if isinstance(thing, pl.DataFrame):
        return [*dict.fromkeys(map(str, thing.to_series())), *thing.columns] if thing.width else []
    return [str(key) for key in getattr(thing, "_fields", _keys(thing))]


def _listed(names: list[str]) -> str:
    most = f", … ({len(names)} in all)" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + most


class _Evaluation:
    """Of the tree of one expression: comparisons, arithmetic and a few functions, nothing else of Python."""

    def __init__(self, values: list[object], text: str) -> None:
        self._values = values
        self._text = text

    def of(self, node: ast.expr) -> Any:  # noqa: PLR0911  # one for each kind of node
        match node:
            case ast.Constant(value=int() | float() | str()):
                return node.value
            case ast.Name(id=name) if name.startswith("_"):
                return self._values[int(name[1:])]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.of(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.of(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self.of(left), self.of(right))
            case ast.BoolOp(op=op, values=parts):
                return (all if isinstance(op, ast.And) else any)(self.of(part) for part in parts)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.of(body if self.of(test) else other)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(self.of(arg) for arg in args))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _OPERATORS for op in ops):
                values = [self.of(left), *(self.of(other) for other in others)]
                pairs = zip(ops, values, values[1:], strict=False)
                found = [_OPERATORS[type(op)](first, second) for op, first, second in pairs]
                # Of columns, row by row; of several comparisons in a row there is one answer.
                return found[0] if isinstance(found[0], pl.Series) else all(map(bool, found))
            case _:
                known = ", ".join(_FUNCTIONS)
                raise ValueError(f'"{self._text}" has more in it than arithmetic, comparisons and {known}')
