"""The columns of the table that ``tightlink sweep`` prints, with their headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tightlink.experiment.metrics import group_metrics, main_metrics
from tightlink.experiment.plan import Plan
from tightlink.experiment.possible import possible
from tightlink.experiment.summary import width_of
from tightlink.lazy import pl
from tightlink.plots import labels
from tightlink.report.changes import response_name

#: Traffic groups up to which each has a column.
_MOST_GROUPS: Final = 3
#: Metrics that stay before the one that changes most: of two groups that compete what each gets.
_FIRST: Final = 2
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
    every = _headers([metric for metric in measured if metric in known], groups)
    return printed, {name: header for name, header in every.items() if name not in printed}


def by_importance(printed: Sequence[str], most: str) -> list[str]:
    """The printed metrics as a narrow terminal keeps them: in their order, the one that changes most among the first.

    >>> by_importance(["old.goodput_bps", "new.goodput_bps", "loss", "rtt_p95_s"], "rtt_p95_s")
    ['old.goodput_bps', 'new.goodput_bps', 'rtt_p95_s', 'loss']
    """
    if most not in printed[_FIRST:]:
        return list(printed)
    return [*printed[:_FIRST], most, *(metric for metric in printed[_FIRST:] if metric != most)]


def possible_headers(plan: Plan) -> list[str]:
    """The headers of all columns that the table of a plan's runs may have, those of what is varied first."""
    keys = [key for factor in plan.design.factors for key in factor.keys]
    # How much of a key its header has depends on the other headers.
    ends = [".".join(key.split(".")[place:]) for key in keys for place in range(len(key.split(".")))]
    metrics = possible([cell.scenario for cell in plan.cells])
    headers = _headers(metrics, group_metrics(metrics, keys)).values()
    return list(dict.fromkeys([*labels.shortest(keys).values(), *ends, *headers, "run", "cell", "runs"]))


def _headers(metrics: Sequence[str], groups: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The header of each metric, in their order, those of traffic groups last."""
    found = {metric: response_name(metric) for metric in metrics if "." not in metric}
    for metric, by_group in groups.items():
        found |= _of_groups(metric, by_group)
    return found


def _of_groups(metric: str, by_group: Mapping[str, str]) -> dict[str, str]:
    return {column: f"{group} {labels.plain(metric)}" for group, column in by_group.items()}
