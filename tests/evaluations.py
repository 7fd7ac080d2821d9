"""What tests of evaluations share: the seeds of the small pack, and values that an evaluation has found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from tightlink.studies.evaluation.observe import Evaluation


SEEDS = (1, 2)


def value(found: Evaluation, control: str, test: str, measure: str, setting: str | None = None) -> float:
    """The one value that an evaluation has of a measure."""
    rows = found.summary.filter(
        (pl.col("control") == control) & (pl.col("test") == test) & (pl.col("measure") == measure)
    )
    if setting is not None:
        rows = rows.filter(pl.col("setting") == setting)
    [one] = rows["value"].to_list()
    return float(one)
