"""The part of the report on links limited in bits or packets, and on packet sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.network_congestion.observe.packet_sizes import BELOW
from tightlink.studies.network_congestion.setup.cases import ALIKE, MIXED
from tightlink.studies.network_congestion.setup.network import CAPACITY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.network_congestion.observe.measured import Measured


def section(found: Mapping[str, Measured], claims: Mapping[str, Claim]) -> Section:
    """Critical loads and queues by limit and sizes."""
    rows: list[dict[str, Any]] = []
    for name, one in found.items():
        unit, _, kind = name.partition("-")
        value, low, high = one.critical
        rows.append(
            {"links limited in": "packets/s" if unit == "packets" else "bit/s",
             "packets": "40, 576, 1500 B" if kind == "mixed" else f"{ALIKE.mean:.0f} B",
             "λc theory": one.case.critical.load, "λc found": f"{value:.1f} ({low:.1f} to {high:.1f})",
             f"waiting at {BELOW:g} λc": one.waiting(BELOW)}
        )  # fmt: skip
    table = pl.DataFrame(rows)
    points = pl.concat(
        one.mean.select("load", "order", "error", links=pl.lit(name.replace("-", ", "))) for name, one in found.items()
    )
    finding = (
        "A mix of packet sizes moves the critical load no more than its mean size does; what it lengthens are the "
        f"queues below, {claims['limits.bits-queues'].observed:.1f} times where links are limited in bit/s."
    )
    text = (
        "A scale-free graph of 32 nodes. Half of the packets have 40 B, a quarter 576 B, a quarter 1500 B: the three "
        f"modes of the Internet, {MIXED.mean:.0f} B in the mean. Links carry {CAPACITY:.0f} packets/s, or the bits of "
        "as many packets of the mean size. Where they are limited in packets/s, a packet takes as long whatever its "
        "size: nothing changes, by construction, so that this is a note and no claim."
    )
    formats: dict[str, Any] = {"λc theory": ".1f", f"waiting at {BELOW:g} λc": ".1f"}
    return Section(
        "Bits or packets, and three packet sizes",
        finding,
        [
            Text(text),
            Table(table, "", formats),
            Chart(
                charts.points(
                    points, "load", "order", by="links", curves=_fluid(found), curve="model", height=260,
                    x_title="load / λc of the theory", y_title="order parameter η",
                )
            ),
        ],
    )  # fmt: skip


def _fluid(found: Mapping[str, Measured]) -> pl.DataFrame:
    one = found["packets-alike"]
    return one.mean.select("load", order="fluid", model=pl.lit("fluid model"))
