"""Tahoe, NewReno and SACK: where they differ, and where nothing shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.reduce import largest, mean_of
from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.bulk_throughput.setup.variants import COMPARED
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping


def section(tables: Mapping[str, pl.DataFrame]) -> Section:
    """The part of the report."""
    rows, frames = [], []
    for each in COMPARED:
        found = tables[each.name]
        lossy = found.filter(~pl.col("lossless"))
        rows.append({
            "path": each.place.title,
            "compared": each.title,
            "cells without loss": found.height - lossy.height,
            "equal": int(found.filter("lossless")["equal"].sum()),
            "cells with loss": lossy.height,
            "equal there": int(lossy["equal"].sum()),
            "mean difference %": 100 * mean_of(lossy["difference"]),
            "largest %": 100 * largest(lossy["difference"].abs()),
        })  # fmt: skip
        label = f"{each.place.site}: {each.title}"
        frames.append(found.select("window_packets", "flows", "loss", pl.col("difference") * 100, path=pl.lit(label)))
    table = pl.DataFrame(rows)
    clean, lossy_all = int(table["cells without loss"].sum()), int(table["cells with loss"].sum())
    finding = (
        f"The doubt is justified: recoveries are equal to the packet in {int(table['equal'].sum())} of {clean} "
        f"cells without loss, and differ in all but {int(table['equal there'].sum())} of the {lossy_all} with loss, by "
        f"up to {percent(largest(table['largest %']) / 100)}. Identical results with loss mean that the option had "
        "no effect."
    )
    text = (
        "While the window is small enough that nothing is lost, Tahoe, NewReno and SACK send the same packets at the "
        "same times. Above, each loses other packets after its first recovery."
    )
    chart = charts.points(
        pl.concat(frames), "loss", "difference", by="path", y_title="difference in goodput (%)",
    )  # fmt: skip
    formats = {"mean difference %": "+.1f", "largest %": ".0f"}
    return Section("Tahoe, NewReno, SACK", finding, [Text(text), Chart(chart), Table(table, "", formats)])
