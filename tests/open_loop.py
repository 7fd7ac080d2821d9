"""Open-loop transfers that come whether or not the network takes them: what is said of them, and what helps."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import tightlink as tl
from tightlink.diagnosis import Diagnosis

QUEUE = "topology.net.link.queue"


@lru_cache(maxsize=8)
def transferred(scenario: tl.Scenario) -> tl.Run:
    """What several questions are asked about is simulated once."""
    return tl.simulate(scenario)


@lru_cache(maxsize=8)
def cause_of(run: tl.Run, group: str) -> Diagnosis:
    """What is said of a group of transfers."""
    (found,) = (each for each in run.why(group).diagnoses if each.flows == (group,))
    return found


def mean_slowdown(scenario: tl.Scenario, group: str) -> float:
    """The mean slowdown of a group: completion times over those on an empty path."""
    times = transferred(scenario).completion_times.filter(label=group, size_class="all")
    return float(times["slowdown_mean"][0])


def helps(scenario: tl.Scenario, group: str, part: float = 0.95) -> list[dict[str, Any]]:
    """The changes that are suggested to a group; each of them makes its transfers faster by a part at least."""
    before = mean_slowdown(scenario, group)
    changes = [each.changes for each in cause_of(transferred(scenario), group).suggestions if each.changes]
    for change in changes:
        assert mean_slowdown(scenario.set_all(change), group) < part * before, change
    return changes
