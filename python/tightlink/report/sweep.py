"""The report of a sweep: what changed most, the effect of each factor, every combination, what failed."""

from __future__ import annotations

import tomllib
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Final

from tightlink.analysis.effects.factors import alone, called
from tightlink.analysis.effects.levels import by_replication, over_levels
from tightlink.diagnosis import words
from tightlink.errors import TightlinkError
from tightlink.experiment.designs import LATIN, ONE_AT_A_TIME
from tightlink.experiment.factors import value_at
from tightlink.experiment.folder import Experiment
from tightlink.experiment.metrics import group_metrics, is_mean_of_flows, main_metrics
from tightlink.experiment.summary import censored, copied, width_of, without_censored
from tightlink.laboratory.embedded import Offer
from tightlink.laboratory.sliders import Slider
from tightlink.lazy import pl
from tightlink.numbers import several
from tightlink.plots import labels
from tightlink.report import ranks, sweep_factors, sweep_opposite
from tightlink.report.blocks import Block, Details, Section, Table, Text
from tightlink.report.changes import Replications, changes, sentence, told
from tightlink.report.failed import failed_runs
from tightlink.report.page import write

_MOST_ROWS: Final = 500
_FEWEST: Final = 2
#: Traffic groups up to which their goodputs are columns.
_MOST_COLUMNS: Final = 6


