"""What is observed: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tightlink.studies.network_congestion.observe import (
    balanced,
    fluctuations,
    growth,
    invariants,
    order_parameter,
    packet_sizes,
    rounding,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tightlink.run import Run
    from tightlink.studies.network_congestion.observe.fluctuations import Limited
    from tightlink.studies.network_congestion.observe.measured import Measured
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
    graphs, near, limited = order_parameter.read(runs), rounding.Rounding(runs), fluctuations.Limited(runs)
    structure, sizes, shared = invariants.table(runs), packet_sizes.read(runs), balanced.table(runs)
    evolved, simulated = growth.table(), growth.simulated(runs)
    ranked = invariants.correlations(structure)
    values = {
        **order_parameter.values(graphs),
        **rounding.values(near),
        **fluctuations.values(graphs, limited),
        **invariants.values(structure, ranked),
        **packet_sizes.values(sizes),
        **balanced.values(shared),
        **growth.values(evolved, simulated),
    }
    return Observed(values, graphs, near, limited, structure, ranked, sizes, shared, evolved)
