"""Tables of runs: which columns are factors and which responses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from tightlink.analysis.effects import designed
from tightlink.analysis.measurements import MeasurementError

CSV = """\
# A fractional design.
run,queue,paced,load_percent,loss,rtt_s,note
a,5 packets,true,20,0.2,0.02,x
b,20 packets,false,40,,0.05,y
c,5 packets,true,20,,0.03,z
d,20 packets,false,70,0.1,0.06,x
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "runs.csv"
    file.write_text(CSV)
    return file


def test_two_valued_columns_are_factors_and_other_numbers_responses(table: Path) -> None:
    found = designed.read(table)
    assert found.factors == ("queue", "paced")
    # Loss has two values as well, but not in every run.
    assert found.responses == ("load", "loss", "rtt_s")
    assert found.runs["paced"].to_list() == [True, False, True, False]
    assert designed.read(table, responses=["loss"]).responses == ("loss",)


def test_missing_values_are_nan(table: Path) -> None:
    found = designed.read(table, factors=["queue"])
    assert found.responses == ("load", "loss", "rtt_s")
    numbers = designed.numbers(found.runs, found.responses)
    np.testing.assert_array_equal(numbers[:, 1], [0.2, np.nan, np.nan, 0.1])
    np.testing.assert_allclose(numbers[:, 0], [0.2, 0.4, 0.2, 0.7])


def test_what_is_not_there_is_named(table: Path) -> None:
    with pytest.raises(MeasurementError, match=r"runs\.csv: no column los: .*; did you mean loss\?"):
        designed.read(table, responses=["los"])
    with pytest.raises(MeasurementError, match="note: expected a column of numbers"):
        designed.read(table, responses=["note"])
    with pytest.raises(MeasurementError, match="rtt_s: is asked for as a factor and as a response"):
        designed.read(table, factors=["rtt_s"], responses=["rtt_s"])


def test_failed_runs_are_left_out() -> None:
    frame = pl.DataFrame({"status": ["done", "failed", "done"], "loss": [0.1, None, 0.3]})
    assert designed.designed(frame, responses=["loss"]).runs["loss"].to_list() == [0.1, 0.3]


def test_a_sweep_knows_its_factors(one_flow: str, tmp_path: Path) -> None:
    base = tl.loads(one_flow).set("duration", "1 s")
    keys = {"link.bottleneck.queue": ["5 packets", "10 packets", "20 packets"]}
    tl.sweep(base, keys, output=tmp_path / "sweep")
    found = designed.read(tmp_path / "sweep")
    assert found.factors == ("link.bottleneck.queue",)
    assert {"goodput_bps", "loss"} <= set(found.responses)
    assert not {"run", "seed", "replication", "identity"} & set(found.responses)
    assert found.runs.height == 3
