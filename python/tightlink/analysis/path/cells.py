"""What a transfer over a path comes to, for each window and number of flows: one row a cell.

Example:
    >>> from tightlink.analysis.path.bulk_path import BulkPath
    >>> path = BulkPath(bandwidth_bps=10e6, rtt_s=0.162)
    >>> table = simulate_cells(path, [(6, 1), (88, 1)])
    >>> [round(rate / 1e6, 1) for rate in table["goodput_bps"]], table["limit"].to_list()
    ([0.4, 5.7], ["receiver's window", "receiver's window"])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from tightlink.analysis.path.bulk_path import BETWEEN_TWO, BOTTLENECK, GROUP, BulkPath
from tightlink.lazy import pl
from tightlink.run import Run
from tightlink.simulate import simulate

#: Of the cross traffic.
_SEED: Final = 1
_LIMITS: Final = {
    "handshake": "handshake",
    "receiver_window": "receiver's window",
    "network": "network",
    "congestion_window": "congestion window",
}


def cell(run: Run, path: BulkPath) -> dict[str, float]:
    """The numbers of one run.

    ``goodput_bps`` is that of all flows together, ``goodput_share`` the same over the bandwidth (what
    SLAC called utilization), ``loss`` packets lost in the queue / packets offered of these flows, ``rtt_loaded_s``
    the mean round trip of a small packet while the transfer runs, of a path with a ``line`` that of the flows, and
    ``limited_by_*`` the mean shares of the flows' time.
    """
    # By their places: of tables as short as these a query of Polars takes as long as their run.
    labels, links = run.flows["label"].to_list(), run.links["link"].to_list()
    # Who crosses stands behind them.
    flows = run.flows.head(sum(label == GROUP or label.startswith(f"{GROUP}[") for label in labels))
    (place,) = (place for place, link in enumerate(links) if link in {BOTTLENECK, BETWEEN_TWO})
    link = run.links.row(place, named=True)
    sent, dropped = int(flows["packets_sent"].sum()), int(flows["packets_dropped"].sum())
    goodput = float(flows["goodput_bps"].sum())
    # What the wire loses it loses whatever the windows, and of those who cross it in proportion.
    own = sent / link["packets_in"] if path.cross else 1.0
    queued = dropped - own * link["packets_lost"]
    return {
        "goodput_bps": goodput,
        "goodput_share": goodput / path.bandwidth_bps,
        "loss": max(0.0, queued) / sent if sent else 0.0,
        "packets_sent": sent,
        "packets_dropped": dropped,
        "packets_retransmitted": int(flows["packets_retransmitted"].sum()),
        "timeouts": int(flows["timeouts"].sum()),
        "bottleneck_packets_in": int(link["packets_in"]),
        "bottleneck_packets_dropped": int(link["packets_dropped"]),
        "utilization": float(link["utilization"]),
        "queue_mean_packets": float(link["queue_mean_packets"]),
        "rtt_loaded_s": _mean(flows, "rtt_mean_s")
        if path.line
        else path.rtt_s + link["queue_mean_packets"] * path.packet_s,
    } | {f"limited_by_{name}": _mean(flows, f"limited_by_{name}") for name in _LIMITS}


def simulate_cells(path: BulkPath, cells: Iterable[tuple[int, int]], *, jobs: int = 1) -> pl.DataFrame:
    """A row for each pair of window and flows: ``window_packets``, ``flows``, ``seed``, those of `cell`, ``limit``."""

    def one(place: tuple[int, int]) -> dict[str, Any]:
        window, flows = place
        found = cell(simulate(path.scenario(window, flows, seed=_SEED), threads=1), path)
        return {"window_packets": window, "flows": flows, "seed": _SEED} | found

    with ThreadPoolExecutor(jobs) as pool:
        return table(list(pool.map(one, cells)))


def table(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a frame, with the column ``limit``: what limited the flows for most of their time."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    limits = [_LIMITS[max(_LIMITS, key=lambda name: row[f"limited_by_{name}"])] for row in rows]
    return frame.with_columns(limit=pl.Series(limits, dtype=pl.String))


def _mean(flows: pl.DataFrame, column: str) -> float:
    value = flows[column].mean()
    return float(value) if isinstance(value, int | float) else 0.0
