"""Small charts of an evaluation: one row for a control, the same axes in every row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, Final, TypeAlias

import polars as pl

from tightlink.lazy import alt
from tightlink.report import charts
from tightlink.report.blocks import Chart, Row, Section
from tightlink.report.charts import delay_throughput
from tightlink.studies.evaluation.observe import Evaluation
from tightlink.studies.evaluation.setup import alone, changing, competing, queued
from tightlink.studies.evaluation.setup.pack import Test
from tightlink.studies.evaluation.setup.path import Path

#: The buffer that tells controls apart.
_BUFFER_BDP: Final = min(alone.BUFFERS_BDP)
_HEIGHT: Final = 130
_SHARES: Final = (0.0, 1.0)
#: Draws a chart of a control.
Draw: TypeAlias = "Callable[[Evaluation, str], alt.Chart | alt.LayerChart]"
_FLOATS: Final = {"time_s": pl.Float64, "throughput_bps": pl.Float64}
_NOTHING: Final = pl.DataFrame(
    schema={**_FLOATS, "goodput_bps": pl.Float64, "utilization": pl.Float64, "entity": pl.String}
)


def in_a_row(evaluation: Evaluation) -> list[tuple[Draw, str]]:
    """The charts of each control, for the tests that were made, from the left: how they are drawn, and captions."""
    made = {test.name for test in evaluation.tests}
    return [chart for name, chart in _CHARTS.items() if name in made]


def _summary(evaluation: Evaluation, control: str, test: str, measure: str) -> dict[str, float | None]:
    """The means of a measure, by setting."""
    of_test = (pl.col("control") == control, pl.col("test") == test, pl.col("measure") == measure)
    return dict(evaluation.summary.filter(*of_test).select("setting", "value").iter_rows())


def _curve(evaluation: Evaluation, control: str, test: str, setting: str) -> pl.DataFrame:
    """What is drawn over time of a control in a setting; nothing where its run failed."""
    return evaluation.curves.get((control, test, setting), _NOTHING)


def _utilization(evaluation: Evaluation, control: str) -> alt.Chart:
    found = _summary(evaluation, control, "utilization", "utilization")
    places = product(alone.RATES_MBIT, alone.RTTS_MS)
    rows = [(f"{rate}", float(rtt), found.get(Path(rate, rtt, _BUFFER_BDP).label)) for rate, rtt in places]
    frame = pl.DataFrame(rows, schema=["rate", "rtt", "utilization"], orient="row")
    return _line(
        frame, "rtt", "utilization", "utilization (%)", by="rate", x_title="round trip (ms)",
        x_scale="log", x_domain=(min(alone.RTTS_MS), max(alone.RTTS_MS)), y_domain=_SHARES,
    )  # fmt: skip


def _ramp_up(evaluation: Evaluation, control: str) -> alt.Chart:
    parts = [
        _curve(evaluation, control, "ramp-up", name).with_columns(from_=pl.lit(short))
        for name, short in zip(alone.THRESHOLDS, ("slow start", "from 100"), strict=True)
    ]
    return _line(
        pl.concat(parts, how="diagonal_relaxed"), "time_s", "utilization", "ramp-up (%)", by="from_",
        x_domain=(0, alone.DURATION_S), y_domain=_SHARES,
    )  # fmt: skip


def _convergence(evaluation: Evaluation, control: str) -> alt.Chart:
    names = pl.col("entity").replace({"flows[0]": "first", "flows[1]": "second"})
    frame = _curve(evaluation, control, "convergence", "2 flows").with_columns(names)
    return _line(
        frame, "time_s", "goodput_bps", "two flows (Mbit/s)", by="entity", y_domain=(0, competing.SLOW.rate_bps)
    )


def _beside(evaluation: Evaluation, control: str) -> alt.LayerChart:
    found = {name: _summary(evaluation, control, f"beside-{name}", "standard_kept") for name in competing.STANDARD}
    rows = [
        (standard, f"{path.rate_mbit:g}", kept[path.label])
        for standard, kept in found.items()
        for path in competing.PATHS
        if path.label in kept
    ]
    frame = pl.DataFrame(rows, schema=["standard", "path", "kept"], orient="row")
    chart = charts.points(
        frame, "path", "kept", by="standard", title="standard TCP keeps", x_title="Mbit/s", y_title="keeps",
        height=_HEIGHT, y_domain=(0, 2),
    )  # fmt: skip
    for layer in chart.layer:
        layer.encoding.y.title = None
    return chart


def _changes(evaluation: Evaluation, control: str) -> alt.Chart:
    frame = _curve(evaluation, control, "changes", changing.FAST.label)
    shares = {0: 1, changing.COMES_S: 1 - changing.TAKEN, changing.GOES_S: 1, changing.ENDS_S: 1}
    left = {time_s: share * changing.FAST.rate_bps for time_s, share in shares.items()}
    return _below(left, frame, "half goes (Mbit/s)", changing.COMES_S - 10)


def _rate_steps(evaluation: Evaluation, control: str) -> alt.Chart:
    frame = _curve(evaluation, control, "rate-steps", changing.STEPS_LABEL)
    begins = range(0, changing.STEPS_S, changing.STEP_S)
    rates = {time_s: changing.STEPS[place % len(changing.STEPS)][1] * 1e6 for place, time_s in enumerate(begins)}
    last = {changing.STEPS_S: rates[begins[-1]]}
    return _below(rates | last, frame, "rate in steps (Mbit/s)", 0)


def _below(left: Mapping[int, float], frame: pl.DataFrame, title: str, begin_s: float) -> alt.Chart:
    """The throughput of a flow under what there is, which changes in steps."""
    steps = pl.DataFrame({"time_s": list(left), "throughput_bps": list(left.values())}, schema_overrides=_FLOATS)
    both = pl.concat([
        steps.with_columns(what=pl.lit("left")), frame.select("time_s", "throughput_bps", what=pl.lit("flow"))
    ])  # fmt: skip
    return _line(
        both, "time_s", "throughput_bps", title, by="what", step=True, x_domain=(begin_s, max(left)),
        y_domain=(0, 1.05 * max(left.values())),
    )  # fmt: skip


def _line(frame: pl.DataFrame, x: str, y: str, title: str, **settings: Any) -> alt.Chart:
    chart = charts.line(frame, x, y, title=title, height=_HEIGHT, **settings)
    chart.encoding.y.title = None
    return chart


#: By the test that a chart needs: how it is drawn, and what it shows.
_CHARTS: Final[dict[str, tuple[Draw, str]]] = {
    "utilization": (
        _utilization,
        f"the *utilization* of one flow with a queue of {_BUFFER_BDP:g} BDP over the round trip, by the rate in Mbit/s",
    ),
    "ramp-up": (_ramp_up, "*ramp-up* with slow start to the end, and with slow start up to 100 packets"),
    "convergence": (_convergence, f"*two flows* of which the second starts {competing.APART_S} s later"),
    "beside-reno": (
        _beside,
        "what *standard TCP keeps* beside the control, over what it gets among its own kind, where 1 is fair",
    ),
    "changes": (
        _changes,
        f"a flow of which *half* of the link goes at {changing.COMES_S} s and comes back at {changing.GOES_S} s",
    ),
    "rate-steps": (_rate_steps, "a flow under a *rate in steps*"),
}


# The planes of delay and throughput: what controls do to a queue, or queues to flows, and what they get for it.

TITLE: Final = "Delay and throughput"
#: The test of which each queue has a plane, that of drop-tail the first of all.
QUEUES: Final = "queues"
_IN_A_ROW: Final = 3


def planes(evaluation: Evaluation) -> Iterator[Section]:
    """The first figure of the report, and small ones of the links that change."""
    drawn = [(test, setting) for test in evaluation.tests if test.plane for setting in _settings(evaluation, test)]
    if not drawn:
        return
    first = next((each for each in drawn if each[1] == competing.DROP_TAIL), drawn[0])
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


def planes_of_queues(evaluation: Evaluation, test: Test) -> list[Chart]:
    """The planes of the queues but that of the first figure."""
    settings = [setting for setting in _settings(evaluation, test) if setting != competing.DROP_TAIL]
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
    chart = delay_throughput(named, by=evaluation.kind, title=title, height=200)
    for layer in chart.layer:
        # The first figure says whose the colours are.
        if hasattr(layer.encoding.color, "legend"):
            layer.encoding.color.legend = None
            layer.encoding.x.axis = alt.Axis(tickCount=4)
    return chart


def _about(evaluation: Evaluation, test: Test, setting: str) -> str:
    if evaluation.kind == "queue":
        return f"{test.title}: {queued.FLOWS} flows of {queued.STANDARD}, {setting}."
    if test.name == QUEUES:
        return f"{competing.FLOWS} flows of a control over {competing.QUEUED.label}, queue {setting}."
    return f"{test.title}: one flow, {setting}."
