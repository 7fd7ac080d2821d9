"""Verdicts of named packs: what each asks of a control, and whether a control meets it."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from tightlink.report.blocks import Section, Table, Text
from tightlink.studies.evaluation.observe import Evaluation, Judged
from tightlink.studies.evaluation.report.words import unit_of, with_width, written
from tightlink.studies.evaluation.setup.pack import Pack, Requirement, packs

#: With more controls, what was found is in the file of verdicts only.
_FEW: Final = 6
_MARKS: Final = {"met": "✓", "missed": "✗", "open": "?"}


def sections(evaluation: Evaluation) -> Iterator[Section]:
    """The verdicts of each pack at one glance, what is asked and why that much, and what was found."""
    few = len(evaluation.subjects) <= _FEW
    for name, pack in evaluation.judged():
        not_tested = [f"**{each.place}** {each.title.lower()}: {each.open}" for each in pack.requirements if each.open]
        yield Section(
            pack.title,
            "A reading of a text that has criteria and no bounds; where each bound is from stands below.",
            [
                Table(_at_a_glance(evaluation, name, pack), "✓ met, ✗ missed, ? open: the confidence interval of a few "
                      "seeds is on both sides of the bound, or a run failed. The numbers are those of the next table."),
                Table(_asked_table(pack), "What is asked, and where the bound is from"),
                *([Table(of_pack(evaluation, name), "What was found")] if few else []),
                *([Text(" ".join(not_tested))] if not_tested else []),
            ],
        )  # fmt: skip


def _at_a_glance(evaluation: Evaluation, name: str, pack: Pack) -> pl.DataFrame:
    """A row for each control, a column for each requirement that a test says something of."""
    own = evaluation.verdicts.filter((pl.col("pack") == name) & pl.col("measured"))
    rows = []
    for label, _ in evaluation.subjects:
        verdicts = own.filter(pl.col("control") == label)["verdict"].to_list()
        met = f"{verdicts.count('met')} of {len(verdicts)}"
        rows.append([label, *(_MARKS[verdict] for verdict in verdicts), met])
    numbers = [str(number) for number, _ in _tested(pack)]
    return pl.DataFrame(rows, schema=["control", *numbers, "met"], orient="row")


def _asked_table(pack: Pack) -> pl.DataFrame:
    rows = [(str(number), each.title, each.place, _asked(each), each.origin) for number, each in _tested(pack)]
    return pl.DataFrame(rows, schema=["no.", "requirement", "place", "asked", "where the bound is from"], orient="row")


def _tested(pack: Pack) -> Iterator[tuple[int, Requirement]]:
    """The requirements that a test says something of, numbered from one."""
    return enumerate((each for each in pack.requirements if not each.open), 1)


def of_pack(evaluation: Evaluation, name: str) -> pl.DataFrame:
    """A row for each setting of each requirement of which there is a test, and a column for each control.

    What was found stands in the unit of what is asked, so that numbers of a row compare at a glance.
    """
    labels = [label for label, _ in evaluation.subjects]
    rows = []
    for _, each in _tested(packs()[name]):
        # All controls are tested in the same settings.
        columns = [evaluation.judged_in(each, label) for label in labels]
        rows += [
            [each.title, each.place, found[0].setting, _asked(each), *(_cell(each, judged) for judged in found)]
            for found in zip(*columns, strict=True)
        ]
    return pl.DataFrame(rows, schema=["requirement", "place", "setting", "asked", *labels], orient="row")


def _asked(each: Requirement) -> str:
    return f"{'at least' if each.at_least is not None else 'at most'} {written(each.measure, each.bound)}"


def _cell(each: Requirement, judged: Judged) -> str:
    if judged.value is None:
        # What never happened misses the bound.
        return f"{judged.verdict}: {'failed' if judged.verdict == 'open' else 'never'}"
    unit = unit_of(each.measure, each.bound)
    return f"{judged.verdict}: {with_width(each.measure, judged.value, judged.half_width, unit)}"
