"""The figures for papers, as SVG and PNG: the document's Figures 2, 3 and 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink import plots

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from tightlink.studies.router_response.observe.regions import Routers


def draw(folder: Path, found: Routers) -> list[Path]:
    """Draw them all and return where they are."""
    own = found.found
    return [
        *plots.save(plots.load_over(own, "throughput_bps", log=True), folder, "load-over-bit-rate-a"),
        *plots.save(_router_b(found, "b_bps", "bit rate at router B (Mbit/s)", 1e-6), folder, "load-over-bit-rate-b"),
        *plots.save(plots.load_over(own, "packets_per_s"), folder, "load-over-packet-rate-a"),
        *plots.save(_router_b(found, "b_packets_per_s", "packet rate at router B (packets/s)", 1.0), folder,
                "load-over-packet-rate-b"),
        *plots.save(plots.loss_over(own, "throughput_bps", log=True), folder, "loss-over-bit-rate"),
        *plots.save(plots.loss_over(own, "packets_per_s"), folder, "loss-over-packet-rate"),
    ]  # fmt: skip


def _router_b(found: Routers, x: str, title: str, factor: float) -> Axes:
    along = pl.col(x) * factor
    frame = found.grid.sort("packet_bytes", x).select(
        along.alias(title), load=pl.col("b_load"), length=pl.format("{} B", "packet_bytes")
    )
    ax = plots.line(frame, x=title, y="load", by="length")
    ax.set_ylim(bottom=0)
    return ax
