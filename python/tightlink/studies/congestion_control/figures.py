"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import plots
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.evidence import CONGESTION

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

_NAMES: Final = {name: parameter.id for name, parameter in PARAMETERS.items()}


def sensitivity(folder: Path, effects: pl.DataFrame, influence: pl.DataFrame) -> list[Path]:
    """Main effects on the number of sources transmitting, the map of all, the influence."""
    second = effects.filter(pl.col("row") == CONGESTION)
    rows = influence.filter(pl.col("row") != "weighted")
    return [
        *saved(plots.main_effects(second, "sources_transmitting", names=_NAMES), folder, "main-effects"),
        *saved(plots.significance_map(second, names=_NAMES), folder, "significance"),
        *saved(plots.influence(rows, names=_NAMES), folder, "influence"),
    ]


def saved(ax: Axes, folder: Path, name: str) -> list[Path]:
    """Where the figure is."""
    figure: Any = ax.figure
    return plots.save(figure, folder, name)
