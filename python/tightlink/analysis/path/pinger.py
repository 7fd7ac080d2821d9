r"""Tables of PingER (SLAC's archive of pings between some hundred hosts): round trips, losses and more over time.

A file holds one metric: a line with the periods, then a line for each pair of monitoring host and remote host with a
value for each period, ``.`` where nothing was measured. Periods are hours of a day, days, months or years, in universal
time.

Known, from the pages of the project: names such as ``average_rtt-100-by-node-2014-09-10.txt.gz`` (metric, bytes of a
ping, nodes or sites, day); columns separated by blanks in the archive's files of hours, by tabs in what
``pingtable.pl?format=tsv`` gives; hours 0 to 23 in the first line of the former; hosts that are repeated behind the
values; round trips in milliseconds, losses in percent. Assumed, and read leniently: what the first line of the latter
calls its first columns; how it writes days and months (2004-02-22, 22Feb04, Feb04, Feb 2004 and the like); throughput
in kbit/s, other times in milliseconds, other shares in percent.

Example:
    >>> import tempfile
    >>> from pathlib import Path
    >>> name = "packet_loss-100-by-node-2014-09-10.txt"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / name
    ...     _ = file.write_text("0 1 2\npinger.example www.example 0.000 . 10.000 pinger.example www.example\n")
    ...     table = read([file])
    >>> table.select("path", "time", "loss").rows()[2]
    ('pinger.example to www.example', '2014-09-10T02:00', 0.1)
"""

from __future__ import annotations

import gzip
import io
import itertools
import math
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from tightlink.analysis.path.response import mathis
from tightlink.errors import TightlinkError, did_you_mean, one_of, show
from tightlink.files import content, read_bounded
from tightlink.lazy import pl

#: By PingER's name: the column, and the factor to its unit.
METRICS: Final = {
    "average_rtt": ("rtt_mean_s", 1e-3),
    "minimum_rtt": ("rtt_min_s", 1e-3),
    "maximum_rtt": ("rtt_max_s", 1e-3),
    "packet_loss": ("loss", 0.01),
    "minimum_packet_loss": ("loss_min", 0.01),
    "conditional_loss_probability": ("loss_conditional", 0.01),
    "throughput": ("throughput_bps", 1e3),
    "ipdv": ("ipdv_s", 1e-3),
    "iqr": ("iqr_s", 1e-3),
    "mos": ("mos", 1.0),
    "alpha": ("alpha", 1.0),
    "unreachability": ("unreachability", 0.01),
    "unpredictability": ("unpredictability", 1.0),
    "zero_packet_loss_frequency": ("lossless", 0.01),
    "duplicate_packets": ("duplicates", 0.01),
    "out_of_order_packets": ("out_of_order", 0.01),
}
#: The segment of PingER's own throughput.
SEGMENT_BYTES: Final = 1460
_KEYS: Final = ("path", "source", "destination", "ping_bytes", "time", "time_s")
_MISSING: Final = frozenset({".", "", "-", "nan", "NaN"})
_GZIP: Final = b"\x1f\x8b"
_HOSTS: Final = 2
_SIZES: Final = ("100", "1000")
#: How periods are written, besides as plain numbers.
_DATES: Final = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%Y-%m", "%Y/%m"),
    *("%d%b%y", "%d-%b-%y", "%d%b%Y", "%d-%b-%Y", "%d %b %Y"),
    *("%b%y", "%b-%y", "%b%Y", "%b-%Y", "%b %Y", "%b_%Y", "%b %y"),
)
_LAST_HOUR: Final = 23
_LAST_DAY: Final = 31
_LAST_MONTH: Final = 12
_FIRST_YEAR: Final = 1990


class PingerError(TightlinkError):
    """A file that is no table of PingER; the message names file and line."""


@dataclass(frozen=True)
class _About:
    """What the name of a file tells."""

    metric: str
    ping_bytes: int | None
    day: tuple[int, ...]
    """Year, month and day, as far as they are told."""


