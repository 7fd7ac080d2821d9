"""An attack on ``tightlink measure serve``: random requests, cut, slow, reset, flooded with datagrams.

After every request it must answer with one line or close, in time; now and then a good visit must be served.
"""

from __future__ import annotations

import json
import random
import socket
import struct
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from attack import Violation
from attack._messages import line
from tightlink.errors import TightlinkError
from tightlink.measure import listener
from tightlink.measure.visitor import visiting

if TYPE_CHECKING:
    from pathlib import Path

HERE: Final = "127.0.0.1"
#: Requests of one try of `attempt`.
_BATCH: Final = 5
_LIMITS: Final = listener.Limits(patience_s=0.3, kept_s=0.01)
#: What an answer or a good visit may take, on a machine that others use, too.
_PATIENCE_S: Final = 20.0
_EVERY: Final = 1000
#: After which a visitor leaves that is measured.
_WAIT_S: Final = 1.0
#: Closes with a reset, so that no port is left waiting.
_RESET: Final = struct.pack("ii", 1, 0)


def run(seed: int, tries: int) -> Attack:
    """Attack a listener so many times; what was found."""
    attack = Attack(seed)
    try:
        for number in range(tries):
            attack.once()
            if number % _EVERY == _EVERY - 1:
                attack.good()
        attack.good()
    finally:
        attack.end()
    return attack


def attempt(chance: random.Random, _: Path) -> str:
    """A new listener and some requests."""
    found = run(chance.randrange(2**32), _BATCH)
    if found.violations:
        raise Violation(found.violations[0])
    return ", ".join(sorted(found.counts))


class Attack:
    """A listener in a thread, and what was found of it."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self.counts: dict[str, int] = {}
        self.violations: list[str] = []
        self._said: list[str] = []
        with socket.socket() as free:
            free.bind((HERE, 0))
            self._place = (HERE, int(free.getsockname()[1]))
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._failed = threading.excepthook
        threading.excepthook = self._fail
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        while not self._said:
            time.sleep(0.01)

    def once(self) -> None:
        """Make one visit, a bad one most of the time."""
        rng = self._rng
        asked = {"tightlink": 1, "do": rng.choice(["echo", "receive"]), "most": rng.choice([1, 3, 100_000]),
                 "seconds": rng.choice([0.001, 0.01, 0.02]), "idle": rng.choice([0.001, 0.01])}  # fmt: skip
        request = line(rng, asked)
        try:
            answer = self._visit(request)
        except TimeoutError:
            self._violated("no end", request)
            return
        except OSError:
            self._count("closed")
            return
        self._judge(request, answer)

    def _visit(self, request: bytes) -> bytes:
        rng = self._rng
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

    def _judge(self, request: bytes, answer: bytes) -> None:
        if not answer:
            self._count("closed")
            return
        try:
            lines = [json.loads(each) for each in answer.split(b"\n") if each]
        except ValueError:
            self._violated(f"an answer that is no JSON: {answer[:100]!r}", request)
            return
        first, *others = lines
        if set(first) == {"error"} and not others and isinstance(first["error"], str) and len(first["error"]) < 200:
            self._count("refused")
        elif first == {"ready": True} and len(others) <= 1:
            self._count("served")
        else:
            self._violated(f"an answer of another form: {answer[:100]!r}", request)

    def good(self) -> None:
        """Visit as one should; others may still be there for a moment."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            with suppress(TightlinkError), visiting(self._place, "echo", most=1, seconds=0.01, idle_s=0.01) as visit:
                visit.echoed()
                self._count("good")
                return
            time.sleep(0.05)
        self._violated("a good visit is not served", b"")

    def end(self) -> None:
        """Give the listener up: it has no end of its own here."""
        threading.excepthook = self._failed
        self._datagrams.close()
        if not self._thread.is_alive():
            self._violated("the listener has ended", b"")
        for said in self._said:
            if "\n" in said or not said.isprintable() or len(said) > 400:
                self._violated(f"said {said[:100]!r}", b"")

    def _serve(self) -> None:
        listener.serve(*self._place, say=self._said.append, limits=_LIMITS)

    def _fail(self, failed: threading.ExceptHookArgs) -> None:
        self._violated(f"a thread failed: {failed.exc_value!r}", b"")

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def _violated(self, what: str, request: bytes) -> None:
        self.violations.append(f"{what}; request {request[:200]!r}")
