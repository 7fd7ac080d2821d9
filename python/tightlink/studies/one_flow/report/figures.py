"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from tightlink import plots
from tightlink.plots.palette import SERIES
from tightlink.report.thin import thin
from tightlink.studies.one_flow.observe import response
from tightlink.studies.one_flow.observe.company import beside_long
from tightlink.studies.one_flow.report import cases
from tightlink.studies.one_flow.setup.cases import CASES, STOP_S

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tightlink.studies.one_flow.observe import Observed
    from tightlink.studies.one_flow.observe.cases import Measured

_MOST_POINTS = 400


def draw(folder: Path, observed: Observed) -> list[Path]:
    """Draw them all and return where they are."""
    written = [*_cases(folder, "cases-tcp", observed.tcp), *_cases(folder, "cases-udp", observed.udp)]
    mean = observed.response.rename({"packets_per_rtt": "packets per round trip"})
    lines: dict[str, Any] = {
        str(name): (part["loss"].to_list(), part["packets_per_rtt"].to_list())
        for (name,), part in response.curves().group_by("curve", maintain_order=True)
    }
    for forced in ("random", "queue"):
        shown = mean.filter(pl.col("forced") == forced)
        ax = plots.scatter_with_curves(
            shown, x="loss", y="packets per round trip", by="variant", curves=lines, log=True
        )
        written += plots.save(ax, folder, f"response-{forced}")
    shares = observed.company.phase.rename({"extra_ms": "longer round trip (ms)", "share": "share of the second flow"})
    ax = plots.line(shares, x="longer round trip (ms)", y="share of the second flow", by="kind")
    ax.set_ylim(0, 1)
    written += plots.save(ax, folder, "phase")
    beside = beside_long(observed.company.beside).rename({"offered_percent": "UDP offers (% of the link)"})
    ax = plots.line(beside, x="UDP offers (% of the link)", y="throughput_bps", by="flow")
    return [*written, *plots.save(ax, folder, "beside-udp")]


def _cases(folder: Path, name: str, measured: Mapping[str, Measured]) -> list[Path]:
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
            for column, metric in enumerate(cases.METRICS):
                ax = grid[row, column]
                for (reading,), part in found[metric].group_by("reading", maintain_order=True):
                    points = thin(part, "time_s", metric, most=_MOST_POINTS)
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
                    ax.set_title(cases.TITLES[metric])
                if row == len(CASES) - 1:
                    ax.set_xlabel("time (s)")
                if column == 0:
                    ax.set_ylabel(case.title)
    return plots.save(figure, folder, name)
