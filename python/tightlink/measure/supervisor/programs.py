"""The programs of a testbed: started in a host, waited for, signalled."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from typing import TYPE_CHECKING, Final, NoReturn

from .answers import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .answers import Answer
    from .networks import Networks

#: Descriptors from here on are out of the way of those that a program is given.
_ABOVE: Final = 64


class Programs:
    """Programs by their number here."""

    def __init__(self, networks: Networks) -> None:
        self._networks = networks
        #: Exit codes of programs that have ended, until they are asked for.
        self._ended: dict[int, int] = {}
        #: Programs with a session of their own, which are signalled with all of it.
        self._sessions: set[int] = set()

    def operations(self) -> dict[str, Callable[..., Answer]]:
        """What can be asked for, by name."""
        return {"start": self._start, "ended": self._has_ended, "signal": self._signal}

    def reap(self) -> None:
        """Take note of what has ended; as process 1, of the children of others, too."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            self._ended[process] = os.waitstatus_to_exitcode(status)

    def _start(self, passed: list[int], host: str, argv: list[str], session: bool) -> Answer:  # noqa: FBT001
        """Start a program with these descriptors as its 0, 1, 2, 3, …; its number here, and a descriptor of it."""
        self._networks.enter(host)
        failure, report = os.pipe2(os.O_CLOEXEC)
        process = os.fork()
        if process == 0:
            _become(passed, argv, report, session=session)
        os.close(report)
        try:
            content = os.read(failure, 16)
        finally:
            os.close(failure)
        if content:
            os.waitpid(process, 0)
            raise Refused(f"{argv[0]} cannot be started: {os.strerror(int(content)).lower()}")
        if session:
            self._sessions.add(process)
        return process, [os.pidfd_open(process)]

    def _has_ended(self, _: list[int], process: int) -> Answer:
        self.reap()
        return self._ended.pop(process, None), []

    def _signal(self, _: list[int], process: int, number: int) -> Answer:
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if process in self._sessions else os.kill)(process, number)
        return None, []


def _become(passed: Sequence[int], argv: Sequence[str], report: int, *, session: bool) -> NoReturn:
    """In a child: become the program, or say why not."""
    try:
        if session:
            os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        # First out of the way of each other.
        above = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for descriptor in passed]
        report = fcntl.fcntl(report, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
        for place, descriptor in enumerate(above):
            os.dup2(descriptor, place, inheritable=True)
        os.execvp(argv[0], list(argv))  # noqa: S606
    except OSError as error:
        os.write(report, str(error.errno).encode())
    finally:
        os._exit(127)
