"""The section on what a low initial threshold changes: ranks with both, side by side."""

from __future__ import annotations

from tightlink.report import Row, Section, charts
from tightlink.studies.congestion_control.observe.mixed import Mixed
from tightlink.studies.congestion_control.observe.thresholds import Thresholds


def section(both: Thresholds) -> Section:
    """Ranks of a control's own throughput and of standard TCP's beside it, high threshold left, low one right."""
    pairs = (both.high, both.low)
    return Section(
        "A high and a low initial threshold",
        "Mean rank along, its standard deviation up: with a high threshold at the left, with a low one at the right.",
        [
            Row([charts.rank_scatter(each.own_ranks, title=_title(each)) for each in pairs],
                "Ranks of a control's own throughput."),
            Row([charts.rank_scatter(each.standard_ranks, title=_title(each)) for each in pairs],
                "Ranks of the throughput of standard TCP beside it."),
        ],
    )  # fmt: skip


def _title(one: Mixed) -> str:
    return f"{one.name}: {one.found.experiment.base['initial_ssthresh']}"
