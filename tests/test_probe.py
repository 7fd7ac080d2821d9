"""The probe on loopback: exact where it says so; and what its datagrams tell, on times that were worked out by hand."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ports import unused_port
from tightlink.errors import TightlinkError
from tightlink.measure.datagrams import of_arrivals, of_flow
from tightlink.measure.probe import echo_udp, listen, open_udp, receive_tcp, receive_udp, send_tcp, send_udp
from tightlink.measure.traffic import (
    Constant,
    OnOff,
    ReceivedFlow,
    SentFlow,
    TcpFlow,
    TcpInfo,
    Times,
    TimeSpent,
    Trains,
    UdpFlow,
)

if TYPE_CHECKING:
    from tightlink.measure.traffic import Address, Pattern, TcpReceived, TcpSent, UdpReceived, UdpSent

HERE = "127.0.0.1"
INFO = dict.fromkeys(TcpInfo.__dataclass_fields__, 0)


def transfer(*flows: TcpFlow, sample_s: float | None = None) -> tuple[TcpSent, TcpReceived]:
    to = {flow.to for flow in flows}.pop()
    with ThreadPoolExecutor() as pool, listen(*to[:2]) as listener:
        received = pool.submit(receive_tcp, [listener], flows=len(flows), limit_s=10)
        sent = send_tcp(flows, limit_s=10, sample_s=sample_s)
        return sent, received.result()


def free_port() -> Address:
    return HERE, unused_port()


def test_a_transfer_arrives_whole_and_its_goodput_can_be_cut_anywhere() -> None:
    sent, received = transfer(TcpFlow(free_port(), flow=5, size_bytes=3_000_000))
    (flow,), (found,) = sent.flows, received.flows
    assert (sent.ended, received.ended, flow.error) == ("done", "done", None)
    assert (found.flow, found.complete, found.from_) == (5, True, flow.from_)
    assert found.bytes_before(int(found.time_ns[-1]) + 1) == 3_000_000
    middle = int(found.time_ns[0] + found.time_ns[-1]) // 2
    first, last = int(found.time_ns[0]), int(found.time_ns[-1]) + 1
    parts = found.goodput_bps(first, middle) * (middle - first) + found.goodput_bps(middle, last) * (last - middle)
    assert parts == pytest.approx(8 * 3_000_000 * 1e9)


def test_the_window_is_exact_in_segments_and_limits() -> None:
    flow = TcpFlow(free_port(), stop_s=0.4, window_bytes=4000, segment_bytes=1000, congestion="reno")
    try:
        sent, _ = transfer(flow, sample_s=0.01)
    except TightlinkError as error:
        pytest.skip(str(error))
    (found,) = sent.flows
    assert found.info.segment_bytes == 1000
    assert found.outstanding_bytes <= 4000
    assert sent.samples["unacked_packets"].max() <= 4
    shares = found.limited_by()
    assert sum(share for share in shares.values() if share is not None) == pytest.approx(1)
    assert (shares["limited_by_receiver_window"] or 0) > 0.5


def test_flows_start_and_stop_when_they_shall() -> None:
    to = free_port()
    flows = [TcpFlow(to, flow=0, start_s=0.1, stop_s=0.3, window_bytes=100_000), TcpFlow(to, flow=1, size_bytes=1000)]
    sent, _ = transfer(*flows)
    began = sent.began_ns
    assert sent.flows[0].start_ns is not None
    assert sent.flows[0].stop_ns is not None
    assert sent.flows[0].start_ns - began >= 100_000_000
    assert 300_000_000 <= sent.flows[0].stop_ns - began < 2_000_000_000


def test_what_limits_a_sender_is_told_from_its_own_clock_and_the_kernels() -> None:
    def sent(spent: TimeSpent, *, has_window: bool = True, **info: int) -> dict[str, float | None]:
        flow = SentFlow(0, 0, 0, 0, None, 0, 0, TcpInfo(**{**INFO, **info}), spent, None)
        return flow.limited_by(has_window=has_window)

    shares = sent(TimeSpent(1.0, 2.0, 3.0, 4.0), receiver_limited_us=1_000_000)
    assert shares == {
        "limited_by_handshake": 0.1,
        "limited_by_application": 0.2,
        "limited_by_receiver_window": 0.4,
        "limited_by_network": None,
        "limited_by_pacing": None,
        "limited_by_sender_rate": None,
        "limited_by_congestion_window": 0.3,
    }
    assert set(sent(TimeSpent(0, 0, 0, 0)).values()) == {None}
    # Without a window of its own, what is full is the socket's send buffer.
    buffered = sent(TimeSpent(1.0, 2.0, 3.0, 4.0), has_window=False, receiver_limited_us=1_000_000)
    assert (buffered["limited_by_receiver_window"], buffered["limited_by_congestion_window"]) == (0.1, 0.6)


def test_goodput_counts_what_arrives_from_the_start_until_before_the_stop() -> None:
    flow = ReceivedFlow(
        0, "", 0, complete=True, time_ns=np.array([0, 10, 10, 30]), bytes=np.array([100, 200, 300, 400])
    )
    assert flow.goodput_bps(0, 10) == 8 * 100 / 10e-9
    assert flow.goodput_bps(10, 30) == 8 * 200 / 20e-9
    assert flow.goodput_bps(31, 50) == 0


def test_what_cannot_be_sent_says_why() -> None:
    with pytest.raises(TightlinkError, match="congestion control nonesuch: not available here"):
        send_tcp([TcpFlow((HERE, 9), congestion="nonesuch")], limit_s=1)
    with pytest.raises(ValueError, match="flow 3: expected at least 16 B to send"):
        send_tcp([TcpFlow((HERE, 9), flow=3, size_bytes=1)], limit_s=1)
    with pytest.raises(ValueError, match="flow 0: expected times above zero"):
        send_udp([UdpFlow((HERE, 9), 100, Constant(0))], limit_s=1)
    with pytest.raises(TightlinkError, match=r"192\.0\.2\.1:0: cannot listen there"):
        open_udp("192.0.2.1")
    with pytest.raises(TightlinkError, match=r"192\.0\.2\.1:7: cannot send from there"):
        send_tcp([TcpFlow((HERE, 9), from_=("192.0.2.1", 7))], limit_s=1)
    refused = send_tcp([TcpFlow(free_port())], limit_s=2)
    assert refused.flows[0].error == "connection refused"


def datagrams(*flows: UdpFlow, most: int) -> tuple[UdpSent, UdpReceived]:
    with open_udp(HERE, flows[0].to[1]) as end, ThreadPoolExecutor() as pool:
        received = pool.submit(receive_udp, end, limit_s=10, most=most, idle_s=5)
        return send_udp(flows, limit_s=10, most=most), received.result()


def test_every_pattern_sends_as_many_as_it_says() -> None:
    to = free_port()
    patterns: list[tuple[Pattern, int]] = [
        (Constant(0.01), 10),
        (Trains(packets=20, every_s=0.05), 40),
        (OnOff(on_s=0.02, off_s=0.03, interval_s=0.01), 4),
        (Times((0.0, 0.001, 0.09)), 3),
    ]
    flows = [UdpFlow(to, 200, pattern, number, stop_s=0.1) for number, (pattern, _) in enumerate(patterns)]
    total = sum(count for _, count in patterns)
    sent, received = datagrams(*flows, most=total)
    assert sent.ended == "done"
    assert (sent.refused, sent.unreachable, received.overflowed, received.foreign) == (0, 0, 0, 0)
    for flow, (_, count) in zip(flows, patterns, strict=True):
        found = of_flow(flow.flow, sent, received)
        assert (found.sent, found.lost, found.duplicates) == (count, 0, 0)
        assert found.one_way_delay_min_s is not None
        assert found.one_way_delay_min_s > 0
    trains = sent.due_ns[sent.flow == 1] - sent.began_ns
    assert set(trains.tolist()) == {0, 50_000_000}


def test_an_echo_measures_a_round_trip() -> None:
    with open_udp(HERE) as far, open_udp(HERE) as near, ThreadPoolExecutor() as pool:
        echo = pool.submit(echo_udp, far, peer=HERE, limit_s=10, most=20)
        back = pool.submit(receive_udp, near, limit_s=10, most=20)
        send_udp([UdpFlow(far.getsockname(), 64, Constant(0.005), stop_s=0.1)], limit_s=10, ends=[near])
        assert echo.result() == 20
        found = back.result()
    assert found.seq.tolist() == list(range(20))
    assert (found.received_ns > found.sent_ns).all()


def test_losses_and_jitter_are_those_of_the_tables() -> None:
    # As the engine counts them: gaps before 4, 7 and 12; what is lost after the last arrival nobody sees.
    found = of_arrivals(seq=np.array([0, 1, 4, 5, 7, 12]), delay_s=np.array([1.0, 17, 17, 1, 1, 1]), sent=20)
    assert (found.lost, found.loss_runs, found.loss_run_max) == (14, 3, 4)
    assert found.loss_run_mean == pytest.approx(7 / 3)
    assert found.jitter_mean_s == pytest.approx(32 / 5)
    step = 1.0
    expected = (((step - step / 16) * 1.0) + (16 - (step - step / 16)) / 16) * (15 / 16) ** 2
    assert found.jitter_rfc3550_s == pytest.approx(expected)
    late = of_arrivals(seq=np.array([3]), delay_s=np.array([0.1]), sent=4)
    assert (late.loss_runs, late.loss_run_max, late.jitter_mean_s, late.jitter_rfc3550_s) == (1, 3, None, 0)
    none = of_arrivals(seq=np.array([], np.int64), delay_s=np.array([]), sent=9)
    assert (none.lost, none.one_way_delay_mean_s, none.loss_runs, none.jitter_rfc3550_s) == (9, None, 0, None)
    assert none.columns()["packets_dropped"] == 9


def test_a_descriptor_ends_what_runs() -> None:
    reading, writing = os.pipe()
    with open_udp(HERE) as end:
        timer = threading.Timer(0.1, os.close, [writing])
        timer.start()
        began = time.monotonic()
        found = receive_udp(end, limit_s=20, stop=reading)
        timer.join()
    os.close(reading)
    assert found.ended == "stopped"
    assert time.monotonic() - began < 10


def test_ctrl_c_ends_it_at_once() -> None:
    program = (
        "from tightlink.measure.probe import open_udp, receive_udp\n"
        f"with open_udp('{HERE}') as end:\n"
        "    print('ready', flush=True)\n"
        "    receive_udp(end, limit_s=30)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=15)
    finally:
        child.kill()
    assert "KeyboardInterrupt" in errors


def test_strangers_do_not_count() -> None:
    with open_udp(HERE) as end, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.sendto(b"hello", end.getsockname())
        found = receive_udp(end, limit_s=0.2)
    assert (found.foreign, found.seq.size) == (1, 0)
