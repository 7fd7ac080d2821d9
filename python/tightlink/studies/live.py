"""What a study measures on real hosts, over an emulated link, beside what it simulates.

Each measurement is a run in its own folder, whole or not at all, so an interrupted study continues where it was.
What varies is measured again and again, in rounds, until the median of a number has converged.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from tightlink.errors import TightlinkError
from tightlink.experiment.campaign import Failed, Work, attempt
from tightlink.experiment.engines import Threads
from tightlink.experiment.execute import Task
from tightlink.experiment.precision import median_has_converged
from tightlink.run import Framed, Run, open_run
from tightlink.scenario import Scenario
from tightlink.studies.words import percent

#: A machine that is busy for a moment is asked again.
_TRIES: Final = 3
#: A machine that is too busy for so many, one after the other, is too busy for the rest.
_MOST_IN_A_ROW: Final = 10
_PACKETS: Final = "packets"

Over = Literal["relay", "kernel"]


@dataclass(frozen=True)
class Repetition:
    """When something was measured often enough."""

    number: Callable[[Run], float]
    """What of a run shall be known well."""
    share: float = 0.02
    """Half the 95 % interval of its median, over the median, that is narrow enough."""
    fewest: int = 3
    most: int = 5
    """Times it is measured, however much it varies."""

    def enough(self, runs: Sequence[Run]) -> bool:
        """Whether these runs settle the median."""
        if len(runs) < self.fewest:
            return False
        values = [self.number(run) for run in runs]
        return len(runs) >= self.most or median_has_converged(values, self.share)


@dataclass(frozen=True)
class Measurement:
    """One scenario, to be measured."""

    name: str
    """Of its run, such as base/0: its folder; findings get it as live/base/0."""
    scenario: Scenario
    over: Over = "relay"
    """What its packets cross: an emulated link, or this machine's own kernel, which forwards them."""
    sender: str = "probe"
    """What sends and receives: `tightlink.measure.measuring.SENDERS`."""
    echo_s: float | None = None
    """Interval of echoes beside the traffic, in seconds; none: no echoes."""
    burn: bool = False
    """Whether a router's processor time is spent, rather than added up."""
    pace_s: float | None = None
    """99 % of the datagrams must leave within this after they are due, in seconds: what a ring bridges; none: any."""
    alone: bool = False
    """Whether nothing else may be measured meanwhile, as it takes whole processors."""
    trace: bool = False
    """Whether the table ``packets`` is kept: some megabytes each."""
    repetition: Repetition | None = None
    """When it was repeated often enough, as NAME/0, NAME/1, …; none: it is measured once, as NAME."""


def repeats(runs: Mapping[str, Run], name: str) -> list[Run]:
    """The runs of a measurement that was repeated, among those that findings get, in the order of their numbers."""
    start = f"{name}/"
    numbers = {key.removeprefix(start): run for key, run in runs.items() if key.startswith(start)}
    return [numbers[number] for number in sorted(filter(str.isdecimal, numbers), key=int)]


@dataclass(frozen=True)
class Point:
    """A point of a grid that is measured: its levels, by the columns of tables of it, and what is measured of a run."""

    name: str
    """Of its measurement."""
    levels: Mapping[str, Any]
    scenario: Scenario
    row: Callable[[Run], Mapping[str, Any]]
    beside: str = ""
    """What the name of its simulation begins with; without it, it is not simulated."""

    @property
    def task(self) -> str:
        """Name of its simulation."""
        return f"{self.beside}/{self.name}"


def tasks_of(points: Sequence[Point]) -> list[Task]:
    """The simulations beside a grid."""
    return [Task(point.task, point.scenario) for point in points]


def measurements_of(points: Sequence[Point], repetition: Repetition, **how: Any) -> list[Measurement]:
    """The measurements of a grid, one after the other."""
    return [Measurement(each.name, each.scenario, alone=True, repetition=repetition, **how) for each in points]