class Found:
    """The results of a finished sweep as its report needs them."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.description: dict[str, Any] = experiment.description
        self.runs: pl.DataFrame = experiment.runs.collect()
        self.keys = experiment.varied
        self.copies: list[str] = self.description.get("copies", [])
        """Cells whose replications are copies of one run."""
        self.cells = experiment.summary
        self.one_at_a_time = self.description["design"] == ONE_AT_A_TIME
        numbers = [name for name, dtype in self.runs.schema.items() if dtype.is_numeric()]
        known = [name for name in numbers if self.runs[name].drop_nulls().is_not_nan().any()]
        self.metrics = main_metrics(known)
        self.groups = group_metrics(known, self.keys)
        """Columns of traffic groups, by metric and group."""
        # Of one sweep: with the results, what was found of them goes.
        self.known = cache(self._known)
        self.opposites = cache(partial(sweep_opposite.opposites, self))
        """By factor, what `sweep_opposite` finds of it."""

    @cached_property
    def done(self) -> pl.DataFrame:
        """The runs that did not fail."""
        return self.runs.filter(self.runs["status"] == "done")

    @property
    def responses(self) -> list[str]:
        """What is compared: the main metrics but the queue's length, and the share of each traffic group.

        The goodput of transfers is over the time until the last of them, which one timeout makes twice as long.
        """
        left_out = {"queue_mean_packets"} | ({"goodput_bps"} if self._is_of_transfers else set())
        metrics = [name for name in self.metrics if name not in left_out]
        return [*metrics, *self.groups.get("share", {}).values()]

    @property
    def _is_of_transfers(self) -> bool:
        """Whether all traffic is transfers that arrive by themselves."""
        traffic = tomllib.loads(self.description.get("scenario", "")).get("traffic", {})
        return bool(traffic) and all(group.get("kind") == "transfers" for group in traffic.values())

    @property
    def varied(self) -> list[str]:
        """The first key of each factor that has several levels."""
        first = [group[0] for group in self.description["factors"]]
        return [key for key in first if key in self.keys and self.runs[key].n_unique() >= _FEWEST]

    def _over(self, factor: str) -> pl.DataFrame:
        """Means at the levels of a factor."""
        columns = [*self.metrics, *(name for metric in self.groups.values() for name in metric.values())]
        if "throughput_bps" in self.runs.columns:
            columns.append("throughput_bps")
        return over_levels(self.told(factor), factor, list(dict.fromkeys(columns)), self.copies)

    def told(self, factor: str) -> pl.DataFrame:
        """The runs that tell of a factor, without values that not all runs of a level have."""
        one = self.one_at_a_time and self.done.height
        runs = alone(self.done, factor, self.varied) if one else self.done
        return without_censored(runs, pl.col(factor))

    def _known(self, factor: str, response: str) -> Replications:
        """The means of a response at the levels of a factor, by replication."""
        return by_replication(self.told(factor), factor, response) if response in self.runs.columns else {}

    @cached_property
    def levels(self) -> dict[str, pl.DataFrame]:
        """By factor, the means at its levels."""
        return {factor: self._over(factor) for factor in self.varied}

    @cached_property
    def most(self) -> str:
        """The response that changes most; empty where none does much."""
        there = told(self.levels, self.responses, self.known)
        return there[0].response if there else ""

    @cached_property
    def sentence(self) -> str:
        """What changes most, and between which levels; of one combination, whether its runs differ."""
        if self.levels.keys() - {"seed"}:
            return self._what_changes()
        if self.runs.height == 1:
            return "One combination, one run: nothing to compare."
        differ = any(self.runs[metric].n_unique() > 1 for metric in self.metrics)
        return (
            f"One combination: {'what differs from run to run is chance' if differ else 'all its runs are the same'}."
        )

    def _what_changes(self) -> str:
        done = self.cells.filter(self.cells["runs"] > 0)
        each = [factor for factor in self.varied if done[factor].n_unique() == done.height]
        apart = done.height >= ranks.FEWEST and len(each) > 1 and len(each) == len(self.varied)
        if len(self.varied) > 1 and (apart or self.description["design"] == LATIN):
            return ranks.sentence(done, self.varied, self.responses)
        there = told(self.levels, self.responses, self.known)
        most = there[0].factor if there else ""
        found = sentence(self.levels, self.responses, self.known)
        found += sweep_opposite.headline(self, most, {change.response for change in there})
        also = [*self.tied(most)]
        if most and not self.one_at_a_time:
            also += ranks.together(done, most, self.varied)
        if not also:
            return found
        verb = "changes" if len(also) == 1 else "change"
        return f"{found} {labels.shortest([most])[most]} does not change alone: {', '.join(also)} {verb} with it."

    def tied(self, factor: str) -> list[str]:
        """The keys that change together with the first key of a factor."""
        return next((group[1:] for group in self.description["factors"] if group[0] == factor), [])

    @property
    def order(self) -> list[str]:
        """The factors, the one that changes most first."""
        moving = [change.factor for change in changes(self.levels, self.responses, self.known)]
        return list(dict.fromkeys([*moving, *self.varied]))


def write_sweep(experiment: Experiment, target: Path, *, name: str, with_lab: bool = False) -> Path:
    """Write the report of a sweep into a file, which is replaced if it is there; its lab has a slider for each key."""
    return write_found(Found(experiment), target, name=name, with_lab=with_lab)


def write_found(found: Found, target: Path, *, name: str, with_lab: bool = False) -> Path:
    """Write the report of what was found already, as `write_sweep` does."""
    return write(
        target,
        title=f"Sweep {name}",
        lead=_lead(found),
        sections=sections(found),
        seeds=sorted(set(found.runs["seed"].to_list())),
        engine_behaviour=found.experiment.engine_behaviour,
        command=found.description.get("command") or None,
        warnings=_warnings(found),
        laboratories=_laboratories(found, f"Sweep {name}") if with_lab else (),
    )


def sections(found: Found) -> list[Section]:
    """All that there is to say of a sweep, in order."""
    failed = failed_runs(found.experiment.failures)
    parts = [*sweep_factors.sections(found), _design(found), _cells(found), failed, _setup(found)]
    return [part for part in parts if part is not None]


def _laboratories(found: Found, title: str) -> list[Offer]:
    """The scenario of the first run, with what the others have as positions of its sliders."""
    if not found.description.get("scenario"):
        raise TightlinkError(f"{found.experiment.folder}: only what was simulated has a lab, and these runs were not")
    # The first replication of each combination: the others differ in their seeds.
    names = [name for name in found.runs["run"].to_list() if name.endswith("/0")]
    scenarios = [found.experiment.scenario(name) for name in names]
    values: dict[str, list[Any]] = {}
    for key in found.keys:
        given = [value_at(scenario, key) for scenario in scenarios]
        if given[0] is not None:
            # Text, numbers and tables: whatever a level is, it is written in one way.
            values[key] = list({repr(value): value for value in given if value is not None}.values())
    made = [Slider.of(key, given, scenarios[0]) for key, given in values.items()]
    return [Offer(title, scenarios[0], made)]


def _lead(found: Found) -> str:
    each = [
        f"{several(found.runs[key].n_unique(), 'level')} of {' & '.join(f'`{one}`' for one in (key, *found.tied(key)))}"
        for key in found.varied
    ]
    counted = f"{several(found.done.height, 'run')} of {several(found.cells.height, 'combination')}"
    return f"{found.sentence}\n\n{counted}{': ' if each else ''}{', '.join(each)}."


def _design(found: Found) -> Section | None:
    notes, aliases = found.description["notes"], found.description["aliases"]
    if not notes:
        return None
    blocks: list[Block] = [Text("\n".join(f"- {note}" for note in notes))]
    if aliases:
        blocks.append(Details("Effects that cannot be told apart", "\n".join(" = ".join(group) for group in aliases)))
    return Section("Design", "", blocks)


def _cells(found: Found) -> Section:
    several_runs = found.cells["runs"].max() != 1
    goodputs = list(found.groups.get("goodput_bps", {}).values())
    metrics = [*found.metrics[:1], *(goodputs if len(goodputs) <= _MOST_COLUMNS else ()), *found.metrics[1:]]
    widths = {name: width_of(name) for name in metrics} if several_runs else {}
    shown = found.cells.select("cell", *found.keys, "runs", *metrics, *widths.values())
    words = [name for name in found.keys if shown[name].dtype == pl.String]
    shown = shown.with_columns(pl.Series(name, map(_called, shown[name]), pl.String) for name in words)
    if found.copies:
        copied = pl.when(pl.col("cell").is_in(found.copies)).then(pl.lit(" copies")).otherwise(pl.lit(""))
        shown = shown.with_columns(runs=pl.col("runs").cast(pl.String) + copied)
    known = any(shown[name].is_not_null().any() for name in widths.values())
    few = sweep_factors.with_unknown(found.cells, [*widths])
    finding = f"Means over replications ± half their 95 % confidence intervals{few}." if known else ""
    if any(map(is_mean_of_flows, metrics)):
        finding = f"{finding} Percentiles of one-way delays and round trips are means of those that flows have.".strip()
    blocks: list[Block] = [Table.first(shown, _MOST_ROWS, widths=widths)]
    if found.cells.height == 1 and several_runs and not found.copies:
        each = found.done.select("run", "seed", *metrics)
        blocks.append(Table(each.head(_MOST_ROWS), "Each run."))
    return Section("Combinations", finding, blocks)


def _called(level: str | None) -> str | None:
    return None if level is None else called(level)


def _setup(found: Found) -> Section | None:
    """What makes the sweep again: its command, and the scenario that it varies."""
    blocks: list[Block] = []
    if command := found.description.get("command"):
        blocks.append(Text(f"    {command}"))
    if scenario := found.description.get("scenario"):
        blocks.append(Details("The scenario", scenario))
    return Section("Command and scenario", "", blocks) if blocks else None


def _warnings(found: Found) -> list[str]:
    warnings = []
    if unsettled := found.description["not_precise"]:
        warnings.append(f"{several(len(unsettled), 'combination')} did not get to {found.description['precision']}: "
                        f"{', '.join(unsettled)}.")  # fmt: skip
    if found.copies:
        warnings.append(f"{words.sentence(copied(found.copies, found.cells.height))}.")
    if text := censored(found.done):
        warnings.append(f"{words.sentence(text)}.")
    return warnings
