"""The text of a study's report, ``report.md``: title, lead and sections, with numbers and charts by their names.

A section begins with ``## TITLE`` and what was found, in a quotation; then come paragraphs, and blocks by name, each
with its caption: ``[[NAME]] CAPTION``. A section that is made elsewhere is ``## [[NAME]]``. Braces hold expressions
over what was observed, as in the table of claims (`tightlink.studies.expressions`), so a report is read, and checked
against the claims, as a text.

Directly below a data frame, which may be one of what was observed, stands how it is shown: heads, and below a rule the
expression over its columns that each head has. Of rows that are given instead of a frame, braces hold formats only.

Example:
    >>> text = '''
    ... # One flow
    ... A flow of {sent} packets.
    ...
    ... ## Its queue
    ... > The queue holds {queue.mean:.1f} packets,
    ... > and never more than 20.
    ...
    ... Packets wait.
    ...
    ... [[counts]] Counted at the link.
    ...
    ... [[flows]] Each flow.
    ... | flow    | lost %            |
    ... | ------- | ----------------- |
    ... | {label} | {100 * loss:.1f}  |
    ... '''
    >>> flows = pl.DataFrame({"label": ["ftp"], "loss": [0.0123]})
    >>> observed = {"sent": 12, "queue": {"mean": 13.86}, "flows": flows}
    >>> report = page(text, observed, {"counts": Details("all", "12")})
    >>> report.title, report.lead, report.sections[0].title, report.sections[0].finding
    ('One flow', 'A flow of 12 packets.', 'Its queue', 'The queue holds 13.9 packets, and never more than 20.')
    >>> *blocks, table = report.sections[0].blocks
    >>> blocks, table.caption, table.frame.row(0), table.formats
    ([Text(text='Packets wait.'), Details(title='all', text='12')], 'Each flow.', ('ftp', 1.23), {'lost %': '.1f'})
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink import plots
from tightlink.errors import TightlinkError, did_you_mean
from tightlink.report.blocks import Block, Chart, Details, Row, Section, Table, Text
from tightlink.studies.expressions import Names, cell, evaluate, fill
from tightlink.studies.study import Report

_BLOCK: Final = re.compile(r"\[\[([\w.-]+)\]\] ?(.*)", re.DOTALL)
_PLACED: Final = re.compile(r"\[\[([\w.-]+)\]\]")
#: What stands in its own line: items of a list.
_ITEM: Final = re.compile(r"\n(?!- )")


def page(
    text: str | Path,
    names: Mapping[str, object],
    blocks: Mapping[str, Any],
    *,
    picture: str = "",
    figures: Mapping[str, Any] | None = None,
) -> Report:
    """The report that a text describes.

    Args:
        text: It, or its file.
        names: What its expressions name.
        blocks: Charts, lists of small charts, frames and blocks, by name. Where one is None stands nothing, and of a
            section that had nothing else nothing is left.
        picture: Title of the section whose first chart shows the finding.
        figures: Charts that are figures for papers, too, or figures of matplotlib where no chart shows the same; by the
            names of their files.

    Raises:
        TightlinkError: It names what was not observed, or a block that there is not, or has no place for one.
    """
    whole = text.read_text(encoding="utf-8") if isinstance(text, Path) else text
    head, *parts = re.split(r"^## ", whole, flags=re.MULTILINE)
    title, _, lead = head.strip().partition("\n")
    sections = [section for part in parts if (section := _section(part, names, blocks)) is not None]
    placed = {found[1] for found in _PLACED.finditer(whole)}
    if lost := [name for name, block in blocks.items() if block is not None and name not in placed]:
        raise TightlinkError(
            f'text of the report: block "{lost[0]}" is given and placed nowhere: expected [[{lost[0]}]]'
        )
    draw = partial(_draw, figures or {})
    return Report(title.removeprefix("# "), "\n\n".join(_paragraphs(lead, names)), sections, draw, picture=picture)


def _draw(figures: Mapping[str, Any], folder: Path) -> list[Path]:
    """The figures for papers, as SVG and PNG."""
    return [path for name, figure in figures.items() for path in plots.save(figure, folder, name)]


def _paragraphs(whole: str, names: Mapping[str, object]) -> Iterator[str]:
    """Paragraphs and quotations, each in one line but for the items of a list, and for how a table is shown."""
    for part in re.split(r"\n\s*\n", whole.strip()):
        text = part.strip().replace("\n> ", " ")
        words, bar, shape = text.partition("\n|") if text.startswith("[[") else (text, "", "")
        if words:
            yield fill(_ITEM.sub(" ", words), names, thousands=True) + bar + shape


def _section(part: str, names: Mapping[str, object], blocks: Mapping[str, Any]) -> Section | None:
    title, _, rest = part.partition("\n")
    if whole := _BLOCK.fullmatch(title):
        made: Section = _given(whole[1], blocks)
        return made
    finding, missing = "", 0
    found: list[Block] = []
    for paragraph in _paragraphs(rest, names):
        named = _BLOCK.fullmatch(paragraph)
        if paragraph.startswith("> "):
            finding = paragraph.removeprefix("> ")
        elif named is None:
            before = found.pop() if found and isinstance(found[-1], Text) else None
            found.append(Text(f"{before.text}\n\n{paragraph}" if isinstance(before, Text) else paragraph))
        elif (block := _block(named[1], named[2], names, blocks)) is not None:
            found.append(block)
        else:
            missing += 1
    return None if missing and not found else Section(fill(title, names, thousands=True), finding, found)


def _given(name: str, blocks: Mapping[str, Any]) -> Any:
    if name not in blocks:
        raise TightlinkError(f'text of the report: there is no block "{name}"{did_you_mean(name, blocks)}')
    return blocks[name]


def _block(name: str, text: str, names: Mapping[str, object], blocks: Mapping[str, Any]) -> Block | None:
    caption, _, shape = text.partition("\n|")
    given = evaluate(name, names) if shape and name not in blocks else _given(name, blocks)
    if given is None or isinstance(given, Text | Details):
        return given
    if shape:
        return _shaped(name, given, shape, caption)
    if isinstance(given, pl.DataFrame):
        return Table(given, caption)
    if isinstance(given, Table | Chart | Row):
        return replace(given, caption=caption) if caption else given
    return Row(given, caption) if isinstance(given, Sequence) else Chart(given, caption)


def _shaped(name: str, given: Any, shape: str, caption: str) -> Table:
    """A data frame, or rows, below the heads and as the cells of its shape say."""
    rows = [[each.strip() for each in row.strip("|").split("|")] for row in shape.splitlines()]
    heads, cells = rows[0], rows[-1]
    if len(rows) != 3 or len(heads) != len(cells):
        raise TightlinkError(f'text of the report: table "{name}": expected heads, a rule, and a cell below each head')
    shown = {head: cell(each) for head, each in zip(heads, cells, strict=True)}
    if not isinstance(given, pl.DataFrame):
        return Table.of({head: how for head, (_, how) in shown.items()}, given, caption)
    # Of a column in which nothing is known, arithmetic asks for a type.
    known = Names(given.cast({pl.Null: pl.Float64}))
    columns = {head: evaluate(of, known) for head, (of, _) in shown.items()}
    return Table(pl.DataFrame(columns), caption, {head: how for head, (_, how) in shown.items() if how})
