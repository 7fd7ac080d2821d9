"""Stored files that carry a checksum of themselves: Parquet tables, files of runs, JSON objects.

A Parquet file has it in its metadata, under the key ``sha256``: the hash of the file with zeros in its place. In the
file of a run it leaves out the tables, each of which has its own hash there, so that only what is read is hashed.
A JSON object has it under the key ``checksum``: the hash of the others.

Example:
    >>> import pathlib, tempfile
    >>> import polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_table(pathlib.Path(folder) / "rates.parquet", pl.DataFrame({"rate_bps": [1e6, 2e6]}))
    ...     before = read_parquet(file)["rate_bps"].to_list()
    ...     content = bytearray(file.read_bytes())
    ...     content[40] ^= 1
    ...     _ = file.write_bytes(content)
    ...     try:
    ...         read_parquet(file)
    ...     except DamagedError as error:
    ...         print(before, error.reason)
    [1000000.0, 2000000.0] its content does not match its checksum
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, TypeAlias

from tightlink.errors import TightlinkError
from tightlink.files import check_decoded, whole, write_text
from tightlink.lazy import _core, pl

if TYPE_CHECKING:
    import duckdb

#: Reads the bytes from one place to another.
_Read: TypeAlias = "Callable[[int, int], bytes | memoryview]"

_CHECKSUM: Final = "checksum"
_DIGITS: Final = 64
_NONE: Final = b"0" * _DIGITS
#: Metadata of a Parquet file in which a checksum is still to be filled in.
_METADATA: Final = {"sha256": _NONE.decode()}
#: What stands before the digits in a Parquet file: a key and the length of its value, as Thrift's compact protocol
#: writes them.
_MARK: Final = b"\x06sha256\x18\x40"
_TABLE: Final = re.compile(rb";(\w+) (\d+) (\d+) ([0-9a-f]{64})")
_MAGIC: Final = b"PAR1"
#: Length of the footer and magic, which end a Parquet file.
_ENDING: Final = 8
_CHUNK: Final = 1 << 20
#: Rows of a row group; without a number polars cuts tables where its threads happen to be.
_ROWS: Final = 122_880
_NO_PARQUET: Final = "it is no Parquet file that can be read"
#: What makes a name a pattern to DuckDB.
_PATTERN: Final = re.compile(r"([*?[])")
_SYSTEM: Final = re.compile(r"\(os error (\d+)\)")


class DamagedError(TightlinkError):
    """A stored file that does not hold what was written; its advice comes beside that to restore it from a copy."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        reason: str,
        advice: str = "make it again by what wrote it",
    ) -> None:
        self.path = Path(path)
        self.reason = reason
        super().__init__(f"{path}: damaged: {reason}; restore the file, or {advice}")

    @property
    def mended(self) -> str:
        """What to say where the file is made again at once."""
        return f"{self.path}: damaged: {self.reason}; made again"


class _Layout(NamedTuple):
    """Where the checksums of a Parquet file are, and what each is of."""

    size: int
    footer_at: int
    footer: bytes
    place: int
    """Of the checksum's digits in the footer; −1 without one."""
    tables: dict[str, tuple[int, int, str]]
    """Of a run's file: where each table begins and ends, and its hash."""


def sealed(content: bytes) -> bytes:
    """The content of a Parquet file with its checksum filled in."""
    view = memoryview(content)
    layout = _layout(lambda start, end: view[start:end], len(content))
    digits = _digest(lambda start, end: view[start:end], layout)
    place = layout.footer_at + layout.place
    return b"".join([view[:place], digits, view[place + _DIGITS :]])


def seal(path: Path) -> None:
    """Fill in the checksum of a Parquet file that was just written."""
    with path.open("r+b") as file:
        read = _reader(file)
        layout = _layout(read, os.fstat(file.fileno()).st_size)
        digits = _digest(read, layout)
        file.seek(layout.footer_at + layout.place)
        file.write(digits)


