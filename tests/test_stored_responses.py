"""The stored responses of the study of Internet-like networks are those of its runs.

Not beside the study's other tests, so that another worker simulates them.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

import polars as pl
import pytest

from tightlink import Users, _core, units
from tightlink.simulate import simulate
from tightlink.studies.congestion_control.observe.evidence import as_stored, rows, stored
from tightlink.studies.congestion_control.setup.experiment import HEAVIER, file_of, heavier

if TYPE_CHECKING:
    from tightlink.scenario import Scenario

#: Of a longer run, no more than its first period is simulated again: all that is in it depends on nothing that follows.
_WHOLE: Final = units.time("2 min")


@pytest.mark.parametrize("name", [name for name in HEAVIER if file_of(name).exists()])
def test_a_run_of_stored_responses_is_made_again(name: str) -> None:
    """To the byte, the run with the fewest packets; a later engine's may be another, and says so."""
    found, _ = heavier(name)
    kept = stored(found)
    assert "dirty" not in kept.origin
    keys = ["condition", "algorithm", "replication"]
    runs = kept.table.select(keys).unique()
    assert runs.height == found.conditions.height * len(found.compared) * found.replications
    packets = kept.table.filter(pl.col("response") == "packets_entering").group_by(keys).agg(pl.col("value").sum())
    condition, algorithm, replication = packets.sort("value", *keys).row(0)[:3]
    scenario = _beginning(found.scenario(condition, algorithm, kept.size, replication))
    own = rows(name, f"{condition:02}/{algorithm}/{replication}", simulate(scenario, threads=1))
    same = [pl.col(key) == value for key, value in zip(keys, (condition, algorithm, replication), strict=True)]
    same.append(pl.col("period").is_in([*_periods(scenario)]))
    made, there = io.BytesIO(), io.BytesIO()
    as_stored(own).write_parquet(made)
    as_stored(kept.table.filter(same)).write_parquet(there)
    equal = made.getvalue() == there.getvalue()
    if not equal and str(_core.engine_behaviour) != pl.read_parquet_metadata(file_of(name))["engine_behaviour"]:
        pytest.skip(f"made by another engine; make it again: python benchmarks/evidence.py {name} -o results/evidence")
    assert own.height > 0
    assert equal


def _beginning(scenario: Scenario) -> Scenario:
    """A run that is not too long whole, another until its first period has ended and its crowd, if any, has come."""
    if units.time(scenario.duration) <= _WHOLE:
        return scenario
    (first, period), *_ = _periods(scenario).items()
    end = f"{units.time(period[1]) + 1:g} s"
    crowds = [name for name, traffic in scenario.traffic.items() if isinstance(traffic, Users) and traffic.crowd]
    stops = {f"traffic.{name}.crowd.stop": end for name in crowds}
    return scenario.set_all({"duration": end, "observe.periods": {first: period}, **stops})


def _periods(scenario: Scenario) -> dict[str, tuple[str, str]]:
    """When each period begins and ends."""
    assert scenario.observe is not None
    assert scenario.observe.periods is not None
    return scenario.observe.periods
