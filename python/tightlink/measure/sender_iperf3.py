"""iperf3 as the sender of a scenario: the witness that users trust.

Each flow has its own client and server, so that flows start and stop by themselves. What iperf3 cannot do shows:
its connections for control share the link, its data start a few round trips after its start, its times are whole
seconds, and ``-w`` sets a socket's buffer, of which the window is a part that depends on the kernel's bookkeeping.
"""

from __future__ import annotations

import json
import math
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tightlink.errors import ScenarioError, TightlinkError
from tightlink.measure.programs import Program
from tightlink.measure.sending import Address, Job, Sent
from tightlink.measure.testbed import Bed
from tightlink.measure.traffic import Constant, Times

_MICRO: Final = 1e-6
#: Port from which the data of flow i leave: this plus i.
_FIRST_SOURCE: Final = 6201
#: With segments of at least so many bytes the kernel's bookkeeping takes about as much as the data.
_FULL_SIZE: Final = 1400
#: Of iperf3: its own header in a datagram; its shortest interval of reports, in seconds.
_LEAST_DATAGRAM: Final = 16
_SHORTEST: Final = 0.1
#: What it may take to listen, and to say how it went, in seconds.
_PATIENCE_S: Final = 10.0
#: How often it looks whether a datagram is due, in microseconds; a datagram every so many looks.
_OFTENEST_US: Final = 10
_SELDOMEST_US: Final = 1000
_LOOKS: Final = 4
#: What it writes at a time.
_BLOCK: Final = 1 << 17
#: What it calls an error where it was told to end, or its other end was.
_ENDINGS: Final = ("interrupt", "the client has terminated", "the server has terminated")


@dataclass
class _Pair:
    """The two programs of a flow."""

    job: Job
    server: Program
    client: Program | None = None
    ended: bool = False
    #: What the two said.
    sent: dict[str, Any] = field(default_factory=dict)
    received: dict[str, Any] = field(default_factory=dict)


