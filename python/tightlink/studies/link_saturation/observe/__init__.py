"""What is observed: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from tightlink.run import Run
from tightlink.studies.link_saturation.observe import bifurcation, saturation, variations
from tightlink.studies.link_saturation.observe.saturation import Found
from tightlink.studies.link_saturation.setup.interface import MAIN, SWEEPS


@dataclass(frozen=True)
class Observed:
    """All that was observed."""

    values: Mapping[str, object]
    tables: Mapping[str, pl.DataFrame]
    """Of sweeps, by their names: a row for each payload."""
    main: Found
    """Where the main sweep saturates, and others."""
    perturbed: pl.DataFrame
    """A row for each link that was perturbed."""
    mixes: pl.DataFrame
    """A row for each mix of sizes."""
    density: pl.DataFrame
    """Flow over the number of TCP connections."""
    phases: pl.DataFrame
    """A row for each load of random arrivals."""
    flows: pl.DataFrame
    """The maximum flow for each payload."""
    runs: Mapping[str, Run]


def observe(runs: Mapping[str, Run]) -> Observed:
    """From runs to values and tables."""
    tables = {each.name: saturation.measures_table(each, runs) for each in SWEEPS}
    main = saturation.read(tables)
    perturbed, mixed = bifurcation.outcomes(main, runs), variations.mixes_table(runs, main.table)
    density, random, flows = (
        variations.connections_table(runs),
        bifurcation.table(runs),
        saturation.max_flow_table(tables[MAIN.name]),
    )
    values = {
        **saturation.values(main),
        **saturation.sweep_values(main, tables),
        **{name: tables[sweep.name] for name, sweep in variations.NAMED.items()},
        **bifurcation.values(main, perturbed, tables),
        **variations.mixes_values(mixed),
        **variations.connections_values(density, tables),
        **saturation.size_density_values(main),
        **bifurcation.phases_values(random),
        **saturation.max_flow_values(flows),
    }
    return Observed(values, tables, main, perturbed, mixed, density, random, flows, runs)
