"""What stands in a figure: charts are written as SVG, and its texts and marks are read."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

from tightlink import plots

if TYPE_CHECKING:
    from pathlib import Path

_SVG = "{http://www.w3.org/2000/svg}"


class Drawn:
    """A chart, or several of a page, as they are written."""

    def __init__(self, charts: Any, folder: Path) -> None:
        self.root = ET.fromstring(plots.write(charts, folder / "figure.svg").read_text(encoding="utf-8"))

    @property
    def texts(self) -> list[str]:
        """All texts, a line of one by itself."""
        return [line for text in self.root.iter(f"{_SVG}text") for line in text.itertext()]

    def marks(self, kind: str, attribute: str = "fill") -> list[str]:
        """The colours of all marks of a kind, such as "rect"; marks of legends are none."""
        groups = (group for group in self.root.iter(f"{_SVG}g") if f"mark-{kind} role-mark" in group.get("class", ""))
        return [path.get(attribute, "none") for group in groups for path in group.iter(f"{_SVG}path")]