def check(path: Path, tables: Collection[str] = (), *, needed: bool = False) -> Collection[str]:
    """Compare a Parquet file with its checksum.

    Args:
        path: Of the file.
        tables: Of the file of a run: the tables that are compared with their checksums as well, as far as they are
            there.
        needed: Whether a file without a checksum is damaged; otherwise it is another program's.

    Returns:
        The names of the tables in the file of a run.

    Raises:
        DamagedError: They differ, or this is no Parquet file.
    """
    check_decoded(path)
    with _opening(path), path.open("rb") as file:
        read = _reader(file)
        try:
            layout = _layout(read, os.fstat(file.fileno()).st_size)
        except ValueError as error:
            raise DamagedError(path, str(error)) from None
        if layout.place < 0:
            if needed:
                raise DamagedError(path, "it has no checksum, as what older versions of Tightlink wrote")
            return ()
        known = layout.footer[layout.place : layout.place + _DIGITS]
        if known != _digest(read, layout):
            raise DamagedError(path, "its content does not match its checksum")
        for name in layout.tables.keys() & set(tables):
            start, end, checksum = layout.tables[name]
            if _hashed(read, [(start, end)]).hexdigest() != checksum:
                raise DamagedError(path, f"its table {name} does not match its checksum")
        return layout.tables.keys()


def read_parquet(path: Path, *, needed: bool = False) -> pl.DataFrame:
    """Read a Parquet file after a look at its checksum; where one is ``needed``, a file without is damaged.

    Raises:
        DamagedError: It is damaged, or no Parquet file.
    """
    check(path, needed=needed)
    with _parsing(path):
        return pl.read_parquet(as_named(path), glob=False)


def scan_parquet(path: Path, columns: Collection[str] = (), *, checked: bool = False) -> pl.LazyFrame:
    """A Parquet file as a lazy frame, after a look at its checksum, if it has one.

    Args:
        path: Of the file.
        columns: Those that it must have.
        checked: Whether it was compared with its checksum already.

    Raises:
        DamagedError: It is damaged, no Parquet file, or a table with other columns.
    """
    if not checked:
        check(path)
    with _parsing(path):
        frame = pl.scan_parquet(as_named(path), glob=False)
        names = frame.collect_schema().names()
    for column in columns:
        if column not in names:
            raise DamagedError(path, f"it has no column {column}")
    return frame


def as_named(path: str | os.PathLike[str]) -> str:
    """The path under which Polars finds a file of this name, if no pattern is asked for.

    To it ``~`` is a home, and names are UTF-8, whatever the locale has Python take them for.
    """
    return os.fsencode(Path(path).absolute()).decode(errors="surrogateescape")


def in_duckdb(path: Path) -> str:
    """The pattern by which DuckDB finds the file of this name alone, although its name may be a pattern itself.

    >>> in_duckdb(Path("/results/a*[1]/flows.parquet"))
    '/results/a[*][[]1]/flows.parquet'
    """
    return _PATTERN.sub(r"[\1]", as_named(path))


