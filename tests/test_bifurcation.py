"""The transcritical bifurcation: fixed points, stability, the diagram, and returning from a disturbance."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightlink as tl
from tightlink.analysis.limits import bifurcation
from tightlink.analysis.measurements import MeasurementError

T_MAX, P_C = 96e6, 451.0


@given(epsilon=st.floats(-2.2, 1))
def test_fixed_points_exchange_their_stability(epsilon: float) -> None:
    for point in bifurcation.fixed_points(epsilon):
        assert bifurcation.growth(point, epsilon) == pytest.approx(0, abs=1e-12)
        # The derivative is that of the growth.
        step = 1e-6
        slope = (bifurcation.growth(point + step, epsilon) - bifurcation.growth(point - step, epsilon)) / (2 * step)
        assert bifurcation.stability(point, epsilon) == pytest.approx(slope, abs=1e-6)
    free, saturated = (bifurcation.stability(point, epsilon) for point in bifurcation.fixed_points(epsilon))
    assert free == -saturated


def test_the_diagram() -> None:
    table = bifurcation.branches(T_MAX, P_C, [100, P_C, 1000])
    rows = {(row["branch"], row["packet_bytes"]): row for row in table.iter_rows(named=True)}
    assert rows["free flow", 1000]["stable"] is True
    assert rows["free flow", 100]["stable"] is False
    assert rows["saturated", 1000]["stable"] is False
    assert rows["saturated", 100]["stable"] is True
    assert rows["free flow", P_C]["stable"] is None is rows["saturated", P_C]["stable"]
    assert rows["saturated", 100]["throughput_bps"] == pytest.approx(T_MAX * 100 / P_C)
    assert rows["free flow", 100]["throughput_bps"] == T_MAX
    # The stable branch is the ideal law.
    stable = table.filter(pl.col("stable"))
    for size, throughput in stable.select("packet_bytes", "throughput_bps").iter_rows():
        assert throughput == pytest.approx(bifurcation.stable_throughput_bps(T_MAX, P_C, size))


def _series(start: float, rate: float, *, end: float = 1.0, noise: float = 0.0, every: float = 0.1) -> pl.DataFrame:
    times = np.arange(1, 61) * every
    errors = noise * np.random.default_rng(3).standard_normal(len(times))
    values = T_MAX * (end + (start - end) * np.exp(-rate * (times - every)) + errors)
    return pl.DataFrame({"time_s": times, "throughput_bps": values})


@pytest.mark.parametrize("start", [0.0, 0.4, 1.5])
def test_a_rate_is_recovered(start: float) -> None:
    found = bifurcation.returns_to_branch(_series(start, 2.0, noise=0.0005), T_MAX)
    assert found.returned
    assert found.start == pytest.approx(start - 1, abs=0.01)
    assert found.rate_per_s == pytest.approx(2.0, rel=0.05)
    assert found.settled_s == pytest.approx(math.log(abs(start - 1) / 0.02) / 2, abs=0.1)


def test_a_return_within_a_sample_has_no_rate() -> None:
    found = bifurcation.returns_to_branch(_series(0.0, 100.0), T_MAX)
    assert found.returned
    assert found.rate_per_s is None


def test_what_stays_away_has_not_returned() -> None:
    elsewhere = bifurcation.returns_to_branch(_series(0.0, 2.0, end=0.9), T_MAX)
    assert not elsewhere.returned
    assert elsewhere.end == pytest.approx(-0.1, abs=1e-3)
    assert elsewhere.rate_per_s is elsewhere.settled_s is None


def test_what_leaves_again_has_not_returned() -> None:
    last = pl.int_range(pl.len()) == pl.len() - 1
    leaving = _series(0.0, 2.0).with_columns(throughput_bps=pl.when(last).then(0.9 * T_MAX).otherwise("throughput_bps"))
    assert abs(bifurcation.returns_to_branch(leaving, T_MAX).end) < 0.02
    assert not bifurcation.returns_to_branch(leaving, T_MAX).returned


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (_series(0, 2).head(3), "too few points: 3 samples"),
        (_series(1.0, 2), "is on the branch"),
        (_series(0, 2).reverse(), "expected times that increase"),
        (_series(0, 2).drop("time_s"), "no column time_s"),
    ],
)
def test_wrong_series(table: pl.DataFrame, message: str) -> None:
    with pytest.raises(MeasurementError, match=message):
        bifurcation.returns_to_branch(table, T_MAX)


def test_a_simulated_link_comes_back_from_empty() -> None:
    scenario = tl.loads("""
    duration = "4 s"
    link.wire = { ends = ["a", "b"], rate = "1 Mbit/s", delay = "50 ms", queue = "1000 packets" }
    traffic.flood = { kind = "cbr", from = "a", to = "b", rate = "1.5 Mbit/s", start = "0.06 s", udp.datagram = "500 B" }
    observe = { interval = "100 ms" }
    """)
    series = tl.simulate(scenario).series
    wanted = series.filter(pl.col("metric") == "throughput_bps", pl.col("entity") == "flood")
    table = wanted.select("time_s", throughput_bps="value")
    found = bifurcation.returns_to_branch(table.filter(pl.col("time_s") > 0), 1e6)
    assert found.returned
    assert found.start < -0.3
    assert found.rate_per_s is None
