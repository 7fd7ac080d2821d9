"""Running an experiment into a folder: runs, tables, what failed; resumed where it was interrupted."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Any, Final

from tightlink.errors import Argument, ScenarioError, TightlinkError, closest, one_of
from tightlink.experiment import designs
from tightlink.experiment.campaign import Failed
from tightlink.experiment.cells import Cell
from tightlink.experiment.engines import Engine, engine
from tightlink.experiment.execute import Task, execute_each
from tightlink.experiment.factors import value_at
from tightlink.experiment.folder import MARKER, Experiment, named
from tightlink.experiment.metrics import OVER_TIME, metrics, summed
from tightlink.experiment.plan import Plan
from tightlink.experiment.possible import possible
from tightlink.experiment.progress import ExperimentProgress
from tightlink.experiment.results import SMALL, Row, failure, write_experiment
from tightlink.experiment.size import check_runs, counted
from tightlink.experiment.store import Store
from tightlink.experiment.stored import FORMAT, table_of, tables_of
from tightlink.experiment.workplace import Workplace, occupied, place_of
from tightlink.lazy import np, pl
from tightlink.run import Framed, Run
from tightlink.scenario import Scenario, loads_stored

#: Sums of a million numbers in another order differ by less, as a share.
_ROUNDED: Final = 1e-9
#: Runs of which tables are read together: one by one takes longer, and all of many thousands more memory than they.
_READ_AT_ONCE: Final = 500


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

    Raises:
        TightlinkError: The folder holds something else, or another process works in it.
    """
    _ = plan.cells  # Made and checked before anything is written.
    if plan.precision is not None:
        _check_metric(plan.precision.metric, possible(cell.scenario for cell in plan.cells))
    folder = place_of(output)
    with occupied(folder, MARKER, "sweep") as place:
        store = Store(folder / "runs", place)
        own = _marker(plan)
        place.claim(
            own, "identity", lambda _: "the sweep of another scenario", store.recognised, partial(_is_same, own)
        )
        sweep = _Sweep(plan, store)
        with closing(engine(jobs, cluster)) as on:
            sweep.run(on, watch)
        place.check()
        sweep.write(place, command)
    return Experiment(folder, store)


def of_scenario(plan: Plan) -> str:
    """A hash of the scenario that a plan varies, with its defaults."""
    return _identity_of(plan.scenario)


