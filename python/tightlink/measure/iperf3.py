"""iperf3 as a witness: one test at a time, with a limit of time, and what it says in SI.

Its traps: an error comes as JSON on standard output, sometimes with exit code 0; warnings on standard error break JSON
where both are merged; a server that has ended a test is busy with it for a moment, and listens nowhere for another one;
``-w`` sets the sender's buffer, whose own overhead counts, so that the window is what was asked for to −10 to +25 %
with full segments, and far less with small ones; of UDP the received bytes are those that were sent.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink.errors import TightlinkError
from tightlink.measure.child import run

PORT: Final = 5201
#: Beyond the time of the test: a server that hangs is given up.
_PATIENCE_S: Final = 15.0
#: For the connection; iperf3 itself would wait for minutes.
_CONNECT_MS: Final = 5000
#: For how long a server is asked again that is between two tests, one of which may have been ours.
_BETWEEN_S: Final = 3.0
#: What is said of it: that it has a test; or that nobody listens there, which may be so for good where nobody ever did.
_BETWEEN: Final = ("busy running a test", "Connection reset by peer")
_NOBODY: Final = "Connection refused"
_answered: Final[set[tuple[str, int]]] = set()


class Iperf3Error(TightlinkError):
    """A test that did not come to its end; the text says why."""


@dataclass(frozen=True)
class Stream:
    """A connection of a test."""

    goodput_bps: float
    retransmitted: int
    rtt_mean_s: float | None
    """None where the server sent."""


@dataclass(frozen=True)
class Transfer:
    """A test over TCP, as its receiver saw it."""

    goodput_bps: float
    seconds: float
    congestion: str
    streams: tuple[Stream, ...]
    version: str


@dataclass(frozen=True)
class Datagrams:
    """A test over UDP, as its receiver saw it."""

    sent: int
    received: int
    seconds: float
    jitter_s: float
    """The interarrival jitter of RFC 3550 at the end."""
    version: str

    @property
    def lost(self) -> int:
        """Datagrams that did not arrive."""
        return self.sent - self.received


def transfer(  # noqa: PLR0913
    host: str,
    *,
    port: int = PORT,
    flows: int = 1,
    seconds: float = 10,
    window_bytes: int | None = None,
    congestion: str | None = None,
    reverse: bool = False,
) -> Transfer:
    """Bulk transfers side by side to an iperf3 server, or from it (``reverse``), which does not tell its RTTs then.

    The window is asked for with ``-w``; without it, and without a congestion control, the sender's kernel decides.
    """
    options = ["-P", str(flows), *(["-R"] if reverse else [])]
    options += [] if window_bytes is None else ["-w", str(window_bytes)]
    options += [] if congestion is None else ["-C", congestion]
    return transferred(_run(host, port, seconds, options))


def datagrams(host: str, *, port: int = PORT, payload_bytes: int, rate_bps: float, seconds: float = 10) -> Datagrams:
    """Datagrams with a constant rate of payload to an iperf3 server, which paces them in bursts of a millisecond."""
    options = ["-u", "-l", str(payload_bytes), "-b", str(round(rate_bps))]
    return delivered(_run(host, port, seconds, options))


def transferred(document: Mapping[str, Any]) -> Transfer:
    """A test over TCP from the document that iperf3 wrote."""
    _check(document)
    try:
        end = document["end"]
        streams = tuple(
            Stream(
                float(stream["receiver"]["bits_per_second"]),
                int(stream["sender"].get("retransmits", 0)),
                float(stream["sender"].get("mean_rtt", 0)) * 1e-6 or None,
            )
            for stream in end["streams"]
        )
        received = end["sum_received"]
        return Transfer(
            float(received["bits_per_second"]),
            float(received["seconds"]),
            str(end.get("sender_tcp_congestion", "")),
            streams,
            str(document["start"]["version"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Iperf3Error("an answer of iperf3 that cannot be understood") from None


def delivered(document: Mapping[str, Any]) -> Datagrams:
    """A test over UDP from the document that iperf3 wrote."""
    _check(document)
    try:
        total = document["end"]["sum"]
        sent, lost = int(total["packets"]), int(total["lost_packets"])
        return Datagrams(
            sent, sent - lost, float(total["seconds"]), float(total["jitter_ms"]) * 1e-3,
            str(document["start"]["version"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        raise Iperf3Error("an answer of iperf3 that cannot be understood") from None


def _check(document: Mapping[str, Any]) -> None:
    if "error" in document:
        text = str(document["error"]).strip().rstrip(".")
        raise Iperf3Error(f"iperf3: {text.removeprefix('error - ')}")


def program() -> str:
    """Where the program iperf3 is."""
    found = shutil.which("iperf3")
    if found is None:
        raise TightlinkError(
            "iperf3 is not installed here: install it (apt-get install iperf3); tightlink measure path needs none "
            "where tightlink measure serve runs"
        )
    return found


def _run(host: str, port: int, seconds: float, options: Sequence[str]) -> Mapping[str, Any]:
    until = time.monotonic() + _BETWEEN_S
    while True:
        document = _once(host, port, seconds, options)
        error = str(document.get("error", ""))
        if not error:
            _answered.add((host, port))
        passing = [*_BETWEEN, _NOBODY] if (host, port) in _answered else _BETWEEN
        if time.monotonic() > until or not any(text in error for text in passing):
            return document
        time.sleep(0.1)


def _once(host: str, port: int, seconds: float, options: Sequence[str]) -> Mapping[str, Any]:
    command = [program(), "-c", host, "-p", str(port), "-t", f"{seconds:g}"]
    try:
        done = run([*command, "--connect-timeout", str(_CONNECT_MS), "-J", *options], timeout_s=seconds + _PATIENCE_S)
    except TimeoutError:
        raise Iperf3Error(f"iperf3: no end after {seconds + _PATIENCE_S:g} s: the server hangs") from None
    try:
        document = json.loads(done.output)
    except (ValueError, RecursionError):
        said = (done.errors or done.output).strip().splitlines() or [f"exit code {done.code}"]
        raise Iperf3Error(f"iperf3: {said[-1].removeprefix('iperf3: ')}") from None
    if not isinstance(document, dict):
        raise Iperf3Error("an answer of iperf3 that cannot be understood")
    return document