def view_parquet(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Make a view of a Parquet file in DuckDB, of the file's name without its ending.

    Raises:
        DamagedError: It is no Parquet file.
    """
    import duckdb

    try:
        connection.read_parquet(in_duckdb(path)).create_view(path.stem)
    except duckdb.Error:
        raise DamagedError(path, _NO_PARQUET) from None


def write_table(path: Path, table: pl.DataFrame | pl.LazyFrame | Mapping[str, Any]) -> Path:
    """Write a frame, or arrays and lists by the names of columns, as a Parquet file with its checksum.

    The file appears complete or not at all, and equal tables are equal bytes.
    """
    with whole(path) as temporary:
        if isinstance(table, Mapping):
            _core.write_parquet(str(temporary), table)
        else:
            _write_frame(temporary, table)
        seal(temporary)
    return path


def _write_frame(file: Path, table: pl.DataFrame | pl.LazyFrame) -> None:
    try:
        if isinstance(table, pl.DataFrame):
            table.write_parquet(as_named(file), metadata=_METADATA, row_group_size=_ROWS)
        else:
            table.sink_parquet(as_named(file), metadata=_METADATA, row_group_size=_ROWS)
    except pl.exceptions.PolarsError as error:
        system = _SYSTEM.search(str(error))
        if system is None:
            raise
        raise OSError(int(system[1]), os.strerror(int(system[1])), str(file)) from None


def write_json(path: Path, value: Mapping[str, Any]) -> Path:
    """Write a JSON object with its checksum; the file appears complete or not at all."""
    return write_text(path, json.dumps(with_checksum(value), indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path, *, needed: bool = True) -> dict[str, Any]:
    """Read a JSON object that was written with its checksum; where one is ``needed``, an object without is damaged.

    Raises:
        DamagedError: It does not match its checksum, or is something else.
    """
    value = parsed_json(path)
    try:
        return without_checksum(value, needed=needed)
    except ValueError as error:
        raise DamagedError(path, str(error)) from None


def parsed_json(path: Path) -> Any:
    """Read a JSON file of any shape.

    Raises:
        DamagedError: It is none.
    """
    with _opening(path):
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            raise DamagedError(path, "it is not valid JSON") from None


def with_checksum(value: Mapping[str, Any]) -> dict[str, Any]:
    """The object with its checksum, under its own key at the end.

    >>> with_checksum({"seed": 7})
    {'seed': 7, 'checksum': 'beced1fe696351bb996169a4f1987ca1'}
    """
    return {**value, _CHECKSUM: _checksum(value)}


def without_checksum(value: Any, *, needed: bool = True) -> dict[str, Any]:
    """The object as it was before `with_checksum`.

    Raises:
        ValueError: It does not match its checksum, or is something else.
    """
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004  # of the file, not of the caller
    found = {key: item for key, item in value.items() if key != _CHECKSUM}
    if _CHECKSUM not in value:
        if needed:
            raise ValueError("it has no checksum, as what older versions of Tightlink wrote")
    elif value[_CHECKSUM] != _checksum(found):
        raise ValueError("its content does not match its checksum")
    return found


def _checksum(value: Mapping[str, Any]) -> str:
    # Keys sort as the texts that they will be.
    text = json.dumps(json.loads(json.dumps(value)), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[: _DIGITS // 2]


def of_text(text: str) -> str:
    """The checksum of a text that stands in its own file."""
    return hashlib.sha256(text.encode()).hexdigest()[: _DIGITS // 2]


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except IsADirectoryError:
        raise DamagedError(path, "it is a folder, not a file") from None


@contextmanager
def _parsing(path: Path) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise DamagedError(path, _NO_PARQUET) from None


def _reader(file: BinaryIO) -> _Read:
    def read(start: int, end: int) -> bytes:
        file.seek(start)
        return file.read(end - start)

    return read


def _layout(read: _Read, size: int) -> _Layout:
    """The layout of a Parquet file.

    Raises:
        ValueError: It is none.
    """
    if size < _ENDING + len(_MAGIC):
        raise ValueError("it is empty" if not size else "it is no Parquet file")
    ending = bytes(read(size - _ENDING, size))
    footer_at = size - _ENDING - int.from_bytes(ending[:4], "little")
    if ending[4:] != _MAGIC or footer_at < len(_MAGIC):
        raise ValueError("it is cut off, or no Parquet file")
    footer = bytes(read(footer_at, size))
    place = footer.rfind(_MARK)
    tables = {
        name.decode(): (int(start), int(end), checksum.decode())
        for name, start, end, checksum in _TABLE.findall(footer, 0, max(place, 0))
    }
    return _Layout(size, footer_at, footer, place + len(_MARK) if place >= 0 else -1, tables)


def _digest(read: _Read, layout: _Layout) -> bytes:
    """The digits of a file's checksum."""
    if layout.place < 0:
        raise ValueError("there is no place for a checksum")
    ranges, begin = [], 0
    for start, end, _ in sorted(layout.tables.values()):
        ranges.append((begin, start))
        begin = end
    hashed = _hashed(read, [*ranges, (begin, layout.footer_at)])
    hashed.update(layout.footer[: layout.place] + _NONE + layout.footer[layout.place + _DIGITS :])
    return hashed.hexdigest().encode()


def _hashed(read: _Read, ranges: Sequence[tuple[int, int]]) -> hashlib._Hash:
    hashed = hashlib.sha256()
    for start, end in ranges:
        for at in range(start, end, _CHUNK):
            hashed.update(read(at, min(at + _CHUNK, end)))
    return hashed
