"""The page: claims, sections, charts and their data, all in one file that needs no network."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from tightlink.errors import TightlinkError
from tightlink.experiment.claims import Claim
from tightlink.files import check_page, write_text
from tightlink.laboratory.embedded import Offer, embedded
from tightlink.lazy import _core
from tightlink.plots import paper
from tightlink.report import specs, tables
from tightlink.report.blocks import Block, Chart, Details, Row, Section, Table, Text
from tightlink.report.library import library
from tightlink.shell import joined

_ASSETS: Final = Path(__file__).with_name("assets")
_GENERATOR: Final = "Tightlink"
#: More small figures than this stand in two rows.
_MOST_COLUMNS: Final = 5
#: What axes and a title need around a chart, in pixels.
_MARGIN: Final = 48
_HEIGHT: Final = 200
#: Kinds of verdicts: whose claims are meant, what is said of one, and of several. The page marks each by its kind.
_VERDICTS: Final = {
    "holds": ("", "holds", "hold"),
    "document": ("", "is contradicted by our runs", "are contradicted by our runs"),
    "theory": ("of theory ", "is contradicted by our runs", "are contradicted by our runs"),
    "ours": ("of our own ", "fails", "fail"),
    "open": ("", "is open", "are open"),
}
#: Whose claims are counted apart.
_ORIGINS: Final = {"document": "of the document", "theory": "of theory and others", "ours": "of our own"}
#: Claims of one section up to which they are not folded.
_FEW_CLAIMS: Final = 6


def write(  # noqa: PLR0913
    path: str | os.PathLike[str],
    *,
    title: str,
    lead: str,
    claims: Sequence[Claim] = (),
    picture: Chart | Row | None = None,
    sections: Sequence[Section] = (),
    figures: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    seeds: Iterable[int] = (),
    engine_behaviour: int | None = None,
    command: str | None = None,
    warnings: Sequence[str] = (),
    laboratories: Sequence[Offer] = (),
) -> Path:
    """Write a report: one HTML file that opens offline.

    Equal arguments give equal bytes. An older report in its place is replaced, another file is not.

    Args:
        path: The file to write.
        title: What the report is about.
        lead: What was found, in a few sentences of Markdown.
        claims: The claims: their verdicts are counted below the lead, and all of them are at the end.
        picture: What shows the finding, beside the lead; if it is of the first section, that does not repeat it.
        sections: What follows, in order.
        figures: Figures for papers that the footer names: files, or a folder of them.
        seeds: Seeds of the runs.
        engine_behaviour: Of the engine that made the runs; without it, this one's.
        command: What made the report; without it, the command line of this process, if it is ours.
        warnings: What must be read before the results are trusted.
        laboratories: Scenarios to open in the lab, for which the report contains the engine.

    Raises:
        ScenarioError: None of the laboratories can be simulated in a browser.
        TightlinkError: Another file is there, or a chart has too many points.
    """
    import jinja2

    target = Path(path)
    check_page(target)
    _refuse_others(target)
    data = specs.Data()
    shown = None if picture is None else _block(picture, data)
    parts = _sections(sections, picture, data)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=False,
        keep_trailing_newline=True,
    )
    page = environment.get_template("page.html.j2").render(
        title=title,
        lead=_markdown(lead),
        warnings=warnings,
        generator=_GENERATOR,
        claims=len(claims),
        claimed=_claimed(claims),
        kind=_kind,
        verdicts=_verdicts(claims),
        origins=_by_origin(claims),
        picture=shown,
        sections=parts,
        figures=_figures(figures, target.parent),
        facts=_facts(seeds, command, engine_behaviour),
        laboratory=Markup(embedded(laboratories) if laboratories else ""),  # noqa: S704
        charts=bool(data.sets),
        data=_safe(data.sets),
        look=_safe(paper.LOOK),
        vega=Markup(library() if data.sets else ""),  # noqa: S704
        style=Markup((_ASSETS / "page.css").read_text(encoding="utf-8")),  # noqa: S704
        script=Markup((_ASSETS / "page.js").read_text(encoding="utf-8")),  # noqa: S704
    )
    return write_text(target, page)


def _refuse_others(target: Path) -> None:
    if not target.exists():
        return
    if target.is_file():
        with target.open(encoding="utf-8", errors="replace") as file:
            if f'name="generator" content="{_GENERATOR}"' in file.read(1000):
                return
    raise TightlinkError(f"{target}: something is there that is no report of Tightlink; nothing is overwritten")


def _sections(sections: Sequence[Section], shown: Block | None, data: specs.Data) -> list[dict[str, Any]]:
    """Sections as the template wants them. What is shown above the first one is not shown again right below."""
    anchors = {"claims"}
    parts = []
    for number, section in enumerate(sections):
        blocks = [_block(block, data) for block in section.blocks if number > 0 or block is not shown]
        anchor = _anchor(section.title, anchors)
        parts.append({"anchor": anchor, "title": section.title, "finding": section.finding, "blocks": blocks})
    return parts


def _block(block: Block, data: specs.Data) -> dict[str, Any]:
    """A block as the template wants it."""
    match block:
        case Text(text):
            return {"kind": "text", "html": _markdown(text)}
        case Table(frame, caption, formats, widths):
            return {"kind": "table", "parts": tables.parts(frame, formats, widths), "caption": caption}
        case Details(title, text):
            return {"kind": "details", "title": title, "text": text}
        case Chart(chart, caption):
            return _row(chart if isinstance(chart, list) else [chart], caption, data)
        case Row(charts, caption):
            return _row(charts, caption, data)


def _row(charts: Sequence[Any], caption: str, data: specs.Data) -> dict[str, Any]:
    figures = [specs.figure(chart, data) for chart in charts]
    lines = -(-len(figures) // _MOST_COLUMNS) or 1
    # The small figures of a row are thinned alike: what the captions say is said once.
    note = next((note for _, note in figures if note), "")
    return {
        "kind": "charts",
        "columns": -(-len(figures) // lines),
        "caption": caption,
        "note": note,
        "figures": [{"json": _safe(spec), "height": _height(spec)} for spec, _ in figures],
    }


def _height(spec: dict[str, Any]) -> int:
    """About how high a chart will be, so that the page does not jump when it is drawn."""
    if "vconcat" in spec:
        return sum(_height(part) for part in spec["vconcat"])
    height = spec.get("height")
    return (height if isinstance(height, int) else _HEIGHT) + _MARGIN


def _safe(value: Any) -> Markup:
    return Markup(specs.script_json(value))  # noqa: S704


def _markdown(text: str | Markup) -> Markup:
    """Paragraphs, emphasis, code, lists and links; HTML is shown as it is written."""
    from markdown_it import MarkdownIt

    if isinstance(text, Markup):
        return text
    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))  # noqa: S704


def _anchor(title: str, taken: set[str]) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-") or "section"
    anchor, place = base, 2
    while anchor in taken:
        anchor, place = f"{base}-{place}", place + 1
    taken.add(anchor)
    return anchor


def _kind(claim: Claim) -> str:
    return "open" if claim.holds is None else "holds" if claim.holds else claim.origin


def _claimed(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """The claims by where they stand, in the order in which these come."""
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        found.setdefault(claim.source, []).append(claim)
    few = len(claims) <= _FEW_CLAIMS
    return [{"source": source, "claims": own, "verdicts": _verdicts(own), "open": few} for source, own in found.items()]


def _verdicts(claims: Sequence[Claim], *, whose: bool = True) -> list[dict[str, Any]]:
    """How many claims there are of each kind of verdict, without kinds of which there is none."""
    found = Counter(_kind(claim) for claim in claims)
    return [
        {"name": kind, "words": f"{of if whose else ''}{one if found[kind] == 1 else several}", "count": found[kind]}
        for kind, (of, one, several) in _VERDICTS.items()
        if found[kind]
    ]


def _by_origin(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """The same apart for the document's statements and for others, as nobody would take our own checks for its."""
    found = {origin: [claim for claim in claims if claim.origin == origin] for origin in _ORIGINS}
    return [
        {
            "count": len(own),
            "words": f"claim{'' if len(own) == 1 else 's'} {_ORIGINS[origin]}",
            "verdicts": _verdicts(own, whose=False),
        }
        for origin, own in found.items()
        if own
    ]


