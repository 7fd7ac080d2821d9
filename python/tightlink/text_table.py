r"""Tables as lines of text that fit a terminal: shorter headers first, then fewer columns, then folded names.

A value is never cut. A table states which of its columns are left out where there is no room, the least important one
first; what does not fit then is folded over several lines, so that rows that differ look different.

Example:
    >>> table = TextTable(["flow", "goodput", "retransmitted"], [["upload", "1.9 Mbit/s", "12"]], drop=("goodput",))
    >>> print(*layout(table, None).lines, sep="\n")
    upload  1.9 Mbit/s             12
    >>> shown = layout(table, 24)
    >>> print(*shown.head, *shown.lines, sep="\n")
    flow       goodput  retx
    upload  1.9 Mbit/s    12
    >>> layout(table, 20).hidden
    ('goodput',)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Final

_GAP: Final = "  "
#: Lines of a header at most.
_HEADER_LINES: Final = 3
#: Text is not folded into columns narrower than this, as long as there is a column to leave out instead.
_LEAST_TEXT: Final = 16
#: What headers say shortly, in the field's own abbreviations.
_SHORT: Final = {
    "retransmitted": "retx",
    "one-way delay": "OWD",
    "delay variation": "PDV",
    "queueing delay": "queueing",
    "utilization": "util",
    "packets": "pkts",
    "dropped": "drops",
    "transport": "proto",
    "bandwidth": "bw",
}
#: A word, or a number with its unit, and the space behind it.
_WORD: Final = re.compile(r"(?:[\d.,]+ )?\S+\s*")
#: Parts of a word behind which it may be folded, where it is too long for its own line: large ones, then smaller.
_PARTS: Final = tuple(re.compile(rf"[^{ends}]*[{ends}]+|[^{ends}]+") for ends in ("→>-", "/,=", "./:,=_→>[-"))
#: Parts of a header: words, and the keys of a dotted path.
_HEADER_PART: Final = re.compile(r"[^\s.]+\.?|\.")


@dataclass(frozen=True)
class TextTable:
    """A table of text."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int] = ()
    """Columns of text beside the first: they are aligned to the left, and may be folded."""
    drop: Sequence[str] = ()
    """Names of columns that are left out where there is no room, the least important one first."""
    more: Sequence[str] = ()
    """Names of columns that are shown only to who asks for them, or for all."""
    kept: int = 1
    """How many of the first columns tell rows apart: they are shown whatever columns somebody asks for."""

    @cached_property
    def names(self) -> list[str]:
        """The name of each column: its header, with the one before it where several columns have the same."""
        count = Counter(self.header)
        return [
            f"{self.header[place - 1]} {name}" if place and count[name] > 1 else name
            for place, name in enumerate(self.header)
        ]

    @cached_property
    def widths(self) -> list[int]:
        """How wide the widest cell of each column is."""
        return [max((size(row[place]) for row in self.rows), default=0) for place in range(len(self.header))]


@dataclass(frozen=True)
class Choice:
    """The columns that somebody wants to see: all of them, or some by name."""

    wide: bool = False
    names: Sequence[str] = ()

    def places(self, table: TextTable) -> list[int]:
        """The places of the named columns of a table behind those that tell rows apart; none where it has none."""
        wanted = [_plain(name) for name in self.names]
        found = [
            place
            for name in wanted
            for place, known in enumerate(table.names)
            if name in {_plain(known), _plain(shortened(known))}
        ]
        return list(dict.fromkeys([*range(table.kept), *found])) if found else []


@dataclass(frozen=True)
class Layout:
    """A table as lines, with the columns that are shown."""

    places: tuple[int, ...]
    widths: tuple[int, ...]
    head: list[str]
    lines: list[str]
    """The lines of the rows; a row that was folded has several."""
    hidden: tuple[str, ...]
    """Names of the columns for which there was no room."""


def layout(table: TextTable, width: int | None, choice: Choice | None = None) -> Layout:
    """The lines of a table, within so many columns of characters where these are known."""
    choice = choice or Choice()
    named = choice.places(table)
    places = list(range(len(table.header)))
    more = set(table.more)
    usual = [place for place in places if table.names[place] not in more]
    every = named or (places if choice.wide else usual)
    if width is None or (choice.wide and not named):
        return _rendered(table, every, every, list(table.header))
    headers = [list(table.header), _folded(table, table.header), _folded(table, map(shortened, table.header))]
    natural = [_natural(table, range(len(header)), header) for header in headers]
    for places in [every] if named else _stated(table, usual):
        for header, widths in zip(headers, natural, strict=True):
            if _total([widths[place] for place in places]) <= width:
                return _rendered(table, every, places, header)
    header, widest = headers[-1], natural[-1]
    places = every if named else _narrow(table, places, widest, width)
    while True:
        natural_widths = [widest[place] for place in places]
        widths = _squeezed(table, places, natural_widths, width, _LEAST_TEXT if len(places) > 1 else 1)
        if _total(widths) <= width or named or len(places) == 1:
            return _rendered(table, every, places, header, widths)
        places = places[:-1]


