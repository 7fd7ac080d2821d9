"""The planes of delay and throughput: what controls do to a queue, or queues to flows, and what they get for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from tightlink.lazy import alt
from tightlink.report.blocks import Chart, Row, Section
from tightlink.report.charts import delay_throughput
from tightlink.studies.evaluation.observe import Evaluation
from tightlink.studies.evaluation.setup import aqm, company
from tightlink.studies.evaluation.setup.pack import Test

TITLE: Final = "Delay and throughput"
#: The test of which each queue has a plane, that of drop-tail the first of all.
QUEUES: Final = "queues"
_SMALL: Final = 200
_IN_A_ROW: Final = 3
_TICKS: Final = 4


def sections(evaluation: Evaluation) -> Iterator[Section]:
    """The first figure of the report, and small ones of the links that change."""
    drawn = [(test, setting) for test in evaluation.tests if test.plane for setting in _settings(evaluation, test)]
    if not drawn:
        return
    first = next((each for each in drawn if each[1] == company.DROP_TAIL), drawn[0])
    small = [each for each in drawn if each != first and each[0].name != QUEUES]
    yield Section(
        TITLE,
        "Up and to the left is better: more throughput, and less delay. Small points are single seeds.",
        [
            Chart(_plane(evaluation, *first), _about(evaluation, *first)),
            *(
                Row([_plane(evaluation, test, setting, f"{test.name}, {setting}") for test, setting in row])
                for row in (small[place : place + _IN_A_ROW] for place in range(0, len(small), _IN_A_ROW))
            ),
        ],
    )


def of_queues(evaluation: Evaluation, test: Test) -> list[Chart]:
    """The planes of the queues but that of the first figure."""
    settings = [setting for setting in _settings(evaluation, test) if setting != company.DROP_TAIL]
    return [Chart(_plane(evaluation, test, setting), _about(evaluation, test, setting)) for setting in settings]


def _settings(evaluation: Evaluation, test: Test) -> list[str]:
    own = evaluation.measures.filter(pl.col("test") == test.name)
    return own["setting"].unique(maintain_order=True).to_list()


def _plane(evaluation: Evaluation, test: Test, setting: str, title: str = "") -> alt.LayerChart:
    """A plane, which is small and without a legend if it has a title."""
    rows = evaluation.measures.filter((pl.col("test") == test.name) & (pl.col("setting") == setting))
    wide = rows.pivot("measure", index=[evaluation.kind, "seed"], values="value")
    named = wide.select(evaluation.kind, "seed", "throughput_bps", queueing_delay_p95_s="queueing_p95_s")
    if not title:
        return delay_throughput(named, by=evaluation.kind)
    chart = delay_throughput(named, by=evaluation.kind, title=title, height=_SMALL)
    for layer in chart.layer:
        # The first figure says whose the colours are.
        if hasattr(layer.encoding.color, "legend"):
            layer.encoding.color.legend = None
            layer.encoding.x.axis = alt.Axis(tickCount=_TICKS)
    return chart


def _about(evaluation: Evaluation, test: Test, setting: str) -> str:
    if evaluation.kind == "queue":
        return f"{aqm.FLOWS} flows of {aqm.STANDARD} over {aqm.PATH.label}."
    if test.name == QUEUES:
        return f"{company.FLOWS} flows of a control over {company.QUEUED.label}, queue {setting}."
    return f"{test.title}: one flow, {setting}."
