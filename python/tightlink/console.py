"""What people see in a terminal: a run's tables, rich on a terminal, plain when piped; and what is said beside.

All that is printed goes through here, as names in it may be of others: of files, scenarios, captures, servers. None of
their characters is a command to the terminal (`tightlink.errors.visible`).
"""

from __future__ import annotations

import json
import math
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TextIO

from tightlink import units
from tightlink.errors import escaped_in_text, visible
from tightlink.progress import shown
from tightlink.tables import counted, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tightlink.progress import Watch
    from tightlink.run import Run

#: Exit code of a command that could not be finished.
FAILED: Final = 1
#: Exit code of a wrong command line, scenario or input file.
WRONG: Final = 2
#: Exit code of what finished, but must not be trusted before something is read.
CAUTION: Final = 3
#: Exit code of a command that Ctrl-C ended.
INTERRUPTED: Final = 130

_DIGITS: Final = 4
_MOST_ROWS: Final = 20
#: Columns of shares of a whole.
_SHARES: Final = ("limited_by_", "utilization", "loss", "load")
#: What adding up times leaves where there was no difference.
_NO_TIME: Final = 1e-12


def print_summary(run: Run) -> None:
    """The traffic and the links of a run, on standard output."""
    if "flows" in run.tables:
        flows = [_flow(row) for row in run.flows.iter_rows(named=True)]
        print_table(["flow", *_FLOW], flows)
        print_text()
    if "users" in run.tables:
        print_table(["users", *_USERS], [_user(row) for row in _totals(run, "users")])
        print_text()
    if "scatter" in run.tables:
        print_table(["scatter", *_SCATTER], [_datagrams(row) for row in _totals(run, "scatter")])
        print_text()
    links = [_link(row) for row in run.links.iter_rows(named=True)]
    print_table(["link", *_LINK], links)
    nodes = run.nodes.iter_rows(named=True) if "nodes" in run.tables else []
    processors = [_processor(row) for row in nodes if row["load_true"] is not None]
    if processors:
        print_text()
        print_table(["processor", *_PROCESSOR], processors)


def print_text(text: str = "", *, end: str = "\n") -> None:
    """Print text on standard output, which may have several lines."""
    print(visible(text), end=end)


def print_json(found: object, **options: Any) -> None:
    """Print what was found as JSON, with options of ``json.dumps``."""
    lines = json.dumps(found, indent=2, ensure_ascii=False, **options).split("\n")
    print("\n".join(map(escaped_in_text, lines)))


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], out: TextIO | None = None, *, words: Sequence[int] = ()
) -> None:
    """A table with its first column and those of words to the left and the others to the right.

    On a terminal it stops after some rows and says how many there are.
    """
    out = out or sys.stdout
    header, *rows = [[visible(cell, keep="") for cell in line] for line in (header, *rows)]
    if not out.isatty():
        for line in _aligned(header, rows, words):
            print(line, file=out)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, name in enumerate(header):
        table.add_column(Text(name), justify="left" if index == 0 or index in words else "right", no_wrap=True)
    for row in rows[:_MOST_ROWS]:
        table.add_row(*map(Text, row))
    console = Console(file=out)
    console.print(table)
    if len(rows) > _MOST_ROWS:
        console.print(f"… and {len(rows) - _MOST_ROWS} more (-o DIR keeps all)", style="dim", highlight=False)


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int]) -> Iterable[str]:
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        cells = (
            cell.ljust(width) if place == 0 or place in words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def say(text: str) -> None:
    """Tell the user something that is not data: on standard error."""
    for line in visible(text).removesuffix("\n").split("\n"):
        print(f"tightlink: {line}", file=sys.stderr)


def warned(warnings: Sequence[str]) -> int:
    """Say what must be read before a result is trusted; the exit code that follows."""
    for warning in warnings:
        say(f"warning: {warning}")
    return CAUTION if warnings else 0


@contextmanager
def progress(text: str) -> Iterator[None]:
    """A spinner on standard error while something takes its time: on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(visible(text, keep=""))):
        yield


@contextmanager
def watching(text: str = "starting") -> Iterator[Watch | None]:
    """A line on standard error that says how far something is, ``text`` at first: on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(visible(text, keep=""))) as status:
        yield lambda now: status.update(Text(visible(shown(now), keep="")))