class Iperf3:
    """Flows sent by iperf3, a client and a server each."""

    name = "iperf3"
    times_transfers = False

    def __init__(self) -> None:
        self._pairs: list[_Pair] = []
        self._bed: Bed | None = None
        self._sample_s = _SHORTEST
        self._begin_ns = 0

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse flows that iperf3 does not send, and a machine without it."""
        if shutil.which(self.name) is None:
            raise TightlinkError(f"{self.name} is not installed; the sender probe needs no program")
        for job in jobs:
            if isinstance(job.pattern, Times):
                text = (
                    "iperf3 sends bulk, saturate and cbr at a constant interval only; the sender probe sends this, too"
                )
                raise ScenarioError(text, key=f"traffic.{job.label}", statement=True)
            if not job.tcp and job.payload_bytes < _LEAST_DATAGRAM:
                expected = f"at least {_LEAST_DATAGRAM} B of payload, which iperf3 needs"
                raise ScenarioError(expected, key=f"traffic.{job.label}.udp", value=f"{job.payload_bytes} B")

    def prepare(self, bed: Bed, jobs: Sequence[Job], *, sample_s: float) -> None:
        """Start iperf3's servers, one for each flow."""
        self._bed, self._sample_s = bed, max(_SHORTEST, sample_s)
        for job in jobs:
            address, port = job.target
            argv = ["iperf3", "-s", "-1", "-J", "-B", address, "-p", str(port), "-i", str(self._sample_s)]
            self._pairs.append(_Pair(job, bed.popen(job.receiver, argv)))
        for pair in self._pairs:
            _await_listener(bed, pair)

    def begin(self, begin_ns: int) -> None:
        """Be told when the scenario begins, a time of ``time.monotonic_ns()``, soon."""
        self._begin_ns = begin_ns

    def step(self) -> None:
        """Start the clients whose flows start, and end those whose flows stop."""
        now_s = (time.monotonic_ns() - self._begin_ns) / 1e9
        for pair in self._pairs:
            if pair.client is None and now_s >= pair.job.start_s:
                pair.client = self._client(pair.job)
            if pair.client is not None and not pair.ended and now_s >= pair.job.stop_s:
                pair.client.signal(signal.SIGINT)
                pair.ended = True

    def finish(self) -> None:
        """End what has not ended: the scenario is over."""
        for pair in self._pairs:
            if pair.client is not None:
                if not pair.ended:
                    pair.client.signal(signal.SIGINT)
                said = pair.client.finish(_PATIENCE_S)
                # One that has just begun does not know yet what to say of an interrupt, nor has it sent anything.
                if said.output or said.code != -signal.SIGINT:
                    pair.sent = _read(said.output, f"iperf3 for {pair.job.label}")
        until_s = time.monotonic() + _PATIENCE_S
        for pair in self._pairs:
            # Its client has told it to end, and a signal while it ends would make it fail; without one it listens.
            if not (pair.sent and _ends(pair.server, until_s)):
                pair.server.signal(signal.SIGINT)
            pair.received = _read(pair.server.finish(_PATIENCE_S).output, f"iperf3 for {pair.job.label}")

    def stop(self) -> None:
        """End everything at once."""
        for pair in self._pairs:
            for program in (pair.client, pair.server):
                if program is not None:
                    program.stop()

    def ends(self) -> Mapping[int, tuple[Address, Address]]:
        """Addresses and ports of sender and receiver of each flow that was sent; its connection for control is none."""
        return {
            pair.job.index: ((pair.job.source, _FIRST_SOURCE + pair.job.index), pair.job.target) for pair in self._pairs
        }

    def facts(self) -> Mapping[str, str | float]:
        """The version of iperf3, where it said one."""
        for pair in self._pairs:
            if pair.received:
                return {"version": str(pair.received["start"].get("version", ""))}
        return {}

    def results(self, first_data_s: Mapping[int, float]) -> list[Sent]:
        """What became of each flow; its times count from its first data."""
        return [_result(pair, first_data_s.get(pair.job.index)) for pair in self._pairs]

    def _client(self, job: Job) -> Program:
        address, port = job.target
        argv = ["iperf3", "-c", address, "-p", str(port), "-B", job.source, "--cport", str(_FIRST_SOURCE + job.index)]
        argv += ["-J", "-i", f"{self._sample_s:g}"]
        if job.size_bytes is None:
            # Whole seconds, which `step` ends in time.
            argv += ["-t", str(math.ceil(job.stop_s - job.start_s) + 1)]
        else:
            argv += ["-n", str(job.size_bytes)]
        argv += _of_tcp(job) if job.tcp else ["-u"]
        argv += _pace(job.pattern, job.payload_bytes) if isinstance(job.pattern, Constant) else []
        if self._bed is None:
            raise AssertionError("it is prepared before it begins")
        return self._bed.popen(job.sender, argv)


def _ends(program: Program, until_s: float) -> bool:
    """Whether it ends without a signal, until a time of ``time.monotonic()``."""
    try:
        program.wait(max(0.0, until_s - time.monotonic()))
    except TimeoutError:
        return False
    return True


def _clamps(job: Job) -> bool:
    """Whether ``-w`` does what it should, more or less."""
    return _wants(job) and job.payload_bytes >= _FULL_SIZE


def _wants(job: Job) -> bool:
    return job.window_bytes is not None and job.reaches_window


def warnings(jobs: Sequence[Job]) -> list[str]:
    """What iperf3 does otherwise than the scenario says."""
    sized = [job for job in jobs if job.tcp and job.size_bytes is not None]
    uneven = [job for job in sized if int(job.size_bytes or 0) % _block(int(job.size_bytes or 0))]
    said = {
        "keeps windows to about 10 %: {}; the sender probe keeps them to the packet": list(filter(_clamps, jobs)),
        f"keeps no window with segments below {_FULL_SIZE} B: {{}} have what the kernel gives them; the sender probe "
        "keeps them to the packet": [job for job in jobs if _wants(job) and not _clamps(job)],
        "ends when all is written, not when all has arrived: {} may lack their last packets": sized,
        "writes whole blocks: {} send a little more than their bytes": uneven,
    }
    return [f"iperf3 {text.format(', '.join(job.label for job in of))}" for text, of in said.items() if of]


