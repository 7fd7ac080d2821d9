"""Correlations of responses: against R, Anscombe's tables and SciPy; groups against their definition."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tightlink import cli
from tightlink.analysis.effects import designed
from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.responses import correlation as correlations
from tightlink.analysis.responses.correlation import correlation, histogram, strength

IRIS = Path(__file__).parent / "data" / "tables" / "iris.csv"
#: F. J. Anscombe, Graphs in Statistical Analysis, The American Statistician 27(1), 1973: four tables, r = 0.816 of all.
ANSCOMBE_X = [10.0, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
ANSCOMBE = {
    "y1": [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68],
    "y2": [9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74],
    "y3": [7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73],
}


def test_fishers_iris() -> None:
    table = designed.read(IRIS)
    found = correlation(table.runs, table.responses)
    # What R's cor(iris[1:4]) prints.
    expected = [-0.1175698, 0.8717538, 0.8179411, -0.4284401, -0.3661259, 0.9628654]
    assert found.pairs["r"].to_list() == pytest.approx(expected, abs=5e-8)
    assert found.pairs["strength"].to_list() == ["weak", "strong", "strong", "moderate", "moderate", "strong"]
    assert [group.responses for group in found.groups] == [
        ("petal_length", "petal_width", "sepal_length"), ("sepal_width",),
    ]  # fmt: skip
    assert found.groups[0].weakest == pytest.approx(0.8179411, abs=5e-8)
    assert found.sentence() == "4 responses have 2 dimensions: 3 of 6 pairs have |r| > 0.65"


def test_anscombe() -> None:
    runs = pl.DataFrame({"x": ANSCOMBE_X, **ANSCOMBE})
    found = correlation(runs, runs.columns)
    ours = found.pairs.filter(first="x")
    assert ours["r"].to_list() == pytest.approx([0.81642, 0.81624, 0.81629], abs=5e-6)
    for second, p in ours.select("second", "p").rows():
        assert p == pytest.approx(stats.pearsonr(ANSCOMBE_X, ANSCOMBE[second]).pvalue, rel=1e-9)


def test_runs_without_a_value_are_left_out_of_its_pairs_only() -> None:
    runs = pl.DataFrame({"a": [1.0, 2, 4, 3, 6], "b": [2.0, None, 3, 5, 7], "c": [1.0, 5, 2, 8, 3]})
    pairs = correlation(runs, ["a", "b", "c"]).pairs
    assert pairs["runs"].to_list() == [4, 5, 4]
    assert pairs["r"][0] == pytest.approx(stats.pearsonr([1, 4, 3, 6], [2, 3, 5, 7]).statistic)


def test_what_does_not_vary_is_named_and_counts_as_nothing() -> None:
    runs = pl.DataFrame({"a": [1.0, 2, 4], "b": [2.0, 1, 5], "failures": [0.0, 0, 0]})
    found = correlation(runs, runs.columns)
    assert (found.responses, found.constant) == (("a", "b"), ("failures",))
    assert found.sentence().endswith("; failures did not vary")
    with pytest.raises(MeasurementError, match="fewer than two responses vary over these runs: a"):
        correlation(runs, ["a", "failures"])


def test_tables_that_say_nothing_are_refused() -> None:
    runs = pl.DataFrame({"a": [1.0, 2, None], "b": [2.0, 1, 5]})
    with pytest.raises(MeasurementError, match="a and b: 2 runs have both; expected at least 3"):
        correlation(runs, ["a", "b"])
    with pytest.raises(MeasurementError, match="too few responses: a; expected at least 2"):
        correlation(runs, ["a"])
    with pytest.raises(MeasurementError, match="threshold = 1: expected a number from 0 to less than 1"):
        correlation(runs, ["a", "b"], threshold=1)


def test_bands_and_bins() -> None:
    assert [strength(r) for r in (1, -0.8, 0.7999, -0.3, 0.2999, 0)] == [
        "strong", "strong", "moderate", "moderate", "weak", "weak",
    ]  # fmt: skip
    table = designed.read(IRIS)
    bins = histogram(correlation(table.runs, table.responses))
    assert bins.height == 20
    assert (bins["pairs"].sum(), bins["kept"].sum()) == (6, 3)
    filled = bins.filter(pl.col("pairs") > 0).select("low", "pairs").rows()
    assert [(round(low, 2), pairs) for low, pairs in filled] == [
        (0.1, 1), (0.35, 1), (0.4, 1), (0.8, 1), (0.85, 1), (0.95, 1),
    ]  # fmt: skip


def test_the_threshold_at_the_gap() -> None:
    table = designed.read(IRIS)
    found = correlation(table.runs, table.responses, threshold="gap")
    # Among the moderate |r| there are 0.366 and 0.428; above these nothing up to 0.8.
    assert found.threshold == pytest.approx((0.4284401 + 0.8) / 2)


def test_index_index_order() -> None:
    table = designed.read(IRIS)
    places = correlation(table.runs, table.responses).places
    assert places["partners"].to_list() == [0, 2, 2, 2]
    assert places["response"][0] == "sepal_width"
    assert places.filter("representative")["response"].to_list() == ["sepal_width", "petal_length"]


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 9), st.integers(4, 12), st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.65, 0.9]))
def test_groups_are_mutual_disjoint_and_of_the_strongest(size: int, rows: int, seed: int, threshold: float) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, size)) + random.normal(size=(rows, 1)) * random.integers(0, 4, size)
    names = [f"y{place}" for place in range(size)]
    found = correlation(pl.DataFrame(values, schema=names), names, threshold=threshold)
    kept = {frozenset(pair) for pair in found.pairs.filter("kept").select("first", "second").rows()}
    assert sorted(name for group in found.groups for name in group.responses) == sorted(names)
    for group in found.groups:
        assert all(frozenset(pair) in kept for pair in combinations(group.responses, 2))
        assert group.representative in group.responses
    # No two groups could be one: complete linkage stops only where a pair is not kept.
    for one, other in combinations(found.groups, 2):
        assert any(frozenset((a, b)) not in kept for a in one.responses for b in other.responses)
    np.testing.assert_allclose(found.r, np.corrcoef(values, rowvar=False), atol=1e-12)
    assert correlations.histogram(found)["kept"].sum() == len(kept)


def test_of_hundreds_of_responses_pairs_are_correlated_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = np.random.default_rng(5).normal(size=(12, 201))
    runs = pl.DataFrame({f"r{place}": values[:, place] for place in range(201)})
    found = correlation(runs, runs.columns)
    few = correlation(runs, runs.columns[:20])
    np.testing.assert_allclose(found.r[:20, :20], few.r, rtol=1e-12, atol=1e-12)
    assert found.pairs["runs"].unique().to_list() == [12]
    runs.write_csv(tmp_path / "wide.csv")
    for command in ("correlation", "pca", "explore"):
        output = tmp_path / ("o.html" if command == "explore" else "o.svg")
        assert cli.main(["analyze", command, str(tmp_path / "wide.csv"), "-o", str(output)]) == 2
        assert "201 responses are too many for a figure; expected --responses with 200 at most" in " ".join(
            capsys.readouterr().err.split()
        )
        assert not output.exists()
