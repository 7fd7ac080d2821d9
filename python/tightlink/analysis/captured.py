"""What a capture says of its flows and of the traffic as a whole.

Example:
    >>> import polars as pl
    >>> series = pl.DataFrame({
    ...     "time_s": [1.0, 2.0], "entity": ["tcp"] * 2, "metric": ["throughput_bps"] * 2, "value": [8e6, 4e6],
    ... })
    >>> throughput(series, ["tcp"], keep=0.5).select("instant_bps", "smoothed_bps", "system_bps").rows()
    [(8000000.0, 8000000.0, 8000000.0), (4000000.0, 6000000.0, 6000000.0)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis.trace import smoothed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tightlink.run import Run

#: Weight of the past in the moving average of the throughput, as in the study one-flow.
KEEP: Final = 0.9
#: A share of segments sent again from which on losses hold a flow back.
_MANY_LOST: Final = 0.005
#: A largest round trip that is so many times the shortest says that a queue was full, or that segments were lost.
_LONG_QUEUE: Final = 3.0
#: How much of the largest window must be in flight for it to be what limits a flow.
_FILLED: Final = 0.9
#: Flows with less payload than this are over before anything limits them.
_WORTH_A_LOOK_BYTES: Final = 100_000


def throughput(series: pl.DataFrame, entities: Iterable[str], *, keep: float = KEEP) -> pl.DataFrame:
    """Instant throughput, smoothed, and system throughput, of protocols or interfaces.

    The instant throughput is that of an interval; the system throughput is all bits so far over all time so far. As
    `tightlink.analysis.trace.throughput` does of single packets, this does of intervals.

    Args:
        series: Table ``series`` of a capture.
        entities: Names of protocols or interfaces.
        keep: Weight of the past in the moving average.

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
        .select("time_s", "entity", "smoothed_bps", "system_bps", instant_bps="value")
        .select("time_s", "entity", "instant_bps", "smoothed_bps", "system_bps")
    )


@dataclass(frozen=True)
class Remark:
    """Something of a flow that deserves a look."""

    flow: int
    """Number of the flow."""
    label: str
    """Its name."""
    text: str
    """What there is, to follow the name."""


def remarks(run: Run, most: int = 20) -> list[Remark]:
    """What deserves a look, of the flows with most payload first.

    Args:
        run: A capture.
        most: Flows of which something is said.
    """
    if "connections" not in run.tables:
        return []
    ranked = run.table("connections").sort("payload_bytes", descending=True, maintain_order=True)
    found: list[Remark] = []
    for row in ranked.iter_rows(named=True):
        if len(found) == most:
            break
        texts = list(_of(row))
        if texts:
            found.append(Remark(row["flow"], row["label"], "; ".join(texts)))
    return found


def _of(row: Mapping[str, Any]) -> Iterator[str]:
    if row["state"] in {"refused", "unanswered"}:
        yield f"was {row['state']}"
        return
    if row["zero_windows"]:
        yield f"its receiver closed its window {_times(row['zero_windows'])}: the application there reads too slowly"
    if row["lost_segments"] or row["acked_unseen"]:
        missing = row["lost_segments"] + row["acked_unseen"]
        yield f"{_count(missing, 'gap')} in what was captured: lost before the capture point, or by the capture itself"
    if row["payload_bytes"] < _WORTH_A_LOOK_BYTES:
        return
    yield from _losses(row)
    yield from _window(row)
    shortest, longest = row["rtt_min_s"], row["rtt_p95_s"]
    if shortest and longest > _LONG_QUEUE * shortest:
        yield f"round trips from {_ms(shortest)} to {_ms(longest)} (95 %): packets wait in a queue"


def _losses(row: Mapping[str, Any]) -> Iterator[str]:
    again = row["retransmissions"] + row["fast_retransmissions"]
    if again > _MANY_LOST * row["data_packets"]:
        share = again / row["data_packets"]
        overtaken = f", and {row['out_of_order']} came out of order" if row["out_of_order"] else ""
        of = f"{again} of {row['data_packets']} segments ({share * 100:.1f} %)"
        yield f"{of} were sent again{overtaken}: the path loses packets"
    vain = row["spurious_retransmissions"]
    if vain > again:
        yield f"{_count(vain, 'segment')} sent again in vain: the timer of the sender is too short"


def _window(row: Mapping[str, Any]) -> Iterator[str]:
    in_flight, window = row["in_flight_max_bytes"], row["window_max_bytes"]
    if not row["window_full"] and in_flight < _FILLED * window:
        return
    rtt = row["rtt_median_s"]
    limit = f", at most {window * 8 / rtt / 1e6:.3g} Mbit/s at round trips of {_ms(rtt)}" if rtt else ""
    yield f"filled its receiver's window of {window} bytes{limit}{_scaled(row)}"


def _scaled(row: Mapping[str, Any]) -> str:
    if "window scale" in row["options"]:
        return ""
    if row["state"] == "partial":
        return "; the handshake was not captured, and the window may be a multiple of that"
    return "; windows are not scaled"


def size_classes(sizes: pl.DataFrame, bounds: Sequence[int] = (64, 128, 256, 512, 1024, 1500)) -> pl.DataFrame:
    """How many packets are of which size: ``protocol``, ``sizes`` in bytes, ``packets``, ``bytes``.

    Args:
        sizes: Table ``packet_sizes`` of a capture.
        bounds: The largest sizes of the classes; the last class has what is larger.

    >>> sizes = pl.DataFrame({"protocol": ["tcp"] * 3, "size_bytes": [40, 52, 1500], "packets": [3, 1, 2]})
    >>> size_classes(sizes).rows()
    [('tcp', 'up to 64', 4, 172), ('tcp', '1025 to 1500', 2, 3000)]
    """
    lows = [0, *(bound + 1 for bound in bounds)]
    names = [
        f"up to {bounds[0]}",
        *(f"{low} to {high}" for low, high in zip(lows[1:], bounds[1:], strict=False)),
        f"above {bounds[-1]}",
    ]
    place = sum((pl.col("size_bytes") > bound).cast(pl.Int32) for bound in bounds)
    grouped = sizes.with_columns(place=place, bytes=pl.col("size_bytes") * pl.col("packets"))
    counted = grouped.group_by("protocol", "place", maintain_order=True).agg(pl.col("packets", "bytes").sum())
    ordered = counted.sort("place", maintain_order=True)
    return ordered.select(
        "protocol", pl.col("place").replace_strict(dict(enumerate(names))).alias("sizes"), "packets", "bytes"
    )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"