def _figures(figures: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], folder: Path) -> list[str]:
    """Addresses of figures, as seen from the report."""
    if isinstance(figures, (str, os.PathLike)):
        place = Path(figures)
        files = sorted(place.iterdir()) if place.is_dir() else [place]
    else:
        files = [Path(file) for file in figures]
    return [Path(os.path.relpath(file, folder)).as_posix() for file in files]


def _facts(seeds: Iterable[int], command: str | None, made: int | None) -> list[tuple[str, str]]:
    """What the footer says of how the report came about."""
    import tightlink

    listed = list(dict.fromkeys(seeds))
    made_by = command if command is not None else _command()
    facts = [("Tightlink", str(tightlink.__version__)), ("engine behaviour", str(made or _core.engine_behaviour))]
    if listed:
        facts.append(("seed" if len(listed) == 1 else "seeds", ranges(listed)))
    if made_by:
        facts.append(("made by", made_by))
    return facts


def ranges(numbers: Iterable[int]) -> str:
    """Numbers in order, runs of them shortened.

    >>> ranges([4, 1, 2, 3, 9])
    '1–4, 9'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


def _command() -> str:
    """The command line of this process, where it is the tightlink command or a script."""
    program = Path(sys.argv[0])
    if program.stem == "tightlink" or program.parts[-2:-1] == ("tightlink",):
        return joined(["tightlink", *sys.argv[1:]])
    return joined(["python", program.name, *sys.argv[1:]]) if program.suffix == ".py" else ""
