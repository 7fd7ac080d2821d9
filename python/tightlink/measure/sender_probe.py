"""The probe as the sender of a scenario: exact windows, exact times, delays of every datagram.

Its sockets are those of the hosts; its loops are threads of this process, which run without Python's lock.
"""

from __future__ import annotations

import contextlib
import os
import socket as sockets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from tightlink.errors import TightlinkError
from tightlink.measure import probe
from tightlink.measure.datagrams import of_flow
from tightlink.measure.probe_sockets import can_advertise
from tightlink.measure.relay import InvalidMeasurementError
from tightlink.measure.sending import Address, Job, Sent
from tightlink.measure.settings import UDP_HEADER
from tightlink.measure.testbed import Bed
from tightlink.measure.traffic import (
    Constant,
    ReceivedFlow,
    SentFlow,
    TcpFlow,
    TcpReceived,
    TcpSent,
    Times,
    UdpFlow,
    UdpReceived,
    UdpSent,
)

_NS: Final = 1e9
_MICRO: Final = 1e-6
#: What the loops may take beyond the flows' own times, in seconds.
_MARGIN_S: Final = 30.0
#: What is outstanding at the end may take as long, in seconds.
_DRAINS_S: Final = 3.0
#: Below the relay's, above what usually runs.
_REAL_TIME: Final = 30
_NICEST: Final = -19
#: Datagrams per second of which the senders do not keep a processor from others.
_MOST_URGENT: Final = 20_000
_LARGEST_BUFFER: Final = 1 << 22
#: In bytes: SOCK_MIN_RCVBUF.
_SMALLEST_ADVERTISED: Final = 4096
#: After so long a receiver's window is what it was asked for, in seconds, but for this share of the time.
_SETTLES_S: Final = 1.0
_SMALLER_SHARE: Final = 0.05
#: A flow that begins later than this after its time is late, in seconds.
_LATE_S: Final = 0.25


@dataclass
class _Loop:
    """A loop of the probe in a thread, and what came of it."""

    thread: threading.Thread
    result: Any = None
    error: BaseException | None = None


