"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import plots
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.evidence import CONGESTION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from tightlink.analysis.clusters import Dendrogram
    from tightlink.analysis.components import Components
    from tightlink.analysis.correlation import Correlation
    from tightlink.analysis.ranks import Ranks
    from tightlink.analysis.ten_steps import Steps

_NAMES: Final = {name: parameter.id for name, parameter in PARAMETERS.items()}


def sensitivity(
    folder: Path, name: str, effects: pl.DataFrame, influence: pl.DataFrame, found: Correlation
) -> list[Path]:
    """Main effects on the number of sources transmitting, the map of all, the influence, correlations."""
    second = effects.filter(pl.col("row") == CONGESTION)
    rows = influence.filter(pl.col("row") != "weighted")
    return [
        *saved(plots.main_effects(second, "sources_transmitting", names=_NAMES), folder, f"{name}-main-effects"),
        *saved(plots.significance_map(second, names=_NAMES), folder, f"{name}-significance"),
        *saved(plots.influence(rows, names=_NAMES), folder, f"{name}-influence"),
        *saved(plots.correlation_matrix(found), folder, f"{name}-correlation"),
        *saved(plots.correlation_histogram(found), folder, f"{name}-correlation-histogram"),
        *saved(plots.index_index(found), folder, f"{name}-index-index"),
    ]


def ten_steps(folder: Path, name: str, found: Steps) -> list[Path]:
    """The ten graphical steps on one page."""
    return plots.save(plots.ten_steps.page(found), folder, f"{name}-ten-steps")


def homogeneous(
    folder: Path, name: str, trees: Sequence[Dendrogram], found: Components, apart: pl.DataFrame
) -> list[Path]:
    """Dendrograms of all conditions, principal components, outliers."""
    return [
        *plots.save(plots.dendrograms(trees), folder, f"{name}-dendrograms"),
        *saved(plots.scree(found), folder, f"{name}-scree"),
        *saved(plots.component_loadings(found), folder, f"{name}-loadings"),
        *saved(plots.component_scores(found, by="algorithm"), folder, f"{name}-components"),
        *saved(plots.component_biplot(found, by="algorithm"), folder, f"{name}-biplot"),
        *saved(plots.outlier_grid(apart, least=0.1), folder, f"{name}-outliers"),
    ]


def mixed(
    folder: Path, name: str, ranks: tuple[Ranks, Ranks], points: pl.DataFrame, shares: pl.DataFrame
) -> list[Path]:
    """Ranks of a control's own throughput and of standard TCP's, these beside each other, shares of what is there."""
    own, standard = ranks
    return [
        *saved(plots.share_bars(shares), folder, f"{name}-shares"),
        *saved(plots.rank_scatter(own), folder, f"{name}-ranks"),
        *saved(plots.rank_scatter(standard), folder, f"{name}-ranks-standard"),
        *plots.save(plots.beside_standard(points), folder, f"{name}-beside-standard"),
    ]


def saved(ax: Axes, folder: Path, name: str) -> list[Path]:
    """Where the figure is."""
    figure: Any = ax.figure
    return plots.save(figure, folder, name)
