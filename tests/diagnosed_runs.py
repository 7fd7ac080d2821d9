"""Scenarios with changes, simulated once: what is said of a flow, and its row."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import polars as pl

import tightlink as tl
from tightlink.diagnosis import Diagnosis
from tightlink.run import Run


def run_of(text: str, changes: dict[str, Any] | None = None) -> Run:
    """The run of a scenario with changes."""
    return simulated_once(tl.loads(text).set_all(changes or {}))


@lru_cache(maxsize=64)
def simulated_once(scenario: tl.Scenario) -> Run:
    """What several tests ask about is simulated once."""
    return tl.simulate(scenario)


def diagnosed(text: str, flow: str, changes: dict[str, Any] | None = None) -> Diagnosis:
    """What is said of a flow of a scenario with changes."""
    return run_of(text, changes).why(flow).diagnoses[0]


def row_of(run: Run, flow: str) -> dict[str, Any]:
    """The row of a flow in a run's table."""
    return run.flows.row(by_predicate=pl.col("label") == flow, named=True)