class Probe:
    """Flows sent by our own probe."""

    name = "probe"
    times_transfers = True

    def __init__(self) -> None:
        self._loops: dict[str, _Loop] = {}
        self._ends: dict[int, tuple[Address, Address]] = {}
        self._open = contextlib.ExitStack()
        #: The pipe by which loops are told to end: its read end, and its write end until they are.
        self._stopped = -1
        self._stop: int | None = None
        self._begin_ns = 0
        self._sample_s = 0.1
        #: Monotonic time + this = time of day.
        self._clock_ns = time.time_ns() - time.monotonic_ns()

    def check(self, jobs: Sequence[Job]) -> None:
        """It sends all kinds."""

    def prepare(self, bed: Bed, jobs: Sequence[Job], *, sample_s: float) -> None:
        """Open all sockets and start the receivers."""
        self._sample_s = sample_s
        self._stopped, self._stop = os.pipe()
        self._open.callback(os.close, self._stopped)
        self._open.callback(os.close, self._stop)
        self._most_s = max(job.stop_s for job in jobs) + _MARGIN_S
        self._tcp = [job for job in jobs if job.tcp]
        self._datagrams = [job for job in jobs if not job.tcp]
        self._senders = [self._sending(bed, job) for job in (*self._tcp, *self._datagrams)]
        if self._tcp:
            listeners = [self._listening(bed, job) for job in self._tcp]
            windows = [job.window_bytes if _is_advertised(job) else None for job in self._tcp]
            received = partial(probe.receive_tcp, listeners, flows=len(listeners), windows=windows, **self._limits())
            self._start("tcp received", received, urgent=True)
        for job in self._datagrams:
            end = self._open.enter_context(bed.socket(job.receiver, sockets.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                end.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, _LARGEST_BUFFER)
            end.bind(job.target)
            self._start(f"udp received {job.index}", partial(probe.receive_udp, end, **self._limits()))

    def begin(self, begin_ns: int) -> None:
        """Start the senders; the scenario begins at a time of ``time.monotonic_ns()``."""
        self._begin_ns = begin_ns
        tcp, datagrams = self._senders[: len(self._tcp)], self._senders[len(self._tcp) :]
        given = {"begin_ns": begin_ns, **self._limits()}
        if tcp:
            flows = [_tcp_flow(job) for job in self._tcp]
            to_send = partial(probe.send_tcp, flows, sample_s=self._sample_s, ends=tcp, **given)
            self._start("tcp sent", to_send, urgent=True)
        if datagrams:
            patterns = [_udp_flow(job) for job in self._datagrams]
            # What sends nearly all the time would leave nothing to others.
            rate = sum(map(_per_second, self._datagrams))
            sending = partial(probe.send_udp, patterns, ends=datagrams, **given)
            self._start("udp sent", sending, urgent=rate < _MOST_URGENT)

    def step(self) -> None:
        """Nothing: its threads know the time."""

    def finish(self) -> None:
        """End what has not ended: the scenario is over."""
        until = time.monotonic() + _DRAINS_S
        for name in ("tcp sent", "udp sent", "tcp received"):
            if name in self._loops:
                self._loops[name].thread.join(max(0.0, until - time.monotonic()))
        self.stop()
        for loop in self._loops.values():
            if loop.error is not None:
                raise TightlinkError(f"probe: {loop.error}") from loop.error

    def results(self, first_data_s: Mapping[int, float]) -> list[Sent]:  # noqa: ARG002  # it knows better
        """What became of each flow."""
        return sorted(self._tcp_results() + self._udp_results(), key=lambda sent: sent.index)

    def ends(self) -> Mapping[int, tuple[Address, Address]]:
        """Addresses and ports of sender and receiver of each flow that was sent."""
        return self._ends

    def stop(self) -> None:
        """End everything at once, if that has not been done: the pipe's number may be another's by then."""
        stop, self._stop = self._stop, None
        if stop is None:
            return
        os.write(stop, b"x")
        for loop in self._loops.values():
            loop.thread.join()
        self._open.close()

    def facts(self) -> Mapping[str, str | float]:
        """How much later than they were due its datagrams were sent, in seconds; nothing over TCP."""
        if not self._datagrams:
            return {}
        sent: UdpSent = self._loops["udp sent"].result
        return sent.lateness()

    def _limits(self) -> dict[str, Any]:
        return {"limit_s": self._most_s, "stop": self._stopped}

    def _start(self, name: str, work: Callable[[], Any], *, urgent: bool = False) -> None:
        def run() -> None:
            if urgent:
                _be_punctual()
            try:
                loop.result = work()
            except BaseException as error:  # noqa: BLE001  # it is raised where the loop is waited for
                loop.error = error

        loop = _Loop(threading.Thread(target=run, name=name, daemon=True))
        self._loops[name] = loop
        loop.thread.start()

    def _sending(self, bed: Bed, job: Job) -> sockets.socket:
        kind = sockets.SOCK_STREAM if job.tcp else sockets.SOCK_DGRAM
        end = self._open.enter_context(bed.socket(job.sender, kind))
        end.bind((job.source, 0))
        if job.tcp:
            end.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_MAXSEG, job.payload_bytes + job.option_bytes)
        else:
            end.connect(job.target)
        self._ends[job.index] = (end.getsockname(), job.target)
        return end

    def _listening(self, bed: Bed, job: Job) -> sockets.socket:
        end = self._open.enter_context(bed.socket(job.receiver, sockets.SOCK_STREAM))
        end.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
        end.bind(job.target)
        end.listen()
        return end

    # What became of it.

    def _seconds(self, time_ns: Any) -> Any:
        """Seconds of the scenario, of a time of day."""
        return (time_ns - self._clock_ns - self._begin_ns) / _NS

    def _time_ns(self, seconds: float) -> int:
        return int(seconds * _NS) + self._begin_ns + self._clock_ns

    def _tcp_results(self) -> list[Sent]:
        if not self._tcp:
            return []
        sent: TcpSent = self._loops["tcp sent"].result
        received: TcpReceived = self._loops["tcp received"].result
        by_number = {flow.flow: flow for flow in received.flows}
        columns = sent.samples
        found = []
        for job, flow in zip(self._tcp, sent.flows, strict=True):
            own = columns["flow"] == flow.flow
            samples = {name: values[own] for name, values in columns.items() if name != "flow"}
            found.append(self._tcp_result(job, flow, by_number.get(flow.flow), samples))
        return found

    def _tcp_result(self, job: Job, flow: SentFlow, received: ReceivedFlow | None, samples: dict[str, Any]) -> Sent:
        info = flow.info
        stop_s = job.stop_s
        if job.size_bytes is not None and flow.stop_ns is not None:
            stop_s = min(stop_s, float(self._seconds(flow.stop_ns)))
        columns = {
            "start_s": job.start_s,
            "stop_s": stop_s,
            "packets_retransmitted": info.retransmitted_packets,
            "timeouts": info.timeouts,
            **flow.limited_by(has_window=job.window_bytes is not None),
        }
        began_s = None if flow.start_ns is None else float(self._seconds(flow.start_ns))
        check_begin(job.start_s, began_s, error=flow.error)
        if _is_advertised(job):
            self._check_window(job, flow, samples)
        times = self._seconds(samples["time_ns"]).tolist()
        kept = {
            "cwnd_packets": samples["cwnd_packets"],
            "in_flight_packets": samples["unacked_packets"],
            "rtt_s": samples["rtt_us"] * _MICRO,
        }
        series = {name: (times, values.tolist()) for name, values in kept.items()}
        if received is not None and stop_s > job.start_s:
            columns["goodput_bps"] = received.goodput_bps(self._time_ns(job.start_s), self._time_ns(stop_s))
            series["delivered_bytes"] = (self._seconds(received.time_ns).tolist(), received.bytes.tolist())
        # Linux counts only what it could have sent when the buffer was found full.
        buffered_s = flow.spent.window_s if job.window_bytes is None else 0.0
        kernel = {
            "busy_s": info.busy_us * _MICRO,
            "receiver_limited_s": info.receiver_limited_us * _MICRO,
            "buffer_limited_s": max(info.buffer_limited_us * _MICRO, buffered_s),
            "rtt_min_s": info.rtt_min_us * _MICRO,
        }
        done_s = None if received is None or job.size_bytes is None else self._done_s(received, job.size_bytes)
        return Sent(job.index, columns, series, [flow.error] if flow.error else [], kernel, done_s)

    def _done_s(self, received: ReceivedFlow, size_bytes: int) -> float | None:
        """When so many bytes had arrived in order."""
        place = int(received.bytes.searchsorted(size_bytes))
        return float(self._seconds(received.time_ns[place])) if place < len(received.bytes) else None

    def _check_window(self, job: Job, flow: SentFlow, samples: dict[str, Any]) -> None:
        """Whether the receiver's kernel advertised what it was asked for; where memory is short it does not."""
        began_ns = flow.connected_ns if flow.connected_ns is not None else self._begin_ns + self._clock_ns
        settled = samples["receiver_window_bytes"][samples["time_ns"] > began_ns + int(_SETTLES_S * _NS)]
        share = smaller_share(job, settled)
        if share > _SMALLER_SHARE:
            raise InvalidMeasurementError(
                f"memory: the receiver's kernel advertised less than the window of {job.window_bytes} B in {share:.0%} "
                "of the time, as it does where it is short of memory for TCP"
            )

    def _udp_results(self) -> list[Sent]:
        if not self._datagrams:
            return []
        sent: UdpSent = self._loops["udp sent"].result
        found = []
        for job in self._datagrams:
            received: UdpReceived = self._loops[f"udp received {job.index}"].result
            arrived = of_flow(job.index, sent, received)
            columns = {
                "start_s": job.start_s,
                "stop_s": job.stop_s,
                "packets_sent": arrived.sent,
                "bytes_sent": arrived.sent * (job.payload_bytes + UDP_HEADER),
                # Of the others the trace of the link knows.
                **{name: value for name, value in arrived.columns().items() if not name.startswith("packets_")},
            }
            errors = [f"the receiver had no room for {received.overflowed} datagrams"] if received.overflowed else []
            found.append(Sent(job.index, columns, {}, errors))
        if sent.refused:
            found[0].errors.append(f"the sender's host refused {sent.refused} datagrams of all flows")
        return found


