"""Verdicts of named packs: what each asks of a control, and whether a control meets it."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from tightlink.report.blocks import Section, Table
from tightlink.studies.evaluation.observe import Evaluation
from tightlink.studies.evaluation.report.words import with_width, written
from tightlink.studies.evaluation.setup.requirements import Pack, Requirement


def sections(evaluation: Evaluation) -> Iterator[Section]:
    """A table of verdicts for each pack, and one of where the bounds are from."""
    for name, pack in evaluation.judged():
        origins = [(each.title, each.place, _asked(each), each.origin or each.open) for each in pack.requirements]
        why = pl.DataFrame(origins, schema=["requirement", "place", "asked", "where the bound is from"], orient="row")
        yield Section(
            pack.title,
            "A reading of a text that has criteria and no bounds, written down before the packs were run. *Open* is "
            "what nothing here can say, or what seeds do not agree on: the confidence interval is on both sides.",
            [Table(verdict_table(evaluation, name, pack), "Verdicts"), Table(why, "What is asked, and why that much")],
        )


def verdict_table(evaluation: Evaluation, name: str, pack: Pack) -> pl.DataFrame:
    """A row for each requirement, with what it asks for, and a column for each control."""
    own = evaluation.verdicts.filter(pl.col("pack") == name)
    labels = [label for label, _ in evaluation.subjects]
    found = {(row["place"], row["requirement"], row["control"]): row for row in own.iter_rows(named=True)}
    rows = [
        [each.title, each.place, _asked(each), *(_cell(each, found[each.place, each.title, label]) for label in labels)]
        for each in pack.requirements
    ]
    return pl.DataFrame(rows, schema=["requirement", "place", "asked", *labels], orient="row")


def _asked(each: Requirement) -> str:
    if each.open:
        return "–"
    return f"{'at least' if each.at_least is not None else 'at most'} {written(each.measure, each.bound)}"


def _cell(each: Requirement, row: dict[str, object]) -> str:
    if each.open:
        return "open"
    value, half_width = row["value"], row["half_width"]
    if not isinstance(value, float):
        return f"{row['verdict']}: never"
    width = half_width if isinstance(half_width, float) else None
    return f"{row['verdict']}: {with_width(each.measure, value, width)}"
