"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import plots
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.observe.evidence import CONGESTION
from tightlink.studies.congestion_control.observe.mixed import FILES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from tightlink.studies.congestion_control.observe.homogeneous import Homogeneous
    from tightlink.studies.congestion_control.observe.mixed import Mixed
    from tightlink.studies.congestion_control.observe.sensitivity import Sensitivity

_NAMES: Final = {name: parameter.id for name, parameter in PARAMETERS.items()}


def sensitivity(folder: Path, found: Sensitivity) -> list[Path]:
    """Main effects on the number of sources transmitting, the map of all, influence, correlations, ten steps."""
    second = found.effects.filter(pl.col("row") == CONGESTION)
    rows = found.influence.filter(pl.col("row") != "weighted")
    drawn = {
        "main-effects": plots.main_effects(second, "sources_transmitting", names=_NAMES),
        "significance": plots.significance_map(second, names=_NAMES),
        "influence": plots.influence(rows, names=_NAMES),
        "correlation": plots.correlation_matrix(found.correlation),
        "correlation-histogram": plots.correlation_histogram(found.correlation),
        "index-index": plots.index_index(found.correlation),
    }
    return [
        *_saved(drawn, folder, found.name),
        *plots.save(plots.ten_steps.page(found.ten_steps), folder, f"{found.name}-ten-steps"),
    ]


def homogeneous(folder: Path, one: Homogeneous) -> list[Path]:
    """Dendrograms of all conditions, principal components, outliers."""
    drawn = {
        "scree": plots.scree(one.components),
        "loadings": plots.component_loadings(one.components),
        "components": plots.component_scores(one.components, by="algorithm"),
        "biplot": plots.component_biplot(one.components, by="algorithm"),
        "outliers": plots.outlier_grid(one.outliers, least=0.1),
    }
    trees = plots.dendrograms(one.dendrograms)
    return [*plots.save(trees, folder, f"{one.name}-dendrograms"), *_saved(drawn, folder, one.name)]


def mixed(folder: Path, one: Mixed) -> list[Path]:
    """Ranks of a control's own throughput and of standard TCP's, these beside each other, shares of what is there."""
    drawn = {
        "shares": plots.share_bars(one.shares),
        "ranks": plots.rank_scatter(one.own_ranks),
        "ranks-standard": plots.rank_scatter(one.standard_ranks),
    }
    points = plots.beside_standard(one.points(FILES[0]))
    return [*_saved(drawn, folder, one.name), *plots.save(points, folder, f"{one.name}-beside-standard")]


def _saved(drawn: Mapping[str, Axes], folder: Path, name: str) -> list[Path]:
    """Where the figures of an experiment are."""
    figures: dict[str, Any] = {of: ax.figure for of, ax in drawn.items()}
    return [file for of, figure in figures.items() for file in plots.save(figure, folder, f"{name}-{of}")]