def read(files: Iterable[Path], *, metric: str | None = None, date: str | None = None) -> pl.DataFrame:
    """Tables of one or more metrics as one.

    Args:
        files: As PingER publishes them, compressed by gzip or not.
        metric: That of all files, such as ``"average_rtt"``; without it their names tell.
        date: Year, month or day of all files, such as ``"2014-09-10"``; without it their names tell.

    Returns:
        A row for each pair of hosts, size of pings and period, in the order of the files and of time: ``path``
        ("SOURCE to DESTINATION", with the size where there are several), ``source``, ``destination``, ``ping_bytes``,
        ``time`` and ``time_s`` (begin of the period; seconds since 1970), and a column for each metric in SI units
        (`METRICS`); null where nothing was measured.
    """
    given = None if date is None else _date(date)
    parts = [_long(file, _about(file, metric, given)) for file in files]
    long = pl.concat(parts).unique(maintain_order=True)
    keys = [key for key in _KEYS if key != "path"]
    twice = long.filter(long.select(*keys, "column").is_duplicated())
    if twice.height:
        row = twice.row(0, named=True)
        values = " and ".join(f"{value:g}" for value in twice.filter(time=row["time"])["value"][:2])
        raise PingerError(
            f"{row['source']} {row['destination']} at {row['time']}: {row['column']} is {values} in files of one metric"
        )
    wide = long.pivot("column", index=keys, values="value", maintain_order=True)
    sizes = wide["ping_bytes"].n_unique() > 1
    path = pl.format("{} to {}", "source", "destination")
    named = pl.when(pl.lit(sizes) & pl.col("ping_bytes").is_not_null())
    sized = named.then(pl.format("{}, {} B", path, "ping_bytes")).otherwise(path)
    order = wide.with_columns(path=sized).with_row_index("order")
    ranked = order.with_columns(pl.col("order").min().over("path")).sort("order", "time_s")
    columns = [column for column, _ in METRICS.values() if column in ranked.columns]
    return ranked.select(*_KEYS, *columns)


def with_mathis(table: pl.DataFrame) -> pl.DataFrame:
    """The table with ``mathis_bps``: what TCP gets at most at that loss, 1460 B · 8 / (round trip · √loss).

    PingER derives its throughput like this (M. Mathis et al., CCR 27(3), 1997, with C = 1). Null where no loss was
    measured: the formula has no bound there.
    """
    for column in ("rtt_mean_s", "loss"):
        if column not in table.columns:
            names = [name for name, (known, _) in METRICS.items() if known == column]
            raise PingerError(f"no {column}: expected a file of {names[0]} beside the others")
    bounds = [
        SEGMENT_BYTES * 8 / rtt_s * mathis(loss, 1.0) if rtt_s and loss else None
        for rtt_s, loss in table.select("rtt_mean_s", "loss").iter_rows()
    ]
    return table.with_columns(pl.Series("mathis_bps", bounds, dtype=pl.Float64))


