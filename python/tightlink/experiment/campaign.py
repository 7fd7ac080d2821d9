"""The one runner of all that is made many times over: every task once, several at a time, kept and found again.

A store has the result of a task, or says what work makes it. Work is done where an engine does it: here, on threads or
on a cluster (`tightlink.experiment.engines`). What one task comes to depends neither on that nor on the others.

Example:
    >>> from tightlink.experiment.engines import engine
    >>> class Square(Work):
    ...     def perform(self, check):
    ...         return self.key**2
    >>> class Squares:
    ...     known = {2: 4}
    ...     def look(self, task):
    ...         return self.known.get(len(task)) or Square(len(task))
    ...     def keep(self, task, work, outcome):
    ...         return self.known.setdefault(work.key, outcome)
    >>> list(attempt(["II", "III", "iii"], Squares(), engine(1)))
    [('II', 4, False), ('III', 9, True), ('iii', 9, False)]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from tightlink.errors import TightlinkError
from tightlink.lazy import _core

if TYPE_CHECKING:
    from tightlink.experiment.engines import Engine

#: What to say of a campaign that ends before its end.
KEPT: Final = "what is finished is kept, and the same command, or call, continues from there"
_MOST_FAILURES: Final = 10

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True)
class Failed:
    """What became of a task that came to no result, and why."""

    error: str


@dataclass(frozen=True)
class Work:
    """What has to be done for a result, on a thread or on another machine."""

    key: Hashable
    """Tasks whose work has the same key are done once."""

    def perform(self, check: Callable[[], None]) -> object:
        """Make what the result is kept from; ``check``, called now and then, raises where the campaign was ended."""
        raise NotImplementedError


class Store(Protocol[T_contra, R_co]):
    """Where results are kept."""

    def look(self, task: T_contra) -> R_co | Work:
        """The result of a task that is there undamaged, or what makes it.

        Raises:
            TightlinkError: The task cannot be done.
        """

    def keep(self, task: T_contra, work: Any, outcome: Any) -> R_co:
        """Keep what came out of the work for a task."""


def attempt(tasks: Sequence[T], store: Store[T, R], on: Engine) -> Generator[tuple[T, R | Failed, bool]]:
    """Tasks with their results as they come, and whether one was made now; a failure takes no other with it.

    Closing the iterator ends what is under way.
    """
    #: Tasks of the same work.
    waiting: dict[Hashable, list[T]] = {}
    ready: deque[tuple[T, R | Failed]] = deque()

    def works() -> Iterator[Work]:
        for task in tasks:
            try:
                found = store.look(task)
            except TightlinkError as error:
                ready.append((task, Failed(str(error))))
                continue
            if not isinstance(found, Work):
                ready.append((task, found))
                continue
            same = waiting.setdefault(found.key, [])
            same.append(task)
            if len(same) == 1:
                yield found

    def settled() -> Iterator[tuple[T, R | Failed, bool]]:
        while ready:
            yield (*ready.popleft(), False)

    with closing(on.perform(works())) as finished:
        for work, outcome in finished:
            yield from settled()
            first, *others = waiting.pop(work.key)
            result = outcome if isinstance(outcome, Failed) else store.keep(first, work, outcome)
            yield first, result, True
            ready.extend((task, result) for task in others)
    yield from settled()


def perform(work: Work, check: Callable[[], None] = lambda: None) -> object:
    """Do a piece of work. Whatever goes wrong is of this one alone."""
    try:
        return work.perform(check)
    except TightlinkError as error:
        return Failed(str(error))
    except MemoryError:
        return Failed("not enough memory for this run")
    except _core.EngineError as error:
        return Failed(f"a mistake in the engine: {error}")


def failed(failures: Mapping[str, str], total: int) -> str:
    """What to say of runs that failed: how many, and the first of them with their errors."""
    head = f"{len(failures)} of {total} runs failed; the others are finished and kept"
    lines = [f"{name}: {error}" for name, error in list(failures.items())[:_MOST_FAILURES]]
    rest = len(failures) - len(lines)
    return "\n".join([head, *lines, *([f"… and {rest} more"] if rest else [])])
