"""What an evaluation found: the measures of every control or queue, their means, and what the report draws."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from tightlink.experiment.precision import half_width
from tightlink.numbers import several
from tightlink.run import Run
from tightlink.studies.evaluation.setup.pack import Headline, Pack, Requirement, Test, Trial, Verdict, packs
from tightlink.studies.evaluation.setup.subjects import Kind, Subject

_MEASURES: Any = {
    "test": pl.String, "setting": pl.String, "seed": pl.Int64, "measure": pl.String, "value": pl.Float64
}  # fmt: skip
_VERDICTS: Any = {
    "pack": pl.String, "requirement": pl.String, "place": pl.String, "control": pl.String, "setting": pl.String,
    "value": pl.Float64, "half_width": pl.Float64, "at_least": pl.Float64, "at_most": pl.Float64,
    "measured": pl.Boolean, "verdict": pl.String,
}  # fmt: skip
_SUMMARY: Any = {
    "test": pl.String, "setting": pl.String, "measure": pl.String, "value": pl.Float64,
    "half_width": pl.Float64, "replications": pl.Int64, "never": pl.Int64,
}  # fmt: skip


#: Of several settings the verdict is the worst.
_SEVERITY: Final = {"met": 0, "open": 1, "missed": 2}


@dataclass(frozen=True)
class Mean:
    """A measure of a control: its mean, and half its 95 % confidence interval where there are several seeds."""

    value: float | None
    """Nothing where it did not happen with most seeds."""
    half_width: float | None = None
    replications: int = 1
    never: int = 0
    """With how many seeds it did not happen."""
    failed: bool = False
    """Whether there is no value because runs failed."""


class Judged(NamedTuple):
    """What a control does in one setting of a test, and whether that is what a pack asks."""

    setting: str | None
    value: float | None
    half_width: float | None
    verdict: Verdict


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Congestion controls or queues, side by side: what `tightlink.evaluate` returns."""

    kind: Kind
    """What was evaluated: the name of the first column."""
    subjects: Sequence[Subject]
    tests: Sequence[Test]
    measures: pl.DataFrame
    """A row for each value of each run; the value is missing where something never happened."""
    curves: Mapping[tuple[str, str, str], pl.DataFrame]
    """What the report draws over time, by control, test and setting, with the first seed."""
    failed: Collection[tuple[str, str, str]] = ()
    """Controls or queues, tests and settings of which some run failed: of what these had to say nothing is known."""
    pack: str | None = None
    """The named pack that was asked for."""
    folder: Path = Path()
    """With runs, tables and report."""

    def __repr__(self) -> str:
        of = ", ".join(subject.label for subject in self.subjects)
        return f"<Evaluation of {of}: {several(len(self.tests), 'test')}, {several(self.measures.height, 'measure')}>"

    @property
    def values(self) -> dict[str, float | None]:
        """The summary by name, for claims: ``CONTROL.TEST.SETTING.MEASURE``."""
        keys = (self.kind, "test", "setting", "measure")
        return {".".join(row[key] for key in keys): row["value"] for row in self.summary.iter_rows(named=True)}

    @cached_property
    def summary(self) -> pl.DataFrame:
        """A row for each control, test, setting and measure: the mean over seeds and half its 95 % interval.

        Where something did not happen with some seeds, ``value`` is the median, in which these come last, and
        missing where it is one of these; ``never`` counts them.
        """
        keys = [self.kind, "test", "setting", "measure"]
        grouped = self.measures.group_by(keys, maintain_order=True).agg("value")
        rows = [(*row[:-1], *_summarised(row[-1])) for row in grouped.iter_rows()]
        return pl.DataFrame(rows, schema={self.kind: pl.String} | _SUMMARY, orient="row")

    def judged(self) -> Iterator[tuple[str, Pack]]:
        """The named packs of which all tests were made."""
        made = {test.name for test in self.tests}
        for name, pack in packs().items():
            if self.kind == "control" and made.issuperset(pack.tests):
                yield name, pack

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """Whether each control meets each requirement of the named packs: a row each, with the value furthest off."""
        rows = [
            (name, each.title, each.place, label, *worst, each.at_least, each.at_most, not each.open, verdict)
            for name, pack in self.judged()
            for each in pack.requirements
            for label, _ in self.subjects
            for *worst, verdict in [self._verdict(each, label)]
        ]
        return pl.DataFrame(rows, schema=_VERDICTS, orient="row")

    def judged_in(self, asked: Requirement, label: str) -> list[Judged]:
        """What a control does in each setting in which something is asked of it; it meets none where a run failed."""
        rows = self.summary.filter(pl.col("test") == asked.test, pl.col("measure") == asked.measure)
        known = rows.filter(pl.col(self.kind) == label).select("setting", "value", "half_width").rows_by_key("setting")
        failed = {setting for *place, setting in self.failed if place == [label, asked.test]}
        # The same settings for all controls, whichever of them failed in one.
        every = [
            {setting for *place, setting in self.failed if place == [each, asked.test]} for each, _ in self.subjects
        ]
        listed = dict.fromkeys([*rows["setting"], *sorted(set.intersection(*every))])
        found = []
        for setting in (each for each in listed if each in asked.settings or not asked.settings):
            value, half = known[setting][0] if setting in known else (None, None)
            verdict = "open" if setting in failed and setting not in known else asked.judged(value, half)
            found.append(Judged(setting, value, half, "open" if setting in failed and verdict == "met" else verdict))
        return found

    def _verdict(self, asked: Requirement, label: str) -> Judged:
        """What is furthest off of all settings."""
        found = [] if asked.open else self.judged_in(asked, label)
        if not found:
            return Judged(None, None, None, "open")
        furthest = -1.0 if asked.at_least is not None else 1.0

        def off(each: Judged) -> tuple[int, float]:
            return _SEVERITY[each.verdict], math.inf if each.value is None else furthest * each.value

        return max(found, key=off)

    def described(self) -> dict[str, Any]:
        """Controls, tests and summary, as ``--json`` prints them."""
        return {
            f"{self.kind}s": dict(self.subjects),
            "tests": {test.name: test.about for test in self.tests},
            "summary": self.summary.to_dicts(),
            **({"verdicts": self.verdicts.to_dicts()} if self.kind == "control" else {}),
        }

    def headlines(self) -> Iterator[tuple[Test, Headline, dict[str, Mean]]]:
        """The columns of the table of all controls, each with a mean for every control."""
        for test in self.tests:
            for headline in test.headlines:
                rows = self.summary.filter(pl.col("test") == test.name, pl.col("measure") == headline.measure)
                if headline.setting is not None:
                    rows = rows.filter(pl.col("setting") == headline.setting)
                means = {}
                for label, _ in self.subjects:
                    own = rows.filter(pl.col(self.kind) == label)
                    means[label] = Mean(None, failed=True) if self._lacks(label, headline, test, own) else _mean(own)
                yield test, headline, means

    def _lacks(self, label: str, headline: Headline, test: Test, rows: pl.DataFrame) -> bool:
        """Whether runs failed without which a column of the table of all says nothing of a control."""
        settings = [setting for *place, setting in self.failed if place == [label, test.name]]
        asked = [setting for setting in settings if headline.setting in {None, setting}]
        return not set(asked).issubset(rows["setting"])


