"""Figures of many responses and of algorithms compared: what is drawn, on paper and on the screen."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from drawn import Drawn
from tightlink.analysis.effects import designed
from tightlink.analysis.responses import clusters, correlation, outliers, ranks
from tightlink.analysis.responses import fairness as shares
from tightlink.analysis.responses import pca as components
from tightlink.plots import palette
from tightlink.report import charts

DATA = Path(__file__).parent / "data" / "tables" / "iris.csv"
COMPARED = Path(__file__).parent.parent / "examples" / "controls-compared.csv"
CONDITION = ["rate", "delay", "queue", "flows"]
KEY = "1 bic, 2 compound, 3 fast, 4 highspeed, 5 htcp, 6 scalable, 7 reno, 8 fast-at"


@pytest.fixture(scope="module")
def iris() -> designed.Designed:
    return designed.read(DATA)


@pytest.fixture(scope="module")
def compared() -> pl.DataFrame:
    return designed.read(COMPARED, factors=[*CONDITION, "congestion"]).runs


def test_the_matrix_has_a_coloured_cell_for_each_pair(iris: designed.Designed, tmp_path: Path) -> None:
    drawn = Drawn(charts.correlation_matrix(correlation.correlation(iris.runs, iris.responses)), tmp_path)
    red, blue, green = palette.SERIES[1], palette.SERIES[0], palette.SERIES[2]
    assert drawn.marks("rect") == [green, red, red, blue, blue, red]
    assert [text for text in drawn.texts if text.lstrip("−").isdigit()] == ["−12", "87", "82", "−43", "−37", "96"]
    assert {"numbers are 100 r", "|r| ≥ 0.80", "|r| < 0.30", "sepal width"} <= set(drawn.texts)


def test_the_histogram_marks_what_is_kept(iris: designed.Designed, tmp_path: Path) -> None:
    chart = charts.correlation_histogram(correlation.correlation(iris.runs, iris.responses))
    pairs = {"left out": 0, "kept": 0}
    for rows in chart.to_dict()["datasets"].values():
        for row in rows:
            if "kind" in row:
                pairs[row["kind"]] += row["pairs"]
                assert (row["kind"] == "kept") == (row["low"] >= 0.65)
                assert row["top"] - row["bottom"] == row["pairs"]
    assert pairs == {"left out": 3, "kept": 3}
    assert {"threshold 0.65", "kept", "pairs of responses"} <= set(Drawn(chart, tmp_path).texts)


def test_index_index_shows_groups_on_both_sides(iris: designed.Designed, tmp_path: Path) -> None:
    drawn = Drawn(charts.index_index(correlation.correlation(iris.runs, iris.responses)), tmp_path)
    red, blue = palette.SERIES[1], palette.SERIES[0]
    # Three pairs on both sides; on the diagonal two that stand for a group, and two that they stand for.
    assert Counter(drawn.marks("symbol")) == {red: 6, blue: 2, palette.NEUTRAL: 2}
    # A frame about each group.
    assert len(drawn.marks("rect")) == 2
    assert {"pairs kept, 2 groups of 4 responses", "represented"} <= set(drawn.texts)


def test_frames_of_a_group_with_others_between() -> None:
    runs = pl.DataFrame({"a": [10, 20, 30, 41, 50], "b": [10, 20, 31, 40, 50], "c": [2, 1, 5, 3, 1]})
    found = correlation.correlation(runs, ["a", "b", "c"])
    (frames,) = (rows for rows in charts.index_index(found).to_dict()["datasets"].values() if "right" in rows[0])
    assert sorted((row["across"], row["right"]) for row in frames) == [("a", "b"), ("c", "c")]
    assert all((row["up"], row["top"]) == (row["across"], row["right"]) for row in frames)


def test_components_are_drawn(iris: designed.Designed, tmp_path: Path) -> None:
    found = components.components(iris.runs, iris.responses)
    scree = charts.scree(found)
    (each,) = (rows for rows in scree.to_dict()["datasets"].values() if rows[0]["kind"] == "each")
    assert [row["drawn"] for row in each] == pytest.approx([0.7296, 0.2285, 0.0367, 0.0052], abs=1e-4)
    assert {"each", "up to it", "a single response", "PC4"} <= set(Drawn(scree, tmp_path).texts)

    scores = Drawn(charts.component_scores(found, by="species"), tmp_path)
    assert Counter(Counter(scores.marks("symbol")).values()) == {50: 3}
    assert {"species", "setosa", "PC1 (73 % of the variance)"} <= set(scores.texts)
    assert "sepal length" not in scores.texts
    biplot = Drawn(charts.component_scores(found, by="species", arrows=True), tmp_path)
    assert {"sepal length", "sepal width", "petal length", "petal width"} <= set(biplot.texts)
    # With a head on each arrow.
    assert len(biplot.marks("symbol")) == len(scores.marks("symbol")) + 4
    loadings = Drawn(charts.component_loadings(found), tmp_path)
    assert {"PC1", "PC2", "petal width", "correlation with the component"} <= set(loadings.texts)
    assert Counter(loadings.marks("rect")) == {palette.SERIES[0]: 4, palette.SERIES[1]: 4}


def test_groups_of_runs_are_circled(iris: designed.Designed) -> None:
    """Around the mean of each, as far as two normal numbers are with 95 %."""
    found = components.components(iris.runs, iris.responses)
    drawn = charts.component_scores(found, by="species", around="species")
    (rows,) = (rows for rows in drawn.to_dict()["datasets"].values() if "step" in rows[0])
    circles = pl.DataFrame(rows).filter(pl.col("step") > 0)
    assert circles["species"].unique(maintain_order=True).to_list() == ["setosa", "versicolor", "virginica"]
    for (name,), circle in circles.group_by("species"):
        own = found.scores.filter(pl.col("species") == name).select("PC1", "PC2").to_numpy()
        ends = circle.select("PC1", "PC2").to_numpy() - own.mean(axis=0)
        assert ends.mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-9)
        squares = np.einsum("ij,jk,ik->i", ends, np.linalg.inv(np.cov(own.T)), ends)
        assert squares == pytest.approx(np.full(len(ends), -2 * math.log(0.05)))


def test_groups_of_numbers_are_names(compared: pl.DataFrame, tmp_path: Path) -> None:
    found = components.components(compared.with_columns(pl.col("flows").cast(pl.Float64)), ["own_bps", "loss"])
    drawn = Drawn(charts.component_scores(found, by="flows"), tmp_path)
    # Below the title of the legend.
    assert drawn.texts[drawn.texts.index("flows") - 2 :][:2] == ["2", "16"]
    assert len(set(drawn.marks("symbol"))) == 2


def test_a_page_of_dendrograms(compared: pl.DataFrame, tmp_path: Path) -> None:
    found = clusters.clusters(compared, condition=CONDITION, algorithm="congestion")
    page = Drawn(charts.dendrograms(found), tmp_path)
    assert page.texts.count("distance") == len(found) == 16
    # Algorithms have numbers, and below all panels stands once which is which.
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in page.texts if "bic" in text] == [KEY]
    assert page.texts.count("8") >= 16
    # Coloured where the distance is below 70 % of the largest, and nowhere else.
    joins = [join.height < 0.7 * each.height for each in found for join in each.joins]
    lines = [color != palette.NEUTRAL for color in page.marks("line", "stroke")]
    assert len(lines) == len(joins)
    assert sum(lines) == sum(joins) > 0
    first = max(charts.dendrograms(found)[0].to_dict()["datasets"].values(), key=len)
    assert len(first) == 4 * len(found[0].joins)
    assert {(row["joins"], row["with"]) for row in first[:4]} == {("4", "5")}


def test_dendrograms_on_one_axis(compared: pl.DataFrame) -> None:
    found = clusters.clusters(compared, condition=CONDITION, algorithm="congestion", spread="all")

    def top(chart: object) -> float:
        (encoding,) = (layer["encoding"] for layer in chart.to_dict()["layer"] if "x" in layer["encoding"])  # type: ignore[attr-defined]
        return float(encoding["y"]["scale"]["domain"][1])

    highest = max(each.height for each in found)
    assert {top(chart) for chart in charts.dendrograms(found, same=True)} == {1.08 * highest}
    assert top(charts.dendrogram(found[0])) == pytest.approx(1.08 * found[0].height)


def test_ranks_shares_and_outliers(compared: pl.DataFrame, tmp_path: Path) -> None:
    ranked = ranks.ranks(compared, condition=CONDITION, algorithm="congestion", responses=["own_bps"])
    drawn = Drawn(charts.rank_scatter(ranked), tmp_path)
    # Each name stands beside its point, and nowhere else.
    assert all(drawn.texts.count(name) == 1 for name in ranked.summary["algorithm"])
    # What follows closely on the right would be written over.
    layers = charts.rank_scatter(ranked).to_dict()
    right = layers["datasets"][layers["layer"][2]["data"]["name"]]
    assert [row["algorithm"] for row in right] == ["reno"]

    parts = shares.shares(compared, algorithm="congestion", own="own_bps", standard="standard_bps", available="rate")
    bars = Drawn(charts.share_bars(parts), tmp_path)
    assert all(bars.texts.count(name) == 2 for name in parts["algorithm"].unique())
    assert bars.texts[-2:] == ["these flows", "standard TCP beside them"]
    colors = palette.colors(parts["algorithm"].unique(maintain_order=True))
    assert Counter(bars.marks("rect")) == dict.fromkeys(colors.values(), 2)

    cells = outliers.outliers(compared, condition=CONDITION, algorithm="congestion")
    for least, title in ((0.0, "outliers: "), (0.3, "outliers of 30 % and more: ")):
        grid = Drawn(charts.outlier_grid(cells, least=least), tmp_path)
        kept = outliers.effective(cells, least).height
        assert len(grid.marks("rect")) == kept
        assert {f"{title}{kept} of {cells.height} cells", "3 fast", "3+"} <= set(grid.texts)
    none = Drawn(charts.outlier_grid(cells.with_columns(outlier=pl.lit(value=False))), tmp_path)
    assert f"outliers: 0 of {cells.height} cells" in none.texts


def test_names_that_nobody_would_choose(compared: pl.DataFrame, tmp_path: Path) -> None:
    parts = shares.shares(compared, algorithm="congestion", own="own_bps", standard="standard_bps", available="rate")
    odd = "a|b 'x' <&>"
    drawn = Drawn(charts.share_bars(parts.with_columns(pl.col("algorithm").replace({"bic": odd}))), tmp_path)
    assert drawn.texts.count(odd) == 2


def test_beside_standard(compared: pl.DataFrame, tmp_path: Path) -> None:
    points = shares.beside(
        compared, condition=CONDITION, algorithm="congestion", own="own_bps", standard="standard_bps"
    )
    panels = charts.beside_standard(points)
    drawn = Drawn(panels, tmp_path)
    assert {"compound: × 0.98", "scalable: × 2.39"} <= set(drawn.texts)
    assert drawn.texts.count("throughput of the algorithm (Mbit/s)") == len(panels) == 8
    first = max(panels[0].to_dict()["datasets"].values(), key=len)
    own = points.filter(algorithm="bic")["own_bps"].to_list()
    assert [row["own_bps"] for row in first] == pytest.approx([value / 1e6 for value in own])
