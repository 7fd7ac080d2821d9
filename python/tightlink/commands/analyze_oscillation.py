"""The command ``tightlink analyze oscillation``: what goes up and down with a period."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tightlink import plots
from tightlink.analysis.measurements import read_plain
from tightlink.analysis.traffic.oscillations import Found, of_run, of_tables, summary
from tightlink.analysis.traffic.oscillations import each as of_frame
from tightlink.commands.analyze_output import MOST, Finding, Panel, Table, finds, named, panels, print_constant
from tightlink.commands.options import Names, seconds
from tightlink.console import print_text
from tightlink.errors import TightlinkError
from tightlink.experiment import open as open_folder
from tightlink.lazy import pl
from tightlink.run import Run, holds_run, open_run


@finds("a figure, series and spectra")
def oscillation(table: Table, *, column: Names = None, begin: str = "0 s", end: str | None = None) -> Finding:
    """Find what goes up and down with a period: windows, queues, losses; tested against noise without one.

    Args:
        table: Folder of a run that was observed at an interval, or of a sweep of such runs; or a table with time_s.
        column: Column, or metric of a table of series (default: of a run, windows, and losses or what is
            retransmitted).
        begin: Time before which nothing is looked at, such as the start of flows.
        end: Time after which nothing is looked at (default: none).
    """
    begin_s, end_s = seconds("--begin", begin, zero=True), seconds("--end", end, math.inf)
    source = _read(table)
    with named(table):
        found = _found(source, tuple(column or ()), begin_s, end_s)
    titled = {" ".join(name): each for name, each in found.items()}
    varying = {name: each for name, each in titled.items() if not each.spectrum.is_empty()}

    def words() -> None:
        for name, each in titled.items():
            if name in varying or each.rises:
                print_text(f"{name}: {each.sentence()}")
        print_constant([name for name in titled if name not in varying and not titled[name].rises])

    rows: dict[str, list[Panel]] = {
        name: [
            partial(plots.oscillation_series, each, column=name.rpartition(" ")[2]),
            partial(plots.oscillation_spectrum, each),
        ]
        for name, each in list((varying or titled).items())[:MOST]
    }
    return Finding(
        lambda: [{"finding": each.sentence()} | row
                 for each, row in zip(found.values(), summary(found).to_dicts(), strict=True)],
        words,
        lambda: panels(rows),
    )  # fmt: skip


def _read(table: Path) -> Run | Mapping[str, pl.DataFrame]:
    """A run; or the tables of a sweep; or a single one without a name."""
    if holds_run(table):
        return open_run(table)
    if table.is_dir():
        experiment = open_folder(table)
        found = "users" if "users" in experiment.tables else "series"
        return {name: experiment.table(name).collect() for name in (found, "flows")}
    return {"": read_plain(table)}


def _found(source: Run | Mapping[str, pl.DataFrame], columns: tuple[str, ...], begin_s: float, end_s: float) -> Found:
    if isinstance(source, Run):
        return of_run(source, columns, begin_s=begin_s, end_s=end_s)
    if "" not in source:
        return of_tables(source, columns, begin_s=begin_s, end_s=end_s)
    frame = source[""]
    if not columns:
        known = frame["metric"].unique(maintain_order=True) if "metric" in frame.columns else frame.columns
        raise TightlinkError(f"expected --column with one of {', '.join(known)}")
    return of_frame(frame, columns, begin_s=begin_s, end_s=end_s)
