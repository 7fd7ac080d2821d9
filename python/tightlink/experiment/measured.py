"""Grids of measurements: cells in shuffled order, repeated until medians have converged, resumed where they ended.

A measurement is stored whole or not at all, in its own file under the hash of what was asked for. The tables are
those of a sweep, so that whatever reads a sweep's folder reads these.

Example:
    >>> import tempfile
    >>> grid = Grid({"host": "10.0.0.2"}, {"flows": [1, 4]})
    >>> def measure(values):
    ...     return Measured({"goodput_bps": 1e6 * values["flows"]}, [])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = run(grid, folder, measure, repeats=Repeats(least=2))
    ...     found.medians("goodput_bps"), found.measured
    ({(1,): 1000000.0, (4,): 4000000.0}, 4)
    >>> [cell for cell, _ in grid.round(0, seed=1)] != [cell for cell, _ in grid.round(1, seed=1)] or "by chance"
    'by chance'
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from tightlink.checksums import DamagedError, read_json, write_json
from tightlink.errors import TightlinkError
from tightlink.experiment.campaign import Failed, Work, attempt
from tightlink.experiment.engines import InProcess
from tightlink.experiment.folder import MARKER
from tightlink.experiment.precision import median_has_converged
from tightlink.experiment.results import Row, write_experiment
from tightlink.experiment.size import MOST_RUNS, check_runs, counted
from tightlink.experiment.stored import FORMAT
from tightlink.experiment.workplace import Workplace, occupied
from tightlink.lazy import pl
from tightlink.progress import Progress
from tightlink.tables import schema

Values: TypeAlias = Mapping[str, Any]
Cell: TypeAlias = tuple[Any, ...]
#: A cell, and its number among those of the cell.
Replication: TypeAlias = tuple[Cell, int]

#: Failures one after the other, after which something is wrong with more than a cell.
_MOST_FAILURES: Final = 3
#: Two agree by chance.
_FEWEST: Final = 3
_CELLS: Final = "measurements"
_CLAIM: Final[dict[str, Any]] = {"format": FORMAT, "source": "measurement"}


@dataclass(frozen=True)
class GridProgress(Progress):
    """How far a grid is (`tightlink.progress`): how many rounds it takes until medians have converged is not known."""

    round: int
    """From 1 on."""
    place: int
    """Of the measurement that comes, in its round, from 1 on."""
    cells: int
    """Of the round."""
    values: Values
    """Of the measurement that comes."""

    def __str__(self) -> str:
        told = ", ".join(f"{name} {value}" for name, value in self.values.items())
        return f"round {self.round}, {self.place} of {self.cells}: {told}"


@dataclass(frozen=True)
class Measured:
    """What one measurement found."""

    metrics: dict[str, float]
    flows: list[dict[str, Any]]
    """Rows of the table ``flows``, as far as they are known."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What else is worth keeping, such as the version of the tool."""


