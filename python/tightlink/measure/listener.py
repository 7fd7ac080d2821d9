"""What listens at the other end of a path: it receives datagrams or sends them back.

A visitor asks over TCP, one line of JSON, and sends datagrams to the same port over UDP. It is told when they may come,
and afterwards what arrived. Nobody else's datagrams are answered or counted, never more is sent back than came, and
each visit has a limit of datagrams and of time.

Several visitors are heard at a time, each in a thread, but one is measured: others are told that this end is busy, also
between the visits of one measurement. Nothing that a visitor says or leaves unsaid ends it or keeps others waiting.
"""

from __future__ import annotations

import contextlib
import socket as sockets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final

from pydantic import ValidationError

from tightlink.errors import TightlinkError
from tightlink.measure.probe import echo_udp, listen, open_udp, receive_udp
from tightlink.measure.talk import (
    LONGEST_LINE,
    MOST_DATAGRAMS,
    MOST_SECONDS,
    PATIENCE_S,
    VERSION,
    Hello,
    Request,
    Talk,
    TooLongError,
)

_STRANGE: Final = "not a request of tightlink measure path"
_BUSY: Final = "busy with another measurement: try again in a minute"
#: How often it is looked whether there have been enough visits.
_LOOK_S: Final = 0.1
#: Pieces of what a visitor says beyond what it is heard for.
_LEFT_BEHIND: Final = 16


@dataclass(frozen=True)
class Limits:
    """What visitors may take of a listener."""

    patience_s: float = PATIENCE_S
    """For a request, and again for the answer to be taken."""
    kept_s: float = 3.0
    """After a visit with datagrams, the next one of the same measurement comes within this time, and no other's."""
    visitors: int = 64
    """At a time."""
    of_one: int = 8
    """At a time, of one address."""


def serve(
    address: str, port: int, *, visits: int | None = None, say: Callable[[str], None], limits: Limits | None = None
) -> None:
    """Listen at an address of this machine and a port, over TCP and UDP, and serve visitors.

    It ends after so many visits, without those that were refused, or never. ``say`` is told where it listens, and of
    each visit.
    """
    with listen(address, port) as listener:
        own, port = listener.getsockname()[:2]
        open_udp(address, port).close()
        everywhere = ip_address(own).is_unspecified
        where = f"every address of this machine, port {port}" if everywhere else f"{address} port {port}"
        say(f"listening at {where}, TCP and UDP{'' if everywhere else ', and nowhere else'}")
        server = _Server(address, port, say, limits or Limits())
        try:
            server.accept(listener, visits)
        finally:
            server.close()


