"""Running an experiment into a folder: runs, tables, what failed; resumed where it was interrupted."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
import weakref
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tightlink.checksums import with_checksum, write_table
from tightlink.errors import ScenarioError, TightlinkError, closest, one_of
from tightlink.experiment import designs
from tightlink.experiment.engines import engine
from tightlink.experiment.execute import Task, attempt
from tightlink.experiment.factors import value_at
from tightlink.experiment.folder import COMPACT, FAILURES, MARKER, RUNS, Experiment, named
from tightlink.experiment.metrics import OVER_TIME, metrics_of, of_each_flow, summed
from tightlink.experiment.results import column, write_results
from tightlink.experiment.size import check_runs, counted
from tightlink.experiment.store import Store
from tightlink.experiment.stored import FORMAT, marker_of, table_of, tables_of
from tightlink.experiment.work import Failed
from tightlink.experiment.workplace import occupied
from tightlink.files import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from tightlink.experiment.cells import Cell
    from tightlink.experiment.engines import Engine
    from tightlink.experiment.plan import Plan
    from tightlink.experiment.progress import ExperimentProgress
    from tightlink.experiment.workplace import Workplace

#: Tables with a few rows for each run.
_SMALL: Final = ("flows", "links", "nodes")


def run(
    plan: Plan,
    output: str | os.PathLike[str] | None = None,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
    command: str = "",
) -> Experiment:
    """Run an experiment, or finish one that was interrupted: runs that are in its folder are not run again.

    Args:
        plan: What to run.
        output: Folder for the results; without it, one that goes when the experiment that is returned goes.
        jobs: Runs to simulate at a time.
        cluster: Address of a Dask scheduler to simulate them instead.
        watch: Told after every run how far it is.
        command: What makes it again, for its report.

    Raises:
        TightlinkError: The folder holds something else, or another process works in it.
    """
    _ = plan.cells  # Made and checked before anything is written.
    folder = Path(tempfile.mkdtemp(prefix="tightlink-") if output is None else output)
    with occupied(folder, MARKER, "sweep") as place:
        store = Store(folder / "runs", place)
        _claim(place, store, plan)
        with closing(engine(jobs, cluster)) as on:
            sweep = _Sweep(plan, store, on, watch, command)
            sweep.run()
        place.check()
        sweep.write(place)
    experiment = Experiment(folder, store)
    if output is None:
        weakref.finalize(experiment, shutil.rmtree, folder, ignore_errors=True)
    return experiment


def of_scenario(plan: Plan) -> str:
    """A hash of the scenario that a plan varies, with its defaults."""
    text = json.dumps(plan.scenario.explicit().written(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class _Sweep:
    def __init__(
        self,
        plan: Plan,
        store: Store,
        on: Engine,
        watch: Callable[[ExperimentProgress], None] | None,
        command: str,
    ) -> None:
        self._plan, self._store, self._on, self._watch, self._command = plan, store, on, watch, command
        self._identities: dict[str, str | Failed] = {}
        self._tasks: dict[str, tuple[Cell, int, Task]] = {}
        #: By identity.
        self._metrics: dict[str, dict[str, float]] = {}
        self._tables: dict[str, list[pl.DataFrame]] = {}
        self._series = False
        self._over_time: set[str] = set()
        self._unsettled: list[str] = []
        #: Of runs: the hashes of their tables.
        self._digests: dict[str, str] = {}

    def run(self) -> None:
        plan = self._plan
        upcoming = [(cell, 0, plan.replications) for cell in plan.cells]
        while upcoming:
            self._execute([
                (cell, number, task)
                for cell, first, last in upcoming
                for number, task in enumerate(plan.tasks_of(cell, first, last), start=first)
            ])  # fmt: skip
            upcoming = self._further() if plan.precision is not None else []

    def _execute(self, runs: Sequence[tuple[Cell, int, Task]]) -> None:
        self._tasks |= {task.name: (cell, number, task) for cell, number, task in runs}
        tasks = [task for _, _, task in runs]
        with closing(attempt(tasks, self._store, self._on, self._watch)) as finished:
            for name, run in finished:
                if isinstance(run, Failed):
                    self._identities[name] = run
                else:
                    self._identities[name] = run.manifest["identity"]
                    self._digests[name] = run.manifest["digest"]
                    self._series = self._series or "series" in run.tables
                    self._over_time |= set(run.tables) & set(OVER_TIME)
        self._measure()

    def _measure(self) -> None:
        """The metrics and the small tables of all runs that are new, read in one go."""
        names = {identity: name for name, identity in self._identities.items() if isinstance(identity, str)}
        new = [identity for identity in names if identity not in self._metrics]
        if not new:
            return
        files = [self._store.file(identity) for identity in new]
        tables = tables_of(files, _SMALL)
        for table, frame in tables.items():
            self._tables.setdefault(table, []).append(frame)
        totals = {name: summed(table_of(files, name), name, ["identity"]) for name in sorted(self._over_time)}
        flows, links = (_by_run(tables[table]) for table in ("flows", "links"))
        none = tables["flows"].head(0).drop("identity")
        for identity in new:
            over_time = {name: runs[identity,] for name, runs in totals.items() if (identity,) in runs}
            own = None if over_time else flows.get((identity,), none)
            each = of_each_flow(self._tasks[names[identity]][2].scenario)
            self._metrics[identity] = metrics_of(own, links[identity,], over_time, each=each)

    def _metrics_of(self, name: str) -> dict[str, float]:
        """What came out of a run; nothing of one that failed."""
        identity = self._identities[name]
        return {} if isinstance(identity, Failed) else self._metrics[identity]

    def _further(self) -> list[tuple[Cell, int, int]]:
        """The replications that cells need which are not known well enough."""
        precision = self._plan.precision
        if precision is None:
            return []
        values: dict[int, list[float]] = {}
        there: dict[int, int] = {}
        for name, (cell, _, _) in self._tasks.items():
            there[cell.number] = there.get(cell.number, 0) + 1
            if found := self._metrics_of(name):
                values.setdefault(cell.number, []).append(_metric(found, precision.metric))
        upcoming, self._unsettled = [], []
        expected = 0
        for cell in self._plan.cells:
            known = values.get(cell.number, [])
            count = there[cell.number]
            if precision.enough(known):
                expected += count
                continue
            expected += max(count, precision.needed(known) if known else 0)
            more = min(precision.further(known) if known else 0, precision.most - count)
            if more > 0:
                upcoming.append((cell, count, count + more))
            else:
                self._unsettled.append(str(cell.number))
        if upcoming:
            made_of = f"as many as {precision} takes by the {counted(len(self._tasks))} there are, which are kept"
            check_runs(expected, self._plan.settings.max_runs, made_of)
        return upcoming

    def write(self, place: Workplace) -> None:
        """The table of the runs, the tables of all runs, what failed, and the design."""
        plan, folder = self._plan, place.folder
        order = sorted(self._tasks, key=lambda name: (self._tasks[name][0].number, self._tasks[name][1]))
        columns: dict[str, list[Any]] = {"run": order, "replication": [], "seed": [], "status": []}
        for name in order:
            _, number, task = self._tasks[name]
            columns["replication"].append(number)
            columns["seed"].append(task.scenario.seed)
            columns["status"].append("done" if isinstance(self._identities[name], str) else "failed")
        for key, own in self._own().items():
            columns[key] = column([self._tasks[name][0].values.get(key, own) for name in order])
        # Traffic groups may differ from cell to cell.
        for name in dict.fromkeys(name for values in self._metrics.values() for name in values):
            columns[name] = [self._metrics_of(run).get(name, math.nan) for run in order]
        identities = [self._identities[name] for name in order]
        columns["identity"] = ["" if isinstance(identity, Failed) else identity for identity in identities]
        # Tables of two experiments are never taken for one: without this file a folder holds no finished one.
        (folder / RUNS).unlink(missing_ok=True)
        self._write_failures(folder, order)
        write_text(folder / "design.csv", designs.write(plan.design, plan.scenario))
        self._compact(folder, columns)
        place.mark(self._described())
        write_results(folder / RUNS, columns)

    def _own(self) -> dict[str, Any]:
        keys = (key for factor in self._plan.design.factors for key in factor.keys if key != "seed")
        return {key: value_at(self._plan.scenario, key) for key in keys}

    def _write_failures(self, folder: Path, order: Sequence[str]) -> None:
        listed = [
            with_checksum(
                {
                    "run": name,
                    "seed": self._tasks[name][2].scenario.seed,
                    "error": failure.error,
                    "scenario": self._tasks[name][2].scenario.to_toml(),
                }
            )
            for name in order
            if isinstance(failure := self._identities[name], Failed)
        ]
        if listed:
            write_text(folder / FAILURES, json.dumps(listed, indent=2, ensure_ascii=False) + "\n")
        else:
            (folder / FAILURES).unlink(missing_ok=True)

    def _compact(self, folder: Path, columns: Mapping[str, Sequence[Any]]) -> None:
        """All runs' tables below each other, as thousands of small files are slow to search."""
        import polars as pl

        runs = pl.LazyFrame({name: columns[name] for name in ("run", "status", "identity")})
        runs = runs.filter(pl.col("status") == "done")
        frames = {name: named(runs, pl.concat(parts).lazy()) for name, parts in self._tables.items()}
        if self._series:
            files = [self._store.file(identity) for identity in sorted(self._metrics)]
            frames["series"] = named(runs, table_of(files, "series"))
        for name in (*_SMALL, "series"):
            file = folder / COMPACT / f"{name}.parquet"
            if name in frames:
                write_table(file, frames[name])
            else:
                file.unlink(missing_ok=True)

    def _described(self) -> dict[str, Any]:
        plan = self._plan
        return _marker(plan) | {
            "command": self._command,
            "design": plan.design.kind,
            "factors": [list(factor.keys) for factor in plan.design.factors],
            "notes": list(plan.design.notes),
            "aliases": [list(group) for group in plan.design.aliases],
            "precision": None if plan.precision is None else str(plan.precision),
            "not_precise": self._unsettled,
            "copies": self._copies(),
        }

    def _copies(self) -> list[str]:
        """The cells whose replications are copies of one run: nothing is random, or nothing random matters."""
        digests: dict[int, list[str]] = {}
        for name, digest in self._digests.items():
            digests.setdefault(self._tasks[name][0].number, []).append(digest)
        return [str(cell) for cell, found in sorted(digests.items()) if len(found) > 1 and len(set(found)) == 1]


def _marker(plan: Plan) -> dict[str, Any]:
    return {"format": FORMAT, "identity": of_scenario(plan), "scenario": plan.scenario.to_toml()}


def _metric(values: Mapping[str, float], name: str) -> float:
    if name not in values:
        raise ScenarioError(one_of(values), key="precision", value=name, suggestion=closest(name, values))
    return values[name]


def _claim(place: Workplace, store: Store, plan: Plan) -> None:
    """Make the folder this experiment's, unless it holds that of another scenario."""
    held = place.marked(partial(marker_of, needed=False), store.recognised) or _marker(plan)
    if held.get("identity") != of_scenario(plan):
        raise TightlinkError(f"{place.folder}: holds the sweep of another scenario; choose another folder")
    place.mark(held)


def _by_run(table: pl.DataFrame) -> dict[tuple[Any, ...], pl.DataFrame]:
    return table.partition_by("identity", as_dict=True, include_key=False)