def filled(table: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The table with its gaps filled by straight lines between neighbours in time, and how many values that were.

    What is missing before the first value of a path and after its last stays missing.
    """
    columns = [column for column in table.columns if column not in _KEYS]
    full = table.with_columns(pl.col(columns).interpolate_by("time_s").over("path"))
    before, after = (frame.select(pl.col(columns).null_count()).row(0) for frame in (table, full))
    return full, sum(before) - sum(after)


def _about(file: Path, metric: str | None, day: tuple[int, ...] | None) -> _About:
    # What is saved from a query has its parameters in its name; archives have folders named after the metric.
    for name in (file.name, file.parent.name):
        text = name.lower()
        words = re.split(r"[^a-z_]+", text)
        found = next((known for known in sorted(METRICS, key=len, reverse=True) if known in words), None)
        if found is not None:
            break
    if metric is not None and metric.lower() not in METRICS:
        raise PingerError(f"no such metric: {metric}: expected {one_of(METRICS)}{did_you_mean(metric, METRICS)}")
    known = (metric or found or "").lower()
    if not known:
        raise PingerError(f"{file}: its name tells no metric: expected metric, or --metric, with {one_of(METRICS)}")
    of_size = re.compile(rf"(?:^|[-=])({'|'.join(reversed(_SIZES))})(?:[-&.]|$)")
    # Of the name that tells the metric or, where an option or the folder does, of the file's own.
    size = of_size.search(text) or of_size.search(file.name.lower())
    return _About(known, int(size[1]) if size else None, _told(file.name) if day is None else day)


def _told(name: str) -> tuple[int, ...]:
    """Year, month and day of a name."""
    query = [re.search(rf"(?:^|[?&]){part}=(\d+)", name) for part in ("year", "month", "day")]
    if query[0]:
        return tuple(int(part[1]) for part in itertools.takewhile(bool, query) if part)
    found = re.search(r"(?<!\d)((?:19|20)\d\d)(?:-(\d\d)(?:-(\d\d))?)?(?!\d)", name)
    return tuple(int(part) for part in found.groups() if part) if found else ()


def _date(text: str) -> tuple[int, ...]:
    found = re.fullmatch(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", text)
    if not found:
        raise PingerError(f"date {show(text)}: expected a year, a month or a day, such as 2014-09-10")
    return tuple(int(part) for part in found.groups() if part)


def _long(file: Path, about: _About) -> pl.DataFrame:
    """A row for each value of a file."""
    every = enumerate(_text(file).splitlines(), 1)
    lines = [(number, line) for number, line in every if line.strip() and not line.startswith("#")]
    if not lines:
        raise PingerError(f"{file}: expected a table of PingER, and the file is empty")
    tabs = "\t" in lines[0][1]
    first, times = _header(file, _cells(lines[0][1], tabs=tabs), about.day)
    column, factor = METRICS[about.metric]
    rows: list[tuple[str, str, float, float | None]] = []
    for number, line in lines[1:]:
        cells = _cells(line, tabs=tabs)
        if len(cells) < first + len(times):
            raise PingerError(
                f"{file}: line {number}: {len(cells)} columns: expected at least {first + len(times)}: "
                f"two hosts and {len(times)} periods"
            )
        values = (_value(file, number, cell, factor) for cell in cells[first : first + len(times)])
        rows += [(cells[0], cells[1], *pair) for pair in zip(times, values, strict=True)]
    types = {"source": pl.String, "destination": pl.String, "time_s": pl.Float64, "value": pl.Float64}
    frame = pl.DataFrame(rows, schema=types, orient="row")
    at = pl.from_epoch(pl.col("time_s").cast(pl.Int64)).dt.strftime("%Y-%m-%dT%H:%M")
    ping_bytes = pl.lit(about.ping_bytes, dtype=pl.Int64)
    return frame.select(
        "source", "destination", "time_s", "value", time=at, ping_bytes=ping_bytes, column=pl.lit(column)
    )


def _text(file: Path) -> str:
    try:
        text = content(file)
        if text.startswith(_GZIP):
            text = read_bounded(gzip.GzipFile(fileobj=io.BytesIO(text)), file)
        return text.decode("utf-8-sig")
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error):
        raise PingerError(f"{file}: expected a table of PingER: text, compressed by gzip or not") from None


def _cells(line: str, *, tabs: bool) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if tabs else line.split()


def _header(file: Path, cells: Sequence[str], day: tuple[int, ...]) -> tuple[int, list[float]]:
    """The column of the first value, and the begins of the periods."""
    begins: list[float] = []
    first = None
    for place, cell in enumerate(cells):
        begin = _begin(cell, day)
        if begin is None:
            if begins:
                # Hosts again, and what is known of them.
                break
            continue
        first = place if first is None else first
        begins.append(begin)
    if not begins or first == 1:
        hint = "" if day else "; if they are hours or days, its name, or date, or --date, must tell of which day"
        raise PingerError(f"{file}: its first line has no periods: expected two hosts and hours, days or months{hint}")
    if any(later <= sooner for sooner, later in itertools.pairwise(begins)):
        raise PingerError(f"{file}: its first line: expected periods in the order of time")
    return max(first or 0, _HOSTS), begins


def _begin(cell: str, day: tuple[int, ...]) -> float | None:
    """When a period begins, in seconds since 1970."""
    if re.fullmatch(r"\d{1,4}", cell):
        return _numbered(int(cell), day)
    for written in _DATES:
        try:
            return datetime.strptime(cell, written).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None


def _numbered(number: int, day: tuple[int, ...]) -> float | None:
    """A year; or an hour of a day, a day of a month, a month of a year, whichever the name of the file tells of."""
    try:
        match day:
            case _ if number >= _FIRST_YEAR:
                begin = datetime(number, 1, 1, tzinfo=UTC)
            case (year, month, date) if number <= _LAST_HOUR:
                begin = datetime(year, month, date, tzinfo=UTC) + timedelta(hours=number)
            case (year, month) if number <= _LAST_DAY:
                begin = datetime(year, month, number, tzinfo=UTC)
            case (year,) if number <= _LAST_MONTH:
                begin = datetime(year, number, 1, tzinfo=UTC)
            case _:
                return None
    except ValueError:
        return None
    return begin.timestamp()


def _value(file: Path, number: int, cell: str, factor: float) -> float | None:
    if cell in _MISSING:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise PingerError(f"{file}: line {number}: {show(cell)}: expected a number, or . where nothing was measured")
    return value * factor
