"""What is observed: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from tightlink.run import Run
from tightlink.studies.network_congestion.observe import load, networks, rounding
from tightlink.studies.network_congestion.observe.load import Limited, Measured
from tightlink.studies.network_congestion.observe.rounding import Rounding


@dataclass(frozen=True)
class Observed:
    """All that was observed."""

    values: Mapping[str, object]
    graphs: list[Measured]
    """The order parameter on one graph of each family."""
    rounding: Rounding
    limited: Limited
    """Queues that are limited."""
    invariants: pl.DataFrame
    """A row for each graph: its invariants and its critical load."""
    correlations: pl.DataFrame
    """A row for each invariant: how well it tells the critical load."""
    packet_sizes: Mapping[str, Measured]
    balanced: pl.DataFrame
    """A row for each graph whose links have capacity by betweenness."""
    growth: pl.DataFrame
    """A row for each graph that grew, by each rule."""


def observe(runs: Mapping[str, Run]) -> Observed:
    """From runs to values and tables."""
    graphs, near, limited = load.order_parameter_read(runs), rounding.Rounding(runs), load.Limited(runs)
    structure, sizes, shared = (
        networks.invariants_table(runs),
        load.packet_sizes_read(runs),
        networks.balanced_table(runs),
    )
    evolved, simulated = networks.growth_table(), networks.simulated(runs)
    ranked = networks.correlations(structure)
    values = {
        **load.order_parameter_values(graphs),
        **rounding.values(near),
        **load.fluctuations_values(graphs, limited),
        **networks.invariants_values(structure, ranked),
        **load.packet_sizes_values(sizes),
        **networks.balanced_values(shared),
        **networks.growth_values(evolved, simulated),
    }
    return Observed(values, graphs, near, limited, structure, ranked, sizes, shared, evolved)