def medians(points: Sequence[Point], runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each point that was measured: its levels, how many ``times``, medians of numbers, and the usual words.

    Where points are simulated, too, each has a row of that behind it; ``source`` tells them apart.
    """
    rows = []
    for point in points:
        own = [point.row(run) for run in repeats(runs, f"live/{point.name}")]
        if not own:
            continue
        found = {"measured": own} | ({"simulated": [point.row(runs[point.task])]} if point.beside else {})
        for source, each in found.items():
            told = {"source": source} if point.beside else {}
            middles = {name: _middle([one[name] for one in each]) for name in each[0]}
            rows.append({**told, **point.levels, "times": len(each), **middles})
    return pl.DataFrame(rows)


def told_apart(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of `medians` that were measured, and those that were simulated; of an empty table both are empty."""
    both = ("measured", "simulated")
    measured, simulated = (table.filter(pl.col("source") == name) if len(table) else table for name in both)
    return measured, simulated


def _middle(values: Sequence[Any]) -> Any:
    return statistics.mode(values) if isinstance(values[0], str) else statistics.median(values)


def measured(points: Sequence[Point], runs: Mapping[str, Run]) -> list[Run]:
    """All that was measured of a grid."""
    return [run for point in points for run in repeats(runs, f"live/{point.name}")]


@dataclass(frozen=True)
class Grid:
    """A grid that was measured, and what is seen in it."""

    values: Mapping[str, object]
    """What claims compare, by name."""
    table: pl.DataFrame
    """As `medians` gives it."""
    found: Any
    """What an analysis of it found; nothing where too little was measured."""
    runs: list[Run]
    why_not: str = ""
    """Why it says nothing of what it is for; empty if it does."""


def measure_all(
    wanted: Sequence[Measurement], folder: Path, jobs: int, progress: Callable[[str], None]
) -> dict[str, Run]:
    """Measure what is not there yet, in random order, so that no drift of the machine looks like an effect.

    Args:
        wanted: What to measure.
        folder: For their runs, a folder each.
        jobs: Measurements at a time, but for those that must be alone.
        progress: Told, line by line, what it is doing.

    Returns:
        The runs by name, in the order of ``wanted``; without those that the machine was too busy for, several times.

    Raises:
        TightlinkError: The machine cannot measure: no namespaces, no TUN devices; or a folder holds something else.
    """
    store = _RunFolders(folder)
    names = [(name, each.scenario) for each in wanted for name in _names(each)]
    there = {name: found for name, scenario in names if (found := store.found(name, scenario)) is not None}
    if there:
        progress(f"{len(there)} measurements are in {folder} already")
    # Given up in this session: not asked for again.
    given_up: set[str] = set()
    in_a_row = 0
    while due := [each for one in wanted for each in _due(one, there, given_up)]:
        # Always the same order: only that it is none of the study's matters.
        random.Random(len(due)).shuffle(due)  # noqa: S311
        for alone in (True, False):
            part = [each for each in due if each.alone is alone]
            at_a_time = 1 if alone else max(1, min(jobs, len(part)))
            store.beside = at_a_time - 1
            # On threads even one at a time: whoever ends it lets what is measured take down its hosts in order.
            with closing(attempt(part, store, Threads(at_a_time))) as done:
                for number, (each, run, _) in enumerate(done, start=1):
                    if isinstance(run, Failed):
                        raise TightlinkError(run.error)
                    in_a_row = in_a_row + 1 if run is None else 0
                    told = "given up, the machine is too busy:" if run is None else "measured"
                    progress(f"{number} of {len(part)}: {told} {each.name}")
                    if run is None:
                        given_up.add(each.name)
                    else:
                        there[each.name] = run
                    if in_a_row == _MOST_IN_A_ROW:
                        progress(
                            f"{in_a_row} given up in a row: no more is measured; the same command, or call, tries again"
                        )
                        return _ordered(wanted, there)
    return _ordered(wanted, there)


def _ordered(wanted: Sequence[Measurement], there: Mapping[str, Run]) -> dict[str, Run]:
    return {name: there[name] for each in wanted for name in _names(each) if name in there}


def _names(wanted: Measurement) -> list[str]:
    """What its runs may be called."""
    repeated = wanted.repetition
    return [wanted.name] if repeated is None else [f"{wanted.name}/{number}" for number in range(repeated.most)]


def _due(wanted: Measurement, there: Mapping[str, Run], given_up: set[str]) -> list[Measurement]:
    """What is to be measured of it in the next round: what it takes at least, then one at a time."""
    names = _names(wanted)
    left = [replace(wanted, name=name, repetition=None) for name in names if name not in there and name not in given_up]
    if wanted.repetition is None:
        return left
    runs = [there[name] for name in names if name in there]
    missing = max(wanted.repetition.fewest - len(runs), 0 if wanted.repetition.enough(runs) else 1)
    return left[:missing]


@dataclass
class _RunFolders:
    """The measurements in a folder, a folder of a run each."""

    folder: Path
    beside: int = 0
    """How many others are made meanwhile."""

    def found(self, name: str, scenario: Scenario) -> Run | None:
        """The run of a name, if it is there.

        Raises:
            TightlinkError: What is there is of another scenario.
        """
        if not (self.folder / name).exists():
            return None
        run = open_run(self.folder / name)
        if run.manifest.get("scenario") != scenario.explicit().written():
            raise TightlinkError(
                f"{self.folder / name}: the measurement there is of another scenario; choose another folder"
            )
        return run

    def look(self, wanted: Measurement) -> _MeasuringScenario:
        """What makes a measurement that is not there."""
        return _MeasuringScenario(wanted.name, wanted, self.beside)

    def keep(self, wanted: Measurement, _: _MeasuringScenario, run: Run | None) -> Run | None:
        """Save it, without its packets unless somebody needs them; nothing of one that the machine was too busy for."""
        if run is None:
            return None
        if not wanted.trace:
            tables = {name: run.table(name) for name in run.tables if name != _PACKETS}
            run = Run(run.scenario, run.manifest, Framed(tables))
        return open_run(run.save(self.folder / wanted.name))


@dataclass(frozen=True)
class _MeasuringScenario(Work):
    wanted: Measurement
    beside: int

    def perform(self, check: Callable[[], None]) -> Run | None:
        """Measure until the machine was idle enough, a few times; nothing where it never was."""
        from tightlink.measure.relay import InvalidMeasurementError

        failed: TightlinkError | None = None
        for _ in range(_TRIES):
            check()
            try:
                run = self._once(check)
            except InvalidMeasurementError:
                continue
            except TightlinkError as error:
                # A program may fail once; what the machine lacks it lacks again.
                failed = error
                continue
            pace_s = self.wanted.pace_s
            if pace_s is None or float(run.manifest["sender"].get("late_p99_s", 0.0)) <= pace_s:
                return run
        if failed is not None:
            raise failed
        return None

    def _once(self, check: Callable[[], None]) -> Run:
        wanted = self.wanted
        if wanted.over == "kernel":
            from tightlink.measure.forwarding import forward

            return forward(wanted.scenario, watch=lambda _: check())
        from tightlink.measure.measuring import measure

        return measure(
            wanted.scenario,
            sender=wanted.sender,
            echo_s=wanted.echo_s,
            burn=wanted.burn,
            beside=self.beside,
            watch=lambda _: check(),
        )


def machine(runs: Sequence[Run]) -> str:
    """On what runs over links in real time were measured, and how busy it was, in a sentence or two for a report.

    Nothing where nothing was measured.
    """
    if not runs:
        return ""
    late = max(float(run.manifest["relay"]["lateness"]["share_late"]) for run in runs)
    return (
        f"{_where(runs)}, between network namespaces, over links in real time. These forwarded at most "
        f"{percent(late, 2)} of the packets late; a measurement with more than {percent(0.01)} is not counted."
        f"{_busy(runs)}"
    )


def kernel(runs: Sequence[Run]) -> str:
    """The same of runs over the kernel's own forwarding."""
    from tightlink.measure.relay import WAITS

    if not runs:
        return ""
    own = [run.manifest["forwarding"] for run in runs]
    waited = max(float(each["waited_s"]) / float(each["passed_s"]) for each in own)
    steal = [run.manifest["host"]["cpu_steal"] or 0.0 for run in runs]
    placed = "" if all(each["pinned"] for each in own) else " It was not allowed to keep the thread on its processor."
    return (
        f"{_where(runs)}. The router's thread waited for its processor for at most {percent(waited, 2)} of the time; a "
        f"measurement with more than {percent(WAITS)} is not counted. Other machines had {percent(max(steal), 1)} of "
        f"the processors' time at most.{placed}"
    )


def _where(runs: Sequence[Run]) -> str:
    hosts = [run.manifest["host"] for run in runs]
    kernels = " and ".join(sorted({str(host["kernel"]) for host in hosts}))
    processors = " or ".join(sorted({str(host["cpus"]) for host in hosts}))
    return f"{len(runs)} measurements on {kernels} with {processors} processors"


def _busy(runs: Sequence[Run]) -> str:
    busy = [run.manifest["host"]["cpu_busy"] for run in runs if run.manifest["host"]["cpu_busy"] is not None]
    return f" Its processors were busy for {percent(statistics.median(busy))} of the time." if busy else ""
