"""Max-flow min-cut over bandwidths, beside what the interface lets through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.flow_limits import flow_limits
from tightlink.experiment.claims import Claim, holds_if
from tightlink.report import Chart, Section, Text, charts
from tightlink.studies.link_saturation.document import DOCUMENT, LARGEST_BYTES, SMALLEST_BYTES
from tightlink.studies.link_saturation.measures import most
from tightlink.studies.link_saturation.sweeps import MAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

_MBIT: Final = 1e6
_PERCENT: Final = 100
#: What counting whole packets for a second leaves.
_NEAR: Final = 0.005


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """The maximum flow by the links, by links and interface, and what was simulated: bit/s of IP packets."""
    simulated = MAIN.table(runs)
    rows = []
    for size, bits in simulated.select("datagram_bytes", "throughput_bps").iter_rows():
        limits = flow_limits(MAIN.scenario(size))
        rows.append(
            {
                "payload_bytes": size,
                "links": float(limits.bits.value or 0),
                "both": float(limits.both.value or 0),
                "throughput_bps": bits,
            }
        )
    return pl.DataFrame(rows)


def claims(found: pl.DataFrame) -> Iterator[Claim]:
    """The document's warning, of what `table` gives."""
    over = found["links"] / found["throughput_bps"]
    right = most((found["both"] / found["throughput_bps"] - 1).abs())
    yield holds_if(
        "maxflow.wrong", "Max-flow min-cut by bandwidth is wrong where packets limit",
        f"{DOCUMENT}, section 6",
        f"× {over.to_list()[0]:.1f}, × {over.to_list()[-1]:.2f}",
        over.to_list()[0] > 1 + _NEAR and abs(over.to_list()[-1] - 1) < _NEAR,
        f"What it promises over what arrives, at {SMALLEST_BYTES} and at {LARGEST_BYTES} B. The theorem is not "
        "wrong, its capacities are: with the interface as a capacity of its node, in packets/s, it gives the "
        f"simulated throughput within {_PERCENT * right:.2f} % at every size (`tightlink maxflow`).",
    )  # fmt: skip


def section(found: pl.DataFrame) -> Section:
    """The part of the report."""
    right = most((found["both"] / found["throughput_bps"] - 1).abs())
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
