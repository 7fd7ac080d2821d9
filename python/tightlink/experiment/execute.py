"""Many scenarios, several at a time, each simulated once and kept.

The results do not depend on how many run at a time, nor on where.

Example:
    >>> import tempfile
    >>> import tightlink as tl
    >>> from tightlink.experiment.store import Store
    >>> base = tl.network("dsl").set("duration", "1 s")
    >>> tasks = [Task(queue, base.set("link.access.queue", queue)) for queue in ("5 packets", "20 packets")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = execute(tasks, Store(folder), jobs=2)
    >>> list(runs)
    ['5 packets', '20 packets']
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

from tightlink.errors import TightlinkError
from tightlink.experiment import campaign
from tightlink.experiment.campaign import Failed, failed
from tightlink.experiment.cost import Costs
from tightlink.experiment.engines import Engine, engine
from tightlink.experiment.progress import ExperimentProgress
from tightlink.experiment.store import Store
from tightlink.files import remove_leftovers
from tightlink.run import Run
from tightlink.scenario import Scenario


@dataclass(frozen=True)
class Task:
    """A scenario to run in a study, under a name that is unique in it, such as ``queue/20``."""

    name: str
    scenario: Scenario
    trace: bool = False
    """Whether the table ``packets`` is needed."""


def execute(
    tasks: Sequence[Task],
    store: Store,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
) -> dict[str, Run]:
    """Run every task, or find its run in the store.

    Args:
        tasks: Scenarios, with names.
        store: Where runs are kept.
        jobs: How many to run at a time.
        cluster: Address of a Dask scheduler to run them instead.
        watch: Told after every run how far it is.

    Returns:
        The runs by the names of their tasks, in the order of the tasks.

    Raises:
        TightlinkError: Two tasks have one name, or some runs failed; all others were finished and kept.
    """
    runs, failures = attempted(tasks, store, jobs=jobs, cluster=cluster, watch=watch)
    if failures:
        raise TightlinkError(failed(failures, len(tasks)))
    return runs


def attempted(
    tasks: Sequence[Task],
    store: Store,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
) -> tuple[dict[str, Run], dict[str, str]]:
    """Run every task as `execute` does: the runs, and of those that failed why, by the names of their tasks.

    Raises:
        TightlinkError: Two tasks have one name.
    """
    if repeated := [name for name, count in Counter(task.name for task in tasks).items() if count > 1]:
        raise TightlinkError(f"task {repeated[0]!r}: expected a name for each task that no other one has")
    with closing(engine(jobs, cluster)) as on:
        found = dict(execute_each(tasks, store, on, watch))
    runs = {task.name: run for task in tasks if not isinstance(run := found[task.name], Failed)}
    return runs, {task.name: run.error for task in tasks if isinstance(run := found[task.name], Failed)}


def execute_each(
    tasks: Sequence[Task], store: Store, on: Engine, watch: Callable[[ExperimentProgress], None] | None = None
) -> Generator[tuple[str, Run | Failed]]:
    """The runs of tasks as they come, by name, as `execute` makes them; one that fails takes no other with it."""
    remove_leftovers(store.folder)
    places = {task.name: place for place, task in enumerate(tasks)}
    costs = Costs(len(tasks), lambda place: tasks[place].scenario.resolve())
    found = failures = hops = 0
    begin = time.monotonic()
    with closing(campaign.attempt(tasks, store, on)) as finished:
        for done, (task, run, made) in enumerate(finished, start=1):
            found += not made
            failures += isinstance(run, Failed)
            hops += run.manifest["packet_hops"] if made and not isinstance(run, Failed) else 0
            costs.done(places[task.name], simulated=made)
            if watch is not None:
                elapsed_s = time.monotonic() - begin
                watch(ExperimentProgress(len(tasks), done, found, failures, on.running, hops, elapsed_s, costs))
            yield task.name, run
