"""The key of a link's queue: a limit, or a table of a discipline.

Example:
    >>> discipline("20 packets").limit
    '20 packets'
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BeforeValidator, Field, WrapValidator

from tightlink.errors import closest
from tightlink.scenario.disciplines import Discipline, DropTail, Pie, Policer, Red, Rem, Threshold
from tightlink.scenario.forms import Forms, by_kind
from tightlink.scenario.held_disciplines import Held
from tightlink.scenario.table import wrong
from tightlink.scenario.values import UNLIMITED, QueueLimit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import ValidatorFunctionWrapHandler

#: How like the name of a discipline a word must be to be taken for one.
_LIKE_A_KIND: Final = 0.8
_Queue = QueueLimit | DropTail | Threshold | Policer | Red | Pie | Rem | Held
#: What most limits are: looking for a kind that is like one takes as long as all else of a link.
_PACKETS: Final = re.compile(r"\d+ packets?", re.ASCII)
#: All disciplines, by the names that scenarios have for them.
KINDS: Final = by_kind(_Queue)


# Of most links the limit is one of few.
@lru_cache(maxsize=256)
def _like_a_kind(text: str) -> str | None:
    return closest(text, KINDS, likeness=_LIKE_A_KIND)


def _no_kind_alone(value: object) -> object:
    if isinstance(value, str) and not _PACKETS.fullmatch(value) and (kind := _like_a_kind(value)):
        limit = ', limit = "100 packets"' if KINDS[kind].model_fields["limit"].is_required() else ""
        raise wrong('a limit such as "20 packets", or a table with the discipline as kind', value=value,
                    suggestion=f'{{ kind = "{kind}"{limit} }}')  # fmt: skip
    return value


#: A limit, which makes a drop-tail queue, or a table.
Queue = Annotated[_Queue, Forms(), BeforeValidator(_no_kind_alone)]


def _silent_about_limit(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """A table without a limit stays without one."""
    if not isinstance(value, dict) or "limit" in value:
        return handler(value)
    return handler(value | {"limit": UNLIMITED}).model_copy(update={"limit": None})


def _limit_is_optional(schema: dict[str, Any]) -> None:
    """The schema of a queue, where a table without limit is one as well."""
    schema["anyOf"] = [*schema.pop("oneOf"), {"type": "object", "required": ["kind"]}]


#: A queue where a rule gives a limit to those that have none of their own.
RuledQueue = Annotated[Queue, WrapValidator(_silent_about_limit), Field(json_schema_extra=_limit_is_optional)]


def with_defaults(queue: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a queue with the defaults of its kind.

    >>> with_defaults({"kind": "codel", "target": "10 ms"})["interval"]
    '100 ms'
    """
    return {**KINDS[queue["kind"]].defaults(), **queue}


def discipline(queue: object) -> Discipline:
    """The queue of a link: a limit alone makes it drop-tail."""
    return queue if isinstance(queue, Discipline) else _drop_tail(str(queue))


@lru_cache(maxsize=256)
def _drop_tail(limit: str) -> DropTail:
    # Kept, as a topology has thousands of links with the same limit.
    return DropTail(limit=limit)
