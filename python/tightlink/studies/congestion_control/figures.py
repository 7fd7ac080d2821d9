"""The figures for papers, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import plots
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.evidence import CONGESTION
from tightlink.studies.congestion_control.sensitivity import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from tightlink.studies.congestion_control.homogeneous import Homogeneous
    from tightlink.studies.congestion_control.mixed import Mixed

_NAMES: Final = {name: parameter.id for name, parameter in PARAMETERS.items()}


def draw(folder: Path, found: Sequence[Sensitivity | Homogeneous | Mixed]) -> list[Path]:
    """Draw them all and return where they are."""
    written: list[Path] = []
    for each in found:
        if isinstance(each, Sensitivity):
            written += _sensitivity(folder, each)
    return written


def _sensitivity(folder: Path, found: Sensitivity) -> list[Path]:
    second = found.effects.filter(pl.col("row") == CONGESTION)
    influence = found.influence.filter(pl.col("row") != "weighted")
    return [
        *_saved(plots.main_effects(second, "sources_transmitting", names=_NAMES), folder, "main-effects"),
        *_saved(plots.significance_map(second, names=_NAMES), folder, "significance"),
        *_saved(plots.influence(influence, names=_NAMES), folder, "influence"),
    ]


def _saved(ax: Axes, folder: Path, name: str) -> list[Path]:
    figure: Any = ax.figure
    return plots.save(figure, folder, name)
