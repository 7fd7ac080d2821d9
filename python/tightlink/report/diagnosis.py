"""The diagnosis of a run in its report: why each flow is as fast as it is, with commands that test what would help."""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup

from tightlink.diagnosis import Diagnosis
from tightlink.report.blocks import Block, Chart, Section, Text
from tightlink.run import Run

_MOST: Final = 20


def sections(run: Run, *pictures: Chart) -> list[Section]:
    """The diagnoses of a run's flows above pictures of them; nothing where there is neither."""
    blocks: list[Block] = [*_said(run), *pictures]
    return [Section("Why is it slow?", "", blocks)] if blocks else []


def _said(run: Run) -> list[Text]:
    """A list of the diagnoses of a run's flows, those of most flows first; nothing where there is none."""
    why = run.why()
    if not why.diagnoses:
        return []
    shown = why.diagnoses[:_MOST]
    rest = sum(len(diagnosis.flows) for diagnosis in why.diagnoses[_MOST:]) + why.left_out
    items, told = Markup(), set[str]()
    for diagnosis in shown:
        items += _item(diagnosis, told)
    more = Markup("<p>… and {} more flows.</p>\n").format(rest) if rest else Markup()
    return [Text(Markup("<ul>\n{}</ul>\n{}").format(items, more))]


def _item(diagnosis: Diagnosis, told: set[str]) -> Markup:
    """An item of the list; commands that were told already are left out."""
    commands = [each.command for each in diagnosis.suggestions if each.command not in told]
    told.update(commands)
    code = Markup().join(Markup("<br><code>{}</code>").format(_breaking(command)) for command in commands)
    return Markup("<li><strong>{}</strong>: {}{}</li>\n").format(diagnosis.subject, diagnosis.answer, code)


def _breaking(command: str) -> Markup:
    """A command that may break where a page is narrow, but not within an option's name; it is copied as one line."""
    parts = re.split(r"(--[a-z]+)", command)
    whole = Markup('<span class="option">{}</span>')
    return Markup().join(whole.format(part) if part.startswith("--") else part for part in parts)
