"""Figures for papers, with matplotlib: every function draws into ``ax``, or a new figure, and returns the axes.

Columns that end in a unit are drawn in a readable scale, with the unit in the label. What reports draw is drawn by
`tightlink.report.charts`, and `save` and `write` put it on paper as well.
"""

from __future__ import annotations

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


def __dir__() -> list[str]:
    """What is offered, without the modules that it is in."""
    return __all__
