r"""CSV files as spreadsheets and other programs write them: separators, decimal commas, encodings.

Programs of countries with a decimal comma separate columns by semicolons, Excel's text has tabs, and older programs
write Windows-1252. What is unmistakable is read, and said; what may mean two things is refused.

Example:
    >>> found = table("Größe;Rate\n100;1,5\n200;0,25\n".encode("cp1252"))
    >>> found.header, found.rows
    (['Größe', 'Rate'], [['100', '1.5'], ['200', '0.25']])
    >>> found.read_as
    ('as Windows-1252, not UTF-8', 'with semicolons between columns', 'with decimal commas')
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tightlink.errors import show

_SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs"}
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
#: How workbooks of Excel begin, which are archives, and those before 2007.
_WORKBOOKS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
#: Excel writes and reads the separator so, above the names of the columns.
_SEPARATOR_LINE: Final = re.compile(r'"?sep=(.)"?')
_LINES: Final = re.compile(r"\r\n|\r|\n")
#: What no text has, in any encoding.
_BINARY: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_POINTS: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMAS: Final = re.compile(r"[+-]?(\d{1,3}([.\u0020\u00a0\u202f'’]\d{3})+|\d*)(,\d+)?([eE][+-]?\d+)?")
#: One thousand two hundred and thirty-four, or a little more than one.
_EITHER: Final = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_GROUPED: Final = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
_BETWEEN_THOUSANDS: Final = re.compile(r"[.\u0020\u00a0\u202f'’]")
_CONVERT: Final = 'polars.read_csv("FILE", separator=";", decimal_comma=True).write_csv("OTHER") writes one'


class CsvError(ValueError):
    """A file that is no table, or that may be read in two ways; its text is one sentence without the file's name."""


@dataclass(frozen=True)
class CsvTable:
    """The cells of a file, stripped, with decimal points."""

    header: list[str]
    rows: list[list[str]]
    #: The line of each row.
    lines: list[int]
    #: What is not as in other CSV files, to follow "read".
    read_as: tuple[str, ...]


def table(content: bytes) -> CsvTable:
    """Read the content of a file. Lines that begin with ``#`` are comments."""
    text, encoding = _decoded(content)
    numbered = [(number, line) for number, line in enumerate(_LINES.split(text), 1) if line.strip() and line[0] != "#"]
    if not numbered:
        raise CsvError("expected a table, and the file is empty")
    given = _SEPARATOR_LINE.fullmatch(numbered[0][1].strip())
    if given and len(numbered) > 1:
        numbered = numbered[1:]
    else:
        given = None
    separator = given[1] if given else _separator([line for _, line in numbered])
    (first, top), *below = numbered
    header = [name.strip() for name in _cells(first, top, separator)]
    rows = [[cell.strip() for cell in _row(number, line, header, separator)] for number, line in below]
    lines = [number for number, _ in below]
    header, rows = _without_numbers(header, rows)
    _check_names(first, header)
    if not rows:
        raise CsvError("expected measurements below the names of the columns")
    read_as = [f"as {encoding}, not UTF-8"] if encoding else []
    if separator != ",":
        read_as.append(f"with {_SEPARATORS.get(separator, show(separator))} between columns")
    if _point_decimals(header, rows, lines):
        read_as.append("with decimal commas")
    return CsvTable(header, rows, lines, tuple(read_as))


def _decoded(content: bytes) -> tuple[str, str]:
    """The text, and the encoding where it is not UTF-8."""
    if content.startswith(_WORKBOOKS):
        raise CsvError("expected a CSV file, and it may be a workbook of Excel, which saves a sheet as CSV UTF-8")
    try:
        if content.startswith(_UTF_16):
            return content.decode("utf-16"), "UTF-16"
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        pass
    text = content.decode("cp1252", errors="replace")
    if content.startswith(_UTF_16) or "\ufffd" in text or _BINARY.search(text):
        raise CsvError("expected a CSV file in UTF-8")
    return text, "Windows-1252"


