"""The report of an evaluation: all controls in one table, a row of small charts each, then test by test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import report
from tightlink.evaluation import charts
from tightlink.evaluation.pack import SEEDS
from tightlink.evaluation.words import titled, with_width, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tightlink.evaluation.found import Evaluation
    from tightlink.evaluation.pack import Headline, Test

#: Of these the first table tells, of all others the second.
_ALONE: Final = ("utilization", "ramp-up", "changes", "queues")


def write(evaluation: Evaluation, command: str | None = None) -> Path:
    """Write the report into the folder of an evaluation.

    Args:
        evaluation: What was found.
        command: What made it; without it, the command line of this process.
    """
    names = ", ".join(control.label for control in evaluation.controls)
    return report.write(
        evaluation.folder / "report.html",
        title="Congestion controls, evaluated" if len(evaluation.controls) > 1 else f"{names}, evaluated",
        lead=_LEAD.format(count=len(evaluation.controls), names=names, seeds=len(SEEDS)),
        sections=[_overview(evaluation), *_rows(evaluation), *_tests(evaluation)],
        seeds=SEEDS,
        command=command,
    )


_LEAD: Final = (
    "{count} of them, {names}: the same tests for each, in the terms of RFC 5166, RFC 9743 and the Common TCP "
    "Evaluation Suite. TCP is that of profile `rfc` with RACK-TLP: delayed ACKs, an initial window of 10 packets, "
    "a receiver's window that limits nothing. Where flows share a path, random traffic takes 5 % of it in both "
    "directions, and numbers are means over {seeds} seeds with half their 95 % confidence interval: with so few, "
    "differences within it mean nothing."
)


def _overview(evaluation: Evaluation) -> report.Section:
    listed = list(evaluation.headlines())
    parts = (
        (
            "Alone, as the path changes, and what it does to the queue",
            [each for each in listed if each[0].name in _ALONE],
        ),
        ("In company", [each for each in listed if each[0].name not in _ALONE]),
    )
    blocks = [_headlines(evaluation, caption, columns) for caption, columns in parts if columns]
    return report.Section("All controls", "", blocks)


def _headlines(
    evaluation: Evaluation, caption: str, columns: list[tuple[Test, Headline, dict[str, float | None]]]
) -> report.Table:
    frame = pl.DataFrame({"control": [control.label for control in evaluation.controls]})
    formats: dict[str, report.Format] = {}
    for _, headline, values in columns:
        # A gap would be a dash: what never happened says so.
        found = [math.nan if (value := values[label]) is None else value for label in frame["control"]]
        frame = frame.with_columns(pl.Series(headline.title, found))
        formats[headline.title] = _writer(headline)
    return report.Table(frame, caption, formats)


def _writer(headline: Headline) -> Callable[[Any], str]:
    return lambda value: headline.never if math.isnan(value) else written(headline.measure, value)


def _rows(evaluation: Evaluation) -> Iterator[report.Section]:
    captions = charts.captions(evaluation)
    if captions:
        about = report.Text(f"From the left: {'; '.join(captions)}.")
        rows = [report.Row(charts.row(evaluation, control.label), control.label) for control in evaluation.controls]
        yield report.Section("Side by side", "A row for each control, with the same axes in all.", [about, *rows])


def _tests(evaluation: Evaluation) -> Iterator[report.Section]:
    summary = evaluation.summary
    for test in evaluation.tests:
        own = summary.filter(pl.col("test") == test.name)
        yield report.Section(test.title, "", [report.Text(test.about), report.Table(_table(own))])


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
    count = f" ({row['never']} of {row['replications']} never)" if row["never"] else ""
    if row["value"] is None:
        return "never"
    return with_width(row["measure"], row["value"], row["half_width"]) + count
