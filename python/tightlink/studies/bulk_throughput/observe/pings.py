"""Loss as a ping sees it, beside TCP's own."""

from collections.abc import Mapping

import polars as pl

from tightlink.analysis.path.cells import cell
from tightlink.run import Run
from tightlink.studies.bulk_throughput.observe.grids import mean_rank_correlation
from tightlink.studies.bulk_throughput.setup.paths import CALTECH
from tightlink.studies.bulk_throughput.setup.pings import BYTES, PACKETS, PING


def tables(runs: Mapping[str, Run]) -> dict[str, pl.DataFrame]:
    """A row for each cell, TCP's loss and that of the pings: at a queue that counts packets, and at one of bytes."""
    return {queue: _losses(queue, runs) for queue in (PACKETS, BYTES)}


def _losses(queue: str, runs: Mapping[str, Run]) -> pl.DataFrame:
    rows = []
    for window, flows in CALTECH.cells:
        run = runs[f"{queue}/{window}/{flows}"]
        pings = run.flows.filter(pl.col("label").str.starts_with(PING))
        dropped, sent = (int(pings[name].sum()) for name in ("packets_dropped", "packets_sent"))
        rows.append((window, flows, cell(run, CALTECH.path)["loss"], dropped / sent, sent))
    return pl.DataFrame(rows, ["window_packets", "flows", "tcp", "ping", "pings"], orient="row")


def values(found: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: rank correlations at the queue that counts packets."""
    each: dict[str, object] = {}
    for kind in ("tcp", "ping"):
        over_flows, _ = mean_rank_correlation(found[PACKETS], "flows", kind, line="window_packets")
        over_windows, _ = mean_rank_correlation(found[PACKETS], "window_packets", kind, line="flows")
        each |= {f"{PACKETS}.{kind}_over_flows": over_flows, f"{PACKETS}.{kind}_over_windows": over_windows}
    return each