def _separator(lines: Sequence[str]) -> str:
    """What is between the columns of all lines."""
    counts = {mark: _count(lines[0], mark) for mark in _SEPARATORS}
    parting = [mark for mark, count in counts.items() if count > 1]
    if len(parting) < 2:  # noqa: PLR2004
        spaced = len(lines[0].split())
        if not parting and len(lines) > 1 and spaced > 1 and all(len(line.split()) == spaced for line in lines):
            raise CsvError("expected columns separated by commas, and they are by spaces")
        return next(iter(parting), ",")
    fitting = [mark for mark in parting if all(_count(line, mark) == counts[mark] for line in lines)]
    if len(fitting) > 1:
        words = " and by ".join(_SEPARATORS[mark] for mark in fitting)
        raise CsvError(f"expected columns separated by commas, and they may be by {words}")
    return (fitting or parting)[0]


def _count(line: str, separator: str) -> int:
    return len(next(csv.reader([line], delimiter=separator)))


def _cells(number: int, line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error as error:
        raise CsvError(f"line {number}: not a line of CSV: {error}") from None


def _row(number: int, line: str, header: Sequence[str], separator: str) -> list[str]:
    cells = _cells(number, line, separator)
    if len(cells) != len(header):
        raise CsvError(f"line {number}: {len(cells)} values: expected {len(header)}, as in the first line")
    return cells


def _without_numbers(header: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Without a first column of no name that counts rows, as pandas and R write it, and a last one that is empty."""
    if len(header) > 1 and not header[-1] and not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    if len(header) > 1 and not header[0]:
        first = [row[0] for row in rows]
        if any(first == [str(number) for number in range(start, start + len(rows))] for start in (0, 1)):
            return header[1:], [row[1:] for row in rows]
    return header, rows


def _check_names(line: int, header: Sequence[str]) -> None:
    if all(map(_POINTS.fullmatch, header)) and any("." in name for name in header):
        raise CsvError(f"line {line}: expected the names of the columns, and there are numbers")
    for place, name in enumerate(header):
        if not name:
            raise CsvError(f"line {line}: column {place + 1} has no name")
        if name in header[:place]:
            raise CsvError(f"line {line}: two columns are called {show(name)}")


def _point_decimals(header: Sequence[str], rows: list[list[str]], lines: Sequence[int]) -> bool:
    """Write numbers with decimal commas with points, in place; whether there were any."""
    columns = [_Column(name, [row[place] for row in rows], lines) for place, name in enumerate(header)]
    commas = [column.has_decimal_commas() for column in columns]
    if not any(commas):
        return False
    if not any(column.is_plain() for column, has in zip(columns, commas, strict=True) if has):
        either = f"a decimal comma or thousands; expected a table with decimal points: {_CONVERT}"
        raise columns[commas.index(True)].refused(_has_comma, either)
    for column, has in zip(columns, commas, strict=True):
        if not has and any(column.cells) and column.has_only(_GROUPED):
            raise column.refused(bool, "a decimal point or thousands, where other columns have decimal commas")
    for row in rows:
        for place, has in enumerate(commas):
            if has:
                row[place] = _BETWEEN_THOUSANDS.sub("", row[place]).replace(",", ".")
    return True


@dataclass(frozen=True)
class _Column:
    """A column whose numbers may have decimal commas."""

    name: str
    cells: list[str]
    lines: Sequence[int]

    def has_decimal_commas(self) -> bool:
        """Whether all are numbers, some with a comma.

        Raises:
            CsvError: All are numbers, some with a comma and others with a decimal point.
        """
        if not any(map(_has_comma, self.cells)):
            return False
        if not self.has_only(_COMMAS) and self.has_only(_COMMAS, _POINTS):
            raise self.refused(_has_comma, "expected a decimal point, as in other numbers of the column")
        return self.has_only(_COMMAS)

    def is_plain(self) -> bool:
        """Whether the comma of some number can be nothing but a decimal one."""
        return any("," in cell and not _EITHER.fullmatch(cell) for cell in self.cells)

    def has_only(self, *forms: re.Pattern[str]) -> bool:
        """Whether all cells that are not empty have one of some forms."""
        return all(not cell or any(form.fullmatch(cell) for form in forms) for cell in self.cells)

    def refused(self, shown: Callable[[str], object], why: str) -> CsvError:
        """What is said of the first cell of some kind."""
        at, cell = next((at, cell) for at, cell in enumerate(self.cells) if shown(cell))
        return CsvError(f"line {self.lines[at]}: {self.name} = {show(cell)}: {why}")


def _has_comma(cell: str) -> bool:
    return "," in cell
