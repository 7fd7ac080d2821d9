"""The options --wide and --columns of all commands that print tables."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar

from cyclopts import Parameter

from tightlink.console import columns_chosen
from tightlink.text_table import Choice

_T = TypeVar("_T")
_WIDE: Final = "Print all columns of tables, however narrow the terminal is."
_COLUMNS: Final = "Columns of tables to print, separated by commas; a table without any of them is printed as usual."
_OPTIONS: Final = (
    inspect.Parameter(
        "wide",
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, Parameter(negative="", help=_WIDE)],
    ),
    inspect.Parameter(
        "columns",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[str | None, Parameter(help=_COLUMNS)],
    ),
)


def with_table_options(command: Callable[..., _T]) -> Callable[..., _T]:
    """Give a command the options --wide and --columns, which say what of its tables is printed."""

    @functools.wraps(command)
    def with_options(*args: Any, wide: bool = False, columns: str | None = None, **options: Any) -> _T:
        with columns_chosen(Choice(wide, () if columns is None else columns.split(","))):
            return command(*args, **options)

    signature = inspect.signature(command)
    own = signature.replace(parameters=[*signature.parameters.values(), *_OPTIONS])
    with_options.__signature__ = own  # type: ignore[attr-defined]  # inspect reads it
    with_options.__annotations__ = command.__annotations__ | {each.name: each.annotation for each in _OPTIONS}
    return with_options
