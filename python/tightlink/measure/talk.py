"""What a visitor and a listener say to each other over TCP: lines of JSON, each with a limit of bytes and of time.

Neither end trusts the other: a line has its schema, which pydantic checks with limits of depth and of every number, and
whoever sends a byte now and then is given up when its time is over.

Example:
    >>> import socket
    >>> one, other = socket.socketpair()
    >>> with one, other:
    ...     Talk(one).write({"error": "busy"}, within_s=1)
    ...     Refused.model_validate_json(Talk(other).read(most=100, within_s=1)).error
    'busy'
"""

from __future__ import annotations

import json
import socket as sockets
import time
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

#: Raised with every change that older ends do not understand.
VERSION: Final = 1
PORT: Final = 5202
MOST_DATAGRAMS: Final = 100_000
MOST_SECONDS: Final = 60.0
#: What a step of a conversation may take that needs no measurement.
PATIENCE_S: Final = 5.0
#: A request, and what is answered to one, are shorter.
LONGEST_LINE: Final = 1 << 12
#: A number and a time of a datagram take less in an answer.
DATAGRAM_BYTES: Final = 64
#: Times in nanoseconds up to the year 2116; their differences fit into 64 bits.
_LARGEST_NS: Final = 1 << 62

Whole = Annotated[int, Field(ge=0, le=MOST_DATAGRAMS)]


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


class Hello(_Message):
    """What every request of every version has."""

    tightlink: int = Field(ge=0, le=1_000_000)


class Request(_Message):
    """What a visitor asks for. Other keys are refused."""

    model_config = ConfigDict(extra="forbid")

    tightlink: int
    do: Literal["echo", "receive"]
    most: int
    """Datagrams at most."""
    seconds: float
    """Time that it may take."""
    idle: float
    """It ends when nothing arrived for so long."""


class Ready(_Message):
    """A listener waits for datagrams."""

    ready: Literal[True]


class Refused(_Message):
    """A listener does not do what it was asked for."""

    error: str


class Echoed(_Message):
    """What a listener did that was asked to send datagrams back."""

    echoed: Whole


class Received(_Message):
    """What a listener did that was asked to receive datagrams: numbers and times, in the order of arrival."""

    overflowed: int = Field(ge=0, le=_LARGEST_NS)
    seq: list[Whole] = Field(max_length=MOST_DATAGRAMS)
    received_ns: list[Annotated[int, Field(ge=0, le=_LARGEST_NS)]] = Field(max_length=MOST_DATAGRAMS)


class TooLongError(Exception):
    """A line that is longer than what was asked for can be."""


class Talk:
    """A conversation in lines over a connected socket."""

    def __init__(self, end: sockets.socket) -> None:
        self._end = end
        self._read = bytearray()

    def read(self, *, most: int, within_s: float) -> bytes:
        """The next line, of at most so many bytes and within a time; what there is of it where the other end closes.

        Raises:
            TimeoutError: It has not come in time.
            TooLongError: It does not end where it should.
        """
        until = time.monotonic() + within_s
        looked = 0
        while (place := self._read.find(b"\n", looked)) < 0:
            looked = len(self._read)
            if looked > most:
                break
            left_s = until - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            self._end.settimeout(left_s)
            data = self._end.recv(1 << 16)
            if not data:
                place = looked
                break
            self._read += data
        if place < 0 or place > most:
            raise TooLongError
        line = bytes(self._read[:place])
        del self._read[: place + 1]
        return line

    def write(self, message: Mapping[str, Any], *, within_s: float) -> None:
        """Send a message, one line of JSON.

        Raises:
            TimeoutError: The other end does not take it in time.
        """
        self._end.settimeout(within_s)
        self._end.sendall(json.dumps(message).encode() + b"\n")
