"""What is observed: named values that claims compare, and the tables that the report shows."""

from collections.abc import Mapping
from typing import Any

from tightlink.run import Run
from tightlink.studies.link_saturation.observe import bifurcation, saturation, variations
from tightlink.studies.link_saturation.setup import interface, sweeps
from tightlink.studies.link_saturation.setup import variations as setup


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values and tables, by name; ``tables`` has those of all sweeps, ``found`` where these saturate."""
    tables = {each.name: saturation.measures_table(each, runs) for each in sweeps.SWEEPS}
    found = saturation.read(tables)
    perturbed, mixes = bifurcation.outcomes(found, runs), variations.mixes_table(runs, found.table)
    density, phases = variations.connections_table(runs), bifurcation.table(runs)
    return {
        "setup": vars(interface) | vars(sweeps) | vars(setup),
        **saturation.values(found, tables),
        **bifurcation.values(found, perturbed, tables),
        **variations.connections_values(density, tables),
        **bifurcation.phases_values(phases),
        "tables": tables,
        "found": found,
        "perturbed": perturbed,
        "mixes": mixes,
        "density": density,
        "latency": setup.LATENCY.table(runs, lambda run: {"goodput_bps": run.flows["goodput_bps"][0]}),
        "phases": phases,
        "maxflow": saturation.max_flow_table(tables[sweeps.MAIN.name]),
        "runs": runs,
    }
