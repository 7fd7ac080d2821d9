"""Senders of measurements: what they send, their windows, when they began, and how iperf3 ends."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import tightlink as tl
from in_real_time import needs_links
from measured import FTP
from tightlink.measure import machine, results, sender_iperf3
from tightlink.measure.measuring import measure
from tightlink.measure.plan import Plan
from tightlink.measure.relay import InvalidMeasurementError
from tightlink.measure.sender_probe import Probe, check_begin, smaller_share
from tightlink.measure.sending import jobs, not_kept
from tightlink.measure.traffic import Constant

if TYPE_CHECKING:
    from tightlink.measure.testbed import Bed


@needs_links
def test_without_iperf3_the_other_sender_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(tl.TightlinkError, match=r"^iperf3 is not installed; the sender probe needs no program$"):
        measure(tl.loads(FTP), sender="iperf3")


def test_windows_are_the_scenarios_unless_they_are_the_kernels_own() -> None:
    (job,) = jobs(Plan.of(tl.loads(FTP)))
    assert (job.window_bytes, job.reaches_window) == (20_000, True)
    assert job.payload_bytes == 1000
    assert job.option_bytes == 12
    # 20 packets in the queue, 5 on the way, 10 to spare.
    (free,) = jobs(Plan.of(tl.loads(FTP.replace('20 packets" } }', '60 packets" } }'))))
    assert (free.window_bytes, free.reaches_window) == (60_000, False)
    (own,) = jobs(Plan.of(tl.loads(FTP.replace(', window = "20 packets" } }', " } }"))))
    assert own.window_bytes is None
    assert not_kept([job, free, own]) == []
    long = FTP.replace("2 Mbit/s", "400 Mbit/s").replace("10 ms", "100 ms")
    (window,) = jobs(Plan.of(tl.loads(long.replace('window = "20 packets"', 'window = "3 MiB"'))))
    assert not_kept([window]) == ["windows of 3 MiB and more are as large as the receiver's kernel has them: ftp"]


def test_a_sender_that_has_ended_tells_nobody_else_to() -> None:
    class Loopback:
        def socket(self, _host: str, kind: socket.SocketKind) -> socket.socket:
            return socket.socket(socket.AF_INET, kind)

    (job,) = jobs(Plan.of(tl.loads(FTP)))
    probe = Probe()
    probe.prepare(cast("Bed", Loopback()), [replace(job, source="127.0.0.1", target=("127.0.0.1", 0))], sample_s=0.1)
    probe.stop()
    # What another measurement opens gets the numbers that are free again.
    pipes = [os.pipe2(os.O_NONBLOCK) for _ in range(8)]
    probe.stop()
    for reading, writing in pipes:
        os.close(writing)
        assert os.read(reading, 1) == b""
        os.close(reading)


def test_a_window_that_the_kernel_does_not_keep_is_noticed() -> None:
    (job,) = jobs(Plan.of(tl.loads(FTP)))
    assert job.window_bytes == 20_000
    # Short of memory, Linux advertises four segments.
    assert smaller_share(job, np.array([20_000, 19_000, 4_000, 4_000])) == 0.5
    assert smaller_share(job, np.array([])) == 0


def test_a_flow_that_begins_late_invalidates_a_measurement() -> None:
    check_begin(0.5, 0.51)
    check_begin(0.5, None, error="connection refused")
    with pytest.raises(
        InvalidMeasurementError, match=r"^lateness: a flow began 0\.30 s after its time, and at most 0\.25 s"
    ):
        check_begin(0.5, 0.8)
    with pytest.raises(InvalidMeasurementError, match=r"^lateness: a flow that was to begin at 0\.5 s never began"):
        check_begin(0.5, None)


def test_packets_are_as_large_as_in_the_scenario(one_flow: str) -> None:
    """ns-2's datagrams have no headers: what it sends as payload is the size of the packet."""
    text = one_flow.replace('kind = "bulk"', 'kind = "cbr"').partition(", tcp =")[0] + ', rate = "1 Mbit/s" }\n'
    (job,) = jobs(Plan.of(tl.loads(text)))
    assert job.payload_bytes == 1000 - 28
    assert job.pattern == Constant(0.008)


