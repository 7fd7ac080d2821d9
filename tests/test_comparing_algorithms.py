"""Outliers, ranks and shares of algorithms: the handbook's example, SciPy, and tables whose answers are counted."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.responses.fairness import ALTERNATIVE, STANDARD, beside, fairness, shares
from tightlink.analysis.responses.outliers import counts, effective, grubbs, outliers
from tightlink.analysis.responses.ranks import ranks

#: Tietjen and Moore's mass spectrometer data, as in NIST/SEMATECH e-Handbook 1.3.5.17.1, uranium isotopes.
SPECTROMETER = [199.31, 199.53, 200.19, 200.82, 201.92, 201.95, 202.18, 245.57]


def test_grubbs_in_the_handbook() -> None:
    test = grubbs(SPECTROMETER, side="largest")
    assert test.place == 7
    assert test.g == pytest.approx(2.468765, abs=5e-7)
    assert test.critical == pytest.approx(2.032, abs=5e-4)
    assert test.outlier
    smallest = grubbs(SPECTROMETER, side="smallest")
    assert (smallest.place, smallest.outlier) == (0, False)
    # Two-sided critical values of 5 % as they are printed: F. E. Grubbs, G. Beck, Technometrics 14(4), 1972, table I.
    printed = {3: 1.155, 4: 1.481, 5: 1.715, 8: 2.126, 10: 2.290}
    assert {n: grubbs(range(n)).critical for n in printed} == pytest.approx(printed, abs=1e-3)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), min_size=3, max_size=12),
    st.sampled_from(["both", "largest", "smallest"]),
)
def test_p_and_critical_value_agree(values: list[float], side: str) -> None:
    test = grubbs(values, level=0.05, side=side)  # type: ignore[arg-type]
    if abs(test.g - test.critical) > 1e-9:
        assert test.outlier == (test.p < 0.05)
    if len(set(values)) == 1:
        assert (test.g, test.p) == (0, 1)


def test_grubbs_finds_an_outlier_by_chance_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    found = sum(grubbs(random.normal(size=8).tolist()).outlier for _ in range(4000))
    # The critical value bounds the probability; it is nearly that. Four standard deviations of a binomial: 55.
    assert abs(found - 200) < 56


def test_one_value_apart_and_all_others_equal() -> None:
    # The largest G that n values can have.
    test = grubbs([1.0, 1.0, 1.0, 9.0])
    assert test.g == pytest.approx(3 / math.sqrt(4))
    assert test.outlier
    assert test.p == 0
    with pytest.raises(MeasurementError, match="2 values: Grubbs' test takes at least 3"):
        grubbs([1.0, 2.0])


def _cells() -> pl.DataFrame:
    names = ["bic", "compound", "fast", "highspeed", "htcp", "scalable", "reno"]
    tight = [1.000, 1.001, 1.050, 1.002, 0.999, 1.000, 1.001]
    wide = [0.10, 0.11, 0.30, 0.10, 0.11, 0.10, 0.11]
    none = [0.0] * 7
    return pl.DataFrame({
        "load": ["low"] * 7 + ["high"] * 7, "tcp": names * 2,
        "rate_pps": [*tight, *wide], "timeouts": [*none, *none[:2], 5.0, *none[3:]],
    })  # fmt: skip


def test_an_algorithm_apart_in_each_cell() -> None:
    found = outliers(_cells(), condition="load", algorithm="tcp")
    assert found.select("condition", "response", "algorithm", "outlier", "sign").rows() == [
        ("low", "rate_pps", "fast", True, "+"),
        ("low", "timeouts", "bic", False, "−"),
        ("high", "rate_pps", "fast", True, "+"),
        ("high", "timeouts", "fast", True, "+"),
    ]
    others = np.mean([0.10, 0.11, 0.10, 0.11, 0.10, 0.11])
    assert found["relative_effect"].to_list() == [
        pytest.approx(1.05 / np.mean([1, 1.001, 1.002, 0.999, 1, 1.001]) - 1), 0, pytest.approx(0.3 / others - 1), math.inf,
    ]  # fmt: skip
    assert [effective(found, least).height for least in (0, 0.1, 0.3)] == [3, 2, 2]
    assert counts(found).rows() == [("fast", 0.0, 3, 0), ("fast", 0.1, 2, 0), ("fast", 0.3, 2, 0)]


def test_cells_with_fewer_than_three_algorithms_are_left_out() -> None:
    with pytest.raises(MeasurementError, match="no response has values of at least three algorithms"):
        outliers(_cells().filter(pl.col("tcp").is_in(["bic", "fast"])), condition="load", algorithm="tcp")


def _throughputs() -> pl.DataFrame:
    return pl.DataFrame({
        "path": ["a", "b", "c", "d"] * 3, "tcp": ["compound"] * 4 + ["reno"] * 4 + ["fast"] * 4,
        "goodput_bps": [9.0, 8, 9, 7, 7, 7, 7, 7, 8, 9, 1, 2], "loss": [0.0] * 12,
    })  # fmt: skip


def test_ranks_by_hand() -> None:
    found = ranks(_throughputs(), condition="path", algorithm="tcp", responses=["goodput_bps"])
    # compound 1, 2, 1, 1.5; reno 3, 3, 2, 1.5; fast 2, 1, 3, 3.
    assert found.summary.select("algorithm", "rank_mean", "first", "cells").rows() == [
        ("compound", 1.375, 3, 4), ("fast", 2.25, 1, 4), ("reno", 2.375, 1, 4),
    ]  # fmt: skip
    assert found.summary["rank_sd"][0] == pytest.approx(np.std([1, 2, 1, 1.5], ddof=1))
    assert found.p == pytest.approx(stats.friedmanchisquare([1, 2, 1, 1.5], [3, 3, 2, 1.5], [2, 1, 3, 3]).pvalue)
    assert found.sentence().startswith("compound ranks best, 1.38 of 3 over 4 cells (Friedman's test: p = 0.28")


def test_responses_that_say_the_same_are_told_apart_as_often_as_one() -> None:
    """Friedman's test of four equal algorithms: a condition counts once, however many responses it has."""
    random = np.random.default_rng(1)
    found = []
    for _ in range(200):
        value = random.normal(size=40)
        copies = {name: value + 0.001 * random.normal(size=40) for name in ("first", "second", "third")}
        runs = pl.DataFrame(
            {"path": list("abcdefghij") * 4, "tcp": [name for name in "pqrs" for _ in range(10)], **copies}
        )
        found.append(ranks(runs, condition="path", algorithm="tcp"))
    assert {(each.summary["cells"][0], each.left_out) for each in found} == {(30, 0)}
    # 5 %, and three standard errors.
    assert sum(each.p < 0.05 for each in found) <= 19