def _block(size: int) -> int:
    """The largest block of which a transfer is a multiple; a usual one if there is none of a fair size."""
    return next((block for block in range(min(size, _BLOCK), _FULL_SIZE, -1) if size % block == 0), min(size, _BLOCK))


def _of_tcp(job: Job) -> list[str]:
    argv = ["-C", job.congestion, "-M", str(job.payload_bytes + job.option_bytes)]
    if job.size_bytes is not None:
        argv += ["-l", str(_block(job.size_bytes))]
    return argv + (["-w", str(job.window_bytes)] if _clamps(job) else [])


def _pace(pattern: Constant, payload_bytes: int) -> list[str]:
    """Writes of a packet each, at an interval."""
    rate, wait_us = 8 * payload_bytes / pattern.interval_s, pattern.interval_s / _MICRO / _LOOKS
    look_us = min(_SELDOMEST_US, max(_OFTENEST_US, round(wait_us)))
    return ["-l", str(payload_bytes), "-b", f"{rate:.0f}", "--pacing-timer", str(look_us)]


def _await_listener(bed: Bed, pair: _Pair) -> None:
    """Wait until a server listens, as its table of sockets says."""
    address, port = pair.job.target
    until = time.monotonic() + _PATIENCE_S
    wanted = f":{port:04X} 00000000:0000 0A"
    while wanted not in bed.run(pair.job.receiver, ["cat", "/proc/self/net/tcp"], timeout_s=_PATIENCE_S).output:
        if pair.server.poll() is not None or time.monotonic() > until:
            raise TightlinkError(f"iperf3 does not listen at {address}:{port}")


def _read(text: str, what: str) -> dict[str, Any]:
    """What it says as JSON; that it was interrupted is how it ends here.

    Of two errors the first counts: a server whose client has terminated sometimes asks the closed socket for more.
    """
    try:
        said: dict[str, Any] = json.loads(text, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    except ValueError:
        raise TightlinkError(f"{what} ended without a word") from None
    error = str(said.get("error", ""))
    if error and not error.startswith(_ENDINGS):
        raise TightlinkError(f"{what}: {error}")
    return said


def _result(pair: _Pair, zero_s: float | None) -> Sent:
    """What became of a flow, whose first data were at the link at ``zero_s``, if there were any."""
    job = pair.job
    if zero_s is None or not pair.sent.get("intervals"):
        return Sent(job.index, {"start_s": job.start_s, "stop_s": job.stop_s}, {}, ["nothing was sent"])
    last = pair.sent["end"]["streams"][0]
    stop_s = (
        job.stop_s
        if job.size_bytes is None
        else min(job.stop_s, zero_s + float(pair.sent["intervals"][-1]["sum"]["end"]))
    )
    times, arrived = [zero_s], [0.0]
    for interval in pair.received["intervals"]:
        times.append(zero_s + interval["sum"]["end"])
        arrived.append(arrived[-1] + interval["sum"]["bytes"])
    columns: dict[str, Any] = {"stop_s": stop_s}
    samples: dict[str, tuple[Sequence[float], Sequence[float]]] = {"delivered_bytes": (times, arrived)}
    if job.tcp:
        columns["packets_retransmitted"] = last["sender"]["retransmits"]
        if last["sender"].get("mean_rtt"):
            columns["rtt_mean_s"] = last["sender"]["mean_rtt"] * _MICRO
        streams = [interval["streams"][0] for interval in pair.sent["intervals"]]
        ends = [zero_s + stream["end"] for stream in streams]
        samples["cwnd_packets"] = (ends, [stream["snd_cwnd"] / job.payload_bytes for stream in streams])
        samples["rtt_s"] = (ends, [stream["rtt"] * _MICRO for stream in streams])
    else:
        udp = pair.received["end"]["streams"][0].get("udp", {})
        columns["jitter_rfc3550_s"] = udp.get("jitter_ms", 0.0) / 1000
    return Sent(job.index, columns, samples)