@dataclass(frozen=True)
class Grid:
    """What is measured: everything that all cells share, and the levels of what is varied."""

    settings: dict[str, Any]
    factors: dict[str, list[Any]]

    @property
    def cells(self) -> list[Cell]:
        """All combinations of levels, in order."""
        return list(itertools.product(*self.factors.values()))

    def values(self, cell: Cell) -> dict[str, Any]:
        """A combination, by the names of its factors."""
        return dict(zip(self.factors, cell, strict=True))

    def identity(self, cell: Cell, replication: int) -> str:
        """The hash of what a measurement depends on."""
        text = json.dumps([self.settings, self.values(cell), replication], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def round(self, replication: int, *, seed: int) -> list[Replication]:
        """All cells once, in an order that what changes with time does not follow."""
        cells = self.cells
        random.Random(f"{seed}/{replication}").shuffle(cells)  # noqa: S311  # not for secrets
        return [(cell, replication) for cell in cells]


@dataclass(frozen=True)
class Repeats:
    """How often each cell is measured, and in which order."""

    least: int = 3
    most: int = 10
    """Where medians are to converge."""
    precision: tuple[str, float] | None = None
    """A metric, and the share of its median that half the median's 95 % interval may be."""
    seed: int = 1
    """Of the order."""

    @property
    def rounds(self) -> int:
        """The most that there can be."""
        return self.least if self.precision is None else max(self.least, self.most)

    def enough(self, finished: Finished, cell: Cell) -> bool:
        """Whether the median of a cell has converged; where it need not be, always."""
        if self.precision is None:
            return True
        metric, part = self.precision
        values = finished.of(cell, metric)
        return len(values) >= _FEWEST and median_has_converged(values, part)


@dataclass
class Finished:
    """What was measured so far."""

    grid: Grid
    done: dict[Replication, dict[str, Any]] = field(default_factory=dict)
    failures: dict[Replication, str] = field(default_factory=dict)
    measured: int = 0
    """Measurements that were made now, rather than found."""
    not_converged: list[Cell] = field(default_factory=list)
    """Cells whose medians are not as narrow as was asked for."""
    damaged: list[DamagedError] = field(default_factory=list)
    """Files that were found to be damaged, which were measured again."""

    def of(self, cell: Cell, metric: str) -> list[float]:
        """A metric of all replications of a cell."""
        return [entry["metrics"][metric] for (each, _), entry in self.done.items() if each == cell]

    def medians(self, metric: str) -> dict[Cell, float]:
        """The median of a metric for each cell that was measured."""
        found = {cell: self.of(cell, metric) for cell in self.grid.cells}
        return {cell: statistics.median(values) for cell, values in found.items() if values}


def run(
    grid: Grid,
    folder: str | os.PathLike[str],
    measure: Callable[[Values], Measured],
    *,
    repeats: Repeats | None = None,
    watch: Callable[[GridProgress], None] | None = None,
) -> Finished:
    """Measure all cells by a function of their values, or those that a folder lacks, and write its tables.

    The folder is a new one, or one of such a grid, of which the measurements are taken. Without ``repeats`` each cell
    is measured three times; ``watch`` is told before each measurement how far it is, and what comes.

    Raises:
        TightlinkError: The folder holds something else, or nothing can be measured any more; what is finished is kept.
    """
    repeats = repeats or Repeats()
    size = math.prod(map(len, grid.factors.values()))
    check_runs(size * repeats.rounds, MOST_RUNS, f"{counted(size)} cells of {counted(repeats.rounds)} measurements")
    finished = Finished(grid)
    with occupied(folder, MARKER, "grid of measurements") as place:
        store = _MeasurementFiles(place, finished, measure, watch)
        place.claim(_CLAIM, "source", lambda _: "a sweep of simulations", store.recognised)
        try:
            for replication in range(repeats.rounds):
                due = grid.round(replication, seed=repeats.seed)
                if replication >= repeats.least:
                    due = [(cell, number) for cell, number in due if not repeats.enough(finished, cell)]
                _round(due, store, finished)
        finally:
            if finished.done:
                finished.not_converged = [cell for cell in grid.cells if not repeats.enough(finished, cell)]
                place.check()
                _write(finished, place, repeats)
    return finished


def _round(due: Sequence[Replication], store: _MeasurementFiles, finished: Finished) -> None:
    in_a_row = 0
    store.due = due
    for each, entry, made in attempt(due, store, InProcess()):
        if isinstance(entry, Failed):
            finished.failures[each] = entry.error
            in_a_row += 1
            if in_a_row >= _MOST_FAILURES or not finished.done:
                raise TightlinkError(entry.error)
            continue
        finished.done[each] = entry
        finished.measured += made
        in_a_row = 0 if made else in_a_row


@dataclass(frozen=True)
class _MeasuringCell(Work):
    values: Values
    measure: Callable[[Values], Measured]

    def perform(self, _: Callable[[], None]) -> dict[str, Any]:
        began, load = time.time(), _load()
        found = self.measure(self.values)
        return {
            "format": FORMAT,
            "values": dict(self.values),
            **asdict(found),
            "began_unix_s": began,
            "took_s": time.time() - began,
            "host": {"kernel": platform.release(), "load_before": load, "load_after": _load()},
        }


def _load() -> float | None:
    """The machine's load of the last minute, where the system counts it."""
    load = None
    if sys.platform != "win32":
        load = os.getloadavg()[0]
    return load


@dataclass
class _MeasurementFiles:
    """The measurements in a folder, a file each."""

    place: Workplace
    finished: Finished
    measure: Callable[[Values], Measured]
    watch: Callable[[GridProgress], None] | None
    due: Sequence[Replication] = ()
    """Those of the round."""

    def look(self, each: Replication) -> dict[str, Any] | _MeasuringCell:
        try:
            return read_json(self._file(each))
        except FileNotFoundError:
            pass
        except DamagedError as error:
            self.finished.damaged.append(error)
        cell, replication = each
        values = self.finished.grid.values(cell)
        if self.watch is not None:
            self.watch(GridProgress(replication + 1, self.due.index(each) + 1, len(self.due), values))
        return _MeasuringCell(each, values, self.measure)

    def keep(self, each: Replication, _: _MeasuringCell, entry: dict[str, Any]) -> dict[str, Any]:
        self.place.check()
        write_json(self._file(each), entry | {"replication": each[1]})
        return entry

    def recognised(self, error: DamagedError) -> bool:
        # Measurements are of such a grid alone.
        found = any((self.place.folder / _CELLS).glob("*.json"))
        if found:
            self.finished.damaged.append(error)
        return found

    def _file(self, each: Replication) -> Path:
        return self.place.folder / _CELLS / f"{self.finished.grid.identity(*each)[:20]}.json"


def _write(finished: Finished, place: Workplace, repeats: Repeats) -> None:
    """The tables of what is there, cell by cell."""
    grid = finished.grid
    cells = {cell: number for number, cell in enumerate(grid.cells)}
    rows, flows = [], []
    for (cell, replication), entry in sorted(finished.done.items(), key=lambda made: (cells[made[0][0]], made[0][1])):
        name, identity = f"{cells[cell]}/{replication}", grid.identity(cell, replication)
        rows.append(Row(name, replication, repeats.seed, grid.values(cell), entry["metrics"], identity))
        flows += [{"run": name, **flow} for flow in entry["flows"]]
    tables = {"flows": pl.DataFrame(flows, schema={"run": pl.String} | schema("flows"))} if flows else {}
    failures = [
        {"run": f"{cells[cell]}/{replication}", "seed": repeats.seed, "error": error, "scenario": ""}
        for (cell, replication), error in finished.failures.items()
    ]
    described = _CLAIM | {
        "settings": grid.settings,
        "design": "full",
        "factors": [[factor] for factor in grid.factors],
        "notes": [],
        "aliases": [],
        "precision": None
        if repeats.precision is None
        else f"{repeats.precision[0]} ± {100 * repeats.precision[1]:g} %",
        "not_precise": [str(cells[cell]) for cell in finished.not_converged],
    }
    write_experiment(place, rows, tables, failures, described)
