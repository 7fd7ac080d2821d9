"""The report of an evaluation: all controls in one table, a row of small charts each, then test by test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.report.blocks import Chart, Row, Section, Table, Text
from tightlink.report.charts import delay_throughput
from tightlink.studies.evaluation.observe import Mean
from tightlink.studies.evaluation.report import charts
from tightlink.studies.evaluation.report.words import titled, told
from tightlink.studies.evaluation.setup import queues
from tightlink.studies.evaluation.setup.pack import SEEDS
from tightlink.studies.evaluation.setup.queues import DROP_TAIL
from tightlink.studies.study import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.evaluation.observe import Evaluation
    from tightlink.studies.evaluation.setup.pack import Headline, Test

_DELAY: Final = "queueing_p95_s"
_SEVERAL: Final = 2
#: Of these the first table tells, of all others the second.
_ALONE: Final = ("utilization", "ramp-up", "changes", "queues")


def report(evaluation: Evaluation, _: Mapping[str, Claim]) -> Report:
    """The report of an evaluation, which begins with the plane of delay and throughput."""
    names = ", ".join(control.label for control in evaluation.controls)
    return Report(
        "Congestion controls, evaluated" if len(evaluation.controls) > 1 else f"{names}, evaluated",
        _finding(evaluation) + _LEAD.format(names=names, seeds=len(SEEDS)),
        [_overview(evaluation), *_rows(evaluation), *_tests(evaluation)],
        tables={"measures": evaluation.measures, "summary": evaluation.summary},
        picture=queues.TEST.title,
    )


_LEAD: Final = (
    "The same tests for each of {names}, in the terms of RFC 5166, RFC 9743 and the Common TCP "
    "Evaluation Suite. TCP is that of profile `rfc` with RACK-TLP: delayed ACKs, an initial window of 10 packets, "
    "a receiver's window that limits nothing. Where flows share a path, random traffic takes 5 % of it in both "
    "directions, and numbers are means over {seeds} seeds with half their 95 % confidence interval: with so few, "
    "differences within it mean nothing."
)


def _finding(evaluation: Evaluation) -> str:
    """What tells the controls apart most in the plane: who fills the queue least, and who most."""
    own = [found for _, headline, found in evaluation.headlines() if headline.measure == _DELAY]
    known = {label: mean for label, mean in own[0].items() if mean.value is not None} if own else {}
    if len(known) < _SEVERAL:
        return ""
    least, most = (choose(known, key=lambda label: known[label].value or 0.0) for choose in (min, max))
    low, high = (told(_DELAY, known[label]) for label in (least, most))
    return f"The p95 queueing delay goes from {low} with {least} to {high} with {most}, behind {DROP_TAIL}.\n\n"


def _overview(evaluation: Evaluation) -> Section:
    listed = list(evaluation.headlines())
    parts = (
        (
            "A control alone or among its own kind: what it uses of the link, how soon, and what it does to the queue",
            [each for each in listed if each[0].name in _ALONE],
        ),
        (
            "A control and other flows: how evenly they share the link, and what the others keep",
            [each for each in listed if each[0].name not in _ALONE],
        ),
    )
    blocks = [_headlines(evaluation, caption, columns) for caption, columns in parts if columns]
    return Section("What was measured, control by control", "", blocks)


def _headlines(evaluation: Evaluation, caption: str, columns: list[tuple[Test, Headline, dict[str, Mean]]]) -> Table:
    frame = pl.DataFrame({"control": [control.label for control in evaluation.controls]})
    for _, headline, means in columns:
        texts = [told(headline.measure, means[label], headline.never) for label in frame["control"]]
        frame = frame.with_columns(pl.Series(headline.title, texts))
    return Table(frame, caption)


def _rows(evaluation: Evaluation) -> Iterator[Section]:
    captions = charts.captions(evaluation)
    if captions:
        about = Text(f"From the left: {'; '.join(captions)}.")
        rows = [Row(charts.row(evaluation, control.label), control.label) for control in evaluation.controls]
        yield Section("Side by side", "A row for each control, with the same axes in all.", [about, *rows])


def _tests(evaluation: Evaluation) -> Iterator[Section]:
    summary = evaluation.summary
    for test in evaluation.tests:
        own = summary.filter(pl.col("test") == test.name)
        blocks: list[Chart | Table | Text] = [Text(test.about), Table(_table(own))]
        if test.name == queues.TEST.name:
            planes = [_plane(evaluation, kind) for kind in own["setting"].unique(maintain_order=True)]
            blocks[1:1] = [plane for plane in planes if plane is not None]
        yield Section(test.title, "", blocks)


def _plane(evaluation: Evaluation, queue: str) -> Chart | None:
    """What the controls do to a queue, and what they get for it: each seed, and their means."""
    test = queues.TEST.name
    rows = evaluation.measures.filter((pl.col("test") == test) & (pl.col("setting") == queue))
    if rows.is_empty():
        return None
    wide = rows.pivot("measure", index=["control", "seed"], values="value")
    named = wide.select("control", "seed", "throughput_bps", queueing_delay_p95_s="queueing_p95_s")
    about = f"{queues.FLOWS} flows of a control over {queues.PATH.label}, queue {queue}; small points are single seeds."
    return Chart(delay_throughput(named, by="control"), about)


def _table(own: pl.DataFrame) -> pl.DataFrame:
    """A row for each measure and setting, a column for each control."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    order = {name: place for place, name in enumerate(own["measure"].unique(maintain_order=True))}
    for row in own.iter_rows(named=True):
        rows.setdefault((row["measure"], row["setting"]), {})[row["control"]] = _cell(row)
    listed = sorted(rows.items(), key=lambda each: order[each[0][0]])
    return pl.DataFrame([
        {"measure": titled(measure), "setting": setting, **cells} for (measure, setting), cells in listed
    ])  # fmt: skip


def _cell(row: dict[str, Any]) -> str:
    return told(row["measure"], Mean(row["value"], row["half_width"], row["replications"], row["never"]))
