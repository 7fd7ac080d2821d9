"""The grids beside those of ns-2.35."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from tightlink.reduce import largest
from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.bulk_throughput.observe.reference import COMPARED, UNDER, parted
from tightlink.studies.bulk_throughput.setup.alternatives import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping


def section(tables: Mapping[str, pl.DataFrame], values: Mapping[str, object]) -> Section:
    """The part of the report."""
    rows, frames = [], []
    for name, place in product(UNDER, COMPARED):
        both = tables[f"{name}.{place.name}"]
        clean, lossy = parted(both)
        same = (pl.col("sent") == pl.col("packets_sent")) & (pl.col("drops") == pl.col("bottleneck_drops"))
        off = (lossy["here_bps"] / lossy["ns2_bps"] - 1) * 100
        rows.append({
            "path": place.title,
            "settings": UNDER[name].title,
            "cells without loss": clean.height,
            "equal to the packet": clean.filter(same).height,
            "cells with loss": lossy.height,
            "of these equal": lossy.filter(same).height,
            "mean difference %": off.mean(),
            "its deviation %": off.std(),
            "p": values.get(f"{name}.{place.name}.p"),
        })  # fmt: skip
        if UNDER[name] is not DEFAULTS:
            continue
        frames.append(both.select("window_packets", "flows", "ns2_bps", "here_bps", path=pl.lit(place.title)))
    table = pl.DataFrame(rows)
    equal, clean_all = int(table["equal to the packet"].sum()), int(table["cells without loss"].sum())
    finding = (
        f"Of {clean_all} cells without loss, {equal} agree with ns-2.35 to the packet; with loss, "
        f"{int(table['of these equal'].sum())} of {int(table['cells with loss'].sum())} do, and the others "
        "scatter around it."
    )
    text = (
        "ns-2.35 ran the same grids, with its defaults and with the settings that are chosen, as the document's own "
        "numbers were not published. Flows that start "
        "together over equal paths stay in step, so that packets of several flows reach the bottleneck at the same "
        "instant, to the last bit of the time; which is first decides which is lost, and everything after. Single "
        "cells can therefore differ for no reason that a network would know; distributions may not."
    )
    points = pl.concat(frames)
    top = largest(points["ns2_bps"])
    equality = pl.DataFrame({"ns2_bps": [0.0, top], "here_bps": [0.0, top], "line": ["equality"] * 2})
    chart = charts.points(
        points, "ns2_bps", "here_bps", by="path", curves=equality, curve="line", x_scale="linear",
    )  # fmt: skip
    formats = {"mean difference %": "+.2f", "its deviation %": ".2f", "p": ".3f"}
    return Section("Beside ns-2.35", finding, [Text(text), Chart(chart), Table(table, "", formats)])
