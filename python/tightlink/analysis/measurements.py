"""Anyone's measurements as tables that the analyses take: units, third quantities, checks.

Columns are named as everywhere in Tightlink, with the unit at the end: ``packet_bytes``,
``packets_per_s``, ``throughput_bps``, ``goodput_bps``, ``offered_bps``, ``offered_packets_per_s``,
``load`` and ``loss`` (shares from 0 to 1). Common other units are converted: ``throughput_kbit_per_s``,
``throughput_mbit_per_s``, ``load_percent``. Other columns are left alone.

Example:
    >>> frame = pl.DataFrame({"packet_bytes": [100, 1000], "throughput_mbit_per_s": [20.0, 96.0]})
    >>> sizes_and_rates(frame)["packets_per_s"].to_list()
    [25000.0, 12000.0]
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar
from warnings import warn

from tightlink.analysis.columns import SPELLINGS, misspelt
from tightlink.analysis.computable import unusable
from tightlink.analysis.csv_files import CsvError, table
from tightlink.capture import is_capture
from tightlink.checksums import DamagedError, read_parquet
from tightlink.errors import TightlinkError, TightlinkWarning, closest, one_of, show
from tightlink.experiment.folder import MARKER, Experiment
from tightlink.files import content
from tightlink.lazy import pl
from tightlink.run import holds_run

Found = TypeVar("Found")

#: Column of the frames that `read` returns: the line of the file, for messages.
LINE: Final = "_line"
_BITS: Final = 8
#: No IP packet is larger.
_LARGEST_PACKET: Final = 65_535
#: How far throughput may be from size × rate: measurements are printed with few digits.
_ROUNDING: Final = 0.05
_FACTORS: Final = {
    1e3: "1000 times",
    1e-3: "a 1000th of",
    1e6: "1,000,000 times",
    1e-6: "a 1,000,000th of",
    _BITS: "8 times",
    1 / _BITS: "an eighth of",
}
#: What other programs write where a value is missing.
_MISSING: Final = frozenset({"", "na", "n/a", "nan", "nd", "nil", "none", "null"})
_RUNS: Final = "runs.parquet"


class MeasurementError(TightlinkError):
    """A table of measurements that cannot be analysed; its text is one sentence for the user."""


@contextmanager
def of_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Within it, what is wrong with a table is said with the name of its file."""
    try:
        yield
    except MeasurementError as error:
        raise MeasurementError(f"{path}: {error}") from None


def named(frame: pl.DataFrame, by: str) -> pl.DataFrame:
    """The rows with a name in a column: the others are measurements of something else."""
    return frame.filter(pl.col(by).cast(pl.String).str.strip_chars() != "")


def of_each(frame: pl.DataFrame, by: str, find: Callable[[pl.DataFrame], Found]) -> dict[str, Found]:
    """What is found in the rows of each name of a column; one without a name where there is no such column."""
    if by not in frame.columns:
        return {"": find(frame)}
    found = {}
    for (name,), part in named(frame, by).group_by(by, maintain_order=True):
        try:
            found[str(name)] = find(part)
        except MeasurementError as error:
            raise MeasurementError(f"{by} {name}: {error}") from None
    if not found:
        raise MeasurementError(f"{by}: expected the name of a {by} in some row")
    return found


