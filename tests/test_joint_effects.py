"""Effects of a two-level design by one model: its error, its scale, what it can see."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from tightlink.analysis.effects.joint import joint_effects, power
from tightlink.experiment.fractional import fraction

NAMES = ["a", "b", "c", "d"]
SIGNS = fraction(4, 4).signs


def _runs(seeds: int = 2, noise: float = 0.02) -> pl.DataFrame:
    """Half of four factors: a is large, b small, c × d (that is a × b) there, and what a seed adds is in all runs."""
    random, tables = np.random.default_rng(1), []
    for seed in range(seeds):
        own = SIGNS @ [1.0, 0.05, 0.0, 0.0] + 0.3 * SIGNS[:, 2] * SIGNS[:, 3]
        value = 10.0 + own + 0.5 * seed + random.normal(0.0, noise, len(SIGNS))
        columns = {name: SIGNS[:, place] for place, name in enumerate(NAMES)}
        tables.append(pl.DataFrame({**columns, "seed": seed, "delay": value, "loss": np.exp(value)}))
    return pl.concat(tables)


def test_a_small_effect_is_seen_beside_a_large_one() -> None:
    found = {row["term"]: row for row in joint_effects(_runs(), NAMES, ["delay"], block="seed").iter_rows(named=True)}
    assert found["a"]["effect"] == pytest.approx(2.0, abs=0.05)
    assert found["b"]["p"] < 0.01
    assert found["c"]["p"] > 0.05
    # Pairs that cannot be told apart are one term.
    assert found["a × b"]["effect"] == pytest.approx(0.6, abs=0.05)
    assert (found["a × b"]["order"], found["a × b"]["aliases"]) == (2, "c × d")
    # A test of one factor alone has the effect of a as its noise.
    runs = _runs()
    low, high = (runs.filter(pl.col("b") == sign)["delay"].to_numpy() for sign in (-1, 1))
    assert stats.ttest_ind(low, high).pvalue > 0.5


def test_the_error_is_what_replications_differ_by_without_what_a_seed_adds_to_all() -> None:
    runs = _runs()
    found = joint_effects(runs, NAMES, ["delay"], block="seed")
    apart = runs.filter(pl.col("seed") == 1)["delay"].to_numpy() - runs.filter(pl.col("seed") == 0)["delay"].to_numpy()
    # Of 16 runs an effect is a difference of two means of eight; two runs that differ by d have variance d² / 2.
    variance = float(((apart - apart.mean()) ** 2).sum()) / 2 / (len(apart) - 1)
    assert found["error"].to_list() == pytest.approx([math.sqrt(4 * variance / 16)] * 7)
    assert set(found["freedom"].to_list()) == {7}
    wider = joint_effects(runs, NAMES, ["delay"])
    assert (wider["error"].to_numpy() > 5 * found["error"].to_numpy()).all()


def test_what_spreads_is_taken_by_its_logarithm() -> None:
    both = joint_effects(_runs(), NAMES, ["delay", "loss"], block="seed")
    assert dict(both.select("response", "scale").unique().rows()) == {"delay": "linear", "loss": "log"}
    delay, loss = (both.filter(response=name) for name in ("delay", "loss"))
    assert loss["effect"].to_list() == pytest.approx(delay["effect"].to_list())
    assert loss["relative_effect"][0] == pytest.approx(math.expm1(delay["effect"][0]))


def test_without_replications_lenth_tells() -> None:
    found = joint_effects(_runs(seeds=1, noise=0.1), NAMES, ["delay"])
    assert found["p"].is_nan().all()
    assert found["freedom"].to_list() == [0] * 7
    sizes = np.abs(found["effect"].to_numpy())
    kept = sizes[sizes < 2.5 * 1.5 * np.median(sizes)]
    error = 1.5 * np.median(kept)
    assert found["p_lenth"].to_list() == pytest.approx(2 * stats.t.sf(sizes / error, len(sizes) / 3))
    assert found.sort("p_lenth")["term"].head(2).to_list() == ["a", "a × b"]


def test_a_response_of_some_runs_only() -> None:
    runs = _runs().with_columns(delay=pl.when(pl.col("d") > 0).then("delay"))
    found = joint_effects(runs, NAMES, ["delay"], block="seed")
    assert found["term"].to_list() == ["a", "b", "c"]
    assert found["order"].to_list() == [1] * 3


def test_power_is_that_of_a_simulated_test() -> None:
    random = np.random.default_rng(2)
    samples = random.normal(0.1, 0.04, 20_000) / (0.04 * np.sqrt(random.chisquare(10, 20_000) / 10))
    seen = float((np.abs(samples) > stats.t.isf(0.005, 10)).mean())
    assert power(0.04, 10, 0.1, 0.01) == pytest.approx(seen, abs=0.02)
    for freedom in (7, 30, 63, 400):
        larger = [power(1.0, freedom, size / 2, 0.01) for size in range(1, 60)]
        assert larger == sorted(larger)
        assert larger[-1] == 1.0
    assert math.isnan(power(math.nan, 0, 0.1, 0.01))


def test_a_share_of_a_mean_below_zero_has_the_sign_of_the_effect() -> None:
    runs = pl.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": [-4.0, -2.0, -4.1, -1.9]})
    row = joint_effects(runs, ["a", "b"], ["y"]).row(0, named=True)
    assert (row["term"], row["sign"], row["relative_effect"]) == ("a", "+", pytest.approx(2.1 / 3))
