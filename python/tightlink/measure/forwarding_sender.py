"""What sends the datagrams that the machine's own kernel forwards: one by one, or in trains where there are too many.

The thread that sends has its own processor.
"""

from __future__ import annotations

import os
import socket as sockets
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Final

from tightlink.measure.kernel_router import stay_on
from tightlink.measure.measuring import MeasurementProgress
from tightlink.measure.plan import Plan
from tightlink.measure.probe import send_udp
from tightlink.measure.sending import Job
from tightlink.measure.settings import UDP_HEADER
from tightlink.measure.testbed import Bed
from tightlink.measure.traffic import Constant, UdpFlow
from tightlink.measure.trains import send_trains
from tightlink.progress import Watch

_NS: Final = 1e9
#: What the sender may take beyond the scenario, in seconds.
_MARGIN_S: Final = 10.0
_STEP_S: Final = 0.1
#: Datagrams per second from which on they are sent in trains: a system call for each would take too long.
IN_TRAINS: Final = 150_000


@dataclass(frozen=True)
class Work:
    """What is to be measured, where."""

    plan: Plan
    job: Job
    #: Of the sender, and of the router.
    processors: tuple[int, int]
    watch: Watch | None

    @property
    def packet_bytes(self) -> int:
        """Size of an IP packet."""
        return self.job.payload_bytes + UDP_HEADER

    @property
    def interval_s(self) -> float | None:
        """From datagram to datagram; nothing where they come as fast as can be."""
        saturates = self.plan.flows()[0]["traffic"]["kind"] == "saturate"
        return None if saturates else _constant(self.job).interval_s


@dataclass(frozen=True)
class Sending:
    """What the sender did."""

    sent: int
    facts: Mapping[str, Any]


def send(bed: Bed, work: Work, begin_ns: int) -> Sending:
    """Send the flow until it stops."""
    job = work.job
    single = work.interval_s is not None and work.interval_s * IN_TRAINS >= 1
    stopped, stop = os.pipe()

    def run() -> Sending:
        stay_on(work.processors[0])
        return _one_by_one(end, work, begin_ns, stopped) if single else _trains(end, work, begin_ns)

    with bed.socket(job.sender, sockets.SOCK_DGRAM) as end, ThreadPoolExecutor(1) as pool:
        end.bind((job.source, 0))
        end.connect(job.target)
        sending = pool.submit(run)
        try:
            _wait(sending, work, begin_ns)
        finally:
            # One of both ends it, whatever ended the wait.
            os.write(stop, b"x")
            end.close()
            wait([sending])
            os.close(stop)
            os.close(stopped)
    return sending.result()


def _wait(sending: Future[Sending], work: Work, begin_ns: int) -> None:
    duration_s = work.plan.resolved["duration_s"]
    while not sending.done():
        wait([sending], _STEP_S)
        if work.watch is not None:
            passed_s = (time.monotonic_ns() - begin_ns) / _NS
            work.watch(MeasurementProgress(min(max(0.0, passed_s), duration_s), duration_s))


def _trains(end: sockets.socket, work: Work, begin_ns: int) -> Sending:
    job = work.job
    done = send_trains(
        end,
        payload_bytes=job.payload_bytes,
        begin_ns=begin_ns + int(job.start_s * _NS),
        stop_ns=begin_ns + int(job.stop_s * _NS),
        interval_s=work.interval_s,
    )
    return Sending(done.sent, {"name": "trains", "busy": done.busy, "late_max_s": done.late_s})


def _one_by_one(end: sockets.socket, work: Work, begin_ns: int, stop: int) -> Sending:
    job = work.job
    flow = UdpFlow(job.target, job.payload_bytes, _constant(job), start_s=job.start_s, stop_s=job.stop_s)
    sent = send_udp([flow], ends=[end], begin_ns=begin_ns, limit_s=job.stop_s + _MARGIN_S, stop=stop)
    return Sending(int(sent.seq.size), {"name": "probe", **sent.lateness()})


def _constant(job: Job) -> Constant:
    if isinstance(job.pattern, Constant):
        return job.pattern
    raise AssertionError("only datagrams at a constant rate are accepted")
