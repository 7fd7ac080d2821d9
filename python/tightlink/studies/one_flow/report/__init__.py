"""The report, whose text is ``report.md``, and its figures for papers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from tightlink import plots
from tightlink.analysis.response import C_DELAYED, C_EVERY
from tightlink.experiment.claims import Claim
from tightlink.plots.palette import SERIES
from tightlink.report.thin import thin
from tightlink.studies.expressions import Names
from tightlink.studies.one_flow import setup
from tightlink.studies.one_flow.observe import Observed
from tightlink.studies.one_flow.observe.cases import BULK_FAIR, BULK_GOOD, Measured
from tightlink.studies.one_flow.observe.company import fitted
from tightlink.studies.one_flow.report import cases, company
from tightlink.studies.one_flow.setup import BASE, CASES, STOP_S
from tightlink.studies.report_text import page
from tightlink.studies.study import Report

#: The document's mean queue, in packets, and its Mbit.
_QUEUE: Final = 14.5
_MBIT: Final = 2**20
_COUNTED: Final = ("None", "One", "Two", "Three", "Four", "Five", "Six", "All")


def report(observed: Observed, claims: Mapping[str, Claim]) -> Report:
    """The whole report."""
    tcp, udp, runs = observed.tcp, observed.udp, observed.runs
    blocks = (
        cases.tables(tcp, udp, runs, claims) | company.blocks(observed.company) | company.responses(observed.response)
    )
    for transport, found in (("tcp", tcp), ("udp", udp)):
        axes = cases.domains(found)
        blocks |= {f"{name}.{transport}": cases.small_charts(own, axes) for name, own in found.items()}
    same = (all(claims[f"{case.name}.{count}"].holds for count in ("packets-sent", "kilobytes")) for case in CASES)
    constant = observed.company.udp.filter(pl.col("kind") == "constant")
    names = {
        "failed": sum(claim.holds is False for claim in claims.values()),
        "setup": vars(setup),
        "same": _COUNTED[sum(same)],
        "counted": {
            transport: {name: cases.counted(own) for name, own in found.items()}
            for transport, found in (("tcp", tcp), ("udp", udp))
        },
        "idle": {name: 1 - own.run.links["utilization"][0] for name, own in tcp.items()},
        "printed_sent": claims["queue-5.packets-sent"].expected,
        "printed_dropped": claims["queue-5.packets-dropped"].expected,
        "really_limits": cases.really_limits(tcp, runs),
        "good": cases.good(blocks["quality"]),
        "bulk_good": BULK_GOOD,
        "bulk_fair": BULK_FAIR,
        "c_every": C_EVERY,
        "c_delayed": C_DELAYED,
        "c_tahoe": fitted(observed.response.filter(pl.col("forced") == "random"), "Tahoe"),
        "uneven": observed.company.many.sort("jain").row(0, named=True),
        "ten": constant.row(-1, named=True),
        "notes": _notes(),
    }
    figures = {
        "cases-tcp": _grid(tcp),
        "cases-udp": _grid(udp),
        "response-random": blocks["random-loss"],
        "response-queue": blocks["queue-loss"],
        "phase": blocks["phase"],
        "beside-udp": blocks["beside"],
    }
    return page(
        Path(__file__).parent.with_suffix(".md"), Names(names, observed.values, observed), blocks,
        picture="What the document missed: the window", figures=figures,
    )  # fmt: skip


def _notes() -> dict[str, float]:
    """The document's arithmetic on its own constants, which no run can contradict."""
    own_ms = 1e3 * 8 * BASE.payload_bytes / (BASE.rate_bps / 1e6 * _MBIT)
    waiting_ms = _QUEUE * own_ms
    return {
        "queue": _QUEUE, "own_ms": own_ms, "waiting_ms": waiting_ms,
        "total_ms": waiting_ms + own_ms + 1e3 * BASE.delay_s,
    }  # fmt: skip


def _grid(measured: Mapping[str, Measured]) -> Figure:
    """A grid: a row for each case, a column for each metric, the axes of a column the same."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    axes = cases.domains(measured)
    with mpl.rc_context(plots.STYLE):
        # Fixed margins: arranging 35 axes by their labels takes longer than drawing them.
        figure = Figure(figsize=(13, 13))
        figure.subplots_adjust(left=0.055, right=0.985, bottom=0.04, top=0.97, wspace=0.25, hspace=0.15)
        grid = figure.subplots(len(CASES), len(cases.METRICS), sharex=True, sharey="col")
        for row, case in enumerate(CASES):
            found = cases.curves(measured[case.name])
            for column, (metric, (title, _)) in enumerate(cases.METRICS.items()):
                ax = grid[row, column]
                for (reading,), part in found[metric].group_by("reading", maintain_order=True):
                    points = thin(part, "time_s", metric, most=400)
                    raw = reading == cases.RAW and found[metric]["reading"].n_unique() > 1
                    ax.plot(
                        points["time_s"].to_list(),
                        points[metric].to_list(),
                        color=cases.PALE if raw else SERIES[0],
                        linewidth=0.6 if raw else 1.1,
                    )
                ax.set(xlim=(0, STOP_S), ylim=axes[metric])
                ax.locator_params(nbins=4)
                if row == 0:
                    ax.set_title(title)
                if row == len(CASES) - 1:
                    ax.set_xlabel("time (s)")
                if column == 0:
                    ax.set_ylabel(case.title)
    return figure
