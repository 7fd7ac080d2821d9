"""The report of an evaluation: all controls or queues in one table, a row of small charts each, then test by test."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import polars as pl

from tightlink.experiment.claims import Claim
from tightlink.report.blocks import Chart, Row, Section, Table, Text
from tightlink.studies.evaluation.observe import Evaluation, Mean
from tightlink.studies.evaluation.report import charts, verdicts
from tightlink.studies.evaluation.report.words import titled, told, told_alike
from tightlink.studies.evaluation.setup import queued
from tightlink.studies.evaluation.setup.competing import DROP_TAIL
from tightlink.studies.evaluation.setup.pack import SEEDS, Headline, Test
from tightlink.studies.expressions import fill
from tightlink.studies.study import Report

_DELAY: Final = "queueing_p95_s"
#: What is said of controls and of queues.
_WORDS: Final = tomllib.loads(Path(__file__).parent.with_suffix(".toml").read_text(encoding="utf-8"))


def report(evaluation: Evaluation, _: Mapping[str, Claim]) -> Report:
    """The report of an evaluation, which begins with the plane of delay and throughput."""
    names = ", ".join(label for label, _ in evaluation.subjects)
    words = _WORDS[evaluation.kind]
    lead = fill(words["lead"], {"names": names, "seeds": len(SEEDS), "path": queued.PATH.label})
    return Report(
        words["title"] if len(evaluation.subjects) > 1 else f"{names}, evaluated",
        _finding(evaluation) + lead,
        [
            *charts.planes(evaluation),
            *verdicts.sections(evaluation),
            _overview(evaluation),
            *_rows(evaluation),
            *_tests(evaluation),
        ],
        tables={
            "measures": evaluation.measures,
            "summary": evaluation.summary,
            **({} if evaluation.kind == "queue" else {"verdicts": evaluation.verdicts}),
        },
        summary=_means(evaluation) if evaluation.pack is None else verdicts.of_pack(evaluation, evaluation.pack),
        described=evaluation.described(),
        picture=charts.TITLE,
    )


def _finding(evaluation: Evaluation) -> str:
    """What tells the controls or queues apart most in the plane: who fills the queue least, and who most."""
    first = "tcp-friendly" if evaluation.kind == "queue" else charts.QUEUES
    own = [
        found for test, headline, found in evaluation.headlines() if headline.measure == _DELAY and test.name == first
    ]
    known = {label: mean for label, mean in own[0].items() if mean.value is not None} if own else {}
    if len(known) < 2:
        return ""
    least, most = (choose(known, key=lambda label: known[label].value or 0.0) for choose in (min, max))
    low, high = (told(_DELAY, known[label]) for label in (least, most))
    where = f"with {queued.FLOWS} flows of {queued.STANDARD}" if evaluation.kind == "queue" else f"behind {DROP_TAIL}"
    if not _apart(known[least], known[most]):
        return f"No two differ in their p95 queueing delay {where} by more than their intervals.\n\n"
    return f"The p95 queueing delay goes from {low} with {least} to {high} with {most}, {where}.\n\n"


def _apart(least: Mean, most: Mean) -> bool:
    """Whether the intervals of two means, as far as they are known, have nothing in common."""
    return (most.value or 0.0) - (least.value or 0.0) > (most.half_width or 0.0) + (least.half_width or 0.0)


def _overview(evaluation: Evaluation) -> Section:
    listed = list(evaluation.headlines())
    parts = ([each for each in listed if each[0].others is others] for others in (False, True))
    labels = {evaluation.kind: [label for label, _ in evaluation.subjects]}
    captioned = zip(_WORDS[evaluation.kind]["captions"], parts, strict=True)
    blocks = [Table(pl.DataFrame(labels | dict(map(_told, part))), caption) for caption, part in captioned if part]
    return Section(f"What was measured, {evaluation.kind} by {evaluation.kind}", "", blocks)


def _means(evaluation: Evaluation) -> pl.DataFrame:
    """A row for each measure of the overview, a column for each control or queue."""
    rows = [[title, *texts] for title, texts in map(_told, evaluation.headlines())]
    return pl.DataFrame(rows, schema=["measure", *(label for label, _ in evaluation.subjects)], orient="row")


def _told(column: tuple[Test, Headline, dict[str, Mean]]) -> tuple[str, list[str]]:
    """What a column of the overview is called, and what it says of each control or queue."""
    _, headline, means = column
    return headline.title, told_alike(headline.measure, list(means.values()), headline.never)


def _rows(evaluation: Evaluation) -> Iterator[Section]:
    drawn = charts.in_a_row(evaluation)
    if drawn:
        about = Text(f"From the left: {'; '.join(caption for _, caption in drawn)}.")
        rows = [Row([draw(evaluation, label) for draw, _ in drawn], label) for label, _ in evaluation.subjects]
        yield Section("Side by side", "A row for each control, with the same axes in all.", [about, *rows])


def _tests(evaluation: Evaluation) -> Iterator[Section]:
    summary = evaluation.summary
    for test in evaluation.tests:
        own = summary.filter(pl.col("test") == test.name)
        blocks: list[Chart | Table | Text] = [Text(test.about), Table(_table(own, evaluation, test))]
        if test.name == charts.QUEUES:
            blocks[1:1] = charts.planes_of_queues(evaluation, test)
        yield Section(test.title, "", blocks)


def _table(own: pl.DataFrame, evaluation: Evaluation, test: Test) -> pl.DataFrame:
    """A row for each measure and setting, a column for each control or queue."""
    rows: dict[tuple[str, str], dict[str, Mean]] = {}
    never = {headline.measure: headline.never for headline in test.headlines}
    order = {name: place for place, name in enumerate(own["measure"].unique(maintain_order=True))}
    for row in own.iter_rows(named=True):
        mean = Mean(row["value"], row["half_width"], row["replications"], row["never"])
        cells = rows.setdefault((row["measure"], row["setting"]), {})
        cells[row[evaluation.kind]] = mean
    listed = sorted(rows.items(), key=lambda each: order[each[0][0]])
    labels = [label for label, _ in evaluation.subjects]
    failed = Mean(None, failed=True)
    means = ((measure, setting, [cells.get(label, failed) for label in labels]) for (measure, setting), cells in listed)
    return pl.DataFrame(
        [
            [titled(measure), setting, *told_alike(measure, each, never.get(measure, "never"))]
            for measure, setting, each in means
        ],
        schema=dict.fromkeys(["measure", "setting", *labels], pl.String),
        orient="row",
    )
