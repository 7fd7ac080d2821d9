"""Figures for papers, with matplotlib: every function draws into ``ax``, or a new figure, and returns the axes.

Columns that end in a unit are drawn in a readable scale, with the unit in the label. What reports draw is drawn by
`tightlink.report.charts`, and `save` and `write` put it on paper as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tightlink.errors import did_you_mean
from tightlink.plots import ten_steps
from tightlink.plots.figures import cdf, delays, limited_by, line, scatter_with_curves, series
from tightlink.plots.limits import (
    bifurcation,
    load_over,
    loss_over,
    rate_over_size,
    throughput_over_rate,
    throughput_over_size,
)
from tightlink.plots.markov import chain_arrivals, chain_evolution, chain_perturbation, chain_sensitivity
from tightlink.plots.overview import overview
from tightlink.plots.style import SIZE, STYLE, save, write
from tightlink.plots.traffic import (
    correlation_over_lag,
    interarrival_times,
    losses_by_flow,
    oscillation_series,
    oscillation_spectrum,
    size_tail,
    spikes_over_time,
    synchronization_over_time,
    variance_time,
)

__all__ = [
    "SIZE",
    "STYLE",
    "bifurcation",
    "cdf",
    "chain_arrivals",
    "chain_evolution",
    "chain_perturbation",
    "chain_sensitivity",
    "correlation_over_lag",
    "delays",
    "interarrival_times",
    "limited_by",
    "line",
    "load_over",
    "loss_over",
    "losses_by_flow",
    "oscillation_series",
    "oscillation_spectrum",
    "overview",
    "rate_over_size",
    "save",
    "scatter_with_curves",
    "series",
    "size_tail",
    "spikes_over_time",
    "synchronization_over_time",
    "ten_steps",
    "throughput_over_rate",
    "throughput_over_size",
    "variance_time",
    "write",
]

#: Functions of this package that are charts now, of reports and for papers.
_CHARTS: Final = frozenset({
    "beside_standard", "compared_series", "compared_values", "component_loadings", "component_scores",
    "correlation_histogram", "correlation_matrix", "dendrogram", "dendrograms", "index_index", "influence",
    "main_effects", "outlier_grid", "rank_scatter", "scree", "share_bars", "significance_map",
})  # fmt: skip

# Hidden from type checkers, which would take any name for one that there is.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        chart = {"component_biplot": "component_scores"}.get(name, name)
        if chart in _CHARTS:
            ending = f"; it is charts.{chart} now (from tightlink.report import charts)"
        else:
            ending = "" if name.startswith("_") else did_you_mean(name, __all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{ending}", name=name)


def __dir__() -> list[str]:
    """What is offered, without the modules that it is in."""
    return __all__
