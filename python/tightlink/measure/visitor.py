"""The end of a path that asks: visits to a listener, whose answers are not trusted."""

from __future__ import annotations

import contextlib
import socket as sockets
from collections.abc import Iterator
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from tightlink.errors import TightlinkError
from tightlink.measure.talk import (
    DATAGRAM_BYTES,
    LONGEST_LINE,
    PATIENCE_S,
    VERSION,
    Echoed,
    Ready,
    Received,
    Refused,
    Talk,
    TooLongError,
)
from tightlink.measure.traffic import Address

Message = TypeVar("Message", bound=BaseModel)

#: What is shown of what a listener says.
_LONGEST_REASON: Final = 200


class NobodyListensError(TightlinkError):
    """No listener of ours is reached at the other end."""

    def __init__(self, to: Address, error: OSError) -> None:
        # Only who refuses is known not to listen; a firewall may be silent.
        known = "does not listen" if isinstance(error, ConnectionRefusedError) else "is not reached"
        super().__init__(f"{to[0]}: tightlink measure serve {known} at port {to[1]} ({_reason(error)})")


class Visit:
    """A visit to a listener: from when it is ready until its answer."""

    def __init__(self, to: Address, talk: Talk, *, most: int, within_s: float) -> None:
        self._to = to
        self._talk = talk
        self._most = most
        self._within_s = within_s

    def echoed(self) -> int:
        """How many datagrams the other end says that it sent back."""
        return self._answer(Echoed).echoed

    def received(self) -> Received:
        """What the other end says that it received."""
        return self._answer(Received)

    def _answer(self, kind: type[Message]) -> Message:
        with _of(self._to):
            line = self._talk.read(most=LONGEST_LINE + DATAGRAM_BYTES * self._most, within_s=self._within_s)
        return _understood(self._to, line, kind)


@contextlib.contextmanager
def visiting(
    to: Address, do: str, *, most: int, seconds: float, idle_s: float, patience_s: float = PATIENCE_S
) -> Iterator[Visit]:
    """Ask a listener to ``echo`` or to ``receive``; within it, so many datagrams at most may be sent to its port.

    It ends after so many seconds, or when nothing arrived for ``idle_s``. Beyond that the other end may take
    ``patience_s`` for what it says.

    Raises:
        TightlinkError: Nobody listens there, or refuses.
    """
    try:
        end = sockets.create_connection(to[:2], timeout=patience_s)
    except OSError as error:
        raise NobodyListensError(to, error) from None
    with end:
        talk = Talk(end)
        with _of(to):
            request = {"tightlink": VERSION, "do": do, "most": most, "seconds": seconds, "idle": idle_s}
            talk.write(request, within_s=patience_s)
            line = talk.read(most=LONGEST_LINE, within_s=patience_s)
        _understood(to, line, Ready)
        with _of(to):
            yield Visit(to, talk, most=most, within_s=seconds + patience_s)


@contextlib.contextmanager
def _of(to: Address) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TightlinkError(f"{to[0]} port {to[1]}: the other end is gone: {_reason(error)}") from None
    except TooLongError:
        raise TightlinkError(f"{to[0]} port {to[1]}: an answer longer than there were datagrams") from None


def _reason(error: OSError) -> str:
    return "no answer" if isinstance(error, TimeoutError) else str(error.strerror or error).lower()


def _understood(to: Address, line: bytes, kind: type[Message]) -> Message:
    """An answer of the kind that was expected."""
    with contextlib.suppress(ValidationError):
        return kind.model_validate_json(line)
    try:
        why = " ".join(Refused.model_validate_json(line).error[:_LONGEST_REASON].split())
    except ValidationError:
        pass
    else:
        raise TightlinkError(f"{to[0]} port {to[1]}: the other end refuses: {why}")
    if not line.startswith(b"{"):
        raise TightlinkError(f"{to[0]} port {to[1]}: the other end is no tightlink measure serve, or has ended")
    raise TightlinkError(f"{to[0]} port {to[1]}: an answer that cannot be understood")
