"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink import plots
from tightlink.report import charts
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.observe.evidence import CONGESTION
from tightlink.studies.congestion_control.observe.homogeneous import Homogeneous
from tightlink.studies.congestion_control.observe.mixed import Mixed
from tightlink.studies.congestion_control.observe.sensitivity import Sensitivity

_NAMES: Final = {name: parameter.id for name, parameter in PARAMETERS.items()}


def sensitivity(folder: Path, found: Sensitivity) -> list[Path]:
    """Main effects on the number of sources transmitting, the map of all, influence, correlations, ten steps."""
    second = found.effects.filter(pl.col("row") == CONGESTION)
    rows = found.influence.filter(pl.col("row") != "weighted")
    drawn = {
        "main-effects": charts.main_effects(second, "sources_transmitting", names=_NAMES),
        "significance": charts.significance_map(second, names=_NAMES),
        "influence": charts.influence(rows, names=_NAMES),
        "correlation": charts.correlation_matrix(found.correlation),
        "correlation-histogram": charts.correlation_histogram(found.correlation),
        "index-index": charts.index_index(found.correlation),
        "ten-steps": plots.ten_steps.page(found.ten_steps),
    }
    return _saved(drawn, folder, found.name)


def homogeneous(folder: Path, one: Homogeneous) -> list[Path]:
    """Dendrograms of all conditions, principal components, outliers."""
    drawn = {
        "dendrograms": charts.dendrograms(one.dendrograms),
        "scree": charts.scree(one.components),
        "loadings": charts.component_loadings(one.components),
        "components": charts.component_scores(one.components, by="algorithm", around="group"),
        "biplot": charts.component_scores(one.components, by="algorithm", arrows=True),
        "outliers": charts.outlier_grid(one.outliers, least=0.1),
    }
    return _saved(drawn, folder, one.name)


def mixed(folder: Path, one: Mixed) -> list[Path]:
    """Ranks of a control's own throughput and of standard TCP's, these beside each other, shares of what is there."""
    drawn = {
        "shares": charts.share_bars(one.shares[1]),
        "ranks": charts.rank_scatter(one.own_ranks),
        "ranks-standard": charts.rank_scatter(one.standard_ranks),
        "beside-standard": charts.beside_standard(one.very_fast[1]),
    }
    return _saved(drawn, folder, one.name)


def _saved(drawn: Mapping[str, Any], folder: Path, name: str) -> list[Path]:
    """Where the figures of an experiment are."""
    return [file for of, figure in drawn.items() for file in plots.save(figure, folder, f"{name}-{of}")]