def rounded(value: float | None, write: Callable[[float], str]) -> str:
    """A number rounded for reading, or a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    return write(float(f"{value:.{_DIGITS}g}"))


def quantity(column: str, value: float | None) -> str:
    """A value of a column, rounded for reading, in the unit that the column's name says.

    >>> quantity("goodput_bps", 1.2345e6), quantity("packets_sent", 20.0), quantity("utilization", 0.5)
    ('1.234 Mbit/s', '20', '50 %')
    """
    if column.endswith("_bps"):
        return rounded(value, units.format_rate)
    if column.endswith("_s"):
        return rounded(value, _time)
    if column.startswith(_SHARES):
        return rounded(value, _percent)
    if value is not None and value.is_integer():
        return str(int(value))
    return rounded(value, lambda number: f"{number:g}")


def limit(row: dict[str, Any]) -> str:
    """What limited a flow for most of its time, with the share: "receiver window 93 %"."""
    shares = {name: row[name] or 0.0 for name in row if name.startswith("limited_by_")}
    name = max(shares, key=lambda key: shares[key], default=None)
    if name is None or shares[name] <= 0:
        return "-"
    return f"{name.removeprefix('limited_by_').replace('_', ' ')} {shares[name]:.0%}".replace("%", " %")


def _time(value: float) -> str:
    return units.format_time(0.0 if abs(value) < _NO_TIME else value)


def _percent(value: float) -> str:
    return units.format_fraction(round(value, _DIGITS))


_FLOW: Final = ("goodput", "sent", "dropped", "resent", "latency", "jitter", "limited by")
_USERS: Final = ("sources", "transmitting", "completed", "failed", "sent", "resent", "rtt")
_SCATTER: Final = ("sent", "delivered", "dropped", "under way", "latency", "hops")
_PROCESSOR: Final = ("load", "reported", "served", "dropped at input ring", "at output ring")
_LINK: Final = ("utilization", "packets", "dropped", "queue mean", "queue max")


def _totals(run: Run, table: str) -> Iterable[dict[str, Any]]:
    """Of each label: the sums of what is counted, the means of what is measured at a time, and its last values."""
    import polars as pl

    over_time = pl.col(measured(table))
    rows = run.table(table).group_by("label", maintain_order=True)
    found = rows.agg(pl.col(counted(table)).sum(), over_time.mean(), over_time.last().name.suffix("_at_end"))
    return found.iter_rows(named=True)


def _user(row: dict[str, Any]) -> list[str]:
    sources = sum(row[f"sources_{state}_at_end"] for state in ("transmitting", "connecting", "thinking"))
    return [
        row["label"],
        str(sources),
        rounded(row["sources_transmitting"], lambda value: f"{value:.4g}"),
        str(row["transfers_completed"]),
        str(row["connections_failed"]),
        str(row["packets_sent"]),
        str(row["packets_retransmitted"]),
        rounded(row["rtt_mean_s"], _time),
    ]


def _datagrams(row: dict[str, Any]) -> list[str]:
    return [
        row["label"],
        str(row["packets_sent"]),
        str(row["packets_delivered"]),
        str(row["packets_dropped"]),
        str(row["packets_in_network_at_end"]),
        rounded(row["latency_mean_s"], _time),
        rounded(row["hops_mean"], lambda value: f"{value:.4g}"),
    ]


def _flow(row: dict[str, Any]) -> list[str]:
    return [
        row["label"],
        rounded(row["goodput_bps"], units.format_rate),
        str(row["packets_sent"]),
        str(row["packets_dropped"]),
        str(row["packets_retransmitted"]),
        rounded(row["latency_mean_s"], _time),
        rounded(row["jitter_mean_s"], _time),
        limit(row),
    ]


def _processor(row: dict[str, Any]) -> list[str]:
    return [
        row["node"],
        rounded(row["load_true"], _percent),
        rounded(row["load_reported"], _percent),
        str(row["packets_served"]),
        str(row["dropped_input_ring"]),
        str(row["dropped_output_ring"]),
    ]


def _link(row: dict[str, Any]) -> list[str]:
    return [
        row["link"],
        rounded(row["utilization"], _percent),
        str(row["packets_in"]),
        str(row["packets_dropped"]),
        rounded(row["queue_mean_packets"], lambda value: f"{value:.4g}"),
        str(row["queue_max_packets"]),
    ]