def test_who_ranks_best_is_told_of_one_cell_and_of_ties() -> None:
    table = pl.DataFrame({"path": "a", "tcp": ["bic", "fast", "reno"], "goodput_bps": [2.0, 2.0, 1.0]})

    def said(*values: float) -> str:
        runs = table.with_columns(goodput_bps=pl.Series(values))
        return ranks(runs, condition="path", algorithm="tcp").sentence()

    assert said(3, 2, 1) == "bic ranks best, 1.00 of 3 over 1 cell"
    assert said(2, 2, 1) == "bic and fast rank best, 1.50 of 3 over 1 cell"
    assert said(2, 2, 2) == "all have the same mean rank, 2.00 of 3 over 1 cell"


def test_the_smallest_may_be_best() -> None:
    runs = _throughputs()
    most = ranks(runs, condition="path", algorithm="tcp", responses=["goodput_bps"]).table["rank"]
    least = ranks(runs, condition="path", algorithm="tcp", responses=["goodput_bps"], best="smallest").table["rank"]
    assert (most + least).to_list() == [4.0] * 12


def test_ranks_are_of_cells_that_have_every_algorithm() -> None:
    """A second place of two is no second place of three."""
    runs = _throughputs().filter(~((pl.col("path") == "b") & (pl.col("tcp") == "reno")))
    found = ranks(runs, condition="path", algorithm="tcp", responses=["goodput_bps"])
    assert found.summary.select("algorithm", "rank_mean", "cells").rows() == [
        ("compound", pytest.approx(3.5 / 3), 3), ("reno", pytest.approx(6.5 / 3), 3), ("fast", pytest.approx(8 / 3), 3),
    ]  # fmt: skip
    assert found.table.height == 11
    assert found.p == pytest.approx(stats.friedmanchisquare([1, 1, 1.5], [3, 2, 1.5], [2, 3, 3]).pvalue)
    assert found.sentence().endswith("; 1 other cell lacks an algorithm")
    # Where no cell has all, each is what it is.
    apart = runs.filter(((pl.col("path") < "c") & (pl.col("tcp") != "fast")) | (pl.col("tcp") != "reno"))
    apart = apart.filter((pl.col("path") != "a") | (pl.col("tcp") != "fast"))
    found = ranks(apart, condition="path", algorithm="tcp", responses=["goodput_bps"])
    assert (found.left_out, found.summary["cells"].sum()) == (0, 8)