def read(path: str | os.PathLike[str]) -> pl.DataFrame:
    r"""Read a table of measurements: a CSV file, a Parquet file, or the folder of a study or sweep.

    In CSV files lines that begin with ``#`` are comments, and an empty cell is a missing value. Semicolons or tabs
    between columns, decimal commas, UTF-16 and Windows-1252 are read where nothing else can be meant.

    Args:
        path: The file or the folder.

    Returns:
        A row for each measurement, in SI units.

    Raises:
        MeasurementError: The file cannot be read or is no table of numbers; the message names file, line
            and column.

    Warns:
        TightlinkWarning: It was read as something else than commas, decimal points and UTF-8.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "link.csv"
        ...     _ = file.write_text("packet_bytes,throughput_mbit_per_s\n100,20\n1000,96\n")
        ...     tl.analyze.read_measurements(file)["throughput_bps"].to_list()
        [20000000.0, 96000000.0]
    """
    file = Path(path)
    if file.is_dir():
        file = file / _RUNS
        if not file.exists():
            if (Path(path) / MARKER).exists():
                Experiment(path)  # It says that the sweep is not finished.
            one = ", and it is that of one run; tightlink sweep makes many" if holds_run(path) else ""
            raise MeasurementError(f"{path}: expected a CSV or Parquet file, or a folder with {_RUNS}{one}")
    with of_file(file):
        try:
            return in_si(_parquet(file) if file.suffix == ".parquet" else _csv(file))
        except OSError as error:
            raise MeasurementError(f"cannot be read: {(error.strerror or str(error)).lower()}") from None


def read_plain(path: str | os.PathLike[str]) -> pl.DataFrame:
    """The same table without the lines of its file."""
    return read(path).drop(LINE, strict=False)


