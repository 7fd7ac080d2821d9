"""Charts of reports on paper: the same ones, as wide as a column, black on white, in the letters of other figures.

The page of a report and the paper take their look from one file. What a report says below a chart stands below it here.
"""

from __future__ import annotations

import functools
import json
import math
import re
import struct
import textwrap
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, Final

from tightlink.errors import TightlinkError, visible
from tightlink.lazy import alt

#: How charts look in reports and here: Vega's configuration, what lines and small charts have besides, numbers.
LOOK: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("look.json").read_text(encoding="utf-8"))
#: Of what charts are drawn in, in pixels, of which an inch has 96: with labels, about a column of a paper.
WIDTH: Final = 380
#: Name of the part of a chart that says which part of it the others show.
STRIP: Final = "strip"
_PER_INCH: Final = 96
_POINTS_PER_INCH: Final = 72
_INK: Final = "#1b1f24"
_FONT: Final = "DejaVu Sans, sans-serif"
#: Between charts on one page, and the most beside each other, by their number and by their width.
_GAP: Final = 14
_MOST_ACROSS: Final = 8
_MOST_WIDE: Final = 1800
#: Charts whose names are part of a figure's.
_MOST_CALLED: Final = 6
#: Bytes of a PNG before its second chunk: the signature, and the header with its length, type and checksum.
_HEADER_ENDS: Final = 8 + 25
#: Of what stands below.
_SIZE: Final = 10.5
_LETTER: Final = 6.2
_LINE: Final = 15


@dataclass(frozen=True)
class Page:
    """Charts that are drawn: parts of an SVG, from which the other formats are made, and its size in pixels."""

    parts: str
    width: int
    height: int
    name: str = ""
    """What it shows, for those who hear it."""

    def content(self, ending: str, dots_per_inch: int) -> bytes:
        """The file of one format: "svg", "png" or "pdf"."""
        import vl_convert

        _fonts()
        if ending == "svg":
            return self._svg().encode()
        if ending == "pdf":
            # Of pixels it makes points.
            return bytes(vl_convert.svg_to_pdf(self._svg(_POINTS_PER_INCH / _PER_INCH)))
        # Of pixels it makes points here, too, unless it is told how many dots an inch has, which the file then says.
        image = vl_convert.svg_to_png(self._svg(), scale=_POINTS_PER_INCH / _PER_INCH, ppi=dots_per_inch)
        return with_texts(image, {"Software": "Tightlink", "Title": self.name})

    def _svg(self, scale: float = 1) -> str:
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
            f'width="{scale * self.width:g}" height="{scale * self.height:g}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img"><title>{escape(self.name)}</title>'
            f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>\n{self.parts}\n</svg>\n'
        )


def page(charts: Any) -> Page:
    """Draw a chart, a list of charts beside each other, or a list of such rows."""
    given = charts if isinstance(charts, Sequence) else [charts]
    _check_charts(given)
    rows_given = all(isinstance(row, Sequence) for row in given)
    specs = [spec_of(chart) for chart in (chain(*given) if rows_given else given)]
    notes = dict.fromkeys(filter(None, ((spec.get("usermeta") or {}).get("note") for spec in specs)))
    drawn = [_drawn(spec, alone=len(specs) == 1) for spec in specs]
    widest = max(width for _, width, _ in drawn)
    fitting = min(_MOST_ACROSS, math.ceil(math.sqrt(2 * len(drawn))), max(1, _MOST_WIDE // (widest + _GAP)))
    parts: list[str] = []
    upcoming = iter(drawn)
    lengths = map(len, given) if rows_given else repeat(fitting, math.ceil(len(drawn) / fitting))
    rows = [list(islice(upcoming, length)) for length in lengths]
    widths = [max(row[place][1] for row in rows if place < len(row)) for place in range(max(map(len, rows)))]
    down = 0
    for row in rows:
        for place, (svg, _, _) in enumerate(row):
            left = sum(widths[:place]) + _GAP * place
            parts.append(f'<g transform="translate({left},{down})">{svg}</g>')
        down += max(height for _, _, height in row) + _GAP
    width = sum(widths) + _GAP * (len(widths) - 1)
    for line in (line for note in notes for line in textwrap.wrap(note, int(width / _LETTER))):
        parts.append(
            f'<text x="4" y="{down}" font-family="{_FONT}" font-size="{_SIZE}" fill="{_INK}">{escape(line)}</text>'
        )
        down += _LINE
    return Page(numbered("\n".join(parts)), width, down, called(map(_called, specs)))


def _check_charts(given: Sequence[Any]) -> None:
    for each in given:
        if not isinstance(each, Sequence) and not hasattr(type(each), "to_dict"):
            drawn = "; its plot() draws one" if callable(getattr(each, "plot", None)) else ""
            raise TightlinkError(f"expected a figure, axes of it, or charts, not {type(each).__name__}{drawn}")


def called(names: Iterable[str]) -> str:
    """What a figure of several charts is called, by their names.

    >>> called(["goodput over time", "", "goodput over time", "queue over time"])
    'goodput over time; queue over time'
    """
    there = list(dict.fromkeys(filter(None, names)))
    more = f"; {len(there) - _MOST_CALLED} more" if len(there) > _MOST_CALLED else ""
    return "; ".join(there[:_MOST_CALLED]) + more or "Figure"


def _called(spec: dict[str, Any]) -> str:
    """What a chart is called: its title, or what is drawn over what."""
    title = spec.get("title")
    text = title.get("text", "") if isinstance(title, dict) else title
    if text:
        return " ".join(text) if isinstance(text, list) else str(text)
    x, y = (spec.get("encoding", {}).get(axis, {}).get("title") for axis in ("x", "y"))
    if isinstance(x, str) and isinstance(y, str):
        return f"{y} over {x}"
    parts = (part for kind in ("layer", "hconcat", "vconcat") for part in spec.get(kind, ()))
    names = [name for part in parts if part.get("name") != STRIP and (name := _called(part))]
    return called(names[:1] if "layer" in spec else names) if names else ""


def with_texts(png: bytes, texts: Mapping[str, str]) -> bytes:
    """A PNG with texts by their keywords behind its header, which is its first chunk (PNG specification, 11.3.3)."""
    chunks = []
    for keyword, text in texts.items():
        # Only the second kind is UTF-8; the bytes between say that it is not compressed, and in no language.
        plain = text.isascii()
        body = (b"tEXt" if plain else b"iTXt") + keyword.encode() + (b"\0" if plain else b"\0\0\0\0\0") + text.encode()
        chunks.append(struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body)))
    return png[:_HEADER_ENDS] + b"".join(chunks) + png[_HEADER_ENDS:]


