"""What is observed: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from tightlink.run import Run
from tightlink.studies.bulk_throughput.observe import alternatives, grids, linux, residuals
from tightlink.studies.bulk_throughput.observe.alternatives import Weighed
from tightlink.studies.bulk_throughput.observe.residuals import Explained
from tightlink.studies.bulk_throughput.setup.paths import CHOSEN, DARESBURY, LONG, LONG_PATH, SITES


@dataclass(frozen=True)
class Observed:
    """All that was observed."""

    values: Mapping[str, object]
    grids: Mapping[str, pl.DataFrame]
    """The cells of each path, by its name."""
    variants: Mapping[str, pl.DataFrame]
    """The cells of each comparison of recoveries."""
    pings: Mapping[str, pl.DataFrame]
    """Losses of TCP and pings, for each kind of queue."""
    one_property: pl.DataFrame
    cross: pl.DataFrame
    """A row for each run with cross traffic."""
    intervals: pl.DataFrame
    """Of the goodput of one measurement, for each share of cross traffic."""
    reference: Mapping[str, pl.DataFrame]
    """The cells of each path beside those of ns-2.35."""
    points: Mapping[str, pl.DataFrame]
    """Observed goodputs beside predicted ones, for each site."""
    alternatives: Mapping[str, Weighed]
    """Readings of what the document leaves to ns-2, by name."""
    explained: Sequence[Explained]
    """What the prediction for Caltech may not know, the best first."""
    measured: pl.DataFrame
    """The cells that Linux carried, as they are stored, beside profile ``linux``."""
    measured_ns2: Mapping[str, pl.DataFrame]
    """Those under Reno beside the document's simulator, for each site."""


def observe(runs: Mapping[str, Run]) -> Observed:
    """From runs to values and tables."""
    weighed = alternatives.weighed(runs)
    chosen = weighed[CHOSEN.name]
    long = grids.cells(runs, LONG, DARESBURY.cells, LONG_PATH)
    losses = linux.tables(runs)
    cross = linux.goodputs(runs)
    intervals = linux.intervals(cross)
    counts = residuals.tables(runs)
    properties = alternatives.properties(runs)
    points = {place.name: linux.points(place, runs) for place in SITES}
    explained = residuals.explained(runs)
    measured = linux.beside(linux.stored(), runs)
    measured_ns2 = linux.beside_ns2(linux.stored(), chosen.grids)
    values = {
        **chosen.values,
        **grids.run_time(chosen.grids[DARESBURY.name], long),
        **alternatives.values(weighed, runs),
        **linux.pings_values(losses),
        **linux.cross_traffic_values(intervals),
        **residuals.reference_values(counts),
        **alternatives.sweeps(properties),
        **residuals.values("synthetic", points),
        **residuals.unknown_values(explained),
        **residuals.values("measured", measured_ns2),
        **linux.values(measured, measured_ns2),
    }
    return Observed(
        values,
        chosen.grids,
        chosen.recoveries,
        losses,
        properties,
        cross,
        intervals,
        counts,
        points,
        weighed,
        explained,
        measured,
        measured_ns2,
    )