def observe(  # noqa: PLR0917
    kind: Kind,
    subjects: Sequence[Subject],
    tests: Sequence[Test],
    pack: str | None,
    planned: Sequence[Trial],
    runs: Mapping[str, Run],
) -> Evaluation:
    """What the runs of trials say of the controls or queues."""
    rows: list[tuple[Any, ...]] = []
    curves: dict[tuple[str, str, str], pl.DataFrame] = {}
    failed: set[tuple[str, str, str]] = set()
    for trial in planned:
        place = (trial.subject.label, trial.test.name, trial.setting)
        names = [task.name for task in trial.tasks()]
        if not runs.keys() >= set(names):
            failed.add(place)
            continue
        # So that the tables of all runs do not fill the memory.
        own = [runs[name].unread() for name in names]
        made = trial.test.made
        rows += [(*place, trial.seed, name, value) for name, value in made.measure(trial.value, *own).items()]
        if made.curve is not None and place not in curves:
            curves[place] = made.curve(trial.value, *own)
    measures = pl.DataFrame(rows, schema={kind: pl.String} | _MEASURES, orient="row")
    return Evaluation(kind, subjects, tests, measures, curves, failed, pack)


def _summarised(values: list[float | None]) -> tuple[float | None, float | None, int, int]:
    there = [value for value in values if value is not None]
    never = len(values) - len(there)
    if never:
        middle = statistics.median([*there, *([math.inf] * never)])
        return (middle if math.isfinite(middle) else None), None, len(values), never
    return statistics.fmean(there), half_width(there) if len(there) > 1 else None, len(values), 0


def _mean(rows: pl.DataFrame) -> Mean:
    """The mean over settings, each with other seeds; of one setting the mean over its seeds."""
    if rows.height == 1:
        return Mean(*rows.select("value", "half_width", "replications", "never").row(0))
    values, widths = rows["value"].to_list(), rows["half_width"].to_list()
    if not values or None in values:
        return Mean(None)
    half = None if None in widths else math.sqrt(math.fsum(width * width for width in widths)) / len(widths)
    return Mean(statistics.fmean(values), half, int(rows["replications"][0]))
