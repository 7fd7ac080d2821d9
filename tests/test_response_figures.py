"""Figures of many responses and of algorithms compared: what is drawn, on paper and on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from tightlink import plots
from tightlink.analysis import clusters, components, correlation, designed, outliers, ranks, shares
from tightlink.plots import palette
from tightlink.report import charts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA = Path(__file__).parent / "data" / "tables" / "iris.csv"
COMPARED = Path(__file__).parent.parent / "examples" / "controls-compared.csv"
CONDITION = ["rate", "delay", "queue", "flows"]


@pytest.fixture(scope="module")
def iris() -> designed.Designed:
    return designed.read(DATA)


@pytest.fixture(scope="module")
def compared() -> pl.DataFrame:
    return designed.read(COMPARED, factors=[*CONDITION, "congestion"]).runs


def test_the_matrix_has_a_coloured_cell_for_each_pair(iris: designed.Designed) -> None:
    found = correlation.correlation(iris.runs, iris.responses)
    ax = plots.correlation_matrix(found)
    cells = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert len(cells) == 6
    colors = [to_hex(cell.get_facecolor()) for cell in cells]
    red, blue, green = palette.SERIES[1], palette.SERIES[0], palette.SERIES[2]
    assert colors == [green, red, red, blue, blue, red]
    assert [text.get_text() for text in ax.texts] == ["−12", "87", "82", "−43", "−37", "96"]
    spec = charts.correlation_matrix(found).to_dict()
    (rows,) = spec["datasets"].values()
    assert [row["number"] for row in rows] == [-12, 87, 82, -43, -37, 96]


def test_the_histogram_marks_what_is_kept(iris: designed.Designed) -> None:
    ax = plots.correlation_histogram(correlation.correlation(iris.runs, iris.responses))
    heights = {name: sum(bar.get_height() for bar in bars) for name, bars in _bars(ax).items()}
    assert heights == {"left out": 3, "kept": 3}
    assert _points(ax.lines[0])[0, 0] == 0.65


def test_index_index_shows_groups_on_both_sides(iris: designed.Designed) -> None:
    found = correlation.correlation(iris.runs, iris.responses)
    ax = plots.index_index(found)
    dots = np.asarray(ax.collections[0].get_offsets())
    assert sorted(map(tuple, dots.tolist())) == [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)]
    assert ax.get_xticklabels()[0].get_text() == "sepal width"
    frames = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert sorted(frame.get_width() for frame in frames) == pytest.approx([0.9, 2.9])
    layers = charts.index_index(found).to_dict()["datasets"].values()
    assert sorted(len(rows) for rows in layers) == [2, 6]


def test_components_are_drawn(iris: designed.Designed) -> None:
    found = components.components(iris.runs, iris.responses)
    assert [bar.get_height() for bar in plots.scree(found).containers[0]] == pytest.approx(
        [72.96, 22.85, 3.67, 0.52], abs=0.01
    )
    ax = plots.component_scores(found, by="species")
    assert [len(np.asarray(dots.get_offsets())) for dots in ax.collections] == [50, 50, 50]
    assert ax.get_xlabel() == "PC1 (73 % of the variance)"
    biplot = plots.component_biplot(found, by="species")
    assert {text.get_text() for text in biplot.texts} == {
        "",
        "sepal length",
        "sepal width",
        "petal length",
        "petal width",
    }
    low, high = biplot.get_xlim()
    assert all(low < text.xy[0] < high for text in biplot.texts if hasattr(text, "xy"))
    loadings = plots.component_loadings(found)
    assert loadings.get_legend_handles_labels()[1] == ["PC1", "PC2"]


def test_a_page_of_dendrograms(compared: pl.DataFrame) -> None:
    found = clusters.clusters(compared, condition=CONDITION, algorithm="congestion")
    page = plots.dendrograms(found)
    drawn = [ax for ax in page.axes if ax.lines]
    assert len(drawn) == len(found) == 16
    assert all(len(ax.lines) == 8 for ax in drawn)
    assert sorted(label.get_text() for label in drawn[0].get_xticklabels()) == list("12345678")
    # Coloured where the distance is below 70 % of the largest, and nowhere else.
    for each, ax in zip(found, drawn, strict=True):
        for join, line in zip(each.joins, ax.lines, strict=False):
            assert (to_hex(line.get_color()) in palette.SERIES) == (join.height < 0.7 * each.height)
    assert "3 fast" in _supxlabel(page)
    small = charts.dendrograms(found)
    assert len(small) == 16
    first = max(small[0].to_dict()["datasets"].values(), key=len)
    assert len(first) == 4 * len(found[0].joins)
    assert {(row["joins"], row["with"]) for row in first[:4]} == {("4", "5")}


def test_dendrograms_on_one_axis(compared: pl.DataFrame) -> None:
    found = clusters.clusters(compared, condition=CONDITION, algorithm="congestion", spread="all")
    tops = {ax.get_ylim()[1] for ax in plots.dendrograms(found, same=True).axes if ax.lines}
    assert len(tops) == 1
    highest = max(each.height for each in found)
    assert tops.pop() == pytest.approx(1.08 * highest)
    assert plots.dendrogram(found[0]).get_ylim()[1] == pytest.approx(1.08 * found[0].height)


def test_ranks_shares_and_outliers(compared: pl.DataFrame) -> None:
    ranked = ranks.ranks(compared, condition=CONDITION, algorithm="congestion", responses=["own_bps"])
    ax = plots.rank_scatter(ranked)
    best = ranked.summary.row(0, named=True)
    at = {text.get_text(): text.xy for text in ax.texts}  # type: ignore[attr-defined]
    assert at[best["algorithm"]] == (best["rank_mean"], best["rank_sd"])

    parts = shares.shares(compared, algorithm="congestion", own="own_bps", standard="standard_bps", available="rate")
    bars = [bar.get_height() for bars in plots.share_bars(parts).containers for bar in bars]
    assert sorted(bars) == pytest.approx(sorted((100 * parts["share"]).to_list()))

    cells = outliers.outliers(compared, condition=CONDITION, algorithm="congestion")
    for least in (0.0, 0.3):
        ax = plots.outlier_grid(cells, least=least)
        assert len(ax.patches) == outliers.effective(cells, least).height


def test_beside_standard(compared: pl.DataFrame) -> None:
    points = shares.beside(
        compared, condition=CONDITION, algorithm="congestion", own="own_bps", standard="standard_bps"
    )
    page = plots.beside_standard(points)
    titles = [ax.get_title(loc="left") for ax in page.axes]
    assert "compound: × 0.98" in titles
    offsets = np.asarray(page.axes[0].collections[0].get_offsets())
    np.testing.assert_allclose(
        offsets, points.filter(algorithm="bic").select("own_bps", "standard_bps").to_numpy() / 1e6
    )
    assert len(charts.beside_standard(points)) == 8


def _points(line: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(line.get_xydata(), dtype=float)


def _bars(ax: Axes) -> dict[str, Any]:
    handles, names = ax.get_legend_handles_labels()
    return {name: handle for name, handle in zip(names, handles, strict=True) if hasattr(handle, "patches")}


def _supxlabel(figure: Figure) -> str:
    return str(figure.get_supxlabel())