def test_what_saturates_is_as_fast_as_its_interface() -> None:
    text = """
duration = "1 s"
link.near = { ends = ["a", "x"], rate = "100 Mbit/s", framing = { overhead = "38 B", smallest = "84 B" } }
link.wire = { ends = ["x", "b"], rate = "2 Mbit/s" }
traffic.all = { kind = "saturate", from = "a", to = "b", udp.datagram = "962 B" }
"""
    (job,) = jobs(Plan.of(tl.loads(text)))
    assert job.pattern == Constant(80e-6)


def test_iperf3_says_what_it_does_otherwise() -> None:
    sized = tl.loads(FTP.replace('start = "0.1 s"', 'start = "0.1 s", bytes = "200003 B"').replace("1000 B", "1448 B"))
    found = sender_iperf3.warnings(jobs(Plan.of(sized)))
    assert [text.partition(":")[0] for text in found] == [
        "iperf3 keeps windows to about 10 %",
        "iperf3 ends when all is written, not when all has arrived",
        "iperf3 writes whole blocks",
    ]


def test_iperf3_errors_are_sentences() -> None:
    with pytest.raises(tl.TightlinkError, match=r"^iperf3 for ftp: unable to connect to server$"):
        sender_iperf3._read(json.dumps({"error": "unable to connect to server"}), "iperf3 for ftp")
    with pytest.raises(tl.TightlinkError, match=r"^iperf3 for ftp ended without a word$"):
        sender_iperf3._read("", "iperf3 for ftp")
    ended = {"error": "interrupt - the client has terminated", "intervals": []}
    assert sender_iperf3._read(json.dumps(ended), "iperf3 for ftp") == ended


class Told:
    """A program of iperf3 that ends after a time, or when it is told to."""

    def __init__(self, *, ends_s: float = math.inf, code: int = 0, output: str = '{"intervals": []}') -> None:
        self.ends_s, self.signals, self.waited_s = ends_s, list[int](), 0.0
        self.said = SimpleNamespace(code=code, output=output)

    def wait(self, timeout_s: float) -> int:
        self.waited_s = max(self.waited_s, timeout_s)
        if not self.signals and self.ends_s > timeout_s:
            raise TimeoutError
        return 0

    def signal(self, number: int) -> None:
        self.signals.append(number)

    def finish(self, _: float) -> SimpleNamespace:
        return self.said


def test_iperf3_servers_have_time_to_end_and_those_without_a_client_are_told_to() -> None:
    busy, silent, alone, unheard = Told(ends_s=8.0), Told(), Told(), Told()
    sender = sender_iperf3.Iperf3()
    (job,) = jobs(Plan.of(tl.loads(FTP)))
    # The last client was ended before it could say anything: its flow began as the scenario ended.
    begun = Told(ends_s=0.0, code=-signal.SIGINT, output="")
    for server, client in ((busy, Told(ends_s=0.0)), (silent, Told(ends_s=0.0)), (alone, None), (unheard, begun)):
        sender._pairs.append(sender_iperf3._Pair(job, cast("Any", server), cast("Any", client)))
    sender.finish()
    assert busy.signals == []
    assert [each.signals for each in (silent, alone, unheard)] == [[signal.SIGINT]] * 3
    assert (alone.waited_s, unheard.waited_s) == (0, 0)


def test_what_is_missing_is_known() -> None:
    machine.missing.cache_clear()
    assert machine.missing("ping") in {None, "ping is not installed"}


def test_a_flow_that_delivered_nothing_has_no_goodput() -> None:
    assert results._delivered([], [], [0.1, 0.2]).tolist() == [0.0, 0.0]
    assert results._delivered([1.0, 3.0], [0, 100], [0.5, 2.0, 4.0]).tolist() == [0.0, 50.0, 100.0]