def _be_punctual() -> None:
    """Give this thread the best priority that is allowed, below that of the link."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_REAL_TIME))
        return
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, _NICEST)


def check_begin(start_s: float, began_s: float | None, *, error: str | None = None) -> None:
    """Check that a flow began when it was to begin, in seconds of the scenario; one that failed need not have.

    Raises:
        InvalidMeasurementError: It began late: its sender had to wait for a processor.
    """
    if began_s is None and error is None:
        raise InvalidMeasurementError(
            f"lateness: a flow that was to begin at {start_s:g} s never began: the machine is too busy"
        )
    if began_s is not None and began_s - start_s > _LATE_S:
        raise InvalidMeasurementError(
            f"lateness: a flow began {began_s - start_s:.2f} s after its time, and at most {_LATE_S:g} s are accepted: "
            "the machine is too busy"
        )


def smaller_share(job: Job, advertised_bytes: Any) -> float:
    """How often a receiver's kernel advertised less than the window that it was asked for, but for two segments."""
    wanted = (job.window_bytes or 0) - 2 * job.payload_bytes
    return float((advertised_bytes < wanted).mean()) if advertised_bytes.size else 0.0


def _is_advertised(job: Job) -> bool:
    """Whether the receiver's kernel keeps the window: it takes none that is smaller than some."""
    window = job.window_bytes
    return window is not None and window >= _SMALLEST_ADVERTISED and can_advertise(window)


def _tcp_flow(job: Job) -> TcpFlow:
    return TcpFlow(
        to=job.target,
        flow=job.index,
        start_s=job.start_s,
        stop_s=job.stop_s,
        size_bytes=job.size_bytes,
        window_bytes=job.window_bytes,
        receiver_keeps_window=_is_advertised(job),
        segment_bytes=job.payload_bytes,
        pattern=job.pattern,
        congestion=job.congestion,
    )


def _paced(job: Job) -> Constant | Times:
    if job.pattern is None:
        raise AssertionError("datagrams are paced")
    return job.pattern


def _per_second(job: Job) -> float:
    """Datagrams per second, of random ones their mean."""
    pattern = _paced(job)
    if isinstance(pattern, Constant):
        return 1 / pattern.interval_s
    return len(pattern.at_s) / (job.stop_s - job.start_s)


def _udp_flow(job: Job) -> UdpFlow:
    return UdpFlow(
        to=job.target,
        payload_bytes=job.payload_bytes,
        pattern=_paced(job),
        flow=job.index,
        start_s=job.start_s,
        stop_s=job.stop_s,
    )
