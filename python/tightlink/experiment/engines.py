"""Where runs are simulated: here, on threads, or on a cluster. Results do not depend on it.

Example:
    >>> type(engine(1)).__name__, type(engine(2)).__name__
    ('InProcess', 'Threads')
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from tightlink.errors import ScenarioError, TightlinkError, not_installed
from tightlink.experiment.work import Done, Failed, Work, perform

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable


class Engine(Protocol):
    """Simulates runs."""

    @property
    def running(self) -> int:
        """How many runs are being simulated now."""

    @property
    def places(self) -> int:
        """How many runs it simulates at a time."""

    def perform(self, works: Iterable[Work]) -> Generator[tuple[Work, Done | Failed]]:
        """Simulate runs, which are asked for as there is room, and give back each when it is done.

        Closing the iterator ends what is running.
        """

    def close(self) -> None:
        """Let go of what it holds."""


def engine(jobs: int = 1, cluster: str | None = None) -> Engine:
    """The engine for a number of runs at a time, or for a cluster.

    Args:
        jobs: Runs to simulate at a time on this machine.
        cluster: Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``, to use instead.

    Raises:
        TightlinkError: No scheduler answers there, or Dask is not installed.
    """
    if cluster is not None:
        try:
            from tightlink.experiment.cluster import Cluster
        except ModuleNotFoundError as error:
            raise TightlinkError(not_installed(error)) from None
        return Cluster(cluster)
    if jobs < 1:
        raise ScenarioError("a whole number of at least 1", key="--jobs", value=jobs)
    return InProcess() if jobs == 1 else Threads(jobs)


class InProcess:
    """One run after the other, on the thread that asks."""

    def __init__(self) -> None:
        self.running = 0
        self.places = 1

    def perform(self, works: Iterable[Work]) -> Generator[tuple[Work, Done | Failed]]:
        """See `Engine`."""
        for work in works:
            self.running = 1
            done = perform(work)
            self.running = 0
            yield work, done

    def close(self) -> None:
        """See `Engine`."""


class Threads:
    """Several runs at a time, each on a thread of its own: the engine runs without Python's lock."""

    def __init__(self, jobs: int) -> None:
        self.places = jobs
        self._waiting: dict[Future[Done | Failed], Work] = {}

    @property
    def running(self) -> int:
        """See `Engine`."""
        return min(self.places, len(self._waiting))

    def perform(self, works: Iterable[Work]) -> Generator[tuple[Work, Done | Failed]]:
        """See `Engine`."""
        pool = ThreadPoolExecutor(self.places)
        upcoming = iter(works)
        try:
            while True:
                # One more than there are threads for each, so that none waits for the next.
                for work in islice(upcoming, 2 * self.places - len(self._waiting)):
                    self._waiting[pool.submit(perform, work)] = work
                if not self._waiting:
                    return
                for future in wait(self._waiting, return_when=FIRST_COMPLETED).done:
                    yield self._waiting.pop(future), future.result()
        finally:
            self._end(pool)

    def close(self) -> None:
        """See `Engine`."""

    def _end(self, pool: ThreadPoolExecutor) -> None:
        from tightlink import _core

        _core.interrupt(on=True)
        try:
            pool.shutdown(cancel_futures=True)
        finally:
            _core.interrupt(on=False)
            self._waiting.clear()
