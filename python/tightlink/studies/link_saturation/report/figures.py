"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink import plots
from tightlink.studies.link_saturation.observe.bifurcation import branches
from tightlink.studies.link_saturation.observe.saturation import FRAME, PAYLOAD
from tightlink.studies.link_saturation.setup.connections import LARGE

if TYPE_CHECKING:
    from pathlib import Path

    from tightlink.studies.link_saturation.observe import Observed


def draw(folder: Path, observed: Observed) -> list[Path]:
    """Draw them all and return where they are."""
    found = observed.main
    written: list[Path] = []
    for reading in (PAYLOAD, FRAME):
        own = found.by_reading[reading.name]
        written += plots.save(plots.throughput_over_size(own), folder, f"throughput-over-size-{reading.name}")
    frames = found.by_reading[FRAME.name]
    written += plots.save(plots.rate_over_size(frames), folder, "rate-over-size")
    written += plots.save(plots.throughput_over_rate(frames), folder, "throughput-over-rate")
    measured = found.table.select(packet_bytes=pl.col("frame_bytes"), throughput_bps=pl.col("frame_throughput_bps"))
    for reduced, name in ((False, "bifurcation"), (True, "bifurcation-reduced")):
        written += plots.save(plots.bifurcation(branches(found), measured, reduced=reduced), folder, name)
    return [*written, *_fundamental(folder, observed.density)]


def _fundamental(folder: Path, density: pl.DataFrame) -> list[Path]:
    """Packets and vehicles beside each other."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(2 * plots.SIZE[0], plots.SIZE[1]), layout="constrained")
        left, right = figure.subplots(1, 2)
        large = density.filter(pl.col("bottleneck") == LARGE.name)
        plots.fundamental_diagram(large, density="connections", flow="packets_per_s", title="TCP connections", ax=left)
        plots.vehicle_traffic(ax=right)
    return plots.save(figure, folder, "fundamental-diagrams")
