"""What is observed: named values that claims compare, and the tables that the report shows."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from tightlink.reduce import samples
from tightlink.run import Run
from tightlink.studies.router_response.observe import regions, response
from tightlink.studies.router_response.observe.regions import Routers, Videos
from tightlink.studies.router_response.setup.document import LENGTHS
from tightlink.studies.router_response.setup.network import ROUTER_A, WATCH, WATCHED_PER_S


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values and tables, by name; ``watched`` is the reported load of router A over time."""
    routers = Routers.of(runs)
    videos = Videos.of(runs, routers.limit_per_s)
    values = response.load_values(routers) | response.loss_values(routers) | regions.values(routers) | videos.values()
    watched = {rate: samples(runs[f"{WATCH}/{rate}"].series, "load_reported", ROUTER_A) for rate in WATCHED_PER_S}
    readings = pl.concat(
        own.select("time_s", load_reported="value", probe=pl.lit(f"{rate:,} packets/s"))
        for rate, own in watched.items()
    )
    probes = {size: routers.probes(size) for size in LENGTHS}
    grid = {size: routers.probes(size, grid=True) for size in LENGTHS}
    return values | {"routers": routers, "probes": probes, "grid": grid, "videos": videos, "watched": readings}
