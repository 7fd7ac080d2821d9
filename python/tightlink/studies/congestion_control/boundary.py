"""Where FAST oscillates: over alpha, the number of flows, and the buffer of one link (experiment ``oscillation``).

Each FAST flow keeps alpha packets in the queue. Where the queue has no room for those of all flows, none of them can
come to rest: windows grow until packets are lost, are halved, and grow again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink.analysis.oscillation import oscillation
from tightlink.experiment.claims import Claim, holds_if, within
from tightlink.experiment.execute import Task
from tightlink.report import Section, Table, Text
from tightlink.scenario import Scenario
from tightlink.studies.congestion_control import document
from tightlink.studies.congestion_control.part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

NAME: Final = "oscillation"
ALPHAS: Final = (8, 20, 50, 100, 200)
FLOWS: Final = (1, 2, 4, 8, 16)
BUFFERS: Final = (50, 100, 200, 400, 800)
_INTERVAL_S: Final = 0.02
_ROUND_TRIP_S: Final = 0.0404
#: Slow start is over.
_SETTLED_S: Final = 10.0
#: Of a window's standard deviation over its mean: from here on it does not rest, and from here on it swings far.
SWINGS: Final = 0.1
_LARGE: Final = 0.5
#: Noise to compare with: enough for the level of 0.01.
_SIMULATIONS: Final = 199


@dataclass(frozen=True)
class Cell:
    """One setting: a control, its alpha, how many flows share the link, and its buffer."""

    control: str
    alpha: int | None
    flows: int
    buffer: int

    @property
    def name(self) -> str:
        """Of its run."""
        alpha = "" if self.alpha is None else f"-{self.alpha}"
        return f"{NAME}/{self.control}{alpha}/{self.flows}/{self.buffer}"

    def scenario(self) -> Scenario:
        """Flows without end over 100 Mbit/s and 40 ms, which hold 333 packets."""
        control: Any = self.control
        if self.alpha is not None:
            control = {"kind": self.control, "alpha": f"{self.alpha} packets"}
        return Scenario.from_dict({
            "profile": "rfc",
            "duration": "30 s",
            "topology": {"net": {
                "kind": "dumbbell",
                "pairs": self.flows,
                "bottleneck": {"rate": "100 Mbit/s", "delay": "20 ms", "queue": f"{self.buffer} packets"},
                "access": {"rate": "1 Gbit/s", "delay": "0.1 ms", "queue": "10000 packets"},
            }},
            "traffic": {"bulk": {
                "kind": "bulk",
                "flows": self.flows,
                "from": "net.left[*]",
                "to": "net.right[*]",
                "tcp": {"congestion": control, "window": "100000 packets"},
            }},
            "observe": {"interval": f"{_INTERVAL_S * 1e3:g} ms"},
        })  # fmt: skip


def cells() -> list[Cell]:
    """All settings."""
    fast = [Cell("fast", alpha, flows, buffer) for alpha in ALPHAS for flows in FLOWS for buffer in BUFFERS]
    return [*fast, *(Cell("fast-at", None, flows, buffer) for flows in FLOWS for buffer in BUFFERS)]


def tasks() -> list[Task]:
    """All runs."""
    return [Task(cell.name, cell.scenario()) for cell in cells()]


@dataclass(frozen=True)
class Boundary:
    """What came out of all settings."""

    table: pl.DataFrame
    """A row for each: its numbers, ``room`` (buffer / flows · alpha), whether it oscillates and how much, ``loss``."""

    @cached_property
    def fast(self) -> pl.DataFrame:
        """Those of FAST."""
        return self.table.filter(pl.col("control") == "fast")


def read(runs: Mapping[str, Run]) -> Boundary:
    """Test every setting for oscillation of its windows."""
    return Boundary(pl.DataFrame([_row(cell, runs[cell.name]) for cell in cells()], infer_schema_length=None))


def _row(cell: Cell, run: Run) -> dict[str, Any]:
    own = run.series.filter(pl.col("metric") == "cwnd_packets", pl.col("time_s") > _SETTLED_S).sort("entity", "time_s")
    value = pl.col("value")
    swings = own.group_by("entity", maintain_order=True).agg(swing=value.std(ddof=0) / value.mean())
    windows = own.group_by("time_s", maintain_order=True).agg(value.mean()).sort("time_s")
    found = oscillation(windows["value"].to_numpy(), _INTERVAL_S, round_trip_s=_ROUND_TRIP_S, simulations=_SIMULATIONS)
    dropped, sent = (int(run.flows[name].sum()) for name in ("packets_dropped", "packets_sent"))
    return {
        "control": cell.control,
        "alpha_packets": cell.alpha,
        "flows": cell.flows,
        "buffer_packets": cell.buffer,
        "room": None if cell.alpha is None else cell.buffer / (cell.flows * cell.alpha),
        "swing": float(np.mean(swings["swing"].to_numpy())),
        "periodic": found.oscillates,
        "period_s": found.period_s if found.oscillates else None,
        "loss": dropped / sent,
    }


def claims(found: Boundary) -> Iterator[Claim]:
    """FAST oscillates where buffers are too short for the packets that its flows keep queued."""
    # On the edge itself, the last packet of all decides.
    fast = found.fast.filter(pl.col("room") != 1)
    right = ((fast["swing"] > SWINGS) == (fast["room"] < 1)).to_numpy()
    short, long = fast.filter(pl.col("room") < 1), fast.filter(pl.col("room") > 1)
    yield within(
        f"{NAME}.boundary", "FAST oscillates where, and only where, the buffer holds less than alpha of each flow",
        document.SAFETY, 1.0, float(right.mean()), tolerance=0.05,
        reason=f"Share of {fast.height} settings on the right side of buffer = flows × alpha. A "
        f"flow's window swings if its standard deviation is above {SWINGS:.0%} of its mean. Tolerance: ours.",
    )  # fmt: skip
    yield holds_if(
        f"{NAME}.rapidly", "Windows increase and decrease rapidly with large amplitude", document.SAFETY,
        _median(short, "swing"), _median(short, "swing") > _LARGE,
        f"Median standard deviation over mean where buffers are too short. The mean over flows has a period, of "
        f"{_median(short.filter('periodic'), 'period_s') / _ROUND_TRIP_S:.0f} round trips in the median, in "
        f"{short['periodic'].sum()} of {short.height} settings; in the others flows swing each at its own times.",
    )  # fmt: skip
    yield holds_if(
        f"{NAME}.losses", "Where FAST oscillates, losses rise", document.SAFETY,
        _median(short, "loss"), _median(short, "loss") > _median(long, "loss"),
        f"Median loss where buffers are too short; where they are not it is {_median(long, 'loss'):.2%}.",
    )  # fmt: skip
    adapted = found.table.filter(pl.col("control") == "fast-at")
    shortest = adapted.filter(pl.col("buffer_packets") == BUFFERS[0])
    fixed = found.fast.filter(pl.col("alpha_packets") == ALPHAS[-1])
    many = _swinging(shortest)
    yield holds_if(
        f"{NAME}.fast-at", "FAST-AT oscillates too where buffers are short", document.SAFETY, many, many > 0,
        f"Numbers of flows, of {shortest.height}, at which it does with a buffer of {BUFFERS[0]} packets. Of all "
        f"settings it oscillates in {_swinging(adapted)} of {adapted.height}; FAST with alpha = {ALPHAS[-1]} in "
        f"{_swinging(fixed)} of {fixed.height}.",
    )  # fmt: skip


def _swinging(table: pl.DataFrame) -> int:
    return int((table["swing"] > SWINGS).sum())


def _median(table: pl.DataFrame, column: str) -> float:
    return float(np.median(table[column].to_numpy()))


def section(found: Boundary) -> Section:
    """The boundary as a table: for each product of flows and alpha, the buffers at which windows oscillate."""
    import altair as alt

    from tightlink.report import Chart

    shown = found.table.with_columns(
        label=pl.when(pl.col("swing") > SWINGS).then(pl.lit("oscillates")).otherwise(pl.lit("comes to rest")),
        queued=pl.col("flows") * pl.col("alpha_packets"),
    )
    points = alt.Chart(shown.filter(pl.col("control") == "fast")).mark_point(filled=True, size=60).encode(
        x=alt.X("queued:Q", title="flows × alpha (packets)").scale(type="log"),
        y=alt.Y("buffer_packets:Q", title="buffer (packets)").scale(type="log"),
        color=alt.Color("label:N", title=""),
        shape=alt.Shape("label:N", title=""),
        tooltip=["alpha_packets", "flows", "buffer_packets", "swing", "period_s", "loss"],
    )  # fmt: skip
    ends = pl.DataFrame({"queued": [BUFFERS[0], BUFFERS[-1]], "buffer_packets": [BUFFERS[0], BUFFERS[-1]]})
    line = alt.Chart(ends).mark_line(strokeDash=[4, 3], color="gray").encode(x="queued:Q", y="buffer_packets:Q")
    by_control = found.table.group_by("control", "alpha_packets", maintain_order=True).agg(
        settings=pl.len(), oscillates=(pl.col("swing") > SWINGS).sum(), loss=pl.col("loss").mean()
    )
    return Section(
        "Where FAST oscillates",
        "A flow of FAST keeps alpha packets queued; where there is no room for those of all flows, windows swing.",
        [
            Text(
                "Flows without end over one link of 100 Mbit/s and 40 ms, for every alpha, number of flows and buffer. "
                "The dashed line is buffer = flows × alpha."
            ),
            Chart((points + line).properties(width="container", height=320), "Hover a point for amplitude and loss."),
            Table(by_control, "Settings in which windows oscillate."),
        ],
    )


def part(runs: Mapping[str, Run]) -> Part:
    """What the experiment shows."""
    found = read(runs)
    return Part(list(claims(found)), section(found))
