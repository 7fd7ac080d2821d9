"""What ``help`` and a hover say of a table of a scenario: its keys with plain types, meaning and an example.

Example:
    >>> from tightlink.scenario import Framing
    >>> print(with_keys(Framing))
    What the link layer adds to each packet: it costs time on the line, no byte total counts it.
    <BLANKLINE>
    Args:
        overhead (str, such as "38 B"): Bytes added to each packet (default "0 B").
        smallest (str, such as "38 B"): Smallest frame on the line, and more than overhead (default "0 B").
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import json
import operator
import sys
import types
import typing
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pydantic import WithJsonSchema

from tightlink.scenario.table import key_of, own_docstring

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from tightlink.scenario.table import Table

#: Sections of a docstring that follow its arguments.
_SECTIONS: Final = ("Raises:", "Example:", "Note:")


def with_keys(table: type[Table]) -> str:
    """The docstring of a table with a section on its keys."""
    text = own_docstring(table)
    fields = table.__dict__.get("__pydantic_fields__")
    if not fields or table.__name__ == "Table":
        return text
    meaning = meanings(table)
    keys = "\n".join(
        f"    {name} ({_told(field)}): {_sentence(meaning.get(name, ''), field)}"
        for name, field in _in_order(table, fields)
    )
    said = about(table)
    parts = (said, f"Args:\n{keys}", text[len(said) :].strip())
    return "\n\n".join(part for part in parts if part)


def about(table: type[Table]) -> str:
    """What a table is, without what its docstring says of Python: errors and examples.

    >>> from tightlink.scenario import Udp
    >>> about(Udp)
    'A UDP flow: either what the application sends at a time, or the whole IP datagram.'
    """
    text = own_docstring(table)
    places = [place for section in _SECTIONS if (place := text.find(f"\n{section}")) >= 0]
    return text[: min(places, default=len(text))].rstrip()


def signature(table: type[Table]) -> inspect.Signature:
    """The arguments of a table's class: keyword-only, with types as one would write them."""
    fields, empty = table.__dict__.get("__pydantic_fields__") or {}, inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=_plain(field.annotation),
                default=empty if field.is_required() else field.get_default(call_default_factory=True),
            )
            for name, field in _in_order(table, fields)
        ]
    )


def example(table: type[Table], location: Sequence[int | str]) -> str | None:
    """What may be written at a place in a table, the first example of its key; none where the schema has none.

    >>> from tightlink.scenario import Scenario
    >>> example(Scenario, ["duration"]), example(Scenario, ["node", "router", "processor", "per_packet"])
    ('"10 s"', '"10 ms"')
    """
    tables, found, named = [table], None, False
    for part in location:
        if named or isinstance(part, int) or part.startswith("<"):
            # A name that the user gave, an element of a list, the tag of a kind: the tables stay.
            named = False
            continue
        fields = [field for each in tables for name, field in each.model_fields.items() if key_of(name) == key_of(part)]
        if not fields:
            return None
        found = fields[0]
        named = typing.get_origin(_plain(found.annotation)) is dict or "dict[" in " ".join(_names(found.annotation))
        tables = [each for field in fields for each in tables_in(field.annotation, named=True)]
    examples = () if found is None else _examples(found)
    return json.dumps(examples[0]) if examples else None


def tables_in(annotation: Any, *, named: bool) -> Iterator[type[Table]]:
    """The tables that a value may be, or that are in it; with ``named``, those below names of the user's, too."""
    if hasattr(annotation, "model_fields"):
        yield annotation
    elif named or typing.get_origin(annotation) is not dict:
        for part in typing.get_args(annotation):
            yield from tables_in(part, named=named)


def _in_order(table: type[Table], fields: dict[str, FieldInfo]) -> Iterator[tuple[str, FieldInfo]]:
    """Keys in the order in which they are written, without the kind, which the class is."""
    for name, _ in table._in_order():  # noqa: SLF001
        if name != "kind":
            yield name, fields[name]


def meanings(table: type[Table]) -> dict[str, str]:
    """What the source says under the fields of a table and of its bases, by the name of the field."""
    found: dict[str, str] = {}
    for each in reversed(table.__mro__):
        if isinstance(each, type(table)):
            found |= _under_fields(each.__module__).get(each.__name__, {})
    return {name: text for name, text in found.items() if name in table.model_fields}


@functools.cache
def _under_fields(module: str) -> dict[str, dict[str, str]]:
    """By class of a module and field, the text under the field; nothing where there is no source.

    Pydantic's `use_attribute_docstrings` finds the same, but reads it at each import.
    """
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:
        return {}
    return {each.name: dict(_texts(each)) for each in ast.walk(tree) if isinstance(each, ast.ClassDef)}


def _texts(table: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in itertools.pairwise(table.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)


def _sentence(text: str, field: FieldInfo) -> str:
    """The meaning of a key, and its default where the text does not say one."""
    text = " ".join(text.split())
    if field.is_required():
        return f"{text.rstrip('.')}; required."
    default = field.get_default(call_default_factory=True)
    if not isinstance(default, str | int | float) or "default" in text.lower():
        return text
    return f"{text.rstrip('.')} (default {json.dumps(default)})."


def _told(field: FieldInfo) -> str:
    """The type of a key, and what one may write, where its values are texts."""
    such_as = " or ".join(json.dumps(each) for each in _examples(field)[:2])
    return " | ".join(_names(field.annotation)) + (f", such as {such_as}" if such_as else "")


def _names(annotation: Any) -> list[str]:
    """The types of which a value may be one, as one says them."""
    plain = _plain(annotation)
    if plain is None or plain is type(None):
        return []
    arguments = typing.get_args(plain)
    if typing.get_origin(plain) is typing.Literal:
        return [json.dumps(each) for each in arguments]
    if typing.get_origin(plain) in {typing.Union, types.UnionType}:
        return list(dict.fromkeys(name for each in arguments for name in _names(each)))
    name = getattr(plain, "__name__", str(plain))
    return [f"{name}[{', '.join(' | '.join(_names(each)) for each in arguments)}]" if arguments else name]


def _examples(field: FieldInfo) -> Sequence[Any]:
    """What may be written as the value of a key; nothing where its schema does not say."""
    found: Sequence[Any] = next(_schemas([*field.metadata, field.annotation]), {}).get("examples", ())
    return found


def _schemas(things: Any) -> Iterator[dict[str, Any]]:
    """What is written of the values beside their types, the outermost first."""
    for thing in things:
        if isinstance(thing, WithJsonSchema):
            yield thing.json_schema or {}
        elif typing.get_origin(thing) is typing.Annotated:
            yield from _schemas(thing.__metadata__)
            yield from _schemas([thing.__origin__])
        else:
            yield from _schemas(typing.get_args(thing))


def _plain(annotation: Any) -> Any:
    """A type without what checks its values."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _plain(annotation.__origin__)
    if origin is None or origin is typing.Literal:
        return annotation
    arguments = tuple(map(_plain, typing.get_args(annotation)))
    if origin in {typing.Union, types.UnionType}:
        return functools.reduce(operator.or_, arguments)
    return types.GenericAlias(origin, arguments)
