"""What people see in a terminal: tables, rich on a terminal, plain when piped; and what is said beside.

All that is printed goes through here, as names in it may be of others: of files, scenarios, captures, servers. None of
their characters is a command to the terminal (`tightlink.errors.visible`).
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
import warnings as warning_filters
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, TextIO

from tightlink import units
from tightlink.csv_text import as_csv
from tightlink.diagnosis import Why
from tightlink.errors import ScenarioError, TightlinkWarning, closest, escaped_in_text, one_of, visible
from tightlink.json_values import plain
from tightlink.numbers import NO_QUEUE, NONE, NOTHING, grouped, is_share
from tightlink.progress import Progress, TimeLeft, Watch, shown
from tightlink.text_table import Choice, TextTable, fold, layout

#: Exit code of a command that could not be finished.
FAILED: Final = 1
#: Exit code of a wrong command line, scenario or input file.
WRONG: Final = 2
#: Exit code of what finished, but must not be trusted before something is read.
CAUTION: Final = 3
#: Exit code of a command that Ctrl-C ended.
INTERRUPTED: Final = 130

_DIGITS: Final = 4
#: A number as programs write it, without a unit.
_PLAIN: Final = re.compile(r"-?\d+(\.\d+)?(e[-+]\d+)?")
#: Rows of a table on a terminal; a few more are printed rather than counted.
_MOST_ROWS: Final = 20
_FEW_MORE: Final = 1.25
#: Of a terminal that does not say its width.
_WIDTH: Final = 80
#: Sentences are not folded for terminals that are narrower.
_NARROWEST: Final = 20
#: Where there is no terminal, lines of progress come at least so far apart in time, then in what is done; and at most.
_BETWEEN_LINES_S: Final = 30.0
_BETWEEN_LINES: Final = 0.1
_LONGEST_SILENCE_S: Final = 300.0


def print_text(text: str = "", *, end: str = "\n", indent: int = 0) -> None:
    """Print sentences on standard output; on a terminal they are folded behind words, with the rest indented."""
    print(_wrapped(visible(text), sys.stdout, indent), end=end)


def print_verbatim(text: str) -> None:
    """Print lines on standard output as they are: TOML, paths."""
    print(visible(text), end="")


def print_why(why: Why) -> None:
    """Print why the flows of a run are as fast as they are, if there is anything to say."""
    if why.diagnoses:
        width = min(_WIDTH, max(_NARROWEST, terminal_width(sys.stdout) or _WIDTH))
        print_verbatim(f"{why.text(width)}\n\n")


def print_json(
    found: object, *, columns: Sequence[str] = (), named: bool = False, each: str = "", **options: Any
) -> None:
    """Print what was found as JSON, in which a number that is none is null; or its tables as CSV, where asked for.

    Args:
        found: What `tightlink.json_values.plain` takes.
        columns: Of a table that may have no rows, its columns, for CSV.
        named: Whether a table that is alone has its name above it in CSV, too, as there may be others beside it.
        each: What the objects are that the found one holds by their names, such as "link", for CSV (`as_csv`).
        options: Those of ``json.dumps``.
    """
    found = plain(found)
    if (_ASKED.get() or _Asked()).csv:
        print("\n".join(map(escaped_in_text, as_csv(found, columns, named=named, each=each).split("\n"))), end="")
        return
    lines = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False, **options).split("\n")
    print("\n".join(map(escaped_in_text, lines)))


def print_table(  # noqa: PLR0913
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    out: TextIO | None = None,
    *,
    words: Sequence[int] = (),
    drop: Sequence[str] = (),
    more: Sequence[str] = (),
    as_is: bool = False,
    whole: bool = False,
    kept: int = 1,
    styles: Mapping[str, str] | None = None,
) -> Sequence[str]:
    """Print a table with its first column and those of words to the left and the others to the right.

    On a terminal it fits the width (`tightlink.text_table`), stops after some rows, and says what is not shown; where
    all is asked for it does neither.

    Args:
        header: Names of the columns.
        rows: Cells.
        out: Where to; without it standard output.
        words: Places of columns of text.
        drop: Names of columns to leave out where a terminal is too narrow, the least important one first.
        more: Names of columns that are printed only where they are asked for, or all are.
        as_is: Whether numbers stand as they are, as somebody asked for these.
        whole: Whether all rows are printed, as they were chosen already.
        kept: How many of the first columns tell rows apart, and are printed whatever columns are asked for.
        styles: Styles of Rich for cells of the last column, by their text.

    Returns:
        The lines below the header, as they are printed.
    """
    out = out or sys.stdout
    header, *rows = [[visible(cell, keep="") for cell in line] for line in (header, *rows)]
    rows = [
        [_cell(cell, number=not as_is and place not in {0, *words}) for place, cell in enumerate(row)] for row in rows
    ]
    width = terminal_width(out)
    asked = _ASKED.get() or _Asked()
    asked.names |= dict.fromkeys(TextTable(header, ()).names)
    every = whole or asked.choice.wide or width is None or len(rows) <= _FEW_MORE * _MOST_ROWS
    most = len(rows) if every else _MOST_ROWS
    shown = layout(TextTable(header, rows[:most], words, drop, more, kept), width, asked.choice)
    if width is None:
        print(*shown.head, *shown.lines, sep="\n", file=out)
        return shown.lines
    from rich.console import Console
    from rich.text import Text

    console = Console(file=out)
    notes = [f"not shown: {', '.join(shown.hidden)} (--wide shows all, --columns some)"] if shown.hidden else []
    if len(rows) > most:
        notes.append(f"the first {most} of {len(rows)} rows (--wide shows all, and so do a pipe and a file)")
    console.print(Text("\n".join(shown.head)), style="bold", soft_wrap=True)
    lines = Text("\n".join(shown.lines))
    for cell, style in (styles or {}).items():
        lines.highlight_regex(rf"(?m)(?<=  ){re.escape(cell)}$", style)
    console.print(lines, soft_wrap=True)
    for note in notes:
        console.print(Text("\n".join(fold(note, width))), style="dim", soft_wrap=True)
    return shown.lines


def _cell(text: str, *, number: bool) -> str:
    return grouped(text) if number and _PLAIN.fullmatch(text) else text


def print_rows(
    title: str,
    key: str,
    columns: Mapping[str, str],
    rows: Sequence[Mapping[str, Any]],
    *,
    drop: Sequence[str] = (),
    more: Mapping[str, str] | None = None,
) -> None:
    """Print rows of a table of a run, numbers in the units that their columns say.

    Args:
        title: What the rows are called.
        key: The column with their names.
        columns: Columns by their headers; those that the rows lack are left out.
        rows: Values by columns.
        drop: As `print_table` takes it.
        more: Columns by their headers that are printed only where they are asked for, without those that no row has.
    """
    known = rows[0] if rows else columns.values()
    more = {
        header: column for header, column in (more or {}).items() if any(row.get(column) is not None for row in rows)
    }
    there = {header: column for header, column in columns.items() if column in known} | more
    words = [place for place, column in enumerate(there.values(), 1) if rows and isinstance(rows[0][column], str)]
    cells = [[row[key], *(_told(column, row[column]) for column in there.values())] for row in rows]
    print_table([title, *there], cells, words=words, drop=drop, more=list(more))


def _told(column: str, value: float | str | None) -> str:
    return str(value) if isinstance(value, int | str) else quantity(column, value)


def print_names(header: tuple[str, str], names: Sequence[tuple[str, str]], *, as_json: bool) -> None:
    """Print names with what they are, as a table, or as JSON with the header as keys."""
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in names])
    else:
        print_table(header, names, words=[1])


@dataclass
class _Asked:
    """The columns that somebody asked for, and those of the tables that were printed."""

    choice: Choice = field(default_factory=Choice)
    csv: bool = False
    names: dict[str, None] = field(default_factory=dict)


_ASKED: Final[ContextVar[_Asked | None]] = ContextVar("_ASKED", default=None)


@contextmanager
def columns_chosen(choice: Choice, *, csv: bool = False) -> Iterator[None]:
    """Print all columns of tables, or those of some names, or CSV for JSON, in what follows.

    Raises:
        ScenarioError: None of the tables that were printed has a column of one of the names.
    """
    asked = _Asked(choice, csv)
    token = _ASKED.set(asked)
    try:
        yield
    finally:
        _ASKED.reset(token)
    if asked.names:
        _check_columns(choice, list(asked.names))


def check_columns(known: Callable[[], Sequence[str]]) -> None:
    """Refuse names of columns that none of the tables to come can have, before what takes its time.

    Args:
        known: The names that their columns may have; asked for where somebody chose columns.

    Raises:
        ScenarioError: No column will have one of the names.
    """
    asked = _ASKED.get()
    if asked is not None and asked.choice.names:
        _check_columns(asked.choice, known())


def _check_columns(choice: Choice, known: Sequence[str]) -> None:
    table = TextTable(known, ())
    for name in choice.names:
        if not Choice(names=[name]).places(table):
            raise ScenarioError(one_of(known), key="--columns", value=name, suggestion=closest(name, known))


def is_everything_asked_for() -> bool:
    """Whether somebody wants to see all columns and rows of tables, which ``--wide`` is for."""
    return (_ASKED.get() or _Asked()).choice.wide


def terminal_width(out: TextIO) -> int | None:
    """Columns of characters that a terminal has; none for what is no terminal."""
    if not out.isatty():
        return None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(out.fileno()).columns or _WIDTH
    except (OSError, ValueError):
        return _WIDTH


def _wrapped(text: str, out: TextIO, indent: int = 0) -> str:
    """Text whose lines fit a terminal, folded behind words; as it is elsewhere."""
    width = terminal_width(out)
    if width is None:
        return text
    kept = indent if indent < width / 2 else 0
    lines = (line[:kept] + f"\n{' ' * kept}".join(fold(line[kept:], width - kept)) for line in text.split("\n"))
    return "\n".join(lines)


def say(text: str) -> None:
    """Tell the user something that is not data: on standard error."""
    for line in visible(text).removesuffix("\n").split("\n"):
        print(_wrapped(f"tightlink: {line}", sys.stderr), file=sys.stderr)


@contextmanager
def saying_warnings() -> Iterator[None]:
    """Within it, what the package warns of in Python is told as all else, without a line of code."""
    with warning_filters.catch_warnings():
        warning_filters.simplefilter("always", TightlinkWarning)
        others = warning_filters.showwarning

        def show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, TightlinkWarning):
                say(str(message))
            else:
                others(message, category, *place, **more)

        warning_filters.showwarning = show_warning
        yield


def warned(warnings: Sequence[str]) -> int:
    """Say what must be read before a result is trusted; the exit code that follows."""
    for warning in warnings:
        say(f"warning: {warning}")
    return CAUTION if warnings else 0


@contextmanager
def watching(text: str = "starting") -> Iterator[Watch]:
    """A line on standard error that says how far something is: on a terminal, ``text`` until it tells.

    Elsewhere, as in the log of a job, it is a new line now and then of what takes longer than half a minute.
    """
    left = TimeLeft(time.monotonic())
    if not sys.stderr.isatty():
        yield _Log(left)
        return
    from rich.console import Console
    from rich.text import Text

    def line(now: Progress) -> Text:
        return Text(visible(shown(now, left.after(now.timed_share, time.monotonic())), keep=""))

    with Console(stderr=True).status(Text(visible(text, keep=""))) as status:
        yield lambda now: status.update(line(now))


class _Log:
    """Lines of how far something is for who reads them later: few, however long it takes."""

    def __init__(self, left: TimeLeft) -> None:
        self._left = left
        self._said_at = time.monotonic()
        self._said: float | None = None

    def __call__(self, progress: Progress) -> None:
        """Say it if the last line is half a minute old, and since then a tenth was done or five minutes passed."""
        now = time.monotonic()
        passed = now - self._said_at
        if passed < _BETWEEN_LINES_S:
            return
        share = progress.share or 0.0
        little = self._said is not None and share < self._said + _BETWEEN_LINES
        if little and passed < _LONGEST_SILENCE_S:
            return
        self._said_at, self._said = now, share
        say(shown(progress, self._left.after(progress.timed_share, now)))


def rounded(value: float | None, write: Callable[[float], str]) -> str:
    """A number rounded for reading, or a dash where there is none."""
    if value is None or not math.isfinite(value):
        return NONE
    return grouped(write(float(f"{value:.{_DIGITS}g}")))


def largest(column: str) -> float:
    """The largest value that a column can have: of shares, but for loads, and of Jain's index one.

    >>> largest("utilization"), largest("fairness_jain"), largest("load"), largest("goodput_bps")
    (1.0, 1.0, inf, inf)
    """
    return 1.0 if (is_share(column) and not column.startswith("load")) or column.endswith("jain") else math.inf


def quantity(column: str, value: float | None) -> str:
    """A value of a column, rounded for reading, in the unit that the column's name says.

    >>> quantity("goodput_bps", 1.2345e6), quantity("packets_sent", 20.0), quantity("utilization", 0.5)
    ('1.234 Mbit/s', '20', '50 %')
    >>> quantity("loss", 0.0313483), quantity("load", 1.24768), quantity("packets_per_s", 26000.0)
    ('3.13 %', '124.8 %', '26,000')
    >>> quantity("queue_mean_packets", 3.156e-05), quantity("queue_mean_packets", 0.25)
    ('< 0.001', '0.25')
    """
    if value is not None and abs(value) < NOTHING:
        value = 0.0
    if column.endswith("_bps"):
        return rounded(value, units.format_rate)
    if column.endswith("_s") and not column.endswith("_per_s"):
        return rounded(value, units.format_time)
    if is_share(column):
        if value is None or not math.isfinite(value):
            return NONE
        # Rounded once: 3.1348 % is not 3.135 % first. Loads may be above 100 %.
        whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
        return grouped(units.format_fraction(round(value, _DIGITS - whole)))
    if value is not None and value.is_integer():
        return grouped(int(value))
    little = value is not None and column.endswith("_packets") and 0 < value < NO_QUEUE
    return f"< {NO_QUEUE:g}" if little else rounded(value, lambda number: f"{number:g}")
