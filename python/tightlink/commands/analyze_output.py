"""What the commands of ``tightlink analyze`` have in common: their options, and the forms of what they find."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from cyclopts import Parameter

from tightlink import plots
from tightlink.commands.options import Json, Names
from tightlink.commands.table_options import offer, with_table_options
from tightlink.console import print_json, print_text
from tightlink.errors import TightlinkError
from tightlink.files import check_new

#: Draws into ``ax``.
Panel: TypeAlias = Callable[..., Any]
#: A CSV or Parquet file, or a folder.
Table: TypeAlias = Path
Algorithm = Annotated[str, Parameter(help="Column of the algorithm.")]
Condition = Annotated[Names, Parameter(help="Columns of the condition; without it, all other factors.")]

#: Series that are drawn, and names that are listed; more cannot be read.
MOST: Final = 12
#: Responses of one figure.
_MOST_DRAWN: Final = 200
#: Of a figure of several panels, in inches.
_PANEL: Final = (4.8, 3.4)


@dataclasses.dataclass(frozen=True)
class Finding:
    """What an analysis found, in the forms that a command is asked for; each is made when it is."""

    facts: Callable[[], Any]
    """For JSON, as `tightlink.json_values.plain` takes it."""
    words: Callable[[], object]
    """Prints it."""
    figure: Callable[[], Any] | None
    """As `tightlink.plots.write` takes it; nothing where there is nothing to draw."""
    each: str = ""
    """What has facts by its name, such as "link", where several may."""
    named: bool = False
    """Whether there may be several tables, so that one that is alone has its name in CSV, too."""


def finds(shown: str = "a figure") -> Callable[[Callable[..., Finding]], Callable[..., None]]:
    """Give a command that finds something --json and --output, and have it print or draw what it found."""
    output = Annotated[Path | None, Parameter(name=["--output", "-o"], help=f"File for {shown}: .png, .svg or .pdf.")]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, default, annotation in (("json_", False, Json), ("output", None, output))
    ]

    def in_forms(command: Callable[..., Finding]) -> Callable[..., None]:
        @functools.wraps(command)
        def shows(*args: Any, json_: bool = False, output: Path | None = None, **options: Any) -> None:
            check_new(output)
            found = command(*args, **options)
            if json_:
                print_json(found.facts(), each=found.each, named=found.named)
            else:
                found.words()
            if output is not None and found.figure is not None:
                plots.write(found.figure(), output)

        offer(shows, inspect.signature(command), options)
        return with_table_options(shows)

    return in_forms


def panels(rows: Mapping[str, list[Panel]], size: tuple[float, float] = _PANEL) -> Any:
    """Rows of panels as one figure, each row with its title; the size is that of a panel, in inches."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawing

    columns = max(len(panels) for panels in rows.values())
    with mpl.rc_context(plots.STYLE):
        figure = Drawing(figsize=(size[0] * columns, size[1] * len(rows)), layout="constrained")
        grid = figure.subplots(len(rows), columns, squeeze=False)
        for (title, panels), axes in zip(rows.items(), grid, strict=True):
            if title:
                axes[0].set_title(title)
            for panel, ax in zip(panels, axes, strict=True):
                panel(ax=ax)
    return figure


def drawable(table: Path, responses: Sequence[str]) -> None:
    """Refuse a figure of more responses than can be read, which would take minutes and gigabytes."""
    if len(responses) > _MOST_DRAWN:
        few = f"expected --responses with {_MOST_DRAWN} at most"
        raise TightlinkError(f"{table}: {len(responses)} responses are too many for a figure; {few}")


@contextlib.contextmanager
def named(*names: object) -> Iterator[None]:
    """Within it, what is wrong is said with names, such as those of a file and of its column."""
    try:
        yield
    except TightlinkError as error:
        raise TightlinkError(": ".join(map(str, (*names, error)))) from None


def print_constant(names: Sequence[str]) -> None:
    """Say which series do not vary, if any."""
    if names:
        print_text(f"do not vary: {', '.join(names[:MOST])}{', …' if len(names) > MOST else ''}")