def in_si(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the columns that are known converted to SI and named accordingly.

    Raises:
        MeasurementError: Two columns hold the same quantity, or a column holds no numbers.
    """
    names = {name: SPELLINGS[name] for name in frame.columns if name in SPELLINGS}
    for name, (canonical, _) in names.items():
        twice = next((other for other in names if other != name and names[other][0] == canonical), None)
        if twice is not None:
            raise MeasurementError(f"{name} and {twice} hold the same: expected one of the two columns")
        if not frame[name].dtype.is_numeric() and not frame[name].dtype == pl.Null:
            raise MeasurementError(f"{name}: expected a column of numbers")
    return frame.select(
        (pl.col(name).cast(pl.Float64) * names[name][1]).alias(names[name][0]) if name in names else pl.col(name)
        for name in frame.columns
    )


def checked(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The frame in SI, after a check that these columns are there and hold what they can hold."""
    table = in_si(frame)
    for name in columns:
        if name not in table.columns:
            raise MeasurementError(_missing(name, frame.columns))
        least, most, what, suggestion = _range(name)
        for place, value in enumerate(table[name]):
            if value is None or math.isnan(value):
                raise MeasurementError(f"{at(table, place)}: {name} is {'empty' if value is None else value}: {what}")
            if not least <= value <= most or math.isinf(value) or (value == 0 and name.endswith("_bytes")):
                ending = f"; did you mean {suggestion}?" if suggestion and value > most else ""
                raise MeasurementError(f"{at(table, place)}: {name} = {value:g}: {what}{ending}")
        if wrong := unusable(table[name].cast(pl.Float64).to_numpy()):
            raise MeasurementError(f"{name}: {wrong}")
    return table


def sizes_and_rates(
    frame: pl.DataFrame, *, size: str = "packet_bytes", rate: str = "packets_per_s", throughput: str = "throughput_bps"
) -> pl.DataFrame:
    """Packet size, packet rate and throughput, of which two must be given: T = p · f.

    The throughput counts the same bytes as the size does, as "goodput_bps" beside "payload_bytes". The frame has
    ``packet_bytes``, ``packets_per_s`` and ``throughput_bps`` added or replaced.

    Raises:
        MeasurementError: A column is missing, a value is wrong, or the three contradict each other.
    """
    # Whatever is spelt so that it must not be guessed at is refused before it is passed over.
    for column in frame.columns:
        meant = misspelt(column, (size, rate, throughput))
        if meant is not None:
            raise MeasurementError(f"{column}: unknown or ambiguous unit; did you mean {meant}?")
    names = in_si(frame).columns
    given = [name for name in (rate, throughput) if name in names]
    if not given:
        raise MeasurementError(_missing(f"{throughput} or {rate}", frame.columns, near=(throughput, rate)))
    table = checked(frame, size, *given)
    bits = pl.col(size) * _BITS
    rates = pl.col(rate) if rate in given else pl.col(throughput) / bits
    bps = pl.col(throughput) if throughput in given else pl.col(rate) * bits
    table = table.with_columns(packet_bytes=pl.col(size), packets_per_s=rates, throughput_bps=bps)
    if len(given) > 1:
        _agree(table, rate, throughput)
    elif (table["packets_per_s"] < 1).all():
        larger = f"{throughput.removesuffix('_bps')}_mbit_per_s" if given[0] == throughput else "kpackets_per_s"
        raise MeasurementError(f"{given[0]}: less than one packet/s in every row; did you mean {larger}?")
    return table


def _agree(table: pl.DataFrame, rate: str, throughput: str) -> None:
    """Refuse a throughput that is not size × rate: another unit, or other headers counted."""
    ratios = (table["throughput_bps"] / (table["packet_bytes"] * _BITS * table["packets_per_s"])).to_list()
    for factor, words in _FACTORS.items():
        if all(abs(ratio / factor - 1) <= _ROUNDING for ratio in ratios):
            raise MeasurementError(
                f"{throughput} is {words} packet size × {rate} × 8 bit: expected the units that the names say"
            )
    for place, ratio in enumerate(ratios):
        if abs(ratio - 1) > _ROUNDING:
            given = table.select(pl.col("packet_bytes") * _BITS * pl.col("packets_per_s")).item(place, 0)
            raise MeasurementError(
                f"{at(table, place)}: {throughput} = {table['throughput_bps'][place]:g} is not packet size × {rate} "
                f"× 8 bit = {given:g}: expected that both count the same headers"
            )


def _missing(name: str, columns: Sequence[str], near: Sequence[str] = ()) -> str:
    shown = [column for column in columns if column != LINE]
    for wanted in near or (name,):
        for column in shown:
            meant = misspelt(column, (wanted,))
            if meant is not None:
                return f"{column}: unknown or ambiguous unit; did you mean {meant}?"
        like = closest(wanted, [column for column in shown if column not in SPELLINGS])
        if like is not None:
            return f"no column {name}, but {like}; did you mean {wanted}?"
    return f"no column {name} among {one_of(shown).removeprefix('one of ') or 'none'}"


def _range(name: str) -> tuple[float, float, str, str | None]:
    """Least and greatest value of a column, what was expected, and what a greater one probably is."""
    if name.endswith("_bytes"):
        return 0, _LARGEST_PACKET, f"expected a packet size up to {_LARGEST_PACKET} B", None
    if name.startswith(("load", "loss")):
        return 0, 1, "expected a share from 0 to 1", f"{name}_percent"
    return 0, math.inf, "expected a finite number that is not negative", None


def at(table: pl.DataFrame, place: int) -> str:
    """Where a row stands, for messages: the line of its file, or its place."""
    return f"line {table[LINE][place]}" if LINE in table.columns else f"row {place + 1}"


def _parquet(file: Path) -> pl.DataFrame:
    try:
        return read_parquet(file).fill_nan(None)
    except DamagedError as error:
        raise MeasurementError(f"expected a Parquet file: {error.reason}") from None


def _csv(file: Path) -> pl.DataFrame:
    try:
        found = table(content(file))
    except CsvError as error:
        made = "; it is a capture, of which tightlink capture -o makes tables" if is_capture(file) else ""
        raise MeasurementError(f"{error}{made}") from None
    if found.read_as:
        warn(f"{file}: read {', '.join(found.read_as)}", TightlinkWarning, stacklevel=2)
    columns: dict[str, list[Any]] = {
        name: [row[place] for row in found.rows] for place, name in enumerate(found.header)
    }
    for name in found.header:
        if name in SPELLINGS:
            columns[name] = [_number(cell, name, line) for cell, line in zip(columns[name], found.lines, strict=True)]
    return pl.DataFrame({**columns, LINE: found.lines})


def _number(cell: str, name: str, number: int) -> float | None:
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        missing = "; where there is none, the cell is empty" if cell.strip("#-").casefold() in _MISSING else ""
        raise MeasurementError(f"line {number}: {name} = {show(cell)}: expected a number{missing}")
    return value
