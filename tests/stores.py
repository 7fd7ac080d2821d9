"""Runs of a store, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink.experiment.execute import Task, execute

if TYPE_CHECKING:
    from tightlink.experiment.store import Store
    from tightlink.run import Run
    from tightlink.scenario import Scenario


def run_in(store: Store, scenario: Scenario, *, trace: bool = False) -> Run:
    """The run of a scenario, from the store or simulated now and kept."""
    return execute([Task("it", scenario, trace)], store)["it"]
