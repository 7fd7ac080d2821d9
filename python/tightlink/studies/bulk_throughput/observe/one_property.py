"""Goodput and loss over one property at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.analysis.bulk_cells import cell
from tightlink.studies.bulk_throughput.setup.one_property import variations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each variation: base, property, value, goodput and loss."""
    rows = []
    for name, (base, place) in variations().items():
        found = cell(runs[name], place.path)
        rows.append({
            "base": base,
            "property": place.factor,
            "value": float(place.value),
            "goodput_bps": found["goodput_bps"],
            "goodput_share": found["goodput_share"],
            "loss": found["loss"],
        })  # fmt: skip
    return pl.DataFrame(rows)
