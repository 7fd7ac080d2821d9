"""Many scenarios, several at a time, each simulated once and kept.

The results do not depend on how many run at a time, nor on where.

Example:
    >>> import tempfile
    >>> import tightlink as tl
    >>> from tightlink.experiment.store import Store
    >>> base = tl.loads('''
    ... profile = "ns2"
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> tasks = [Task(queue, base.set("link.wire.queue", queue)) for queue in ("5 packets", "20 packets")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = execute(tasks, Store(folder), jobs=2)
    >>> list(runs)
    ['5 packets', '20 packets']
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tightlink.errors import TightlinkError
from tightlink.experiment.cost import Costs
from tightlink.experiment.engines import Engine, engine
from tightlink.experiment.progress import Counter
from tightlink.experiment.work import Failed, Work
from tightlink.files import remove_leftovers
from tightlink.run import Run
from tightlink.simulate import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from tightlink.experiment.progress import ExperimentProgress
    from tightlink.experiment.store import Store
    from tightlink.scenario import Scenario

_MOST_FAILURES: Final = 10


@dataclass(frozen=True)
class Task:
    """A scenario to run, under a name that is unique in its experiment."""

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
        TightlinkError: Some runs failed; all others were finished and kept.
    """
    with closing(engine(jobs, cluster)) as on:
        found = dict(attempt(tasks, store, on, watch))
    failures = {name: run.error for name, run in found.items() if isinstance(run, Failed)}
    if failures:
        raise TightlinkError(failed(failures, len(tasks)))
    return {task.name: run for task in tasks if isinstance(run := found[task.name], Run)}


def attempt(
    tasks: Sequence[Task], store: Store, on: Engine, watch: Callable[[ExperimentProgress], None] | None = None
) -> Generator[tuple[str, Run | Failed]]:
    """The runs of tasks as they come, by name; one that fails does not take others with it.

    Args:
        tasks: Scenarios, with names.
        store: Where runs are kept.
        on: What simulates those that are not in the store.
        watch: Told after every run how far it is.
    """
    remove_leftovers(store.folder)
    counter = Counter(Costs(len(tasks), lambda run: tasks[run].scenario.resolve()), len(tasks), on, watch)
    places = {task.name: place for place, task in enumerate(tasks)}
    #: Those of equal scenarios are simulated once.
    waiting: dict[tuple[str, bool], list[Task]] = {}
    ready: list[tuple[str, Run | Failed]] = []

    def works() -> Iterator[Work]:
        for task in tasks:
            try:
                prepared = prepare(task.scenario)
                run = store.find(task.scenario, prepared, trace=task.trace)
            except TightlinkError as error:
                ready.append((task.name, Failed(str(error))))
                continue
            if run is not None:
                ready.append((task.name, run))
                continue
            same = waiting.setdefault((prepared.identity, task.trace), [])
            same.append(task)
            if len(same) == 1:
                yield Work(prepared, task.scenario.to_toml(), task.trace)

    def settled() -> Iterator[tuple[str, Run | Failed]]:
        while ready:
            name, run = ready.pop(0)
            counter.found(places[name], failed=isinstance(run, Failed))
            yield name, run

    with closing(on.perform(works())) as finished:
        for work, done in finished:
            yield from settled()
            first, *others = waiting.pop((work.prepared.identity, work.trace))
            run = done if isinstance(done, Failed) else store.keep(first.scenario, work, done)
            counter.simulated(places[first.name], done)
            yield first.name, run
            ready += [(task.name, run) for task in others]
    yield from settled()


def failed(failures: Mapping[str, str], total: int) -> str:
    """What to say of runs that failed: how many, and the first of them with their errors."""
    lines = [f"{name}: {error}" for name, error in list(failures.items())[:_MOST_FAILURES]]
    rest = len(failures) - len(lines)
    return "\n".join(
        [
            f"{len(failures)} of {total} runs failed; the others are finished and kept",
            *lines,
            *([f"… and {rest} more"] if rest else []),
        ]
    )
