"""What a command found, as CSV: the tables in it, for spreadsheets and other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

_Rows: TypeAlias = list[Mapping[str, Any]]


def as_csv(found: object, columns: Sequence[str] = (), *, named: bool = False, each: str = "") -> str:
    """The tables of an object that could be written as JSON.

    A list of objects is a table, and each of several has its name as a comment above it. Where there is none, the
    object is the only row of one. An object in a row has a column for each of its values, `fit.r2`; a list stands as
    JSON in its cell.

    Args:
        found: What could be written as JSON.
        columns: Of a table that may have no rows, its columns.
        named: Whether a table that is alone has its name above it, too, as there may be others beside it.
        each: Of an object that holds one for each link, router or the like, by its name: what these are, such as
            "link". It is the first column of all tables, the first of which has a row for each. Of a list of objects
            that hold tables it numbers these from 1 on.

    >>> print(as_csv([{"link": "wire", "loss": 0.5}, {"link": "core", "loss": None}]), end="")
    link,loss
    wire,0.5
    core,
    >>> print(as_csv({"why": "it is slow", "flows": [{"label": "ftp"}], "links": [{"link": "wire"}]}), end="")
    # flows
    label
    ftp
    <BLANKLINE>
    # links
    link
    wire
    >>> print(as_csv({"a": {"r2": 0.5, "points": [{"load": 1}]}, "b": {"r2": 1, "points": []}}, each="link"), end="")
    # links
    link,r2
    a,0.5
    b,1
    <BLANKLINE>
    # points
    link,load
    a,1
    """
    if each and _is_table(found):
        numbered = {number: dict(_tables(one)) for number, one in enumerate(found, 1)}
        tables, named = _of_each(numbered, each), True
    elif each and isinstance(found, Mapping) and all(isinstance(value, Mapping) for value in found.values()):
        tables, named = _of_each(found, each), True
    else:
        tables = _tables(found) if found or not columns else [("", [])]
    if len(tables) == 1 and not named:
        return _written(tables[0][1], columns)
    return "\n".join(f"# {name}\n{_written(rows)}" for name, rows in tables)


def _tables(found: object) -> list[tuple[str, _Rows]]:
    if isinstance(found, Mapping):
        own: list[tuple[str, _Rows]] = [(str(name), list(value)) for name, value in found.items() if _is_table(value)]
        return own or [("", [_flat(found)])]
    return [("", list(found))] if _is_table(found) else [("", [{"value": found}])]


def _of_each(found: Mapping[Any, Any], kind: str) -> list[tuple[str, _Rows]]:
    """A table with a row for each of some objects, then those that they hold, of all below each other."""
    inner = dict.fromkeys(key for value in found.values() for key, part in value.items() if _is_table(part))
    own = [
        {kind: name} | {key: part for key, part in value.items() if key not in inner} for name, value in found.items()
    ]
    held = {str(key): [{kind: name} | row for name, value in found.items() for row in value.get(key, [])]
            for key in inner}  # fmt: skip
    heading = [(kind if kind.endswith("s") else f"{kind}s", own)] if any(len(row) > 1 for row in own) else []
    return [*heading, *held.items()]


def _is_table(value: object) -> TypeGuard[_Rows]:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _flat(found: Mapping[Any, Any], before: str = "") -> dict[str, Any]:
    """An object as one row: what is in another has its name behind the other's, with a dot between."""
    row: dict[str, Any] = {}
    for name, value in found.items():
        inner = isinstance(value, Mapping)
        row |= _flat(value, f"{before}{name}.") if inner else {f"{before}{name}": value}
    return row


def _written(rows: _Rows, columns: Sequence[str] = ()) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    objects = {name for row in rows for name, value in row.items() if isinstance(value, Mapping)}
    # What is an object in one row may be missing in another one, which then has none of its columns.
    rows = [
        _flat({name: value for name, value in row.items() if value is not None or name not in objects}) for row in rows
    ]
    columns = list(dict.fromkeys(name for row in rows for name in row)) or columns
    writer.writerow(columns)
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, bool) or (isinstance(value, Mapping | Sequence) and not isinstance(value, str)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value
