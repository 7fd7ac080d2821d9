"""What is observed: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tightlink.studies.bulk_throughput.observe import (
    cells,
    cross_traffic,
    daresbury,
    pings,
    reference,
    sites,
    variants,
)
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY, LONG, LONG_PATH, PATHS, SITES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tightlink.run import Run


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


def observe(runs: Mapping[str, Run]) -> Observed:
    """From runs to values and tables."""
    grids = {place.name: cells.cells(runs, place.name, place.cells, place.path) for place in PATHS}
    long = cells.cells(runs, LONG, DARESBURY.cells, LONG_PATH)
    recoveries, losses = variants.recoveries(runs), pings.tables(runs)
    cross = cross_traffic.goodputs(runs)
    intervals = cross_traffic.intervals(cross)
    counts = reference.tables(runs)
    values = {
        **daresbury.values(grids[DARESBURY.name], long),
        **sites.values(grids),
        **variants.values(recoveries),
        **pings.values(losses),
        **cross_traffic.values(intervals),
        **reference.values(counts),
    }
    points = {place.name: cross_traffic.points(place, runs) for place in SITES}
    return Observed(values, grids, recoveries, losses, variants.properties(runs), cross, intervals, counts, points)
