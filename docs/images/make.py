#!/usr/bin/env python3
"""Draws the figures of the documentation: ``make docs-figures``.

    python docs/images/make.py

Each is an SVG file beside this one, made from a scenario of the folder ``examples``.
"""

from __future__ import annotations

import functools
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl
from matplotlib import rc_context
from matplotlib.figure import Figure

import tightlink as tl
from tightlink import plots
from tightlink.analysis.effects.main import main_effects
from tightlink.analysis.effects.ten_steps import steps
from tightlink.plots.palette import LIMITS, SERIES
from tightlink.report import charts

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

HERE: Final = Path(__file__).resolve().parent
EXAMPLES: Final = HERE.parent.parent / "examples"
#: As wide as a README is shown.
_WIDTH: Final = 8.0


def sawtooth() -> Figure:
    """The window of one flow and the queue that it makes, with ns-2's window of 20 packets and without."""
    figure, grid = _grid(2, 2, height=3.6)
    titles = ("window of 20 packets", "window opened")
    for column, (name, title) in enumerate(zip(("one-flow", "open-window"), titles, strict=True)):
        scenario = tl.load(EXAMPLES / f"{name}.toml").set_all({"observe.interval": "50 ms", "duration": "25 s"})
        run = tl.simulate(scenario)
        window, queue = grid[0][column], grid[1][column]
        for metric, color, label in (("cwnd_packets", SERIES[0], "congestion window"),
                                     ("in_flight_packets", SERIES[1], "in flight")):  # fmt: skip
            plots.series(run, metric, "ftp", ax=window, color=color).lines[-1].set_label(label)
        plots.series(run, "queue_packets", "bottleneck", ax=queue, color=SERIES[2])
        window.set(title=title, xlabel="", ylabel="packets", ylim=(0, 50))
        queue.set(ylabel="queue (packets)", ylim=(0, 22))
        flow = run.flows.row(0, named=True)
        text = f"{flow['goodput_bps'] / 1e6:.2f} Mbit/s, {1e3 * flow['one_way_delay_mean_s']:.0f} ms, {_why(run)}"
        queue.text(0.98, 0.06, text, transform=queue.transAxes, ha="right", fontsize=8)
    grid[0][0].legend(loc="upper right")
    return figure


def limits() -> Figure:
    """What limited the flows of the examples."""
    parts = []
    for name, changes in (
        ("one-flow", {}),
        ("one-flow, 100 B", {"traffic.ftp.tcp.payload": "100 B"}),
        ("one-flow, 100 ms", {"link.bottleneck.delay": "100 ms"}),
        ("open-window", {}),
        ("one-flow, 64 KiB to send", {"traffic.ftp.bytes": "64 KiB"}),
        ("one-flow, rfc", {"profile": "rfc"}),
    ):
        run = tl.simulate(tl.load(EXAMPLES / f"{name.partition(',')[0]}.toml").set_all(changes))
        parts.append(run.flows.with_columns(label=pl.lit(name)))
    figure, grid = _grid(1, 1, height=2.6)
    _bars(grid[0][0], pl.concat(parts))
    return figure


def factors() -> Any:
    """What the six factors of the guide move."""
    responses = ["goodput_bps", "loss", "timeouts", "one_way_delay_mean_s", "utilization", "queue_mean_packets"]
    runs, factors = _screened()
    return charts.significance_map(main_effects(runs, factors, responses))


def noise() -> Figure:
    """Which effects on goodput are more than noise."""
    figure = Figure(figsize=(_WIDTH * 0.6, 3.4), layout="constrained")
    runs, factors = _screened()
    plots.ten_steps.half_normal(steps(runs, "goodput_bps", factors), ax=figure.subplots())
    return figure


@functools.cache
def sharing() -> Figure:
    """What a flow gets beside another over the length of the queue, as `benchmarks/sharing.py` found it."""
    shares = pl.read_csv(HERE.parents[1] / "benchmarks" / "measured" / "sharing" / "sharing.csv")
    figure, grid = _grid(1, 1, height=3.0)
    ax = grid[0][0]
    for color, pair in zip(SERIES, ("bbr beside cubic", "bbr beside reno", "cubic beside reno"), strict=False):
        own = shares.filter(pl.col("pair") == pair)
        simulated, deviation = 100 * own["simulated"], 100 * own["deviation"]
        ax.plot(own["queue_bdp"], simulated, color=color, label=f"{pair}, simulated")
        ax.fill_between(own["queue_bdp"], simulated - deviation, simulated + deviation, color=color, alpha=0.2, lw=0)
        ax.plot(own["queue_bdp"], 100 * own["measured"], "o", color=color, label="measured with Linux 6.18")
    ax.set_xscale("log", base=2)
    ax.set(xlabel="queue (bandwidth-delay products)", ylabel="share of the second flow (%)", ylim=(0, 100))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def _screened() -> tuple[pl.DataFrame, list[str]]:
    vary = {
        "topology.net.bottleneck.queue": ["10 packets", "50 packets"],
        "topology.net.bottleneck.delay": ["5 ms", "40 ms"],
        "traffic.bulk.flows": [1, 4],
        "traffic.bulk.tcp.recovery": ["reno", "sack"],
        "traffic.bulk.tcp.window": ["20 packets", "200 packets"],
        "traffic.noise.rate": ["0.5 Mbit/s", "2 Mbit/s"],
    }
    base = tl.load(EXAMPLES / "screening.toml")
    with tempfile.TemporaryDirectory() as folder:
        found = tl.sweep(base, vary, design="fractional", resolution=4, replications=2, output=folder)
        return found.runs.collect(), list(vary)


def _bars(ax: Axes, flows: pl.DataFrame) -> None:
    labels = flows["label"].to_list()
    left = [0.0] * len(labels)
    for key, limit in LIMITS.items():
        shares = [100 * share for share in flows[f"limited_by_{key}"]]
        if max(shares) > 0:
            ax.barh(labels, shares, left=left, height=0.7, color=limit.color, label=limit.name)
            left = [start + share for start, share in zip(left, shares, strict=True)]
    ax.set(xlim=(0, 100), xlabel="share of the time (%)")
    ax.invert_yaxis()
    ax.grid(visible=False)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)


def _grid(rows: int, columns: int, *, height: float) -> tuple[Figure, list[list[Axes]]]:
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex="col")
    return figure, [list(row) for row in axes]


def _why(run: tl.Run) -> str:
    shares = {key: run.flows[f"limited_by_{key}"][0] for key in LIMITS}
    most = max(shares, key=lambda key: shares[key])
    return f"limited by the {most.replace('_', ' ')}"


FIGURES: Final[dict[str, Callable[[], Any]]] = {
    "limited-by": limits, "more-than-noise": noise, "sawtooth": sawtooth, "sharing": sharing,
    "which-factors-matter": factors,
}  # fmt: skip


def draw(folder: Path) -> list[Path]:
    """Write all figures into a folder."""
    files = []
    for name, make in FIGURES.items():
        with tempfile.TemporaryDirectory() as elsewhere, rc_context(plots.STYLE):
            drawn = next(file for file in plots.save(make(), elsewhere, name) if file.suffix == ".svg")
            # matplotlib leaves spaces at the ends of lines.
            text = "".join(line.rstrip() + "\n" for line in drawn.read_text(encoding="utf-8").splitlines())
        target = folder / f"{name}.svg"
        target.write_text(text, encoding="utf-8")
        files.append(target)
    return files


if __name__ == "__main__":
    for drawn in draw(HERE):
        print(drawn)
    sys.exit(0)
