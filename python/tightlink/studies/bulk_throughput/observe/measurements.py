"""Observed against predicted, on observations that are simulated too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.analysis.bulk_cells import cell
from tightlink.analysis.residuals import with_residuals
from tightlink.studies.bulk_throughput.setup.measurements import observations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run
    from tightlink.studies.bulk_throughput.setup.paths import Place


def points(place: Place, runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each measurement: what was observed, what the quiet path predicts, and the residuals."""
    return with_residuals(pl.DataFrame([
        {
            "window_packets": each.window,
            "flows": each.flows,
            "observed_bps": cell(runs[each.name], each.path)["goodput_bps"],
            "predicted_bps": cell(runs[each.prediction], place.path)["goodput_bps"],
        }
        for each in observations(place)
    ]))  # fmt: skip