class _Server:
    """A listener and the visitors that it has."""

    def __init__(self, address: str, port: int, say: Callable[[str], None], limits: Limits) -> None:
        self._place = (address, port)
        self._say = say
        self._limits = limits
        self._lock = threading.Lock()
        self._saying = threading.Lock()
        self._visitors: dict[sockets.socket, tuple[str, threading.Thread]] = {}
        self._visits = 0
        self._measures = False
        #: Whose measurement continues, and until when others wait for its next visit.
        self._kept_for = ""
        self._kept_until = 0.0

    def accept(self, listener: sockets.socket, visits: int | None) -> None:
        """Accept visitors until there were enough visits."""
        listener.settimeout(None if visits is None else _LOOK_S)
        while visits is None or self._visits < visits:
            try:
                visitor, peer = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                # It was gone before it was taken in, or there are no descriptors left: those in use come back.
                time.sleep(_LOOK_S)
                continue
            # The scope of a local address says where it is reached, not whose it is.
            self._admit(visitor, str(peer[0]).partition("%")[0])

    def close(self) -> None:
        """Close all connections and wait for their threads."""
        with self._lock:
            there = list(self._visitors.items())
        for visitor, _ in there:
            with contextlib.suppress(OSError):
                visitor.shutdown(sockets.SHUT_RDWR)
        for _, (_, thread) in there:
            # Ctrl-C may have come before it was started.
            if thread.is_alive():
                thread.join(self._limits.patience_s)

    def _admit(self, visitor: sockets.socket, peer: str) -> None:
        with self._lock:
            of_one = Counter(name for name, _ in self._visitors.values())[peer]
            full = len(self._visitors) >= self._limits.visitors or of_one >= self._limits.of_one
            if not full:
                thread = threading.Thread(target=self._visit, args=(visitor, peer), name="visit", daemon=True)
                self._visitors[visitor] = (peer, thread)
        if not full:
            try:
                thread.start()
            except RuntimeError:
                # The system has no room for another thread.
                full = True
        if full:
            self._refuse(visitor, _BUSY, within_s=0.0)
            self._forget(visitor)

    def _visit(self, visitor: sockets.socket, peer: str) -> None:
        try:
            self._log(f"{peer}: {self._handle(visitor, peer)}")
        finally:
            self._forget(visitor)

    def _handle(self, visitor: sockets.socket, peer: str) -> str:
        """Do what a visitor asks; what to say of it."""
        patience_s = self._limits.patience_s
        talk = Talk(visitor)
        try:
            asked = _asked(talk.read(most=LONGEST_LINE, within_s=patience_s))
            with self._exclusive(peer) as keep, open_udp(*self._place) as end:
                talk.write({"ready": True}, within_s=patience_s)
                # It is over when the visitor leaves.
                bounds: dict[str, Any] = {"peer": peer, "limit_s": asked.seconds, "most": asked.most,
                                          "idle_s": asked.idle, "stop": visitor.fileno()}  # fmt: skip
                if asked.do == "echo":
                    count = echo_udp(end, **bounds)
                    answer: dict[str, Any] = {"echoed": count}
                    said = f"{count} datagrams sent back"
                else:
                    found = receive_udp(end, **bounds)
                    count = found.seq.size
                    answer = {
                        "overflowed": found.overflowed,
                        "seq": found.seq.tolist(),
                        "received_ns": found.received_ns.tolist(),
                    }
                    said = f"{count} datagrams received"
                if count:
                    keep()
            if _left(visitor):
                return "gone: it left before the answer"
            talk.write(answer, within_s=patience_s)
        except (_RefusedError, TightlinkError) as error:
            self._refuse(visitor, str(error), within_s=patience_s)
            return f"refused: {error}"
        except TooLongError:
            self._refuse(visitor, _STRANGE, within_s=patience_s)
            return f"refused: {_STRANGE}"
        except TimeoutError:
            return "gone: too slow"
        except (OSError, ValueError) as error:
            return f"gone: {error}"
        with self._lock:
            self._visits += 1
        return said

    @contextlib.contextmanager
    def _exclusive(self, peer: str) -> Iterator[Callable[[], None]]:
        """Have the link for one visit; the function that it gives keeps it for the next one of the same measurement."""
        with self._lock:
            kept = self._kept_for != peer and time.monotonic() < self._kept_until
            if self._measures or kept:
                raise _RefusedError(_BUSY)
            self._measures = True

        def keep() -> None:
            self._kept_for, self._kept_until = peer, time.monotonic() + self._limits.kept_s

        try:
            yield keep
        finally:
            with self._lock:
                self._measures = False

    @staticmethod
    def _refuse(visitor: sockets.socket, why: str, *, within_s: float) -> None:
        with contextlib.suppress(OSError):
            Talk(visitor).write({"error": why}, within_s=within_s)
            # Input that was not read would make the kernel reset the connection and discard the answer.
            visitor.shutdown(sockets.SHUT_WR)
            visitor.settimeout(0.0)
            for _ in range(_LEFT_BEHIND):
                visitor.recv(LONGEST_LINE)

    def _log(self, what: str) -> None:
        with self._saying:
            self._say(what)

    def _forget(self, visitor: sockets.socket) -> None:
        with self._lock:
            self._visitors.pop(visitor, None)
        visitor.close()


def _left(visitor: sockets.socket) -> bool:
    """Whether a visitor has closed its end."""
    visitor.settimeout(0.0)
    try:
        return not visitor.recv(1, sockets.MSG_PEEK)
    except BlockingIOError:
        return False


class _RefusedError(Exception):
    """What a visitor is told instead of what it asked for."""


def _asked(line: bytes) -> Request:
    try:
        version = Hello.model_validate_json(line).tightlink
        if version != VERSION:
            raise _RefusedError(f"this end speaks version {VERSION}, not {version}: install the same version on both")
        asked = Request.model_validate_json(line)
    except ValidationError:
        raise _RefusedError(_STRANGE) from None
    if not (0 < asked.most <= MOST_DATAGRAMS and all(0 < each <= MOST_SECONDS for each in (asked.seconds, asked.idle))):
        raise _RefusedError(f"expected at most {MOST_DATAGRAMS} datagrams in {MOST_SECONDS:g} s")
    return asked