def spec_of(chart: Any) -> dict[str, Any]:
    """The specification of a chart as we made it, with its data in full.

    Not held against the schema, which takes longer than all else: tests do that (`tests/test_charts.py`).
    """
    with alt.theme.enable("none"), alt.data_transformers.enable("default", max_rows=None, consolidate_datasets=True):
        return dict(chart.to_dict(validate=False))


def _drawn(spec: dict[str, Any], *, alone: bool) -> tuple[str, int, int]:
    """A chart as SVG without its outermost element, its width and its height."""
    import vl_convert

    _fonts()
    meta = spec.pop("usermeta", None) or {}
    spec = _whole(spec)
    _wide(spec, meta.get("paper", WIDTH))
    config = LOOK["config"] | {"font": _FONT, "aria": False}
    for more in ([] if alone else [LOOK["among_others"]]) + ([LOOK["lines"]] if "hover" in meta else []):
        config = config | {part: config[part] | own for part, own in more.items()}
    # On the screen, letters have the colour of the page.
    text = json.dumps(_printable(spec) | {"config": config}).replace('"currentColor"', f'"{_INK}"')
    written = alt.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]
    version = written if written in vl_convert.get_vegalite_versions() else None
    svg = vl_convert.vegalite_to_svg(text, vl_version=version, format_locale=LOOK["formatLocale"])
    head, _, body = svg.partition(">")
    width, height = (round(float(size)) for size in re.findall(r' (?:width|height)="([\d.]+)"', head))
    return body.rpartition("</svg>")[0], width, height


def _whole(spec: dict[str, Any]) -> dict[str, Any]:
    """A chart without the strip over which one drags to zoom in: on paper all of it is shown."""
    *above, last = spec.get("vconcat", [{}])
    if last.get("name") != STRIP:
        return spec
    params = [each for each in spec["params"] if STRIP not in each["views"]]
    return {**spec, "vconcat": _unzoomed(above), "params": params}


def _printable(part: Any) -> Any:
    """The same with an escape for each control character in names and texts: SVG cannot have them."""
    if isinstance(part, list):
        return [_printable(each) for each in part]
    if isinstance(part, dict):
        return {_printable(key): _printable(value) for key, value in part.items()}
    return visible(part) if isinstance(part, str) else part


def _unzoomed(part: Any) -> Any:
    """The same without scales that show what a strip selects."""
    if isinstance(part, list):
        return [_unzoomed(each) for each in part]
    if not isinstance(part, dict):
        return part
    selects = isinstance(part.get("domain"), dict) and "param" in part["domain"]
    return {key: _unzoomed(value) for key, value in part.items() if key != "domain" or not selects}


def _wide(spec: dict[str, Any], width: int) -> None:
    """A width in pixels for what is as wide as a report; nothing is cut off, as axes and labels come on top of it."""
    spec.pop("autosize", None)
    if spec.get("width") == "container":
        spec["width"] = width
    for part in spec.get("vconcat", ()):
        _wide(part, width)


def numbered(svg: str) -> str:
    """The SVG with the names of what clips and fills counted from one.

    Vega counts on from what was drawn before, and matplotlib names a clip by its place, of which the last digit depends
    on where it was when it was drawn before.
    """
    defined = re.findall(r'<(?:clipPath|linearGradient|radialGradient) id="([^"]+)"', svg)
    names = {name: f"part{place}" for place, name in enumerate(dict.fromkeys(defined), 1)}
    return re.sub(r'( id="|url\(#)([^")]+)', lambda found: found[1] + names.get(found[2], found[2]), svg)


@functools.cache
def _fonts() -> None:
    """Letters are measured and drawn with those that come with matplotlib, whatever the machine has."""
    import matplotlib as mpl
    import vl_convert

    vl_convert.register_font_directory(str(Path(mpl.get_data_path(), "fonts", "ttf")))