def test_equal_algorithms_share_their_ranks() -> None:
    found = ranks(_throughputs(), condition="path", algorithm="tcp", responses=["loss"])
    assert found.table["rank"].to_list() == [2.0] * 12
    assert found.p == 1.0
    with pytest.raises(MeasurementError, match="no response has values of at least two algorithms"):
        ranks(_throughputs().filter(tcp="fast"), condition="path", algorithm="tcp")


def _competing() -> pl.DataFrame:
    return pl.DataFrame({
        "load": ["low", "low", "high"] * 2, "seed": [1, 2, 1] * 2, "tcp": ["scalable"] * 3 + ["compound"] * 3,
        "own_pps": [80.0, 60, 60, 50, None, 40], "standard_pps": [20.0, 40, 15, 50, 40, 41], "rate_pps": [100.0] * 6,
    })  # fmt: skip


def test_shares() -> None:
    found = shares(_competing(), algorithm="tcp", own="own_pps", standard="standard_pps", available="rate_pps")
    assert found.select("algorithm", "flows", "runs").rows() == [
        ("scalable", ALTERNATIVE, 3), ("compound", ALTERNATIVE, 2), ("scalable", STANDARD, 3), ("compound", STANDARD, 3),
    ]  # fmt: skip
    assert found["share"].to_list() == pytest.approx([2 / 3, 0.45, 0.25, 1.31 / 3])
    fixed = shares(_competing(), algorithm="tcp", own="own_pps", standard="standard_pps", available=200)
    assert fixed["share"].to_list() == pytest.approx((found["share"] / 2).to_list())
    quantities = _competing().with_columns(rate=pl.lit("100 packets/s"))
    assert shares(quantities, algorithm="tcp", own="own_pps", standard="standard_pps", available="rate").equals(found)
    with pytest.raises(MeasurementError, match="rate: expected numbers, or quantities in the unit of own_pps"):
        shares(
            quantities.with_columns(rate=pl.lit("1 Mbit/s")),
            algorithm="tcp",
            own="own_pps",
            standard="standard_pps",
            available="rate",
        )
    with pytest.raises(MeasurementError, match="what is available must be above zero"):
        shares(_competing(), algorithm="tcp", own="own_pps", standard="standard_pps", available=0.0)
    for available in (math.nan, math.inf):
        with pytest.raises(MeasurementError, match=r"available = .*: expected a number above zero"):
            shares(_competing(), algorithm="tcp", own="own_pps", standard="standard_pps", available=available)


def test_fairness_of_columns_that_hold_no_numbers() -> None:
    points = pl.DataFrame({"algorithm": ["bbr"], "own": [None], "standard": [1.0]})
    assert fairness(points).select("ratio", "ahead", "behind").rows() == [(None, 0, 0)]
    with pytest.raises(MeasurementError, match="own: expected a column of numbers"):
        fairness(points.with_columns(own=pl.lit("a")))


def test_who_starves_under_a_condition_is_not_left_out_of_the_mean() -> None:
    points = pl.DataFrame({"path": ["a", "b"] * 4, "algorithm": [each for each in "wxyz" for _ in "ab"],
                           "own": [0.0, 5, 5, 5, 0, 5, 0, 4], "standard": [5.0, 5, 0, 5, 5, 0, 0, 1]})  # fmt: skip
    assert dict(fairness(points).select("algorithm", "ratio").rows()) == {"w": 0, "x": math.inf, "y": None, "z": 4}


def test_fairness() -> None:
    points = beside(_competing(), condition="load", algorithm="tcp", own="own_pps", standard="standard_pps")
    assert points.rows() == [
        ("low", "scalable", 70, 30), ("high", "scalable", 60, 15), ("low", "compound", 50, 45), ("high", "compound", 40, 41),
    ]  # fmt: skip
    found = fairness(points)
    assert found.select("algorithm", "ahead", "behind", "conditions", "p").rows() == [
        ("scalable", 2, 0, 2, 0.5), ("compound", 1, 1, 2, 1.0),
    ]  # fmt: skip
    assert found["ratio"].to_list() == pytest.approx([math.sqrt(70 / 30 * 4), math.sqrt(50 / 45 * 40 / 41)])
