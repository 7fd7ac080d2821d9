"""One property at a time; and Tahoe, NewReno and SACK: where they differ, and where nothing shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.bulk_vary import FACTORS
from tightlink.reduce import largest, mean_of
from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY
from tightlink.studies.bulk_throughput.setup.variants import COMPARED
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Charts in a row.
_ACROSS: Final = 3


def property_section(found: pl.DataFrame) -> Section:
    """The part on one property at a time."""
    small = found.filter((pl.col("base") == "4 × 64 kB") & (pl.col("property") == "rtt_s")).sort("value")
    at = {row["value"]: row["goodput_share"] for row in small.iter_rows(named=True)}
    doubled = 2 * DARESBURY.path.rtt_s
    finding = (
        f"Goodput follows windows over round trip until the link is full: at twice the round trip four flows of 64 kB "
        f"fall from {percent(at[DARESBURY.path.rtt_s])} to {percent(at[doubled])} of the bandwidth. Where the queue "
        "overflows, its length and the run time matter."
    )
    drawn = [
        charts.line(
            found.filter(pl.col("property") == name).select("base", pl.col("value").alias(name), "goodput_bps"),
            name, "goodput_bps", by="base", title=title.partition(" (")[0], height=170, x_scale="log",
            # In bit/s the labels would not fit: without a title the axis takes a larger unit.
            x_title=None if name == "bandwidth_bps" else title,
        )
        for name, title in FACTORS.items()
    ]  # fmt: skip
    text = (
        "The path of Daresbury; one property is changed at a time, all others stay. Axes along are logarithmic; "
        "lines are named by flows × window."
    )
    rows = [Row(drawn[first : first + _ACROSS]) for first in range(0, len(drawn), _ACROSS)]
    return Section("One property at a time", finding, [Text(text), *rows])


def recovery_section(tables: Mapping[str, pl.DataFrame]) -> Section:
    """The part on recoveries."""
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
