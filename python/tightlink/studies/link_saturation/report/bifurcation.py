"""The part of the report on the bifurcation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.link_saturation.observe.bifurcation import branches, critical_payload, series
from tightlink.studies.link_saturation.setup import perturbation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run
    from tightlink.studies.link_saturation.observe.saturation import Found

_MBIT: Final = 1e6
_PERCENT: Final = 100
_SHOWN: Final = (100, 400, 1000)
#: The size next to the critical one, which takes longest.
_SLOWEST: Final = 400


def section(found: Found, table: pl.DataFrame, runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    back = int(table["returned"].sum())
    slow = table.filter(pl.col("drained_s").is_not_null()).sort("payload_bytes")
    last = slow.row(-1, named=True)
    finding = (
        f"{back} of {table.height} disturbed links return to the branch that the bifurcation calls stable; the "
        f"nearer to the critical size, the longer it takes: {slow['settled_s'].to_list()[0]:.2f} s at "
        f"{slow['payload_bytes'].to_list()[0]} B, {last['settled_s'] or float('nan'):.2f} s at "
        f"{last['payload_bytes']} B."
    )
    text = (
        "With y = T_max − T and r = T_max (1 − p / p_c) the regimes are the fixed points of dy/dt = r y − y²: y = "
        "0, free flow, and y = r, saturation. They cross at p_c and exchange their stability: a transcritical "
        "bifurcation. As the document does, the diagram runs from large packets to small ones.\n\n"
        "The equation says where a link returns to, not how fast: its time is none that can be measured. A "
        "simulated link returns as its queue empties, in a straight line and not in an exponential. Still it knows "
        "the critical slowing down that belongs to a bifurcation: a queue of N packets is empty after N / (rate of "
        "the line − rate of the interface), which grows without bound towards p_c."
    )
    return Section(
        "A transcritical bifurcation",
        finding,
        [
            Text(text),
            Chart(_diagram(found), "Branches in frames, from the cost law's T_max and p_c; points: the main sweep."),
            Row(_returns(found, runs), _CAPTION),
            Table(_shown(table), "Links that began with a full queue, sampled every 10 ms.", _FORMATS),
        ],
    )


_CAPTION: Final = (
    "Goodput after each disturbance: silence (the source starts late), a rival at the same interface until 0.1 s, a "
    "full queue. With the queue it is that of the whole link below p_c, which starts on the unstable plateau, and "
    "that of the sender above, which starts crowded out."
)
_FORMATS: Final[dict[str, Any]] = {
    "starts %": "+.0f", "ends %": "+.2f", "back after s": ".2f", "queue empty after s": ".2f",
}  # fmt: skip


def _shown(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("disturbance") == perturbation.QUEUE).select(
        pl.col("payload_bytes").alias("payload B"),
        pl.col("branch").alias("stable branch"),
        (_PERCENT * pl.col("start")).alias("starts %"),
        (_PERCENT * pl.col("end")).alias("ends %"),
        pl.col("returned"),
        pl.col("settled_s").alias("back after s"),
        pl.col("drained_s").alias("queue empty after s"),
    )


def _diagram(found: Found) -> Any:
    table = branches(found)
    # Both halves meet at the critical size, so each is one line.
    lines = pl.concat(
        table.filter(pl.col("stable").is_null() | (pl.col("stable") == stable)).select(
            "packet_bytes", "throughput_bps", branch=pl.lit("stable" if stable else "unstable")
        )
        for stable in (True, False)
    )
    lines = lines.filter(pl.col("throughput_bps") <= 150 * _MBIT)
    measured = found.table.select(packet_bytes=pl.col("frame_bytes"), throughput_bps=pl.col("frame_throughput_bps"))
    return charts.points(
        measured, "packet_bytes", "throughput_bps", curves=lines, curve="branch", height=320,
        x_title="frame (B), from large to small", x_domain=(1520, 0), y_domain=(0, 150 * _MBIT),
    )  # fmt: skip


def _returns(found: Found, runs: Mapping[str, Run]) -> list[Any]:
    critical = critical_payload(found)
    row = []
    for size in _SHOWN:
        parts = [
            series(runs[perturbation.key(kind, size)], kind, plateau=size < critical).with_columns(
                disturbance=pl.lit(kind)
            )
            for kind in perturbation.KINDS
        ]
        frame = pl.concat(parts).filter(pl.col("time_s") <= (1.2 if size == _SLOWEST else 0.4))
        row.append(
            charts.line(
                frame, "time_s", "throughput_bps", by="disturbance", title=f"{size} B", x_title="time (s)",
                height=170, y_domain=(0, 105 * _MBIT), y_title=None,
            )
        )  # fmt: skip
    return row
