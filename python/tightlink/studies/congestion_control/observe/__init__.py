"""What is observed of each experiment: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from tightlink.experiment.metrics import metrics
from tightlink.run import Run
from tightlink.studies.congestion_control.observe import (
    boundary,
    choices,
    costs,
    homogeneous,
    increase,
    influences,
    mixed,
    mixture,
    newcomers,
    prices,
    sensitivity,
    thresholds,
    window,
)
from tightlink.studies.congestion_control.observe.evidence import gather, stored, together
from tightlink.studies.congestion_control.setup import MIXED, THRESHOLDS, WHOLE, Chosen
from tightlink.studies.congestion_control.setup import boundary as oscillation
from tightlink.studies.congestion_control.setup import increase as increases
from tightlink.studies.congestion_control.setup import newcomers as arrivals
from tightlink.studies.congestion_control.setup.experiment import LARGE, OF_ONE
from tightlink.tables import counted, measured

#: What the table of runs has of users and of flows.
_EVERY_RUN: Final = ("loss", "utilization", "queue_mean_packets")


@dataclass(frozen=True)
class Observed:
    """All that was observed."""

    values: Mapping[str, object]
    chosen: Chosen
    found: Mapping[str, Any]
    """By experiment, in the order of the report."""
    responses: pl.DataFrame | None
    """Every response of the experiments in the four-tier network, a row each; nothing if none of them was run."""
    costs: pl.DataFrame | None
    """What these cost, a row for each experiment and size."""


def observe(chosen: Chosen, runs: Mapping[str, Run]) -> Observed:
    """From runs to values and tables."""
    evidence = {
        each.name: stored(each) if each.name in chosen.stored else gather(each, chosen.size_of(each.name), runs)
        for each in chosen.experiments
    }
    alone = {each.experiment.algorithms[0]: each for name, each in evidence.items() if name in OF_ONE}
    values: dict[str, object] = {}
    found: dict[str, Any] = {}
    for name, each in evidence.items():
        if name in OF_ONE:
            continue
        if name in {WHOLE, LARGE}:
            found[name] = sensitivity.Sensitivity(each, alone if name == WHOLE else {})
            values |= influences.values(found[name])
            continue
        read, said = _BY_NAME.get(name, _BY_MIXING[each.experiment.mixing])
        found[name] = read(each)
        values |= said(found[name])
    if THRESHOLDS in chosen.names:
        found[THRESHOLDS] = thresholds.Thresholds(*(found[name] for name in MIXED))
        values |= thresholds.values(found[THRESHOLDS])
    for name in chosen.on_one_link:
        read, said = _BY_NAME[name]
        found[name] = read(runs)
        values |= said(found[name])
    everything = list(evidence.values())
    run = [each for each in everything if each.runs]
    return Observed(
        values,
        chosen,
        found,
        together(everything) if everything else None,
        costs.table(run) if run else None,
    )


#: How an experiment is read, and what claims compare of it.
_BY_MIXING: Final[dict[str, Any]] = {
    "alone": (homogeneous.Homogeneous, homogeneous.values),
    "half": (mixed.Mixed, mixed.values),
    "all": (mixture.Mixture, mixture.values),
}
_BY_NAME: Final[dict[str, Any]] = {
    "window": (window.Windows, window.values),
    prices.NAME: (homogeneous.Homogeneous, prices.values),
    choices.NAME: (choices.Choices, choices.values),
    oscillation.NAME: (boundary.read, boundary.values),
    arrivals.NAME: (newcomers.read, newcomers.values),
    increases.NAME: (increase.read, increase.values),
}


def row(run: Run) -> dict[str, float | str]:
    """What the table of runs says of a run: of one of users more than of one of flows."""
    found = metrics(run)
    return {name: found.get(name, math.nan) for name in (*counted("users"), *measured("users"), *_EVERY_RUN)}
