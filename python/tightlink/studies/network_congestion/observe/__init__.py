"""What is observed: named values that claims compare, and the tables that the report shows."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from tightlink.run import Run
from tightlink.studies.network_congestion.observe import load, networks, rounding
from tightlink.studies.network_congestion.setup import cases, growth


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values and tables, by name; ``graphs`` has the order parameter of each family."""
    graphs = {case.graph.slug: load.Measured(case, runs) for case in cases.order_parameter()}
    sizes = {case.name.partition("/")[2]: load.Measured(case, runs) for case in cases.packet_sizes()}
    near, limited, balanced = rounding.Rounding(runs), load.Limited(runs), networks.balanced_table(runs)
    invariants, grown, simulated = networks.invariants_table(runs), networks.growth_table(), networks.simulated(runs)
    correlations, families = networks.correlations(invariants), networks.families(invariants)
    return {
        "setup": vars(growth) | vars(cases),
        **load.order_parameter_values(graphs.values()),
        **rounding.values(near),
        **load.fluctuations_values(graphs.values(), limited),
        **{f"invariants.{name}": value for name, value in networks.explained(correlations).items()},
        **networks.growth_values(grown, simulated),
        "graphs": graphs,
        "rounding": near,
        "limited": limited,
        "invariants": invariants,
        "families": families,
        **networks.tolerant(families),
        "sized": load.agreeing(near.in_size),
        "correlations": correlations,
        "sizes": sizes,
        "waiting": {name: one.waiting(load.BELOW) for name, one in sizes.items()},
        "balanced": balanced,
        "grown": grown,
        "simulated": simulated,
        "farthest": simulated.sort(pl.col("apart").abs()).row(-1, named=True),
    }
