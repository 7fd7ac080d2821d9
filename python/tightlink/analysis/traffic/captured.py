"""What a capture says of its traffic as a whole: throughput over time, sizes of packets.

Example:
    >>> series = pl.DataFrame({
    ...     "time_s": [1.0, 2.0], "entity": ["tcp"] * 2, "metric": ["throughput_bps"] * 2, "value": [8e6, 4e6],
    ... })
    >>> throughput(series, ["tcp"], keep=0.5).select("instant_bps", "smoothed_bps", "system_bps").rows()
    [(8000000.0, 8000000.0, 8000000.0), (4000000.0, 6000000.0, 6000000.0)]
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from tightlink.analysis.traffic.trace import smoothed
from tightlink.lazy import pl

#: Weight of the past in the moving average of the throughput, as in the study one-flow.
KEEP: Final = 0.9
#: The largest sizes of classes of packets, in bytes.
_BOUNDS: Final = (64, 128, 256, 512, 1024, 1500)


def throughput(series: pl.DataFrame, entities: Iterable[str], *, keep: float = KEEP) -> pl.DataFrame:
    """Instant throughput, smoothed, and system throughput, of protocols or interfaces.

    The instant throughput is that of an interval; the system throughput is all bits so far over all time so far. As
    `tightlink.analysis.traffic.trace.throughput` does of single packets, this does of intervals.

    Returns:
        ``time_s``, ``entity``, ``instant_bps``, ``smoothed_bps`` and ``system_bps``, in the order of time.
    """
    found = series.filter((pl.col("metric") == "throughput_bps") & pl.col("entity").is_in(list(entities)))
    return (
        found.sort("time_s", maintain_order=True)
        .with_columns(
            smoothed(pl.col("value"), keep).over("entity").alias("smoothed_bps"),
            (pl.col("value").cum_sum() / pl.col("value").cum_count()).over("entity").alias("system_bps"),
        )
        .rename({"value": "instant_bps"})
        .select("time_s", "entity", "instant_bps", "smoothed_bps", "system_bps")
    )


def size_classes(sizes: pl.DataFrame) -> pl.DataFrame:
    """How many packets are of which size: ``protocol``, ``sizes`` in bytes, ``packets``, ``bytes``.

    >>> sizes = pl.DataFrame({"protocol": ["tcp"] * 3, "size_bytes": [40, 52, 1500], "packets": [3, 1, 2]})
    >>> size_classes(sizes).rows()
    [('tcp', 'up to 64', 4, 172), ('tcp', '1025 to 1500', 2, 3000)]
    """
    between = (f"{low + 1} to {high}" for low, high in pairwise(_BOUNDS))
    names = [f"up to {_BOUNDS[0]}", *between, f"above {_BOUNDS[-1]}"]
    place = sum((pl.col("size_bytes") > bound).cast(pl.Int32) for bound in _BOUNDS)
    grouped = sizes.with_columns(place=place, bytes=pl.col("size_bytes") * pl.col("packets"))
    counted = grouped.group_by("protocol", "place", maintain_order=True).agg(pl.col("packets", "bytes").sum())
    ordered = counted.sort("place", maintain_order=True)
    return ordered.select(
        "protocol", pl.col("place").replace_strict(dict(enumerate(names))).alias("sizes"), "packets", "bytes"
    )
