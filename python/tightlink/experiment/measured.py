"""Grids of measurements: cells in shuffled order, repeated until their medians are firm, resumed where they ended.

A measurement is stored whole or not at all, in a file of its own under the hash of what was asked for. The tables are
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
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tightlink.checksums import DamagedError, read_json, with_checksum, write_json, write_table
from tightlink.errors import TightlinkError
from tightlink.experiment.folder import COMPACT, FAILURES, MARKER, RUNS
from tightlink.experiment.precision import median_is_firm
from tightlink.experiment.results import column, write_results
from tightlink.experiment.size import MOST_RUNS, check_runs, counted
from tightlink.experiment.stored import FORMAT, marker_of
from tightlink.experiment.workplace import occupied
from tightlink.files import write_text
from tightlink.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tightlink.experiment.workplace import Workplace

    Values = Mapping[str, Any]

#: Failures one after the other, after which something is wrong with more than a cell.
_MOST_FAILURES: Final = 3
#: Two agree by chance.
_FEWEST: Final = 3
_KEY_DIGITS: Final = 20
_CELLS: Final = "measurements"
_MEASUREMENT: Final = "measurement"


@dataclass(frozen=True)
class GridProgress:
    """How far a grid is (`tightlink.progress`)."""

    round: int
    """From 1 on."""
    place: int
    """Of the measurement that comes, in its round, from 1 on."""
    cells: int
    """Of the round."""
    values: Values
    """Of the measurement that comes."""

    @property
    def share(self) -> None:
        """Nothing: how many rounds it takes until medians are firm is not known."""
        return

    @property
    def timed_share(self) -> None:
        """Nothing, likewise."""
        return

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
    def cells(self) -> list[tuple[Any, ...]]:
        """All combinations of levels, in order."""
        return list(itertools.product(*self.factors.values()))

    def values(self, cell: tuple[Any, ...]) -> dict[str, Any]:
        """A combination, by the names of its factors."""
        return dict(zip(self.factors, cell, strict=True))

    def identity(self, cell: tuple[Any, ...], replication: int) -> str:
        """The hash of what a measurement depends on."""
        text = json.dumps([self.settings, self.values(cell), replication], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def round(self, replication: int, *, seed: int) -> Iterator[tuple[tuple[Any, ...], int]]:
        """All cells once, in an order that what changes with time does not follow."""
        cells = self.cells
        random.Random(f"{seed}/{replication}").shuffle(cells)  # noqa: S311  # not for secrets
        return ((cell, replication) for cell in cells)


@dataclass(frozen=True)
class Repeats:
    """How often each cell is measured, and in which order."""

    least: int = 3
    most: int = 10
    """Where medians are to be firm."""
    firm: tuple[str, float] | None = None
    """A metric, and the share of its median that half the median's 95 % interval may be."""
    seed: int = 1
    """Of the order."""

    @property
    def rounds(self) -> int:
        """The most that there can be."""
        return self.least if self.firm is None else max(self.least, self.most)

    def enough(self, finished: Finished, cell: tuple[Any, ...]) -> bool:
        """Whether the median of a cell is firm; where it need not be, always."""
        if self.firm is None:
            return True
        metric, part = self.firm
        values = finished.of(cell, metric)
        return len(values) >= _FEWEST and median_is_firm(values, part)


@dataclass
class Finished:
    """What was measured so far."""

    grid: Grid
    done: dict[tuple[tuple[Any, ...], int], dict[str, Any]] = field(default_factory=dict)
    failures: dict[tuple[tuple[Any, ...], int], str] = field(default_factory=dict)
    measured: int = 0
    """Measurements that were made now, rather than found."""
    not_firm: list[tuple[Any, ...]] = field(default_factory=list)
    """Cells whose medians are not as narrow as was asked for."""
    damaged: list[DamagedError] = field(default_factory=list)
    """Files that were found to be damaged, which were measured again."""

    def of(self, cell: tuple[Any, ...], metric: str) -> list[float]:
        """A metric of all replications of a cell."""
        return [entry["metrics"][metric] for (each, _), entry in self.done.items() if each == cell]

    def medians(self, metric: str) -> dict[tuple[Any, ...], float]:
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
    """Measure all cells, or those that a folder lacks, and write its tables.

    Args:
        grid: What to measure.
        folder: Of the results; a new one, or one of such a grid, of which the measurements are taken.
        measure: Measures one cell, whose values it is given.
        repeats: How often each cell is measured; without it three times.
        watch: Told before each measurement how far it is, and what comes.

    Raises:
        TightlinkError: The folder holds something else, or nothing can be measured any more; what is finished is kept.
    """
    repeats = repeats or Repeats()
    size = math.prod(map(len, grid.factors.values()))
    check_runs(size * repeats.rounds, MOST_RUNS, f"{counted(size)} cells of {counted(repeats.rounds)} measurements")
    finished = Finished(grid)
    with occupied(folder, MARKER, "grid of measurements") as place:
        _claim(place, finished)
        try:
            for replication in range(repeats.rounds):
                cells = list(grid.round(replication, seed=repeats.seed))
                if replication >= repeats.least:
                    cells = [(cell, number) for cell, number in cells if not repeats.enough(finished, cell)]
                _round(finished, place, cells, measure, watch)
        finally:
            if finished.done:
                finished.not_firm = [cell for cell in grid.cells if not repeats.enough(finished, cell)]
                place.check()
                _write(finished, place, repeats)
    return finished


