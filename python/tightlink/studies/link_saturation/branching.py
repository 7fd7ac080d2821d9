"""The bifurcation: both branches, which of them the link is on, and whether it comes back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis import bifurcation
from tightlink.experiment.claims import Claim, holds_if, untestable
from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.link_saturation import disturbed
from tightlink.studies.link_saturation.document import DOCUMENT
from tightlink.studies.link_saturation.interface import GAP_BYTES, HEADER_BYTES
from tightlink.studies.link_saturation.measures import most
from tightlink.studies.link_saturation.readings import FRAME
from tightlink.studies.link_saturation.sweeps import NO_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run
    from tightlink.studies.link_saturation.readings import Found

_PLACE: Final = f"{DOCUMENT}, section 5"
_MBIT: Final = 1e6
_PERCENT: Final = 100
_LINE_BPS: Final = 100e6
#: Counting whole packets for a second.
_COUNTED: Final = 1e-3
#: Sizes of frames at which branches are drawn.
_SIZES: Final = range(20, 1521, 20)
_SHOWN: Final = (100, 400, 1000)


def branches(found: Found) -> pl.DataFrame:
    """The bifurcation diagram of the main sweep, in frames."""
    law = found.law(FRAME, "cost")
    critical = law.critical_bytes.value
    return bifurcation.branches(law.throughput_max_bps.value, critical, sorted([*_SIZES, critical]))


def outcomes(found: Found, runs: Mapping[str, Run]) -> pl.DataFrame:
    """What became of each disturbance, with the time in which a queue that was filled should be empty."""
    goodput = dict(found.table.select("datagram_bytes", "goodput_bps").iter_rows())
    rates = dict(found.table.select("datagram_bytes", "packets_per_s").iter_rows())
    critical = found.law(FRAME, "cost").critical_bytes.value - HEADER_BYTES
    table = disturbed.outcomes(runs, goodput, critical)
    drained = []
    for kind, size, branch in table.select("disturbance", "payload_bytes", "branch").iter_rows():
        line = _LINE_BPS / 8 / (size + HEADER_BYTES + GAP_BYTES)
        drains = kind == disturbed.QUEUE and branch == "saturated"
        drained.append(disturbed.FILLED_S + disturbed.QUEUE_PACKETS / (line - rates[size]) if drains else None)
    return table.with_columns(drained_s=pl.Series(drained, dtype=pl.Float64))


def claims(found: Found, runs: Mapping[str, Run]) -> Iterator[Claim]:
    """What the document says of the bifurcation."""
    table = outcomes(found, runs)
    critical = found.law(FRAME, "cost").critical_bytes.value
    nearest = _nearest(found)
    right = int((nearest["nearest"] == nearest["stable"]).sum())
    yield holds_if(
        "bifurcation.branches", "Two regimes exchange their stability at the critical size", _PLACE,
        f"{right} of {nearest.height} sizes", right == nearest.height,
        "Eq. 8–10 in frames: free flow is stable above p_c, saturation below. The nearer branch of each measured "
        f"size is the stable one; the two cross at {critical:.0f} B.",
    )  # fmt: skip
    back = int(table["returned"].sum())
    yield holds_if(
        "bifurcation.stable", "The stable regime is the one that throughput returns to", _PLACE,
        f"{back} of {table.height} return", back == table.height,
        "Nine sizes on both sides of p_c, three disturbances each; returned: the last third lies within "
        f"{_PERCENT * disturbed.WITHIN:.0f} % of the branch.",
    )  # fmt: skip
    left = table.filter((pl.col("disturbance") == disturbed.QUEUE) & (pl.col("branch") == "saturated"))
    leaves = bool((left["returned"] & (left["start"] > disturbed.WITHIN)).all())
    highest = most(left["start"])
    yield holds_if(
        "bifurcation.unstable", "Below the critical size the plateau is unstable", _PLACE,
        f"{left.height} of {left.height} leave it" if leaves else "some stay", leaves,
        f"With a full queue small packets fill the line, up to {1 + highest:.1f} times the stable goodput, for as "
        "long as the queue lasts; then throughput falls to the saturated branch and stays.",
    )  # fmt: skip
    yield from _form(found, runs)
    yield untestable(
        "bifurcation.no-phase-transition",
        "It is no phase transition, as packets do not interact", _PLACE,
        "One link has no collective behaviour that a run could show or fail to show: the statement is one on words. "
        "What can be said: nothing in the model interacts, and all of the document's figure 2 follows from two "
        "costs.",
    )  # fmt: skip


def _form(found: Found, runs: Mapping[str, Run]) -> Iterator[Claim]:
    exact = _misfit(NO_BYTES.table(runs).with_columns(size=pl.col("frame_bytes") + GAP_BYTES))
    real = _misfit(found.table.with_columns(size=pl.col("frame_bytes") + GAP_BYTES))
    yield holds_if(
        "bifurcation.normal-form", "T follows the stable branch of the normal form, eq. 8–10", _PLACE,
        f"off by {_PERCENT * real:.0f} % at most", real < _COUNTED,
        f"In bytes of line time, in which the plateau is flat. The normal form is exact ({_PERCENT * exact:.2f} %, "
        "what counting whole packets leaves) for an interface that costs nothing per byte, a simulation of its own "
        "here; the document's packet rate, which rises in saturation, bends the lower branch, and two smooth curves "
        "that cross remain: the kind of the bifurcation does not change, its normal form holds near p_c.",
    )  # fmt: skip


def _misfit(table: pl.DataFrame) -> float:
    """The largest relative error of T_max · min(1, p / p_c) in line bytes, T_max the line's rate.

    p_c is where the packet rate of the largest saturated size fills the line: nothing is fitted.
    """
    low = table.filter(pl.col("utilization") < 1 - _COUNTED).filter(pl.col("datagram_bytes") < 1000)
    fastest = float(low.sort("size")["packets_per_s"].to_list()[-1])
    critical = _LINE_BPS / 8 / fastest
    errors: list[float] = []
    for size, rate in table.select("size", "packets_per_s").iter_rows():
        model = bifurcation.stable_throughput_bps(_LINE_BPS, critical, size)
        errors.append(abs(model / (8 * size * rate) - 1))
    return max(errors)


def _nearest(found: Found) -> pl.DataFrame:
    """For each measured size the branch that its throughput is nearer to, and the one that should be stable."""
    law = found.law(FRAME, "cost")
    critical, top = law.critical_bytes.value, law.throughput_max_bps.value
    rows = []
    for size, bits in found.table.select("frame_bytes", "frame_throughput_bps").iter_rows():
        saturated = top * size / critical
        rows.append(
            {
                "nearest": "free flow" if abs(bits - top) < abs(bits - saturated) else "saturated",
                "stable": "free flow" if bifurcation.reduced(size, critical) < 0 else "saturated",
            }
        )
    return pl.DataFrame(rows)


def section(found: Found, runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    table = outcomes(found, runs)
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
    return table.filter(pl.col("disturbance") == disturbed.QUEUE).select(
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
    critical = found.law(FRAME, "cost").critical_bytes.value - HEADER_BYTES
    row = []
    for size in _SHOWN:
        parts = [
            disturbed.series(runs[disturbed.key(kind, size)], kind, plateau=size < critical).with_columns(
                disturbance=pl.lit(kind)
            )
            for kind in disturbed.KINDS
        ]
        frame = pl.concat(parts).filter(pl.col("time_s") <= (1.2 if size == _SLOWEST else 0.4))
        row.append(
            charts.line(
                frame, "time_s", "throughput_bps", by="disturbance", title=f"{size} B", x_title="time (s)",
                height=170, y_domain=(0, 105 * _MBIT), y_title=None,
            )
        )  # fmt: skip
    return row


#: The size next to the critical one, which takes longest.
_SLOWEST: Final = 400
