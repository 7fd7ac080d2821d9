"""Principal components: against R's on Fisher's iris, and what defines them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlink.analysis.effects import designed
from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.responses.pca import components

IRIS = Path(__file__).parent / "data" / "tables" / "iris.csv"


def test_fishers_iris() -> None:
    """What R's prcomp(iris[1:4], scale. = TRUE) prints, up to the signs of the components."""
    table = designed.read(IRIS)
    found = components(table.runs, table.responses)
    assert np.sqrt(found.variances["variance"].to_numpy()) == pytest.approx(
        [1.7083611, 0.9560494, 0.3830886, 0.1439265], abs=5e-8
    )
    assert found.variances["cumulated"].to_list() == pytest.approx([0.7296, 0.9581, 0.9948, 1], abs=5e-5)
    weights = found.loadings["weight"].to_numpy().reshape(4, 4)
    expected = np.array([
        [0.5210659, -0.2693474, 0.5804131, 0.5648565],
        [0.37741762, 0.92329566, 0.02449161, 0.06694199],
        [0.7195664, -0.2443818, -0.1421264, -0.6342727],
        [-0.2612863, 0.1235096, 0.8014492, -0.5235971],
    ])  # fmt: skip
    np.testing.assert_allclose(weights, expected, atol=5e-8)
    assert (found.above_one, found.needed(0.7), found.needed(0.9), found.needed(0.99)) == (1, 1, 2, 3)
    assert found.sentence().startswith(
        "4 responses of 150 runs: 96 % of the variance in PC1 and PC2, 90 % or more in 2 components; 1 says"
    )
    # The species stand apart along the first.
    means = found.scores.group_by("species", maintain_order=True).agg(pl.col("PC1").mean())["PC1"].to_list()
    assert means == sorted(means)


def test_correlations_with_the_components() -> None:
    table = designed.read(IRIS)
    found = components(table.runs, table.responses)
    for component, response, correlation in found.loadings.select("component", "response", "correlation").rows():
        r = np.corrcoef(found.scores[component].to_numpy(), found.scores[response].to_numpy())[0, 1]
        assert correlation == pytest.approx(r, abs=1e-9)


def test_runs_that_lack_a_response_are_left_out() -> None:
    runs = pl.DataFrame({"a": [1.0, 2, None, 4, 3], "b": [2.0, 1, 5, 3, 4], "still": [7.0] * 5, "load": list("vwxyz")})
    found = components(runs, ["a", "b", "still"])
    assert (found.responses, found.constant, found.left_out) == (("a", "b"), ("still",), 1)
    assert found.scores["load"].to_list() == ["v", "w", "y", "z"]


def test_a_response_that_no_run_has_leaves_none_out() -> None:
    """Of sweeps of one flow, which has no Jain's index, there were no runs at all."""
    runs = pl.DataFrame({"a": [1.0, 2, 4], "b": [2.0, 1, 3], "jain": pl.Series([None] * 3, dtype=pl.Float64)})
    found = components(runs, ["a", "b", "jain"])
    assert (found.responses, found.constant, found.left_out) == (("a", "b"), ("jain",), 0)


def test_tables_that_say_nothing_are_refused() -> None:
    runs = pl.DataFrame({"a": [1.0, 2, None], "b": [2.0, 1, 5], "still": [7.0] * 3})
    with pytest.raises(MeasurementError, match="2 runs have all 2 responses; expected at least three"):
        components(runs, ["a", "b"])
    with pytest.raises(MeasurementError, match="fewer than two responses vary over these runs: b"):
        components(runs, ["b", "still"])


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 6), st.integers(3, 20), st.integers(0, 2**32 - 1))
def test_components_are_uncorrelated_and_lose_nothing(count: int, rows: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(rows, count))
    names = [f"y{place}" for place in range(count)]
    found = components(pl.DataFrame(values, schema=names), names)
    ours = found.variances["component"].to_list()
    scores = found.scores.select(ours).to_numpy()
    variances = found.variances["variance"].to_numpy()
    np.testing.assert_allclose(np.cov(scores, rowvar=False), np.diag(variances), atol=1e-9)
    assert (np.diff(variances) <= 1e-12).all()
    assert variances.sum() == pytest.approx(count)
    weights = found.loadings["weight"].to_numpy().reshape(len(ours), count)
    scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    np.testing.assert_allclose(scores @ weights, scaled, atol=1e-9)
    np.testing.assert_allclose(np.abs(weights).max(axis=1), weights.max(axis=1))
