"""What newcomers get: every setting of experiment ``newcomers``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from tightlink import units
from tightlink.run import Run
from tightlink.studies.congestion_control.setup.newcomers import NAME, NEWCOMER, WATCHED_S, Setting, runs

_THREE: Final = 3


def read(found: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each run: its setting and ``share``, the newcomer's goodput over an equal part of the link's rate."""
    return pl.DataFrame([_row(control, setting, found[name].flows) for name, control, setting in runs()])


def _row(control: str, setting: Setting, flows: pl.DataFrame) -> dict[str, Any]:
    newcomer = flows.filter(pl.col("label") == NEWCOMER)["goodput_bps"].item()
    return {
        "control": control,
        "rate": setting.rate,
        "delay": setting.delay,
        "buffer": setting.buffer,
        "initial_ssthresh": setting.threshold,
        "settled": setting.settled,
        "share": newcomer / (units.rate(setting.rate) / (setting.settled + 1)),
    }


def by_control(table: pl.DataFrame) -> pl.DataFrame:
    """Of each control the mean and the smallest share, the least first."""
    share = pl.col("share")
    return (
        table.group_by("control", maintain_order=True)
        .agg(mean=share.mean(), smallest=share.min(), largest=share.max(), settings=pl.len())
        .sort("mean")
    )


def values(table: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name."""
    ordered = by_control(table)
    means = dict(ordered.select("control", "mean").rows())
    return {f"{NAME}.{control}.share": mean for control, mean in means.items()} | {
        f"{NAME}.least": ", ".join(list(means)[:_THREE]),
        f"{NAME}.watched_s": WATCHED_S,
    }
