"""An attack on ``tightlink measure serve``: random requests, cut, slow, reset, flooded with datagrams.

After every request it must answer with one line or close, in time; now and then a good visit must be served.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Final

from attack import Violation
from attack._messages import line
from ports import unused_port
from tightlink.errors import TightlinkError
from tightlink.measure import listener
from tightlink.measure.visitor import visiting

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

HERE: Final = "127.0.0.1"
_LIMITS: Final = listener.Limits(patience_s=0.3, kept_s=0.01)
#: What an answer or a good visit may take, on a machine that others use, too.
_PATIENCE_S: Final = 20.0
#: Visits that are as they should be.
_GOOD: Final = 0.002
#: After which a visitor leaves that is measured.
_WAIT_S: Final = 1.0
#: Closes with a reset, so that no port is left waiting.
_RESET: Final = struct.pack("ii", 1, 0)


def attempt(chance: Random, _place: Path) -> str:
    """Make one visit to a listener that all tries have in common."""
    return _attack().once(chance)


@cache
def _attack() -> Attack:
    return Attack()


class Attack:
    """A listener in a thread, which ends with the process."""

    def __init__(self) -> None:
        self._failures: list[str] = []
        self._said: list[str] = []
        self._place = (HERE, unused_port())
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        while not self._said:
            time.sleep(0.01)

    def once(self, chance: Random) -> str:
        """Make one visit, a bad one most of the time; what came of it."""
        said = len(self._said)
        if chance.random() < _GOOD:
            outcome = self._good()
        else:
            asked = {"tightlink": 1, "do": chance.choice(["echo", "receive"]), "most": chance.choice([1, 3, 100_000]),
                     "seconds": chance.choice([0.001, 0.01, 0.02]), "idle": chance.choice([0.001, 0.01])}  # fmt: skip
            request = line(chance, asked)
            try:
                outcome = _judged(self._visit(chance, request))
            except TimeoutError:
                raise Violation(f"no end; request {request[:200]!r}") from None
            except OSError:
                outcome = "closed"
            except Violation as violation:
                raise Violation(f"{violation}; request {request[:200]!r}") from None
        if not self._thread.is_alive():
            raise Violation("the listener has ended")
        if self._failures:
            raise Violation(f"a thread failed: {self._failures.pop()}")
        for each in self._said[said:]:
            if not each.isprintable() or len(each) > 400:
                raise Violation(f"it said {each[:100]!r}")
        return outcome

    def _visit(self, rng: Random, request: bytes) -> bytes:
        with socket.socket() as visitor:
            visitor.settimeout(_PATIENCE_S)
            visitor.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            # Of many addresses: loopback has them all.
            visitor.bind((f"127.0.0.{rng.randrange(1, 250)}", 0))
            visitor.connect(self._place)
            parts = 1 if rng.random() < 0.9 else rng.randrange(2, 5)
            size = max(1, -(-len(request) // parts))
            for start in range(0, len(request), size):
                visitor.sendall(request[start : start + size])
            if rng.random() < 0.05:
                # It leaves without a word.
                return b""
            for _ in range(rng.choice([0] * 9 + [5])):
                with suppress(OSError):
                    self._datagrams.sendto(rng.randbytes(rng.choice([0, 1, 15, 16, 24, 100, 9000])), self._place)
            if not request.endswith(b"\n") or rng.random() < 0.2:
                visitor.shutdown(socket.SHUT_WR)
            answer = bytearray(visitor.recv(1 << 16))
            # It may measure for a minute, as long as somebody waits for it.
            visitor.settimeout(_WAIT_S)
            with suppress(TimeoutError):
                while piece := visitor.recv(1 << 16):
                    answer += piece
            return bytes(answer)

    def _good(self) -> str:
        """Visit as one should; others may still be there for a moment."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            with suppress(TightlinkError), visiting(self._place, "echo", most=1, seconds=0.01, idle_s=0.01) as visit:
                visit.echoed()
                return "good"
            time.sleep(0.05)
        raise Violation("a good visit is not served")

    def _serve(self) -> None:
        before = threading.excepthook

        def fail(failed: threading.ExceptHookArgs) -> None:
            # Other threads are not of the listener.
            if failed.thread is not None and failed.thread.name == "visit":
                self._failures.append(repr(failed.exc_value))
            else:
                before(failed)

        threading.excepthook = fail
        listener.serve(*self._place, say=self._said.append, limits=_LIMITS)


def _judged(answer: bytes) -> str:
    if not answer:
        return "closed"
    try:
        first, *others = [json.loads(each) for each in answer.split(b"\n") if each]
    except ValueError:
        raise Violation(f"an answer that is no JSON: {answer[:100]!r}") from None
    if set(first) == {"error"} and not others and isinstance(first["error"], str) and len(first["error"]) < 200:
        return "refused"
    if first == {"ready": True} and len(others) <= 1:
        return "served"
    raise Violation(f"an answer of another form: {answer[:100]!r}")