def shortened(text: str) -> str:
    """A header with the field's abbreviations.

    >>> shortened("one-way delay p95"), shortened("retransmitted"), shortened("goodput")
    ('OWD p95', 'retx', 'goodput')
    """
    for long, short in _SHORT.items():
        text = re.sub(rf"\b{long}\b", short, text)
    return text


def fold(text: str, width: int) -> list[str]:
    """A text over several lines, folded behind words, long words behind punctuation, and anywhere if it must be.

    >>> fold("congestion window 97 %", 12), fold("10.0.0.1:61001-10.0.0.3:5201", 15), fold("abcdef", 4)
    (['congestion', 'window 97 %'], ['10.0.0.1:61001-', '10.0.0.3:5201'], ['abcd', 'ef'])
    """
    if size(text) <= width:
        return [text]
    lines = [""]
    for word in _WORD.findall(text):
        whole = size(word.rstrip()) <= width
        if lines[-1] and not (whole and size(lines[-1] + word.rstrip()) <= width):
            lines.append("")
        for part in [word] if whole else _parts(word, width):
            if lines[-1] and size(lines[-1] + part.rstrip()) > width:
                lines.append("")
            lines[-1] += part
            while size(lines[-1].rstrip()) > width:
                cut = next(at for at in range(len(lines[-1]) - 1, 0, -1) if at == 1 or size(lines[-1][:at]) <= width)
                lines[-1:] = [lines[-1][:cut], lines[-1][cut:]]
    return [line.rstrip() for line in lines]


def _parts(word: str, width: int) -> list[str]:
    """The parts of a word, the largest that fit a width."""
    found = [parts.findall(word) for parts in _PARTS]
    return next((parts for parts in found if all(size(part.rstrip()) <= width for part in parts)), found[-1])


def size(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().lower())


def _stated(table: TextTable, places: list[int]) -> Iterator[list[int]]:
    """The places of columns, then without those that the table states, one after the other."""
    yield places
    for name in table.drop:
        fewer = [place for place in places if table.names[place] != name]
        if fewer != places:
            places = fewer
            yield places


def _folded(table: TextTable, header: Iterable[str]) -> list[str]:
    """Headers over several lines, as narrow as their cells where that takes not too many lines."""
    found = []
    for place, name in enumerate(header):
        least = max([table.widths[place], *map(size, _HEADER_PART.findall(name)), 1])
        lines = next(lines for width in range(least, least + size(name) + 1)
                     if len(lines := fold(name, width)) <= _HEADER_LINES)  # fmt: skip
        found.append("\n".join(lines))
    return found


def _natural(table: TextTable, places: Sequence[int], header: Sequence[str]) -> list[int]:
    return [max([*map(size, header[place].split("\n")), table.widths[place]]) for place in places]


def _narrow(table: TextTable, places: Sequence[int], widths: Sequence[int], width: int) -> list[int]:
    """The places of columns without the last ones, which find no room however narrow text is folded."""
    words = {0, *table.words}
    taken = -len(_GAP)
    for count, place in enumerate(places):
        taken += len(_GAP) + (min(widths[place], _LEAST_TEXT) if place in words else widths[place])
        if taken > width:
            return list(places[: max(1, count)])
    return list(places)


def _squeezed(table: TextTable, places: Sequence[int], natural: Sequence[int], width: int, least: int) -> list[int]:
    """Widths with which a table fits if its text is folded; the widest text gives way first."""
    widths = list(natural)
    text = [at for at, place in enumerate(places) if place == 0 or place in table.words]
    while (over := _total(widths) - width) > 0:
        widest = max(text, key=lambda at: widths[at])
        if widths[widest] <= least:
            break
        others = [widths[at] for at in text if at != widest and widths[at] < widths[widest]]
        widths[widest] = max(widths[widest] - over, max(others, default=least) - 1, least)
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _rendered(
    table: TextTable,
    every: Sequence[int],
    places: Sequence[int],
    header: Sequence[str],
    widths: Sequence[int] | None = None,
) -> Layout:
    """The lines of those columns that there is room for, of every one that is wanted."""
    widths = widths or _natural(table, places, header)

    def line(cells: Sequence[str]) -> str:
        padded = []
        for place, width, cell in zip(places, widths, cells, strict=True):
            space = " " * (width - size(cell))
            padded.append(cell + space if place == 0 or place in table.words else space + cell)
        return _GAP.join(padded).rstrip()

    def folded(row: Sequence[str]) -> Iterator[str]:
        cells = [fold(row[place], width) for place, width in zip(places, widths, strict=True)]
        yield from map(line, zip_longest(*cells, fillvalue=""))

    heads = [
        [part for each in header[place].split("\n") for part in fold(each, width)]
        for place, width in zip(places, widths, strict=True)
    ]
    high = max(map(len, heads))
    above = zip(*([""] * (high - len(head)) + head for head in heads), strict=True)
    hidden = tuple(table.names[place] for place in every if place not in places)
    lines = [each for row in table.rows for each in folded(row)]
    return Layout(tuple(places), tuple(widths), [line(cells) for cells in above], lines, hidden)
