"""The section on what a finite receiver's window leaves of the gains."""

from __future__ import annotations

import polars as pl

from tightlink.report import Section, Table, Text
from tightlink.studies.congestion_control.observe.window import LARGE, Windows


def section(one: Windows) -> Section:
    """Gains by window and control."""
    table = one.gains.filter(pl.col("file") == LARGE).pivot("window", index="control", values="gain")
    return Section(
        one.found.experiment.title,
        one.found.experiment.question,
        [
            Text(
                f"Large files, a low initial threshold, little congestion: where replacements pay. At {one.found.size}."
            ),
            Table(table, "Throughput of large files over that of the standard TCP beside it, by receiver's window."),
        ],
    )
