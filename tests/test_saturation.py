"""Saturation of a link: laws are recovered within their intervals, and nothing is fitted to nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tightlink as tl
from tightlink.analysis.limits import saturation
from tightlink.analysis.limits.packet_cost import fit_cost, fit_ideal
from tightlink.analysis.measurements import MeasurementError

Array = NDArray[np.float64]

#: Frames of Smith (2009): payloads of 25 to 1450 B with 46 B of headers.
FRAMES: Array = np.arange(71.0, 1497.0, 25.0)
LINE, OVERHEAD, PER_PACKET, PER_BYTE = 100e6, 20.0, 32.2e-6, 16e-9
#: Where (p + 20) · 80 ns = 32.2 µs + p · 16 ns.
CRITICAL = (PER_PACKET - OVERHEAD * 8 / LINE) / (8 / LINE - PER_BYTE)


def _cost(sizes: Array) -> Array:
    return 1 / np.maximum((sizes + OVERHEAD) * 8 / LINE, PER_PACKET + PER_BYTE * sizes)


def _ideal(sizes: Array) -> Array:
    return np.minimum(25_000.0, 96e6 / 8 / sizes)


def _table(sizes: Array, rates: Array, noise: float = 0.0, seed: int = 0) -> pl.DataFrame:
    errors = np.exp(noise * np.random.default_rng(seed).standard_normal(len(sizes)))
    return pl.DataFrame({"packet_bytes": sizes, "packets_per_s": rates * errors})


@pytest.mark.parametrize("law", ["ideal", "cost"])
def test_the_law_that_made_the_data_fits_best(law: str) -> None:
    rates = _ideal(FRAMES) if law == "ideal" else _cost(FRAMES)
    found = saturation.find(_table(FRAMES, rates), resamples=20)
    assert found.regime == "both"
    assert found.better is found.laws[0]
    assert found.better.name == law
    assert found.weights[0] > 0.7
    assert sum(found.weights) == pytest.approx(1)
    bracket = found.critical_between_bytes
    assert bracket is not None
    assert bracket.low is not None
    assert bracket.high is not None
    assert bracket.high - bracket.low == 25
    assert bracket.low <= found.better.critical_bytes.value <= bracket.high


def test_the_criterion_finds_the_law_through_noise() -> None:
    """Two parameters too many lower AIC in every seventh table by chance (χ² with 2 beyond 4)."""
    sizes = FRAMES[::2]
    better = {
        law: [saturation.find(_table(sizes, rates, 0.01, seed), resamples=2).better.name for seed in range(30)]
        for law, rates in (("ideal", _ideal(sizes)), ("cost", _cost(sizes)))
    }
    assert better["cost"].count("cost") == 30
    assert better["ideal"].count("ideal") >= 22


def test_exact_data_give_exact_costs() -> None:
    law = saturation.find(_table(FRAMES, _cost(FRAMES)), resamples=50).better
    assert law.line_rate_bps.value == pytest.approx(LINE, rel=1e-6)
    assert law.overhead_bytes.value == pytest.approx(OVERHEAD, rel=1e-4)
    assert law.per_packet_s.value == pytest.approx(PER_PACKET, rel=1e-6)
    assert law.per_byte_s.value == pytest.approx(PER_BYTE, rel=1e-4)
    assert law.critical_bytes.value == pytest.approx(CRITICAL, rel=1e-6)
    # T = p · f holds for what is reported.
    product = law.critical_bytes.value * law.packets_per_s_max.value * 8
    assert law.throughput_max_bps.value == pytest.approx(product)
    np.testing.assert_allclose(law.packets_per_s(FRAMES), _cost(FRAMES), rtol=1e-6)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    """Of 60 tables, a 95 % interval misses more than 9 with a probability of 0.002, and none with 0.05."""
    misses = {"critical_bytes": 0, "per_packet_s": 0, "per_byte_s": 0, "line_rate_bps": 0, "overhead_bytes": 0}
    truth = {"critical_bytes": CRITICAL, "per_packet_s": PER_PACKET, "per_byte_s": PER_BYTE, "line_rate_bps": LINE,
             "overhead_bytes": OVERHEAD}  # fmt: skip
    sizes = FRAMES[::2]
    for seed in range(60):
        found = saturation.find(_table(sizes, _cost(sizes), 0.01, 1000 + seed), resamples=200, seed=seed)
        law = next(law for law in found.laws if law.name == "cost")
        for name, value in truth.items():
            misses[name] += value not in getattr(law, name)
    assert all(missed <= 9 for missed in misses.values()), misses
    assert sum(misses.values()) >= 3, misses


def test_the_ideal_fit_is_the_best_there_is() -> None:
    """No kink and no level in the neighbourhood fit better than the ones found in closed form."""
    logs = np.log(_table(FRAMES, _cost(FRAMES), 0.02)["packets_per_s"].to_numpy())[None, :]
    found = fit_ideal(FRAMES, logs)
    least = float(found.squares(FRAMES, logs)[0])
    for level in np.linspace(-0.02, 0.02, 21):
        for kink in np.linspace(-0.1, 0.1, 41):
            limit = np.log(found.packets_per_s_max[0]) + level
            model = limit - np.maximum(0, np.log(FRAMES) - np.log(found.critical_bytes[0]) - kink)
            assert ((logs[0] - model) ** 2).sum() >= least - 1e-12


def test_a_law_with_more_parameters_never_fits_worse() -> None:
    for seed in range(20):
        logs = np.log(_table(FRAMES, _ideal(FRAMES), 0.03, seed)["packets_per_s"].to_numpy())[None, :]
        cost, ideal = (fit(FRAMES, logs).squares(FRAMES, logs)[0] for fit in (fit_cost, fit_ideal))
        assert cost <= ideal * (1 + 1e-9)


@pytest.mark.parametrize(
    ("sizes", "times", "regime"),
    [
        (np.arange(500.0, 1501.0, 50.0), lambda p: p * 8 / LINE, "free flow"),
        (np.arange(500.0, 1501.0, 50.0), lambda p: (p + 20) * 8 / LINE, "free flow"),
        (np.arange(25.0, 400.0, 25.0), lambda p: np.full_like(p, 40e-6), "saturated"),
        (np.arange(25.0, 400.0, 25.0), lambda p: 32e-6 + 16e-9 * p, "saturated"),
        (np.arange(25.0, 1500.0, 25.0), lambda p: 1e-5 + 50e-9 * p, "undivided"),
    ],
)
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_one_regime_is_not_two(sizes: Array, times: Any, regime: str, noise: float) -> None:
    """A search finds kinks in noise: in about 1 of 100 tables that have none."""
    tables = [_table(sizes, 1 / times(sizes), noise, seed) for seed in range(20 if noise else 1)]
    all_found = [saturation.find(table, resamples=2) for table in tables]
    assert sum(found.regime != regime for found in all_found) <= (1 if noise else 0)
    for found in all_found:
        if found.regime != regime:
            continue
        assert found.laws == ()
        assert f"between {sizes[0]:,.0f} B and {sizes[-1]:,.0f} B" in found.sentence()
        with pytest.raises(tl.TightlinkError, match="between"):
            _ = found.better


def test_no_saturation_is_said_in_the_words_of_the_data() -> None:
    sizes = np.arange(500.0, 1501.0, 50.0)
    found = saturation.find(_table(sizes, LINE / 8 / sizes), resamples=2)
    assert found.sentence().startswith("no saturation seen between 500 B and 1,500 B")


def test_slopes_in_both_regimes() -> None:
    found = saturation.find(_table(FRAMES, _ideal(FRAMES), 0.01), resamples=50)
    assert found.free_flow is not None
    assert found.saturated is not None
    assert -1 in found.free_flow.slope
    assert 0 in found.saturated.slope
    assert min(found.free_flow.p_value, found.saturated.p_value) > 0.05
    assert found.free_flow.points + found.saturated.points == len(FRAMES)
    eroding = saturation.find(_table(FRAMES, _cost(FRAMES), 0.002), resamples=50)
    assert eroding.free_flow is not None
    # Overhead makes d ln f / d ln p = −p / (p + 20), which is not −1.
    assert eroding.free_flow.p_value < 0.001
    assert -0.99 < eroding.free_flow.slope.value < -0.96


@given(unit=st.floats(1e-3, 1e3), bits=st.sampled_from([0.5, 2.0]))
@settings(max_examples=6, deadline=None)
def test_other_units_scale_the_estimates(unit: float, bits: float) -> None:
    base = saturation.find(_table(FRAMES, _cost(FRAMES), 0.01), resamples=20).better
    rates = _table(FRAMES, _cost(FRAMES), 0.01)
    faster = saturation.find(rates.with_columns(pl.col("packets_per_s") * unit), resamples=20).better
    assert faster.critical_bytes.value == pytest.approx(base.critical_bytes.value)
    assert faster.throughput_max_bps.value == pytest.approx(unit * base.throughput_max_bps.value)
    assert faster.per_packet_s.high == pytest.approx(base.per_packet_s.high / unit)
    larger = saturation.find(rates.with_columns(pl.col("packet_bytes") * bits), resamples=20).better
    assert larger.critical_bytes.value == pytest.approx(bits * base.critical_bytes.value)
    assert larger.packets_per_s_max.value == pytest.approx(base.packets_per_s_max.value)


def test_rates_and_throughputs_give_the_same() -> None:
    rates = _table(FRAMES, _cost(FRAMES), 0.01)
    bps = rates.select("packet_bytes", throughput_bps=pl.col("packet_bytes") * 8 * pl.col("packets_per_s"))
    one, other = (saturation.find(table, resamples=20).better for table in (rates, bps))
    assert one.critical_bytes.low == pytest.approx(other.critical_bytes.low)
    payload = bps.rename({"packet_bytes": "payload_bytes", "throughput_bps": "goodput_bps"})
    third = saturation.find(payload, size="payload_bytes", throughput="goodput_bps", resamples=20).better
    assert third.critical_bytes.value == pytest.approx(one.critical_bytes.value)


def test_fragments_are_left_out_on_request() -> None:
    beyond = np.arange(1521.0, 3000.0, 25.0)
    sizes = np.concatenate([FRAMES, beyond])
    table = _table(sizes, np.concatenate([_cost(FRAMES), _cost(beyond / 2) / 2]))
    found = saturation.find(table, largest_bytes=1518, resamples=20)
    assert found.points["packet_bytes"].max() == FRAMES[-1]
    assert found.better.critical_bytes.value == pytest.approx(CRITICAL, rel=1e-6)


def test_a_known_overhead_narrows_the_rest() -> None:
    table = _table(FRAMES, _cost(FRAMES), 0.01)
    free, given_ = (saturation.find(table, overhead_bytes=known, resamples=200) for known in (None, 20))
    wide, narrow = (next(law for law in found.laws if law.name == "cost") for found in (free, given_))
    assert (narrow.overhead_bytes.low, narrow.overhead_bytes.high) == pytest.approx((20, 20))
    assert narrow.line_rate_bps.high - narrow.line_rate_bps.low < wide.line_rate_bps.high - wide.line_rate_bps.low
    assert narrow.fit.parameters == wide.fit.parameters - 1


def test_equal_seeds_give_equal_intervals() -> None:
    table = _table(FRAMES, _cost(FRAMES), 0.01)
    one, same, other = (saturation.find(table, resamples=50, seed=seed).better for seed in (1, 1, 2))
    assert one == same
    assert one.critical_bytes.value == other.critical_bytes.value
    assert one.critical_bytes.low != other.critical_bytes.low


@pytest.mark.parametrize(("count", "words"), [(1, "1 packet size"), (3, "3 packet sizes"), (6, "6 packet sizes")])
def test_too_few_points(count: int, words: str) -> None:
    with pytest.raises(MeasurementError, match=f"too few points: {words} with packets delivered: expected at least 7"):
        saturation.find(_table(FRAMES[:count], _cost(FRAMES[:count])))
