"""The tables of the study: what each run comes to, and a row for each cell of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.bulk_cells import cell, table
from tightlink.analysis.bulk_path import GROUP, BulkPath
from tightlink.experiment.metrics import metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tightlink.run import Run

_BITS: Final = 8


def measure(run: Run) -> dict[str, float]:
    """What ``runs.parquet`` says of a run: the path, the cell and what it came to."""
    path = BulkPath.of(run)
    bulk = run.manifest["scenario"]["traffic"][GROUP]
    found = metrics(run) | cell(run, path)
    return {
        "bandwidth_bps": path.bandwidth_bps,
        "rtt_s": path.rtt_s,
        "queue_packets": path.queue_packets,
        "factor": path.factor,
        "cross": path.cross,
        "duration_s": path.duration_s,
        "window_packets": int(bulk["tcp"]["window"].split()[0]),
        "flows": int(bulk["flows"]),
        "packet_bytes": path.packet_bytes,
        "packets_per_s": found["throughput_bps"] / (_BITS * path.packet_bytes),
        **found,
    }


def cells(runs: Mapping[str, Run], prefix: str, places: Iterable[tuple[int, int]], path: BulkPath) -> pl.DataFrame:
    """A row for each cell of a grid whose runs are called ``prefix/window/flows``."""
    return table([
        {"window_packets": window, "flows": flows} | cell(runs[f"{prefix}/{window}/{flows}"], path)
        for window, flows in places
    ])  # fmt: skip


def acked_packets(run: Run, path: BulkPath) -> int:
    """Packets acknowledged at the senders when the run ends: the series' one sample is of what arrived by then."""
    series = run.series.filter(pl.col("metric") == "goodput_bps")
    return round(float((series["value"] * series["time_s"]).sum()) / (_BITS * path.payload_bytes))
