"""The columns of the table that ``tightlink sweep`` prints, with their headers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tightlink.experiment.metrics import group_metrics, main_metrics
from tightlink.experiment.summary import width_of
from tightlink.lazy import pl
from tightlink.plots import labels
from tightlink.report.changes import response_name

#: Traffic groups up to which each has a column.
_MOST_GROUPS: Final = 3
_BY_GROUP: Final = ("goodput_bps", "one_way_delay_p95_s", "one_way_delay_mean_s")


def columns_of(frame: pl.DataFrame, keys: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The metrics that are printed, and those for who asks for them, with their headers.

    Goodput and delay are those of each traffic group where there are a few: no flow has what groups have in the mean.
    """
    measured = [name for name in frame.columns if width_of(name) in frame.columns]
    known = {name for name in measured if frame[name].dtype.is_numeric() and frame[name].is_not_nan().any()}
    groups = group_metrics([name for name in measured if name in known], keys)
    printed: dict[str, str] = {}
    for metric in main_metrics(frame.columns):
        by_group = groups.get(metric, {}) if metric in _BY_GROUP else {}
        own = {metric: response_name(metric)} if metric in known else {}
        printed |= _of_groups(metric, by_group) if 0 < len(by_group) <= _MOST_GROUPS else own
    every = {metric: response_name(metric) for metric in measured if metric in known and "." not in metric}
    for metric, by_group in groups.items():
        every |= _of_groups(metric, by_group)
    return printed, {name: header for name, header in every.items() if name not in printed}


def _of_groups(metric: str, by_group: Mapping[str, str]) -> dict[str, str]:
    return {column: f"{group} {labels.plain(metric)}" for group, column in by_group.items()}
