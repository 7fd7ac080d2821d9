"""Cases of a study: one kind of scenario at every combination of some levels, and tables over their runs.

Example:
    >>> import tightlink as tl
    >>> def scenario(window: int, seed: int) -> tl.Scenario:
    ...     wire = tl.Link(ends=("a", "b"), rate="2 Mbit/s", delay="10 ms", queue="20 packets")
    ...     ftp = tl.Bulk(from_="a", to="b", tcp={"window": f"{window} packets"})
    ...     return tl.Scenario(profile="ns2", duration="2 s", seed=seed, link={"wire": wire}, traffic={"ftp": ftp})
    >>> windows = Cases("window-{window}/{seed}", scenario, {"window": (2, 20), "seed": (1, 2)})
    >>> runs = {task.name: tl.simulate(task.scenario) for task in windows.tasks()}
    >>> list(runs)
    ['window-2/1', 'window-2/2', 'window-20/1', 'window-20/2']
    >>> means = windows.table(runs, lambda run: {"used": run.links["utilization"][0]}, over="seed")
    >>> means["window"].to_list(), means["used"][0] < 0.5 < means["used"][1]
    ([2, 20], True)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import product
from statistics import fmean
from string import Formatter
from typing import Any

import polars as pl

from tightlink.errors import TightlinkError, did_you_mean
from tightlink.experiment.execute import Task
from tightlink.run import Run
from tightlink.scenario import Scenario


@dataclass(frozen=True)
class Cases:
    """A scenario for every combination of levels, the last factor's changing fastest."""

    name: str
    """Of the tasks, with factors in braces, and how they are written: "loss-{loss:g}/{seed}"."""
    scenario: Callable[..., Scenario]
    """From the levels, by the factors' names, to what is simulated."""
    levels: Mapping[str, Sequence[Any]]
    """Of each factor."""
    trace: bool = False
    """Whether the packet traces are needed."""

    def __post_init__(self) -> None:
        for name, levels in self.levels.items():
            if isinstance(levels, str) or not isinstance(levels, Iterable):
                raise TightlinkError(f'cases "{self.name}": the levels of {name} must be a list, not {levels!r}')
        for _, field, _, _ in Formatter().parse(self.name):
            if field is not None:
                # What follows is a part of the level: "{control[0]}".
                self._check(re.split(r"[.\[]", field)[0])
        try:
            signature(self.scenario).bind(**self.levels)
        except TypeError as error:
            raise TightlinkError(f'cases "{self.name}": the scenario of {", ".join(self.levels)}: {error}') from None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.combinations()

    def combinations(self, **fixed: Any) -> Iterator[dict[str, Any]]:
        """The levels of each case; of those factors that are fixed, the one level.

        Raises:
            TightlinkError: There is no such factor.
        """
        for name in fixed:
            self._check(name)
        return _each({**self.levels, **{name: (level,) for name, level in fixed.items()}})

    def tasks(self, **fixed: Any) -> list[Task]:
        """What is simulated; with some factors fixed, at these levels."""
        cases = self.combinations(**fixed)
        return [Task(self.name.format(**each), self.scenario(**each), self.trace) for each in cases]

    def of(self, runs: Mapping[str, Run], **fixed: Any) -> list[Run]:
        """Their runs, among all of a study; with some factors fixed, those with these levels."""
        return [runs[self.name.format(**each)] for each in self.combinations(**fixed)]

    def table(self, runs: Mapping[str, Run], measure: Callable[..., Mapping[str, Any]], over: str = "") -> pl.DataFrame:
        """The levels of each case beside what is measured of its run.

        Args:
            runs: All runs of the study.
            measure: From a run, and the levels that it names as arguments, to a row.
            over: A factor whose levels are not told apart, such as the seed: rows are the means over it.

        Raises:
            TightlinkError: There is no such factor.
        """
        if over:
            self._check(over)
        needed = [name for name in list(signature(measure).parameters)[1:] if name in self.levels]
        rows = []
        for each in _each({name: levels for name, levels in self.levels.items() if name != over}):
            measured = [
                measure(runs[self.name.format(**one)], **{name: one[name] for name in needed})
                for one in self.combinations(**each)
            ]
            found = {key: fmean(row[key] for row in measured) for key in measured[0]} if over else measured[0]
            rows.append({**each, **found})
        return pl.DataFrame(rows)

    def _check(self, name: str) -> None:
        if name not in self.levels:
            raise TightlinkError(f'cases "{self.name}": there is no factor "{name}"{did_you_mean(name, self.levels)}')


def _each(levels: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """All combinations of some levels."""
    return (dict(zip(levels, chosen, strict=True)) for chosen in product(*levels.values()))
