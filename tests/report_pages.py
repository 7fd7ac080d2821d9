"""Reports that are opened in a browser: what they hold, what their charts and their scripts say."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from browser import Page
from tightlink import report
from tightlink.experiment import claims

CLAIMS = [
    *(
        claims.compared(f"base.packets.{place}", f"Case {place}: 2385 packets are sent", "table 1", 2385, 2385)
        for place in range(15)
    ),
    claims.compared("goodput", "The flow carries 1.9 Mbit/s", "p. 4", 1.9, 1.9119, relative=0.02, unit="Mbit/s"),
    claims.compared(
        "queue-5", "With a queue of 5, 2097 packets are sent", "p. 6", 2097, 2096, reason="<another> timer"
    ),
    claims.stated("wan", "The path carries 20 Mbit/s", "fig. 3", None, None, "its data were not published"),
]


def opened(
    chromium: Page, file: Path, *, window: tuple[int, int] = (1200, 1000), dark: bool = False
) -> tuple[str, list[str]]:
    """The page as it stands after its scripts ran, and what they said."""
    chromium.console.clear()
    chromium.size(*window, dark=dark, phone=False)
    return chromium.settled(file.as_uri()), list(chromium.console)


def drawn(dom: str) -> list[str]:
    """The charts, each with its markup."""
    assert 'data-charts="drawn"' in dom
    parts = dom.split('<div class="chart"')[1:]
    for part in parts:
        assert 'data-state="drawn"' in part[:200]
    return parts


def with_script(page: Path, folder: Path, script: str) -> Path:
    """A copy of the page that does something once its charts are drawn."""
    waiting = "const wait = setInterval(() => { if (!document.documentElement.dataset.charts) return; clearInterval(wait); %s }, 50);"
    copy = folder / "scripted.html"
    before, _, after = page.read_text().rpartition("</body>")
    copy.write_text(f"{before}<script>{waiting % script}</script></body>{after}")
    return copy


def told(
    chromium: Page, page: Path, folder: Path, script: str, *, window: tuple[int, int] = (1200, 1000)
) -> dict[str, Any]:
    """What a script has found on a page whose charts are drawn: the attribute ``data-said``."""
    dom, console = opened(chromium, with_script(page, folder, script), window=window)
    assert console == []
    drawn(dom)
    found = re.search(r'data-said="([^"]*)"', dom)
    assert found is not None
    return dict(json.loads(html.unescape(found[1])))


def with_wide_table(folder: Path) -> Path:
    """A report with claims and a table that is wide and long."""
    columns = {f"column_{place}_bps": list(range(90)) for place in range(24)}
    wide = pl.DataFrame({"label": [f"flow {row}" for row in range(90)], **columns})
    blocks: list[report.Block] = [
        report.Table(wide, "Wide and long."),
        report.Details("Folded", "what is folded away"),
    ]
    return report.write(
        folder / "report.html", title="Wide", lead="", claims=CLAIMS, sections=[report.Section("Table", "", blocks)]
    )
