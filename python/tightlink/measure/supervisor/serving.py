"""How the supervisor is asked, and how it answers."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .answers import sentence
from .networks import Networks
from .programs import Programs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .answers import Answer

#: Descriptors and bytes that come with a request.
_MOST_DESCRIPTORS: Final = 16
_LARGEST_REQUEST: Final = 1 << 20


class Supervisor:
    """Answers requests, each by an operation of `Networks` or `Programs`."""

    def __init__(self, control: socket.socket, parent: int) -> None:
        self._control = control
        self._parent = parent
        #: That of process 1 as others see it, by which namespaces can be entered from outside.
        self._process = int(Path("/proc/self").readlink().name)
        networks = Networks()
        self._programs = Programs(networks)
        self._operations: Mapping[str, Callable[..., Answer]] = networks.operations() | self._programs.operations()

    def serve(self, *, user: bool) -> None:
        """Answer requests until nobody can ask any more; the first answer says where it is."""
        woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._answer({"id": 0, "result": {"process": self._process, "user": user}}, [])
        poll = select.poll()
        for descriptor in (self._control.fileno(), self._parent, woken):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, 4096)
                self._programs.reap()
            if self._control.fileno() in ready and not self._serve_one():
                return
            if self._parent in ready:
                return

    def _serve_one(self) -> bool:
        """Whether there was a request rather than the end."""
        try:
            content, passed, _, _ = socket.recv_fds(
                self._control, _LARGEST_REQUEST, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionError:
            return False
        if not content:
            return False
        request = json.loads(content)
        number, operation = request.pop("id"), request.pop("operation")
        made: list[int] = []
        try:
            result, made = self._operations[operation](passed, **request)
            answer = {"id": number, "result": result}
        except Exception as error:  # noqa: BLE001  # whoever asked is told
            answer = {"id": number, "error": sentence(error)}
        finally:
            for descriptor in passed:
                os.close(descriptor)
        self._answer(answer, made)
        for descriptor in made:
            os.close(descriptor)
        return True

    def _answer(self, answer: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        # Who asked may be gone.
        with contextlib.suppress(OSError):
            socket.send_fds(self._control, [json.dumps(answer).encode()], descriptors)
