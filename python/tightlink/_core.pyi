"""The compiled engine."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Ack",
    "CaptureError",
    "ControlError",
    "EngineError",
    "Handshake",
    "Loss",
    "Outcome",
    "RateSample",
    "Report",
    "ScenarioError",
    "capture",
    "completions",
    "congestion",
    "congestion_options",
    "congestion_recoveries",
    "departures",
    "digest",
    "engine_behaviour",
    "fill",
    "interrupt",
    "metrics",
    "probe_tcp_receive",
    "probe_tcp_send",
    "probe_udp_echo",
    "probe_udp_receive",
    "probe_udp_send",
    "queues",
    "reads_marks",
    "recoveries",
    "relay",
    "simulate",
    "threads",
    "write_parquet",
]

_Values: TypeAlias = NDArray[np.float64] | NDArray[np.int64] | Sequence[str]

engine_behaviour: int

class ScenarioError(ValueError):
    """What only the engine can see to be wrong with a scenario."""

class ControlError(RuntimeError):
    """What went wrong in a congestion control written in Python, and where; the cause says why."""

class EngineError(RuntimeError):
    """A mistake of the engine itself: what went wrong, and where in its code."""

@final
class Report:
    """What happened to a connection since the last report: a round trip, and before it a recovery if there was one."""

    now_s: float
    """When, in seconds."""
    interval_s: float
    """Since the last report, in seconds."""
    delivered: float
    """Packets acknowledged since then."""
    marked: float
    """Those of them that had a congestion mark, as far as ACKs tell."""
    in_flight: float
    """Packets outstanding."""
    rtt_s: float
    """The mean round-trip time of the ACKs since then, in seconds."""
    rtt_min_s: float
    """The smallest of them, in seconds."""
    rtt_base_s: float
    """The smallest of the connection, in seconds."""
    in_use: bool
    """Whether the window was in use, so that its size tells something of the path."""

@final
class Handshake:
    """The SYN was acknowledged."""

    now_s: float
    """When, in seconds."""
    rtt_s: float
    """How long after it was sent, in seconds."""

@final
class Ack:
    """An ACK that acknowledged new data."""

    now_s: float
    """When it arrived, in seconds."""
    acked: float
    """Packets that it acknowledges, but for marked ones; 1 under profile ns2, which counts ACKs."""
    marked: float
    """Packets that had a congestion mark, as far as it tells a class with ``on_mark``; not among those above."""
    rtt_s: float
    """The round-trip time that its timestamp tells, in seconds."""
    in_flight: float
    """Packets outstanding before it came."""
    through: int
    """The last packet that it acknowledges, counted from 1."""
    highest: int
    """The highest packet that was sent before it came: an ACK through that one ends a round trip."""
    in_use: bool
    """Whether the window was in use."""

@final
class Loss:
    """A loss that the sender has detected."""

    now_s: float
    """When it was detected, in seconds."""
    in_use: float
    """Packets of the window in use then: what a cut starts from; not a truth value, as that of reports and ACKs."""
    marked: bool
    """Whether it is a mark: one that ``on_mark`` is told, or that is a loss to a class without it."""

@final
class RateSample:
    """A sample of the delivery rate, of the flight of the packet that was sent last of those that an ACK tells of.

    See draft-cheng-iccrg-delivery-rate-estimation.
    """

    now_s: float
    """When the ACK arrived, in seconds."""
    sent_s: float
    """When that packet was sent, in seconds."""
    rate: float
    """The delivery rate, in packets per second; 0 if it cannot be told."""
    delivered: float
    """Packets delivered in the span of the sample."""
    prior_delivered: float
    """Packets delivered in all when that packet was sent: one that is sent after a round trip began ends it."""
    total_delivered: float
    """Packets delivered in all."""
    rtt_s: float | None
    """The round-trip time of that packet in seconds; None if it was sent more than once, also in the first sample."""
    newly_delivered: float
    """Packets of which this ACK tells for the first time, acknowledged or selectively."""
    newly_lost: float
    """Packets that were found lost since the sample before."""
    lost: float
    """Packets that were found lost in the span of the sample."""
    sent_in_flight: float
    """Packets in flight when that packet had been sent, itself included."""
    in_flight: float
    """Packets in flight now: sent, and neither delivered nor lost."""
    app_limited: bool
    """Whether the application had too little to send, so that the path may be faster."""
    recovering: bool
    """Whether losses are being mended."""

@final
class Outcome:
    """The tables and the manifest of one run."""

    @property
    def tables(self) -> list[str]:
        """Names of the tables that the run has."""

    @property
    def until_s(self) -> float | None:
        """The simulated time at which the run was interrupted, in seconds, if it was."""

    def table(self, name: str) -> dict[str, NDArray[Any] | list[str] | tuple[NDArray[np.uint32], list[str]]]:
        """A table, column by column in order; (codes, words) where few words repeat."""

    def manifest(self) -> str:
        """The manifest as JSON, without the scenario."""

    def write(self, directory: str) -> None:
        """Write each table to DIRECTORY/NAME.parquet."""

    def row(self, texts: Mapping[str, str]) -> bytes:
        """A Parquet file of one row, its checksum to be filled in: texts, then each table as a list of structs."""

def simulate(
    scenario: str,
    *,
    trace: bool = False,
    tr: Path | None = None,
    pcap: Path | None = None,
    pcap_at: Sequence[int] | None = None,
    threads: int | None = None,
    make: Callable[[str, dict[str, float], str, int, int, float, float], object] | None = None,
    watch: Callable[[float, int | None, int | None], None] | None = None,
    part: bool = False,
) -> Outcome:
    """Simulate a resolved scenario, given as JSON.

    ``tr`` is a file in ns-2's format, ``pcap`` a capture: of each flow at the host that sends it, or of all packets at
    the nodes with the numbers ``pcap_at``.
    ``make`` makes the congestion controls that are written in Python, of a name and options. ``watch`` hears now and
    then of the simulated seconds, the packet-hops and the sources that send, in a run with users or scatter. With
    ``part`` such a run that is interrupted has its tables until then.
    """

def completions(
    scenario: str, seen: Sequence[tuple[float | None, int, int]]
) -> dict[str, dict[str, NDArray[Any] | list[str] | tuple[NDArray[np.uint32], list[str]]]]:
    """The tables of transfers of a resolved scenario, given as JSON, that were measured: none without transfers.

    Of each of its flows is given how long its bytes took in seconds, if they arrived, packets retransmitted, timeouts.
    """

def threads(scenario: str, threads: int | None = None) -> tuple[int, float, float, float, float | None]:
    """The threads that a run of a resolved scenario uses, of at most so many.

    Then the share of the load of the heaviest part of the network, the seconds of simulated time after which the parts
    meet, the packet-hops in these, and of flows how long a run takes, in seconds, that tries them.
    Raises `ScenarioError` where several threads cannot be used.
    """

def fill(scenario: str) -> str:
    """Fill in the quantities of a scenario that depend on others, such as bandwidth-delay products: JSON in, JSON out.

    Raises:
        ScenarioError: There is none: what was expected, key and value, or a whole sentence.
    """

def interrupt(on: bool) -> None:
    """End the runs of all threads, which raise KeyboardInterrupt, until it is called with False."""

def write_parquet(path: str, columns: Mapping[str, _Values]) -> None:
    """Write columns as a Parquet file, in which a checksum is still to be filled in."""

def digest(columns: Mapping[str, _Values]) -> str:
    """A digest of columns: equal for equal names and values."""

def congestion() -> list[tuple[str, str]]:
    """Names of the congestion controls, with a line of help each."""

def congestion_options(name: str) -> list[tuple[str, str, float, float, float, str]]:
    """Options of a congestion control: name, unit, default, smallest and largest value, help."""

def reads_marks(name: str) -> bool:
    """Whether a congestion control needs congestion marks; not, if it is not known."""

def congestion_recoveries(name: str) -> list[str]:
    """The kinds of loss recovery that a congestion control works with; none of a name that is not known."""

def queues() -> list[tuple[str, str]]:
    """Names of the queue disciplines, with a line of help each."""

def recoveries() -> list[tuple[str, str]]:
    """Names of the kinds of loss recovery, with a line of help each."""

def metrics() -> list[tuple[str, str]]:
    """Names of the metrics of the time series, with a line of help each."""

def departures(flow: str, seed: int) -> NDArray[np.float64] | None:
    """When a flow with a clock offers its packets of one size, in seconds; nothing for other traffic.

    Args:
        flow: As resolved, as JSON.
        seed: Of the scenario.
    """

# Emulated links.

def relay(spec: str, ports: Sequence[int], *, stop: int, trace: int | None = None) -> str:
    """Be what lies between ports until its duration is over or ``stop`` becomes readable; what it did, as JSON.

    Args:
        spec: Of the relay, as JSON (crates/relay/src/spec.rs).
        ports: Descriptors of which each read gives a packet: TUN devices, datagram sockets, packet sockets.
        stop: Descriptor of a socket, to which a byte is written when the relay begins.
        trace: Descriptor of an empty file, to which the trace is written as a Parquet table.

    Raises:
        ScenarioError: The specification cannot be understood or emulated.
        OSError: A port does not work, or the trace cannot be written.
    """

# Real traffic of our own.

_Found: TypeAlias = tuple[str, dict[str, NDArray[np.int64]]]

def probe_tcp_send(spec: str, sockets: Sequence[int], *, limit_s: float, stop: int | None = None) -> _Found:
    """Send over TCP sockets that are not connected: a summary as JSON, and samples."""

def probe_tcp_receive(spec: str, sockets: Sequence[int], *, limit_s: float, stop: int | None = None) -> _Found:
    """Receive on listening TCP sockets: a summary as JSON, and what had arrived by when."""

def probe_udp_send(spec: str, sockets: Sequence[int], *, limit_s: float, stop: int | None = None) -> _Found:
    """Send datagrams: a summary as JSON, and a row for each."""

def probe_udp_receive(spec: str, socket: int, *, limit_s: float, stop: int | None = None) -> _Found:
    """Receive datagrams on a bound socket: a summary as JSON, and a row for each."""

def probe_udp_echo(spec: str, socket: int, *, limit_s: float, stop: int | None = None) -> _Found:
    """Send the datagrams of a peer back to it: a summary as JSON."""

class CaptureError(ValueError):
    """A file that is no capture, or a damaged one."""

def capture(
    path: str | None,
    *,
    interval_ns: int,
    packets: bool = False,
    rate_bps: float | None = None,
    limits: tuple[int, int] | None = None,
    only: str | None = None,
    watch: Callable[[int, int, int], None] | None = None,
) -> Outcome:
    """Read a capture or a trace of ns-2, of standard input without a path, into an outcome.

    Its manifest tells what else was found. Series count by intervals of ``interval_ns``; with ``packets`` there is a
    row for every packet. ``rate_bps`` is the capacity of the links that were captured. ``limits`` says how
    many connections are followed at a time and how many are listed in the end. ``watch`` hears now and then of the
    packets and the bytes so far, and of how many bytes of the file these are, which may be compressed. ``only`` says
    which packets are read.

    Raises:
        ValueError: ``only`` is no end of a flow, and no two.
    """
