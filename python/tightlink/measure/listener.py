"""What listens at the other end of a path: it receives datagrams or sends them back, for one visitor at a time.

A visitor asks over TCP, one line of JSON, and sends datagrams to the same port over UDP. It is told when they may come,
and afterwards what arrived. Nobody else's datagrams are answered or counted, never more is sent back than came, and
each visit has a limit of datagrams and of time.
"""

from __future__ import annotations

import contextlib
import json
import socket as sockets
from typing import TYPE_CHECKING, Any, Final

from tightlink.errors import TightlinkError
from tightlink.measure.probe import echo_udp, listen, open_udp, receive_udp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tightlink.measure.traffic import Address

#: Raised with every change that older ends do not understand.
VERSION: Final = 1
PORT: Final = 5202
MOST_DATAGRAMS: Final = 100_000
MOST_SECONDS: Final = 60.0
_LONGEST_LINE: Final = 1 << 12
_LONGEST_ANSWER: Final = 1 << 25
_PATIENCE_S: Final = 5.0
_COLUMNS: Final = ("seq", "received_ns")


def serve(address: str, port: int, *, visits: int | None = None, say: Callable[[str], None]) -> None:
    """Listen at an address and a port, over TCP and UDP, and serve one visitor after the other.

    Args:
        address: One of this machine's.
        port: The same for both.
        visits: After so many it ends; without it, never.
        say: Told where it listens, and of each visit.

    Raises:
        TightlinkError: The address is not ours, or the port is taken.
    """
    with listen(address, port) as listener:
        port = listener.getsockname()[1]
        open_udp(address, port).close()
        say(f"listening at {address} port {port}, TCP and UDP, and nowhere else")
        served = 0
        while visits is None or served < visits:
            visitor, peer = listener.accept()
            with visitor:
                say(f"{peer[0]}: {_visit(visitor, str(peer[0]), address, port)}")
            served += 1


def _visit(visitor: sockets.socket, peer: str, address: str, port: int) -> str:
    """Do what a visitor asks; what to say of it."""
    visitor.settimeout(_PATIENCE_S)
    try:
        with visitor.makefile("rw", encoding="utf-8", newline="\n") as talk, open_udp(address, port) as end:
            asked = _asked(talk.readline(_LONGEST_LINE))
            _tell(talk, {"ready": True})
            limits: dict[str, Any] = {"peer": peer, "limit_s": asked["seconds"], "most": asked["most"],
                                      "idle_s": asked["idle"]}  # fmt: skip
            if asked["do"] == "echo":
                count = echo_udp(end, **limits)
                _tell(talk, {"echoed": count})
                return f"{count} datagrams sent back"
            found = receive_udp(end, **limits)
            columns = {name: getattr(found, name).tolist() for name in _COLUMNS}
            _tell(talk, {"overflowed": found.overflowed, **columns})
            return f"{found.seq.size} datagrams received"
    except _Misunderstood as error:
        with contextlib.suppress(OSError):
            visitor.sendall((json.dumps({"error": str(error)}) + "\n").encode())
        return f"refused: {error}"
    except (OSError, ValueError) as error:
        return f"gone: {error}"


class _Misunderstood(Exception):  # noqa: N818
    """What a visitor asked for; the text says what was expected."""


def _asked(line: str) -> dict[str, Any]:
    try:
        asked = json.loads(line)
        version, do, most = asked["tightlink"], asked["do"], asked["most"]
        times = [asked["seconds"], asked["idle"]]
    except (ValueError, TypeError, KeyError):
        raise _Misunderstood("not a request of tightlink measure path") from None
    if version != VERSION:
        raise _Misunderstood(f"this end speaks version {VERSION}, not {version}: install the same version on both")
    if do not in {"echo", "receive"} or type(most) is not int or any(type(each) not in {int, float} for each in times):
        raise _Misunderstood("not a request of tightlink measure path")
    if not (0 < most <= MOST_DATAGRAMS and all(0 < each <= MOST_SECONDS for each in times)):
        raise _Misunderstood(f"expected at most {MOST_DATAGRAMS} datagrams in {MOST_SECONDS:g} s")
    return {"do": do, "most": most, "seconds": float(times[0]), "idle": float(times[1])}


def _tell(talk: Any, answer: dict[str, Any]) -> None:
    talk.write(json.dumps(answer) + "\n")
    talk.flush()


class Visit:
    """A visit to a listener: from when it is ready until its answer."""

    def __init__(self, talk: Any) -> None:
        self._talk = talk

    def answer(self) -> dict[str, Any]:
        """What the other end says at last.

        Raises:
            TightlinkError: It says nothing.
        """
        return _answered(self._talk)


@contextlib.contextmanager
def visiting(to: Address, do: str, *, most: int, seconds: float, idle_s: float) -> Iterator[Visit]:
    """Ask a listener for something; within it, datagrams may be sent to its port.

    Args:
        to: Its address and port.
        do: ``echo`` or ``receive``.
        most: Datagrams at most.
        seconds: Time that it may take.
        idle_s: It ends when nothing arrived for so long.

    Raises:
        TightlinkError: Nobody listens there, or refuses.
    """
    try:
        end = sockets.create_connection(to[:2], timeout=_PATIENCE_S)
    except OSError as error:
        raise NobodyListensError(to, error) from None
    with end, end.makefile("rw", encoding="utf-8", newline="\n") as talk:
        end.settimeout(seconds + _PATIENCE_S)
        with _of(to):
            _tell(talk, {"tightlink": VERSION, "do": do, "most": most, "seconds": seconds, "idle": idle_s})
            _answered(talk)
        with _of(to):
            yield Visit(talk)


class NobodyListensError(TightlinkError):
    """There is no listener of ours at the other end."""

    def __init__(self, to: Address, error: OSError) -> None:
        reason = "no answer" if isinstance(error, TimeoutError) else str(error.strerror or error).lower()
        super().__init__(f"{to[0]}: tightlink measure serve does not listen at port {to[1]} ({reason})")


@contextlib.contextmanager
def _of(to: Address) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = "no answer" if isinstance(error, TimeoutError) else str(error.strerror or error).lower()
        raise TightlinkError(f"{to[0]} port {to[1]}: the other end is gone: {reason}") from None


def _answered(talk: Any) -> dict[str, Any]:
    line = talk.readline(_LONGEST_ANSWER)
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise TightlinkError("the other end is no tightlink measure serve, or has ended")
    if "error" in answer:
        raise TightlinkError(f"the other end refuses: {answer['error']}")
    return answer