def _round(
    finished: Finished,
    place: Workplace,
    cells: Sequence[tuple[tuple[Any, ...], int]],
    measure: Callable[[Values], Measured],
    watch: Callable[[GridProgress], None] | None,
) -> None:
    grid = finished.grid
    failed = 0
    for number, (cell, replication) in enumerate(cells, start=1):
        file = place.folder / _CELLS / f"{grid.identity(cell, replication)[:_KEY_DIGITS]}.json"
        try:
            entry = read_json(file) if file.exists() else None
        except DamagedError as error:
            finished.damaged.append(error)
            entry = None
        if entry is None:
            values = grid.values(cell)
            if watch is not None:
                watch(GridProgress(replication + 1, number, len(cells), values))
            try:
                entry = _measure(values, measure)
            except TightlinkError as error:
                finished.failures[cell, replication] = str(error)
                failed += 1
                if failed >= _MOST_FAILURES or not finished.done:
                    raise
                continue
            place.check()
            write_json(file, entry | {"replication": replication})
            finished.measured += 1
            failed = 0
        finished.done[cell, replication] = entry


def _measure(values: Values, measure: Callable[[Values], Measured]) -> dict[str, Any]:
    began, load = time.time(), _load()
    found = measure(values)
    return {
        "format": FORMAT,
        "values": dict(values),
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


def _claim(place: Workplace, finished: Finished) -> None:
    """Make the folder that of a grid of measurements, unless it holds a sweep."""

    def recognised(error: DamagedError) -> bool:
        # Measurements are of such a grid alone.
        found = any((place.folder / _CELLS).glob("*.json"))
        if found:
            finished.damaged.append(error)
        return found

    held = place.marked(partial(marker_of, needed=False), recognised) or {"format": FORMAT, "source": _MEASUREMENT}
    if held.get("source") != _MEASUREMENT:
        raise TightlinkError(f"{place.folder}: holds a sweep of simulations; choose another folder")
    place.mark(held)


def _write(finished: Finished, place: Workplace, repeats: Repeats) -> None:
    """The tables of what is there, cell by cell."""
    import polars as pl

    grid, folder = finished.grid, place.folder
    cells = {cell: number for number, cell in enumerate(grid.cells)}
    order = sorted(finished.done, key=lambda key: (cells[key[0]], key[1]))
    names = [f"{cells[cell]}/{replication}" for cell, replication in order]
    columns: dict[str, list[Any]] = {
        "run": names,
        "replication": [replication for _, replication in order],
        "seed": [repeats.seed] * len(order),
        "status": ["done"] * len(order),
    }
    for number, factor in enumerate(grid.factors):
        columns[factor] = column([cell[number] for cell, _ in order])
    for metric in finished.done[order[0]]["metrics"]:
        columns[metric] = [float(finished.done[key]["metrics"].get(metric, math.nan)) for key in order]
    columns["identity"] = [grid.identity(*key) for key in order]
    write_results(folder / RUNS, columns)
    types = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64}
    schema = {"run": pl.String} | {each.name: types[each.type] for each in TABLES["flows"]}
    rows = [{"run": name, **row} for name, key in zip(names, order, strict=True) for row in finished.done[key]["flows"]]
    if rows:
        write_table(folder / COMPACT / "flows.parquet", pl.DataFrame(rows, schema=schema))
    _write_failures(finished, folder, cells, repeats.seed)
    described = {
        "format": FORMAT,
        "source": _MEASUREMENT,
        "settings": grid.settings,
        "design": "full",
        "factors": [[factor] for factor in grid.factors],
        "notes": [],
        "aliases": [],
        "precision": None if repeats.firm is None else f"{repeats.firm[0]} ± {100 * repeats.firm[1]:g} %",
        "not_precise": [str(cells[cell]) for cell in finished.not_firm],
    }
    place.mark(described)


def _write_failures(finished: Finished, folder: Path, cells: Mapping[tuple[Any, ...], int], seed: int) -> None:
    listed = [
        with_checksum({"run": f"{cells[cell]}/{replication}", "seed": seed, "error": error, "scenario": ""})
        for (cell, replication), error in finished.failures.items()
    ]
    if listed:
        write_text(folder / FAILURES, json.dumps(listed, indent=2, ensure_ascii=False) + "\n")
    else:
        (folder / FAILURES).unlink(missing_ok=True)
