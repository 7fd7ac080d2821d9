"""The simulation of profile linux beside what was measured between stacks of Linux, as `docs/validation.md` has it.

The measurements are stored; each cell is simulated anew.
"""

from __future__ import annotations

import importlib
import statistics
from pathlib import Path
from typing import Any

import pytest

import tightlink as tl

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def benchmark(name: str) -> Any:
    if not BENCHMARKS.is_dir():
        pytest.skip("the benchmarks are not part of the package")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        return importlib.import_module(name)


def stored(name: str) -> Any:
    return benchmark("changing_links").Measured(BENCHMARKS / "measured" / name)


def never() -> tl.Run:
    raise AssertionError("it is stored")


def test_transfers_take_as_long_as_in_linux() -> None:
    """Each of 90 times within 5 %, but for three: 1.5 MB of Reno through FQ-CoDel, and two of a queue of 8 packets."""
    there, here = benchmark("transfer_times"), stored("transfer-times")
    near = []
    for control in there.CONTROLS:
        for round_trip_ms in there.ROUND_TRIPS_MS:
            for queue in there.QUEUES:
                measured = here.of(f"{control}, {round_trip_ms} ms, {queue}", there.TIMES, there.times, never)
                runs = [
                    there.times(tl.simulate(there.scenario(control, round_trip_ms, queue, seed))) for seed in (1, 2, 3)
                ]
                for before, after in zip(zip(*measured, strict=True), zip(*runs, strict=True), strict=True):
                    near.append(abs(statistics.median(after) / statistics.fmean(before) - 1) <= there.NEAR)
    assert len(near) == 90
    assert sum(near) >= 87


def test_flows_over_links_in_a_row_get_what_they_get_in_linux() -> None:
    """Goodputs and delays within 10 %, of each group of flows."""
    there, here, near = benchmark("links_in_a_row"), stored("links-in-a-row"), benchmark("changing_links").NEAR
    for network in there.NETWORKS:
        for control in there.CONTROLS:
            for flows in there.FLOWS:
                cell = (network, control, flows)
                measured = here.of(", ".join(map(str, cell)), there.TIMES, there.found, never)
                runs = [there.found(tl.simulate(there.scenario(*cell, seed))) for seed in there.SEEDS]
                for group in measured[0]:
                    before, after = (there.mean([run[group] for run in each]) for each in (measured, runs))
                    assert after == pytest.approx(before, rel=near), (*cell, group)
