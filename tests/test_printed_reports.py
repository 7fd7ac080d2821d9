"""Reports on paper: nothing is hidden, and what belongs together is on one page."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl

from programs import CHROMIUM, need, needs_browser
from report_pages import with_wide_table
from tightlink import report

pytestmark = needs_browser


def _printed(page: Path, folder: Path) -> list[str]:
    """The text of each page of a report on paper."""
    need("pdftotext")
    pdf = folder / "report.pdf"
    subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
         "--virtual-time-budget=30000", "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri()],
        capture_output=True, check=True, timeout=180,
    )  # fmt: skip
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
    return text.removesuffix("\f").split("\f")


def test_paper_hides_nothing(tmp_path: Path) -> None:
    text = "\n".join(_printed(with_wide_table(tmp_path), tmp_path))
    assert "what is folded away" in text
    # The last row of a table in a scroll box, its last column, and claims that are folded on the screen.
    assert "flow 89" in text
    assert "column 23" in " ".join(text.split())
    assert all(f"Case {place}:" in text for place in range(15))
    assert "another" in text


def test_pages_hold_together_what_belongs_together(over_time: Path, tmp_path: Path) -> None:
    pages = _printed(over_time, tmp_path)
    assert all(page.strip() for page in pages)
    # The panels over time are on one page, with their heading and their caption.
    (whole,) = (page for page in pages if "congestion window (packets)" in page)
    assert "Over time" in whole
    assert "queue (packets)" in whole
    assert "Throughput is what arrives" in whole
    # Sections of any length: no page ends with a heading, a finding or the heads of a table.
    short = pl.DataFrame({"first": ["cell"] * 6})
    sections = [
        report.Section(f"Heading {place}", f"Finding {place}.", [report.Text("Evidence.\n\n" * place), report.Table(short)])
        for place in range(1, 16)
    ]  # fmt: skip
    page = report.write(tmp_path / "report.html", title="Sections", lead="", sections=sections)
    ends = [text.rstrip().rpartition("\n")[2].strip() for text in _printed(page, tmp_path)]
    assert len(ends) > 3
    assert not [end for end in ends if end.startswith(("Heading", "Finding", "first"))]