def _identity_of(scenario: Scenario) -> str:
    text = json.dumps(scenario.explicit().written(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _marker(plan: Plan) -> dict[str, Any]:
    return {"format": FORMAT, "identity": of_scenario(plan), "scenario": plan.scenario.to_toml()}


def _is_same(own: Mapping[str, Any], held: Mapping[str, Any]) -> bool:
    """Whether a marker is of the same scenario: an older version filled in other defaults, or fewer of them."""
    try:
        return bool(_identity_of(loads_stored(held["scenario"], "")) == own["identity"])
    except (TightlinkError, KeyError):
        return False


class _Sweep:
    def __init__(self, plan: Plan, store: Store) -> None:
        self._plan, self._store = plan, store
        self._tasks: dict[str, tuple[Cell, int, Task]] = {}
        #: By run: its identity, or why it failed.
        self._found: dict[str, str | Failed] = {}
        #: By identity.
        self._metrics: dict[str, dict[str, float]] = {}
        self._tables: dict[str, list[pl.DataFrame]] = {}
        #: Of the tables that some run has.
        self._names: set[str] = set()
        self._unsettled: list[str] = []

    def run(self, on: Engine, watch: Callable[[ExperimentProgress], None] | None) -> None:
        """Make the runs of the plan, then those that cells need which are not known well enough."""
        upcoming = [(cell, 0, self._plan.replications) for cell in self._plan.cells]
        while upcoming:
            runs = {
                task.name: (cell, number, task)
                for cell, first, last in upcoming
                for number, task in enumerate(self._plan.tasks_of(cell, first, last), start=first)
            }
            self._tasks |= runs
            with closing(execute_each([task for _, _, task in runs.values()], self._store, on, watch)) as finished:
                for name, run in finished:
                    if isinstance(run, Failed):
                        self._found[name] = run
                    else:
                        self._found[name] = run.manifest["identity"]
                        self._names |= set(run.tables)
            self._measure()
            upcoming = self._further()

    def _identity(self, name: str) -> str:
        """The identity of a run; nothing of one that failed."""
        found = self._found[name]
        return "" if isinstance(found, Failed) else found

    def _measure(self) -> None:
        """The metrics and the small tables of all runs that are new, many of them read in one go."""
        names = {identity: name for name in self._found if (identity := self._identity(name))}
        new = (identity for identity in names if identity not in self._metrics)
        while some := list(islice(new, _READ_AT_ONCE)):
            self._measure_some(some, names)

    def _measure_some(self, new: Sequence[str], names: Mapping[str, str]) -> None:
        files = [self._store.file(identity) for identity in new]
        tables = tables_of(files, SMALL)
        for table, frame in tables.items():
            if table == "completion_times" and table not in self._names:
                continue
            self._tables.setdefault(table, []).append(frame)
        over = [name for name in OVER_TIME if name in self._names]
        totals = {name: summed(table_of(files, name), name, ["identity"]) for name in over}
        by_run = {
            name: tables[name].partition_by("identity", as_dict=True, include_key=False)
            for name in ("flows", "links", "completion_times")
        }
        no_flows = {"flows": tables["flows"].head(0).drop("identity")}
        for identity in new:
            over_time = {name: runs[identity,] for name, runs in totals.items() if (identity,) in runs}
            own = no_flows | {name: runs[identity,] for name, runs in by_run.items() if (identity,) in runs}
            run = Run(self._tasks[names[identity]][2].scenario, {}, Framed(own))
            self._metrics[identity] = metrics(run, over_time)

    def _further(self) -> list[tuple[Cell, int, int]]:
        """The replications that cells need which are not known well enough."""
        precision = self._plan.precision
        if precision is None:
            return []
        values: dict[int, list[float]] = {}
        there: dict[int, int] = {}
        for name, (cell, _, _) in self._tasks.items():
            there[cell.number] = there.get(cell.number, 0) + 1
            if identity := self._identity(name):
                values.setdefault(cell.number, []).append(_metric(self._metrics[identity], precision.metric))
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

    def write(self, place: Workplace, command: str) -> None:
        """The table of the runs, the tables of all runs, what failed, and the design."""
        plan = self._plan
        keys = (key for factor in plan.design.factors for key in factor.keys if key != "seed")
        own = {key: value_at(plan.scenario, key) for key in keys}
        rows, failures = [], []
        for cell, number, task in sorted(self._tasks.values(), key=lambda made: (made[0].number, made[1])):
            found, identity = self._found[task.name], self._identity(task.name)
            varied = {key: cell.values.get(key, value) for key, value in own.items()}
            came_out = self._metrics.get(identity, {})
            rows.append(Row(task.name, number, task.scenario.seed, varied, came_out, identity))
            if isinstance(found, Failed):
                failures.append(failure(task.name, task.scenario, found.error))
        design = designs.write(plan.design, plan.scenario)
        write_experiment(place, rows, self._compact(rows), failures, self._described(command), design=design)

    def _compact(self, rows: Sequence[Row]) -> dict[str, pl.DataFrame | pl.LazyFrame]:
        """All runs' tables below each other."""
        done = [row for row in rows if row.identity]
        runs = pl.LazyFrame(
            {"run": [row.run for row in done], "identity": [row.identity for row in done]},
            schema={"run": pl.String, "identity": pl.String},
        )
        tables = {name: pl.concat(parts).lazy() for name, parts in self._tables.items()}
        if "series" in self._names:
            tables["series"] = table_of([self._store.file(identity) for identity in sorted(self._metrics)], "series")
        return {name: named(runs, table) for name, table in tables.items()}

    def _described(self, command: str) -> dict[str, Any]:
        plan = self._plan
        return _marker(plan) | {
            "command": command,
            "design": plan.design.kind,
            "factors": [list(factor.keys) for factor in plan.design.factors],
            "notes": plan.notes,
            "aliases": [list(group) for group in plan.design.aliases],
            "precision": None if plan.precision is None else str(plan.precision),
            "max_replications": None if plan.precision is None else plan.precision.most,
            "not_precise": self._unsettled,
            "copies": self._copies(),
        }

    def _copies(self) -> list[str]:
        """The cells whose replications are copies of one run: nothing is random, or nothing random matters."""
        cells: dict[int, list[dict[str, float]]] = {}
        for name in self._found:
            if identity := self._identity(name):
                cells.setdefault(self._tasks[name][0].number, []).append(self._metrics[identity])
        return [str(cell) for cell, runs in sorted(cells.items()) if len(runs) > 1 and _equal(runs)]


def _equal(runs: Sequence[Mapping[str, float]]) -> bool:
    """Whether runs have the same metrics, but for the rounding of sums that were made in another order.

    >>> _equal([{"queue": 24.018393121708556}, {"queue": 24.01839312170856}]), _equal([{"loss": 0.01}, {"loss": 0.02}])
    (True, False)
    """
    first, *others = runs
    return all(
        run.keys() == first.keys()
        and np.allclose([*run.values()], [*first.values()], rtol=_ROUNDED, atol=0.0, equal_nan=True)
        for run in others
    )


def _metric(values: Mapping[str, float], name: str) -> float:
    _check_metric(name, values)
    if math.isnan(values[name]):
        expected = f"a metric that every run has, and one has no {name}"
        raise ScenarioError(expected, key=Argument("precision"), value=name)
    return values[name]


def _check_metric(name: str, known: Collection[str]) -> None:
    if name not in known:
        raise ScenarioError(one_of(known), key=Argument("precision"), value=name, suggestion=closest(name, known))
