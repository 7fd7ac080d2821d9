"""The text of a study's report, ``report.md``: title, lead and sections, with numbers and charts by their names.

A section begins with ``## TITLE`` and what was found, in a quotation; then come paragraphs, and blocks by name, each
with its caption: ``[[NAME]] CAPTION``. A section that is made elsewhere is ``## [[NAME]]``. Braces hold expressions
over what was observed, as in the table of claims (`tightlink.studies.expressions`), so a report is read, and checked
against the claims, as a text.

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
    ... '''
    >>> report = page(text, {"sent": 12, "queue": {"mean": 13.86}}, {"counts": Details("all", "12")})
    >>> report.title, report.lead, report.sections[0].title, report.sections[0].finding
    ('One flow', 'A flow of 12 packets.', 'Its queue', 'The queue holds 13.9 packets, and never more than 20.')
    >>> report.sections[0].blocks
    [Text(text='Packets wait.'), Details(title='all', text='12')]
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
from tightlink.studies.expressions import fill
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


def _paragraphs(text: str, names: Mapping[str, object]) -> Iterator[str]:
    """Paragraphs and quotations, each in one line but for the items of a list."""
    parts = (part.strip().replace("\n> ", " ") for part in re.split(r"\n\s*\n", text.strip()))
    return (fill(_ITEM.sub(" ", part), names, thousands=True) for part in parts if part)


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
        elif (block := _block(named[1], named[2], blocks)) is not None:
            found.append(block)
        else:
            missing += 1
    return None if missing and not found else Section(fill(title, names, thousands=True), finding, found)


def _given(name: str, blocks: Mapping[str, Any]) -> Any:
    if name not in blocks:
        raise TightlinkError(f'text of the report: there is no block "{name}"{did_you_mean(name, blocks)}')
    return blocks[name]


def _block(name: str, caption: str, blocks: Mapping[str, Any]) -> Block | None:
    given = _given(name, blocks)
    if given is None or isinstance(given, Text | Details):
        return given
    if isinstance(given, pl.DataFrame):
        return Table(given, caption)
    if isinstance(given, Table | Chart | Row):
        return replace(given, caption=caption) if caption else given
    return Row(given, caption) if isinstance(given, Sequence) else Chart(given, caption)
