"""How long an experiment will take, from short beginnings of some of its runs.

Example:
    >>> import tightlink as tl
    >>> 0 < of_run(tl.network("dsl")) < 1
    True
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, Final

from tightlink.errors import TightlinkError
from tightlink.lazy import _core
from tightlink.scenario import Scenario

#: Beginnings are made longer until they take as long as this.
_LONG_ENOUGH_S: Final = 0.05
_FIRST_SHARE: Final = 1 / 256
_STEP: Final = 4
_PROBES: Final = 8
#: What a run takes beside the simulation.
_BESIDE_S: Final = 0.003


def of_runs(scenarios: Sequence[Scenario], jobs: int = 1) -> float | None:
    """Seconds that all runs of an experiment will take; nothing where none of some that were tried can be run."""
    step = max(1, len(scenarios) // _PROBES)
    tried = []
    for scenario in scenarios[::step]:
        try:
            tried.append(of_run(scenario))
        except TightlinkError:
            continue
    if not tried:
        return None
    return sum(tried) / len(tried) * len(scenarios) / min(jobs, len(scenarios))


def of_run(scenario: Scenario) -> float:
    """Seconds that a run will take."""
    begin = time.perf_counter()
    resolved = scenario.resolve()
    beside = time.perf_counter() - begin + _BESIDE_S
    share, before, took_before = _FIRST_SHARE, 0.0, 0.0
    while True:
        took = _simulated(_beginning(resolved, share))
        if took >= _LONG_ENOUGH_S or share >= 1:
            # The last part counts: flows that have not begun yet cost nothing.
            return beside + took + (took - took_before) / (share - before) * (1 - share)
        before, took_before = share, took
        share = min(1.0, share * _STEP)


def _beginning(resolved: dict[str, Any], share: float) -> str:
    """The same up to a share of its duration, without what begins later."""
    end = resolved["duration_s"] * share
    flows, scatter = (
        [group | {"stop_s": min(group["stop_s"], end)} for group in resolved[kind] if group["start_s"] < end]
        for kind in ("flows", "scatter")
    )
    observe = resolved["observe"]
    # Users and scattered datagrams are counted by intervals, of which there is one at least.
    interval = min(observe["interval_s"], end) if resolved["users"] or resolved["scatter"] else None
    changes = {
        "duration_s": end,
        "flows": flows,
        "scatter": scatter,
        # Their flows are among the others; whether they are counted together takes no time.
        "transfers": [],
        "users": [_users(group, end) for group in resolved["users"]],
        "observe": observe | {"interval_s": interval, "periods": []},
    }
    return json.dumps(resolved | changes, allow_nan=False)


def _users(group: dict[str, Any], end: float) -> dict[str, Any]:
    crowd = group["crowd"]
    if crowd is not None:
        crowd = crowd | {"stop_s": min(crowd["stop_s"], end)} if crowd["start_s"] < end else None
    return group | {"crowd": crowd, "long_lived": [flow for flow in group["long_lived"] if flow["start_s"] < end]}


def _simulated(resolved: str) -> float:
    begin = time.perf_counter()
    try:
        _core.simulate(resolved, threads=1)
    except _core.ScenarioError as error:
        raise TightlinkError(str(error)) from None
    return time.perf_counter() - begin
