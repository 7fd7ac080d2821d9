"""Programs that run in the hosts of a testbed."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tightlink.errors import TightlinkError

#: What programs may take to end when they are asked to, in seconds.
GRACE_S: Final = 2.0
GONE: Final = "the testbed is gone: its process was ended"


@dataclass(frozen=True)
class Finished:
    """A program that has ended."""

    code: int
    """Its exit code; that of a program that a signal ended is minus the signal's number."""
    output: str
    """What it wrote to standard output."""
    errors: str
    """What it wrote to standard error."""


@dataclass
class Program:
    """A program in a host."""

    #: Asks the supervisor, as `Bed` does.
    _ask: Callable[..., tuple[Any, list[int]]]
    _process: int
    #: Readable when it has ended; without one when that is known.
    _descriptor: int | None
    name: str
    """How it was called."""
    #: What it writes.
    _kept: list[int] = field(default_factory=list)
    _code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, or nothing while it runs; minus the number of the signal that ended it."""
        return self._code if self._ends(0.0) else None

    def wait(self, timeout_s: float) -> int:
        """Wait until it ends, at most so long; its exit code.

        Raises:
            TimeoutError: It did not end in time; it continues.
        """
        if not self._ends(timeout_s):
            raise TimeoutError(f"{self.name} did not end within {timeout_s:g} s")
        if self._code is None:
            raise AssertionError("what has ended has a code")
        return self._code

    def finish(self, timeout_s: float) -> Finished:
        """Wait until it ends, and have what it wrote; one that does not end in time is ended."""
        try:
            code = self.wait(timeout_s)
        except TimeoutError as error:
            self.stop()
            raise TightlinkError(str(error)) from None
        except BaseException:
            self.stop()
            raise
        texts = [_content(descriptor) for descriptor in self._kept]
        self.release()
        output, errors = [*[""] * (2 - len(texts)), *texts]
        return Finished(code, output, errors)

    def signal(self, number: int) -> None:
        """Send a signal to it, and to all of its session if it leads one."""
        if self.poll() is None:
            self._ask("signal", process=self._process, number=number)

    def stop(self) -> None:
        """End it, gently at first."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.signal(number)
            with contextlib.suppress(TimeoutError):
                self.wait(GRACE_S)
                break
        self.release()

    def release(self) -> None:
        """Close what is held of it here; it is not ended by that."""
        for descriptor in (*self._kept, self._descriptor):
            if descriptor is not None:
                os.close(descriptor)
        self._kept, self._descriptor = [], None

    def _ends(self, timeout_s: float) -> bool:
        """Whether it has ended, or does so within a time."""
        if self._code is not None:
            return True
        if self._descriptor is None:
            raise TightlinkError(GONE)
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        until = time.monotonic() + timeout_s
        while not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            if time.monotonic() >= until:
                return False
        self._code, _ = self._ask("ended", process=self._process)
        return True


def _content(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0).decode(errors="replace")
