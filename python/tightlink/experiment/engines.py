"""Where the work of a campaign is done: here, on threads, or on a cluster. Results do not depend on it.

Example:
    >>> type(engine(1)).__name__, type(engine(2)).__name__
    ('InProcess', 'Threads')
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import suppress
from itertools import islice
from typing import Final, Protocol, TypeAlias

from tightlink import arguments
from tightlink.errors import TightlinkError, not_installed
from tightlink.experiment.campaign import Work, perform
from tightlink.lazy import _core

#: Work, and what came out of it, or the failure.
Performed: TypeAlias = "tuple[Work, object]"
#: What work may take to end when it is told to, in seconds; its threads end with this process.
_ENDS_S: Final = 15.0
#: Seconds after which a signal is noticed that came just before a wait.
_NOTICES_S: Final = 0.5


class Engine(Protocol):
    """Does pieces of work, in any order and place."""

    @property
    def running(self) -> int:
        """How many pieces are being done now."""

    @property
    def places(self) -> int:
        """How many it does at a time."""

    def perform(self, works: Iterable[Work]) -> Generator[Performed]:
        """Do work, which is asked for as there is room, and give back each piece when it is done.

        Closing the iterator ends what is under way.
        """

    def close(self) -> None:
        """Let go of what it holds."""


def engine(jobs: int = 1, cluster: str | None = None) -> Engine:
    """The engine for a number of runs at a time, or for a cluster, by the address of its Dask scheduler."""
    if cluster is not None:
        try:
            from tightlink.experiment.cluster import Cluster
        except ModuleNotFoundError as error:
            raise TightlinkError(not_installed(error)) from None
        return Cluster(cluster)
    jobs = arguments.whole("jobs", jobs, least=1)
    return InProcess() if jobs == 1 else Threads(jobs)


class InProcess:
    """One piece after the other, on the thread that asks."""

    places = 1

    def __init__(self) -> None:
        self.running = 0

    def perform(self, works: Iterable[Work]) -> Generator[Performed]:
        """As `Engine` says, in this process."""
        for work in works:
            self.running = 1
            done = perform(work)
            self.running = 0
            yield work, done

    def close(self) -> None:
        """As `Engine` says, in this process."""


class Threads:
    """Several at a time, each on its own thread: the engine runs without Python's lock.

    With plain threads and queues: an executor's locks stay locked where Ctrl-C comes while they are taken.
    """

    def __init__(self, jobs: int) -> None:
        self.places = jobs
        self._under_way = 0

    @property
    def running(self) -> int:
        """As `Engine` says, in this process."""
        return min(self.places, self._under_way)

    def perform(self, works: Iterable[Work]) -> Generator[Performed]:
        """As `Engine` says, in this process."""
        upcoming = iter(works)
        waiting: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        finished: queue.SimpleQueue[Performed | BaseException] = queue.SimpleQueue()
        stop = threading.Event()
        threads: list[threading.Thread] = []
        try:
            while True:
                # One more than there are threads for each, so that none waits for the next.
                for work in islice(upcoming, 2 * self.places - self._under_way):
                    waiting.put(work)
                    self._under_way += 1
                    if len(threads) < min(self.places, self._under_way):
                        threads.append(threading.Thread(target=_work, args=(waiting, finished, stop), daemon=True))
                        threads[-1].start()
                if not self._under_way:
                    return
                done = _next(finished)
                if isinstance(done, BaseException):
                    raise done
                self._under_way -= 1
                yield done
        finally:
            self._under_way = 0
            _end(threads, waiting, stop)

    def close(self) -> None:
        """As `Engine` says, in this process."""


def _next(finished: queue.SimpleQueue[Performed | BaseException]) -> Performed | BaseException:
    """What is finished next. Ctrl-C that comes as the wait begins is noticed when it has lasted a moment."""
    while True:
        with suppress(queue.Empty):
            return finished.get(timeout=_NOTICES_S)


class StoppedError(Exception):
    """Somebody ended the campaign."""


def _work(
    waiting: queue.SimpleQueue[Work | None],
    finished: queue.SimpleQueue[Performed | BaseException],
    stop: threading.Event,
) -> None:
    """Do what waits until somebody ends it; what work is not to raise is raised where it is waited for."""

    def check() -> None:
        if stop.is_set():
            raise StoppedError

    while (work := waiting.get()) is not None and not stop.is_set():
        try:
            finished.put((work, perform(work, check)))
        except StoppedError:
            return
        except BaseException as error:  # noqa: BLE001  # none is lost
            finished.put(error)


def _end(threads: list[threading.Thread], waiting: queue.SimpleQueue[Work | None], stop: threading.Event) -> None:
    """End what threads do, within moments."""
    stop.set()
    for _ in threads:
        waiting.put(None)
    _core.interrupt(on=True)
    try:
        until = time.monotonic() + _ENDS_S
        for thread in threads:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))
    finally:
        _core.interrupt(on=False)
