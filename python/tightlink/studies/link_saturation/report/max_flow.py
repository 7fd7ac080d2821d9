"""The part of the report on max-flow and min-cut."""

from __future__ import annotations

from typing import Final

import polars as pl

from tightlink.reduce import largest
from tightlink.report import Chart, Section, Text, charts
from tightlink.studies.link_saturation.setup.document import SMALLEST_BYTES

_MBIT: Final = 1e6
_PERCENT: Final = 100


def section(found: pl.DataFrame) -> Section:
    """The part of the report."""
    right = largest((found["both"] / found["throughput_bps"] - 1).abs())
    over = (found["links"] / found["throughput_bps"]).to_list()[0]
    finding = (
        f"The cut by bandwidth promises {over:.1f} times what arrives at {SMALLEST_BYTES} B; with packets/s as the "
        f"capacity of the node that sends, max-flow is right within {_PERCENT * right:.2f} % at every size."
    )
    text = (
        "What the document concludes for networks: flows in them are not those of an incompressible fluid that runs "
        "freely up to the capacity of its pipes. `tightlink maxflow FILE.toml` cuts any network three times, by its "
        "links, by its processors and by both, and simulates the answer."
    )
    words = {"links": "by the links, bit/s", "both": "by links and interface"}
    curves = pl.concat(
        found.select("payload_bytes", pl.col(name).alias("throughput_bps"), cut=pl.lit(label))
        for name, label in words.items()
    )
    chart = charts.points(
        found.select("payload_bytes", "throughput_bps"), "payload_bytes", "throughput_bps", curves=curves, curve="cut",
        x_title="payload (B)", y_title=None, height=300, x_domain=(0, 1500), y_domain=(0, 105 * _MBIT),
    )  # fmt: skip
    return Section("Max-flow, min-cut", finding, [Text(text), Chart(chart, "Points: simulated; bits of IP packets.")])
