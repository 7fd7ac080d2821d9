"""What is observed of each experiment: named values that claims compare, and the tables that the report shows."""

import math
from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from tightlink.experiment.metrics import metrics
from tightlink.run import Run
from tightlink.studies.congestion_control.observe import costs, homogeneous, mixed, one_link, sensitivity
from tightlink.studies.congestion_control.observe.evidence import gather, stored
from tightlink.studies.congestion_control.setup import MIXED, SENSITIVITY, THRESHOLDS, Chosen
from tightlink.studies.congestion_control.setup.experiment import DELAY, LARGE, OF_ONE, ONCE
from tightlink.tables import counted, measured

#: What the table of runs has of users and of flows.
_EVERY_RUN: Final = ("loss", "utilization", "queue_mean_packets")
#: How an experiment is read, and what claims compare of it: by its name, else by how controls are mixed in it.
_READ: Final[dict[str, Any]] = {
    "alone": (homogeneous.Homogeneous, homogeneous.values),
    "half": (mixed.Mixed, mixed.values),
    "all": (mixed.Mixture, mixed.mixture_values),
    "window": (mixed.Windows, mixed.window_values),
    DELAY: (homogeneous.Homogeneous, homogeneous.pathology_values),
    "prices": (homogeneous.Homogeneous, homogeneous.prices_values),
    "choices": (homogeneous.Choices, homogeneous.choices_values),
}


def observe(chosen: Chosen, runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values and tables, by name.

    ``found`` has what was found of each experiment, in the order of the report; ``responses`` a row for each response
    of those in the four-tier network, ``costs`` one for what each of them costs at each size: none if none was run.
    """
    evidence = {
        each.name: stored(each) if each.name in chosen.stored else gather(each, chosen.size_of(each.name), runs)
        for each in chosen.experiments
    }
    alone = {each.experiment.algorithms[0]: each for name, each in evidence.items() if name in OF_ONE}
    values: dict[str, object] = {}
    found: dict[str, Any] = {}
    for name, each in evidence.items():
        if name in {SENSITIVITY, LARGE, ONCE}:
            smaller = found.get(SENSITIVITY) if name == ONCE else None
            found[name] = sensitivity.Sensitivity(each, alone if name == SENSITIVITY else {}, smaller)
            values |= sensitivity.values(found[name])
        elif name not in OF_ONE:
            read, said = _READ.get(name, _READ[each.experiment.mixing])
            found[name] = read(each)
            values |= said(found[name])
    if THRESHOLDS in chosen.names:
        found[THRESHOLDS] = tuple(found[name] for name in MIXED)
        values |= mixed.threshold_values(*found[THRESHOLDS])
    for name in chosen.on_one_link:
        found[name] = one_link.read(name, runs)
        values |= one_link.values(name, found[name])
    run = [each for each in evidence.values() if each.runs]
    responses = pl.concat([each.table for each in evidence.values()]) if evidence else None
    tables = {"responses": responses, "costs": costs.table(run) if run else None}
    return values | tables | {"chosen": chosen, "found": found}


def row(run: Run) -> dict[str, float | str]:
    """What the table of runs says of a run: of one of users more than of one of flows."""
    found = metrics(run)
    return {name: found.get(name, math.nan) for name in (*counted("users"), *measured("users"), *_EVERY_RUN)}
