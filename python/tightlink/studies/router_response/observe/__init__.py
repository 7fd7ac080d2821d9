"""What is observed: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from tightlink.run import Run
from tightlink.studies.router_response.observe import regions, response
from tightlink.studies.router_response.observe.regions import Routers, Videos
from tightlink.studies.router_response.setup.network import ROUTER_A, WATCH, WATCHED_PER_S


@dataclass(frozen=True)
class Observed:
    """All that was observed."""

    values: Mapping[str, object]
    routers: Routers
    videos: Videos
    watched: pl.DataFrame
    """Reported load of router A over time."""


def observe(runs: Mapping[str, Run]) -> Observed:
    """From runs to values and tables."""
    routers = Routers.of(runs)
    videos = Videos.of(runs, routers.limit_per_s)
    values = response.load_values(routers) | response.loss_values(routers) | regions.values(routers) | videos.values()
    return Observed(values, routers, videos, _watched(runs))


def _watched(runs: Mapping[str, Run]) -> pl.DataFrame:
    parts = []
    for rate in WATCHED_PER_S:
        series = runs[f"{WATCH}/{rate}"].series
        own = series.filter((pl.col("entity") == ROUTER_A) & (pl.col("metric") == "load_reported"))
        parts.append(own.select("time_s", load_reported="value", probe=pl.lit(f"{rate:,} packets/s")))
    return pl.concat(parts)
