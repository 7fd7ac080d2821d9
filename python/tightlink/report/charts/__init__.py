"""Interactive charts in the house style, for `report.Chart` and `report.Row`.

Columns that end in a unit (``goodput_bps``, ``one_way_delay_mean_s``) get their title and a readable scale
by themselves; giving a title leaves the values as they are. Lines with many points are thinned so that
peaks survive, and the caption says so. All are charts of Altair: ``chart.properties(title=…, width=…, height=…)`` sets
what a function does not ask for.

Example:
    >>> frame = pl.DataFrame({"time_s": [0.0, 1.0], "goodput_bps": [0.0, 2e6]})
    >>> line(frame, "time_s", "goodput_bps").to_dict()["encoding"]["y"]["title"]
    'goodput (Mbit/s)'
"""

from __future__ import annotations

from tightlink.report.charts.comparison import beside_standard, outlier_grid, rank_scatter, share_bars
from tightlink.report.charts.components import component_loadings, component_scores, scree
from tightlink.report.charts.correlation import correlation_histogram, correlation_matrix, index_index
from tightlink.report.charts.delay import delay_throughput, distribution, quantiles
from tightlink.report.charts.dendrograms import dendrogram, dendrograms
from tightlink.report.charts.effects import influence, main_effects, significance_map
from tightlink.report.charts.explore import explore
from tightlink.report.charts.levels import over_levels
from tightlink.report.charts.lines import line, shared_domains, small_multiples
from tightlink.report.charts.linked import MOST_IN_SEQUENCE, linked, sequence
from tightlink.report.charts.marks import bars_stacked, points
from tightlink.report.charts.regions import Shade, shaded
from tightlink.report.charts.side_by_side import compared_series, compared_values
from tightlink.report.charts.verdicts import verdict_map
from tightlink.report.thin import thin

__all__ = [
    "MOST_IN_SEQUENCE",
    "Shade",
    "bars_stacked",
    "beside_standard",
    "compared_series",
    "compared_values",
    "component_loadings",
    "component_scores",
    "correlation_histogram",
    "correlation_matrix",
    "delay_throughput",
    "dendrogram",
    "dendrograms",
    "distribution",
    "explore",
    "index_index",
    "influence",
    "line",
    "linked",
    "main_effects",
    "outlier_grid",
    "over_levels",
    "points",
    "quantiles",
    "rank_scatter",
    "scree",
    "sequence",
    "shaded",
    "share_bars",
    "shared_domains",
    "significance_map",
    "small_multiples",
    "thin",
    "verdict_map",
]


def __dir__() -> list[str]:
    """What is offered, without the modules that it is in."""
    return __all__
