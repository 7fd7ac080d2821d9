"""Many scenarios, several at a time.

The engine runs without Python's lock, so threads suffice. The results do not depend on how many.

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

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tightlink.experiment.store import Store
    from tightlink.run import Run
    from tightlink.scenario import Scenario

_REPORTS: Final = 10


@dataclass(frozen=True)
class Task:
    """A scenario to run, under a name that is unique in its experiment."""

    name: str
    scenario: Scenario
    trace: bool = False
    """Whether the table ``packets`` is needed."""


def execute(
    tasks: Sequence[Task], store: Store, *, jobs: int = 1, progress: Callable[[str], None] | None = None
) -> dict[str, Run]:
    """Run every task, or find its run in the store.

    Args:
        tasks: Scenarios, with names.
        store: Where runs are kept.
        jobs: How many to run at a time.
        progress: Told in a line how far it is, about ten times.

    Returns:
        The runs by the names of their tasks, in the order of the tasks.
    """
    done: dict[str, Run] = {}
    step = max(1, len(tasks) // _REPORTS)
    pool = ThreadPoolExecutor(jobs)
    try:
        waiting = {pool.submit(store.run, task.scenario, trace=task.trace): task.name for task in tasks}
        for count, future in enumerate(as_completed(waiting), start=1):
            done[waiting[future]] = future.result()
            if progress is not None and (count % step == 0 or count == len(tasks)):
                progress(f"{count} of {len(tasks)} runs")
    finally:
        pool.shutdown(cancel_futures=True)
    return {task.name: done[task.name] for task in tasks}
