"""What an evaluation found: the measures of every control, their means, and what the report draws."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tightlink.experiment.precision import half_width
from tightlink.run import Run
from tightlink.studies.evaluation.setup.pack import Headline, Kind, Subject, Test
from tightlink.studies.evaluation.setup.trials import Trial

_MEASURES: Any = {
    "test": pl.String, "setting": pl.String, "seed": pl.Int64, "measure": pl.String,
    "value": pl.Float64,
}  # fmt: skip
_SUMMARY: Any = {
    "test": pl.String, "setting": pl.String, "measure": pl.String, "value": pl.Float64,
    "half_width": pl.Float64, "replications": pl.Int64, "never": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True)
class Mean:
    """A measure of a control: its mean, and half its 95 % confidence interval where there are several seeds."""

    value: float | None
    """Nothing where it did not happen with most seeds."""
    half_width: float | None = None
    replications: int = 1
    never: int = 0
    """With how many seeds it did not happen."""


@dataclass(frozen=True)
class Evaluation:
    """Congestion controls or queues, side by side."""

    controls: Sequence[Subject]
    """What was evaluated."""
    tests: Sequence[Test]
    measures: pl.DataFrame
    """A row for each value of each run; the value is missing where something never happened."""
    curves: Mapping[tuple[str, str, str], pl.DataFrame]
    """What the report draws over time, by control, test and setting, with the first seed."""
    folder: Path = Path()
    """With runs, tables and report."""
    kind: Kind = "control"
    """What was evaluated: the name of the first column."""

    @property
    def values(self) -> dict[str, float | None]:
        """The summary by name, for claims: ``CONTROL.TEST.SETTING.MEASURE``."""
        keys = (self.kind, "test", "setting", "measure")
        return {".".join(row[key] for key in keys): row["value"] for row in self.summary.iter_rows(named=True)}

    @property
    def summary(self) -> pl.DataFrame:
        """A row for each control, test, setting and measure: the mean over seeds and half its 95 % interval.

        Where something did not happen with some seeds, ``value`` is the median, in which these come last, and
        missing where it is one of these; ``never`` counts them.
        """
        keys = [self.kind, "test", "setting", "measure"]
        grouped = self.measures.group_by(keys, maintain_order=True).agg("value")
        rows = [(*row[:-1], *_summarised(row[-1])) for row in grouped.iter_rows()]
        return pl.DataFrame(rows, schema={self.kind: pl.String} | _SUMMARY, orient="row")

    def described(self) -> dict[str, Any]:
        """Controls, tests and summary, as ``--json`` prints them."""
        return {
            f"{self.kind}s": {control.label: control.value for control in self.controls},
            "tests": {test.name: test.about for test in self.tests},
            "summary": self.summary.to_dicts(),
        }

    def headlines(self) -> Iterator[tuple[Test, Headline, dict[str, Mean]]]:
        """The columns of the table of all controls, each with a mean for every control."""
        summary = self.summary
        for test in self.tests:
            for headline in test.headlines:
                rows = summary.filter((pl.col("test") == test.name) & (pl.col("measure") == headline.measure))
                if headline.setting is not None:
                    rows = rows.filter(pl.col("setting") == headline.setting)
                own = {control.label: rows.filter(pl.col(self.kind) == control.label) for control in self.controls}
                yield test, headline, {label: _mean(found) for label, found in own.items()}


def observe(
    controls: Sequence[Subject], tests: Sequence[Test], planned: Sequence[Trial], kind: Kind, runs: Mapping[str, Run]
) -> Evaluation:
    """What the runs of trials say of the controls or queues."""
    rows: list[tuple[Any, ...]] = []
    curves: dict[tuple[str, str, str], pl.DataFrame] = {}
    for trial in planned:
        control, test, case = trial
        # So that the tables of all runs do not fill the memory.
        own = {name: runs[task.name].unread() for name, task in trial.tasks().items()}
        place = (control.label, test.name, case.setting)
        rows += [(*place, case.seed, name, value) for name, value in case.measure(own).items()]
        if case.curve is not None and place not in curves:
            curves[place] = case.curve(own)
    measures = pl.DataFrame(rows, schema={kind: pl.String} | _MEASURES, orient="row")
    return Evaluation(controls, tests, measures, curves, kind=kind)


def _summarised(values: list[float | None]) -> tuple[float | None, float | None, int, int]:
    there = [value for value in values if value is not None]
    never = len(values) - len(there)
    if never:
        middle = statistics.median([*there, *([math.inf] * never)])
        return (middle if math.isfinite(middle) else None), None, len(values), never
    return statistics.fmean(there), half_width(there) if len(there) > 1 else None, len(values), 0


def _mean(rows: pl.DataFrame) -> Mean:
    """The mean over settings, of which each has seeds of its own; of one setting what its seeds say."""
    if rows.height == 1:
        return Mean(*rows.select("value", "half_width", "replications", "never").row(0))
    values, widths = rows["value"].to_list(), rows["half_width"].to_list()
    if not values or None in values:
        return Mean(None)
    half = None if None in widths else math.sqrt(math.fsum(width * width for width in widths)) / len(widths)
    return Mean(statistics.fmean(values), half, int(rows["replications"][0]))
