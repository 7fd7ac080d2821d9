"""Reports: one HTML file that opens offline, with the claims first and figures that answer to the mouse.

Example:
    >>> import tempfile, pathlib
    >>> from tightlink import report
    >>> from tightlink.experiment import claims
    >>> from tightlink.report import charts
    >>> frame = pl.DataFrame({"time_s": [0.0, 1.0, 2.0], "goodput_bps": [0.0, 1e6, 2e6]})
    >>> chart = report.Chart(charts.line(frame, "time_s", "goodput_bps"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = report.write(
    ...         pathlib.Path(folder) / "report.html",
    ...         title="A ramp",
    ...         lead="The goodput grows.",
    ...         claims=[claims.compared("last", "It ends at 2 Mbit/s", "example", 2e6, 2e6, unit="bit/s")],
    ...         sections=[report.Section("Ramp", "It does.", [chart])],
    ...     )
    ...     path.read_text().count("<section")
    2
"""

from __future__ import annotations

from tightlink.report.blocks import Block, Chart, Details, Format, Row, Section, Table, Text
from tightlink.report.folder import run_report, write_run
from tightlink.report.page import write
from tightlink.report.runs import totals

__all__ = [
    "Block",
    "Chart",
    "Details",
    "Format",
    "Row",
    "Section",
    "Table",
    "Text",
    "run_report",
    "totals",
    "write",
    "write_run",
]


def __dir__() -> list[str]:
    """What is offered, without the modules that it is in."""
    return __all__
