"""What is observed: named values that claims compare, and the tables that the report shows."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from tightlink.run import Run
from tightlink.studies.bulk_throughput.observe import alternatives, cross_traffic, grids, linux, pings, residuals
from tightlink.studies.bulk_throughput.setup.cross_traffic import SHARES
from tightlink.studies.bulk_throughput.setup.paths import CHOSEN, DARESBURY, LONG, LONG_PATH, SITES


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values and tables, by name.

    ``grids`` has the cells of each path, ``reference`` these beside ns-2.35's, ``points`` observed beside predicted
    goodputs of each site, ``measured`` the cells that Linux carried, as they are stored, beside profile ``linux``.
    """
    weighed, explained = alternatives.weighed(runs), residuals.explained(runs)
    chosen = weighed[CHOSEN.name]
    long = grids.cells(runs, LONG, DARESBURY.cells, LONG_PATH)
    pinged, crossed = pings.tables(runs), cross_traffic.goodputs(runs)
    intervals, counts = cross_traffic.intervals(crossed), residuals.tables(runs)
    properties = alternatives.properties(runs)
    points = {place.name: cross_traffic.points(place, runs) for place in SITES}
    measured, measured_ns2 = linux.beside(linux.stored(), runs), linux.beside_ns2(linux.stored(), chosen.grids)
    return {
        **chosen.values,
        **alternatives.values(weighed, runs),
        **pings.values(pinged),
        **{name: residuals.reference_values(both) for name, both in counts.items()},
        **alternatives.sweeps(properties),
        **residuals.values("synthetic", points),
        **residuals.unknown_values(explained),
        **residuals.values("measured", measured_ns2),
        **linux.values(measured, measured_ns2),
        "grids": chosen.grids,
        "run_time": grids.run_time(chosen.grids[DARESBURY.name], long),
        "recoveries": chosen.recoveries,
        "lossless": pl.concat(table.filter("lossless").select("equal") for table in chosen.recoveries.values()),
        "pings": pinged,
        "properties": properties,
        "cross": crossed,
        "intervals": intervals,
        "crossed": intervals.filter(pl.col("share") == min(filter(None, SHARES))),
        "reference": counts,
        "points": points,
        "weighed": weighed,
        "explained": explained,
        "measured": measured,
    }
