"""What is observed: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tightlink.reduce import largest
from tightlink.run import Run
from tightlink.studies.network_congestion.observe import load, networks, rounding


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values and tables, by name."""
    graphs, near, limited = load.order_parameter_read(runs), rounding.Rounding(runs), load.Limited(runs)
    sizes, balanced = load.packet_sizes_read(runs), networks.balanced_table(runs)
    invariants, growth = networks.invariants_table(runs), networks.growth_table()
    correlations = networks.correlations(invariants)
    return {
        **load.order_parameter_values(graphs),
        **rounding.values(near),
        **load.fluctuations_values(graphs, limited),
        **networks.invariants_values(invariants, correlations),
        **load.packet_sizes_values(sizes),
        "balanced.off": largest((balanced["normalised"] - 1).abs()),
        **networks.growth_values(growth, networks.simulated(runs)),
        "graphs": graphs,
        "rounding": near,
        "limited": limited,
        "invariants": invariants,
        "correlations": correlations,
        "packet_sizes": sizes,
        "balanced": balanced,
        "growth": growth,
    }
