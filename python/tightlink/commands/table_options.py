"""The options of all commands that print tables: --wide, --columns, and --csv where there is --json."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

from cyclopts import Parameter

from tightlink.commands.options import TABLES, Names
from tightlink.console import columns_chosen
from tightlink.errors import TightlinkError
from tightlink.text_table import Choice

_T = TypeVar("_T")


def _option(name: str, annotation: Any, help_: str, default: object = None) -> inspect.Parameter:
    annotated = Annotated[annotation, Parameter(negative="", group=TABLES, help=help_)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotated)


_flag: Final = functools.partial(_option, annotation=bool, default=False)
_OPTIONS: Final = (
    _flag("wide", help_="Print all columns and rows of tables, however narrow the terminal is."),
    _option("columns", Names, "Columns of tables to print; a table without any of them is printed as usual."),
)
_CSV: Final = _flag("csv", help_="Print the tables of --json as CSV, each below its name if there are several.")


def with_table_options(command: Callable[..., _T]) -> Callable[..., _T]:
    """Give a command the options --wide and --columns, which say what of its tables is printed, and --csv."""
    return _with(command, _OPTIONS)


def with_csv(command: Callable[..., _T]) -> Callable[..., _T]:
    """Give a command with --json that prints no table the option --csv."""
    return _with(command, ())


def _with(command: Callable[..., _T], more: Sequence[inspect.Parameter]) -> Callable[..., _T]:
    signature = inspect.signature(command)
    options = more if "json_" not in signature.parameters else (_CSV, *more)

    @functools.wraps(command)
    def with_options(*args: Any, wide: bool = False, columns: Names = None, csv: bool = False, **options: Any) -> _T:
        other = {"--json": options.get("json_"), "--wide": wide, "--columns": columns is not None}
        given = [name for name, is_given in other.items() if is_given]
        if given and (csv or (given[0] == "--json" and given[1:])):
            raise TightlinkError(f"{given[0 if csv else 1]}: it has no effect beside {'--csv' if csv else '--json'}")
        if csv:
            options["json_"] = True
        with columns_chosen(Choice(wide, columns or ()), csv=csv):
            return command(*args, **options)

    offer(with_options, signature, options)
    return with_options


def offer(command: Callable[..., Any], signature: inspect.Signature, options: Sequence[inspect.Parameter]) -> None:
    """Have a command show further options behind those of a signature."""
    *known, last = signature.parameters.values()
    # Whatever else is given stands behind all options.
    ends = (last, *options) if last.kind is not last.VAR_KEYWORD else (*options, last)
    own = signature.replace(parameters=[*known, *ends])
    command.__signature__ = own  # type: ignore[attr-defined]  # inspect reads it
    command.__annotations__ = command.__annotations__ | {each.name: each.annotation for each in options}
