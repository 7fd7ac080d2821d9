"""The stored responses of the study of Internet-like networks are those of its runs.

Not beside the study's other tests, so that another worker simulates them.
"""

from __future__ import annotations

import io

import polars as pl
import pytest

from tightlink import _core
from tightlink.simulate import simulate
from tightlink.studies.congestion_control.observe.evidence import as_stored, rows, stored
from tightlink.studies.congestion_control.setup.experiment import HEAVIER, file_of, heavier


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
    own = rows(
        name,
        f"{condition:02}/{algorithm}/{replication}",
        simulate(found.scenario(condition, algorithm, kept.size, replication), threads=1),
    )
    same = [pl.col(key) == value for key, value in zip(keys, (condition, algorithm, replication), strict=True)]
    made, there = io.BytesIO(), io.BytesIO()
    as_stored(own).write_parquet(made)
    as_stored(kept.table.filter(same)).write_parquet(there)
    equal = made.getvalue() == there.getvalue()
    if not equal and str(_core.engine_behaviour) != pl.read_parquet_metadata(file_of(name))["engine_behaviour"]:
        pytest.skip(f"made by another engine; make it again: python benchmarks/evidence.py {name} -o results/evidence")
    assert equal
