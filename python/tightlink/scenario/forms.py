"""Unions of the forms in which a value may be written: a text, a list, a table, tables of several kinds.

Example:
    >>> from pydantic import TypeAdapter
    >>> from tightlink.scenario.arq import Arq
    >>> TypeAdapter(Annotated[str | list[str] | Arq, Forms()]).validate_python({"after": "5 ms"})
    Arq(after='5 ms')
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from pydantic import BeforeValidator, Discriminator, Tag

from tightlink.errors import one_of
from tightlink.scenario.table import Table, kind_of, wrong

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

#: Tags of forms other than the kinds of tables; as those they stand in brackets, as no key does.
_TEXT, _LIST, _TABLE = "<a text>", "<a list>", "<a table>"


class Forms:
    """Annotation of a union: how a value is written says which of the forms it has, so that errors are of that one.

    Some keys, by name, say the kind of a table by themselves.
    """

    def __init__(self, keys: Mapping[str, str] | None = None) -> None:
        self._keys = keys or {}

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The union by tags."""
        tags = {_tag(form): form for form in get_args(source)}
        kinds = [tag[1:-1] for tag in tags if tag not in {_TEXT, _LIST, _TABLE}]

        def known(value: object) -> object:
            if isinstance(value, type) and issubclass(value, Table):
                raise wrong("an object of this class, not the class", value=value, suggestion=f"{value.__name__}(…)")
            if not isinstance(value, dict | Table):
                if _TEXT in tags:
                    return value
                raise wrong(f"a table with a kind ({', '.join(kinds)})", value=value)
            if isinstance(value, dict):
                value = next(({"kind": kind} for key, kind in self._keys.items() if key in value), {}) | value
            return _checked_kind(value, kinds)

        def tag(value: object) -> str:
            if isinstance(value, dict | Table):
                found = f"<{kind_of(value)}>" if kinds else _TABLE
            else:
                found = _LIST if isinstance(value, list | tuple) else _TEXT
            return found if found in tags else _TEXT

        tagged: Any = reduce(or_, (Annotated[form, Tag(each)] for each, form in tags.items()))
        union = Annotated[tagged, Discriminator(tag)]
        return handler.generate_schema(Annotated[union, BeforeValidator(known)] if kinds else union)


def by_kind(union: Any) -> dict[str, type[Table]]:
    """The tables of a union by their kinds."""
    return {table.model_fields["kind"].default: table for table in get_args(union) if hasattr(table, "model_fields")}


def _checked_kind(value: object, kinds: list[str]) -> object:
    """A table that names one of these kinds."""
    kind = kind_of(value)
    if kind is None:
        raise wrong(f"a kind, {one_of(kinds)}", key="kind")
    if kind not in kinds:
        from tightlink.scenario.synonyms import meant_kind

        meant = meant_kind(kind, kinds) if isinstance(kind, str) else None
        raise wrong(one_of(kinds), key="kind", value=kind, suggestion=f'"{meant}"' if meant else None)
    return value


def _tag(form: Any) -> str:
    """How the values of a form are written."""
    if get_origin(form) is Annotated:
        return _tag(get_args(form)[0])
    if get_origin(form) in {list, dict}:
        return _LIST if get_origin(form) is list else _TABLE
    if not hasattr(form, "model_fields"):
        return _TEXT
    kind = form.model_fields.get("kind")
    return _TABLE if kind is None else f"<{kind.default}>"
