"""Where on its path a flow was captured, as the handshake and the ACKs tell: at either end, or between."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

import pytest

import captures
import tightlink as tl
from captured_flows import BULK, FULL_SEGMENT, MS, PATH, captured, flow, segment_at, sentence
from captures import ACK, SYN, TCP, ethernet, ipv4, tcp
from tightlink.diagnosis import vantage


def test_an_answer_that_comes_late_is_no_capture_at_the_receiver(tmp_path: Path) -> None:
    first, *others = flow(180)
    found = sentence(tmp_path, [(0, first[1]), *others])
    assert "receiver" not in found
    assert "a shortest RTT of 40 ms" in found or "of which the shortest is 40 ms" in found


def test_a_capture_in_the_middle_has_the_round_trip_of_both_sides(tmp_path: Path) -> None:
    found = sentence(tmp_path, flow(before_ms=30, behind_ms=20))
    assert "has nothing to send" not in found
    assert "of the path's shortest RTT of 50 ms, 30 ms are on the sender's side of the capture point" in found


def _at_a_steady_rate(segment: int, behind_ms: float = 0.5) -> list[captures.Timed]:
    """A segment each 1.2 ms, over a path of 0.5 ms, or the rest of it behind the capture point."""
    found = [segment_at(0, SYN, 0, 0), segment_at(behind_ms, SYN | ACK, 0, 1, back=True), segment_at(0.5, ACK, 1, 1)]
    for place in range(300):
        time, reached = 1 + place * 1.2, 1 + (place + 1) * segment
        found += [
            segment_at(time, ACK, reached - segment, 1, segment), segment_at(time + behind_ms, ACK, 1, reached, back=True)
        ]  # fmt: skip
    return found


def test_a_queue_before_the_capture_is_not_called_an_idle_application(tmp_path: Path) -> None:
    found = sentence(tmp_path, _at_a_steady_rate(FULL_SEGMENT))
    assert "what bounds the rate cannot be told: nothing is in flight 58 % of the time, at a steady rate" in found
    assert "the sender's own link carries no more" in found
    for behind_ms in (0.3, 0.01):
        found = sentence(tmp_path, _at_a_steady_rate(FULL_SEGMENT, behind_ms))
        assert "a link before the capture point carries no more, of which a capture behind it does not see" in found
    assert "what bounds the rate cannot be told: nothing is in flight 57 % of the time, at a steady rate" in found
    # A sender that has more to send does not send half a segment.
    for behind_ms in (0.5, 0.3, 0.01):
        found = sentence(tmp_path, _at_a_steady_rate(FULL_SEGMENT // 2, behind_ms))
        assert "likely the application" in found
        assert "link" not in found


_CROSSED: Final = [
    # RFC 9293 §3.5, figure 7: at the end that sends data, whose SYN leaves 5 ms before that of the other one arrives.
    (0, SYN, 99, 0, False), (25, SYN, 499, 0, True), (25.01, SYN | ACK, 99, 500, False), (40, SYN | ACK, 499, 100, True),
    (40.01, ACK, 100, 500, False),
]  # fmt: skip


@pytest.mark.parametrize(("behind_ms", "place"), [(40, "sender"), (25, "between"), (0.02, "receiver")])
def test_connections_that_both_ends_opened(tmp_path: Path, behind_ms: float, place: str) -> None:
    """Their SYNs cross on a path of 40 ms, of which a part is behind the capture point."""
    before = (40 - behind_ms) / 2
    found = []
    for time, flags, seq, ack, back in _CROSSED:
        found.append(segment_at(time - before if back else time + before, flags, seq, ack, back=back))
    for number in range(20):
        time, reached = 41 + before + 45 * number, 100 + 1000 * (number + 1)
        found.append(segment_at(time, ACK, reached - 1000, 500, 1000))
        found.append(segment_at(time + behind_ms, ACK, 500, reached, back=True))
    run = captured(tmp_path, sorted((when + 100 * MS, frame) for when, frame in found))
    (one,) = run.table("connections").iter_rows(named=True)
    assert (one["label"], one["state"]) == ("10.0.0.1:5000-10.0.0.2:80", "open")
    assert one["initial_rtt_s"] == pytest.approx(0.04, abs=3e-5)
    assert vantage.place({**run.flows.row(0, named=True), **one}) == place
    # An answer to a SYN has the number of the SYN before it, and is none again.
    assert run.flows["packets_retransmitted"].to_list() == [0]
    assert "retransmitted" not in run.why().sentence


def test_nothing_of_a_path_is_before_a_sender_whose_handshake_took_what_hosts_take() -> None:
    """Of a real transfer between namespaces of one machine, captured where it was sent."""
    row = {
        "state": "open", "acks": 14_000, "initial_rtt_s": 22e-6, "rtt_min_s": 5e-6, "rtt_median_s": 44e-6, "rtt_max_s": 7.8e-3,
        "rtt_prompt_p95_s": 90e-6, "rtt_samples": 4511, "lost_segments": 0, "rtt_echoed_min_s": 2e-6,
        "rtt_echoed_median_s": 14e-6, "window_max_bytes": 3 << 20, "mss_bytes": 1460, "goodput_bps": 5e9, "idle_s": 0.0,
        "in_flight_max_bytes": 1 << 20,
    }  # fmt: skip
    assert vantage.place(row) == "sender"


def test_a_handshake_of_hosts_that_took_as_long_on_both_sides_does_not_tell_the_place() -> None:
    """Of an upload by iperf3 between namespaces of one machine, captured where it was sent."""
    row = {
        "state": "reset", "acks": 250, "initial_rtt_s": 19e-6, "rtt_min_s": 2e-6, "rtt_median_s": 3e-6, "rtt_max_s": 311e-6,
        "rtt_prompt_p95_s": 47e-6, "rtt_samples": 249, "lost_segments": 0, "rtt_echoed_min_s": 17e-6,
        "rtt_echoed_median_s": 26e-6, "window_max_bytes": 3 << 20, "mss_bytes": 1460, "goodput_bps": 18e9, "idle_s": 0.0037,
        "start_s": 0.0, "stop_s": 0.008, "in_flight_max_bytes": 1_303_200, "handshake_behind_s": 12e-6,
    }  # fmt: skip
    assert vantage.place(row) == "unknown"
    # Where a SYN was answered at once, it was at the receiver.
    assert vantage.place({**row, "handshake_behind_s": 2e-6}) == "receiver"


def test_a_path_shorter_than_what_hosts_take_does_not_tell_the_place(tmp_path: Path) -> None:
    """The handshake of two hosts on one machine takes 50 us, and ACKs come after 10, at either end."""
    found = [segment_at(0, SYN, 0, 0), segment_at(0.04, SYN | ACK, 0, 1, back=True), segment_at(0.05, ACK, 1, 1)]
    for number in range(3):
        time, asked, answered = 1 + number, 1 + 100 * (number + 1), 1 + 50 * (number + 1)
        found += [
            segment_at(time, ACK, asked - 100, answered - 50, 100),
            segment_at(time + 0.01, ACK, answered - 50, asked, back=True),
            segment_at(time + 0.1, ACK, answered - 50, asked, 50, back=True),
            segment_at(time + 0.11, ACK, asked, answered),
        ]
    found_of = captured(tmp_path, found).why().sentence
    assert "captured at the receiver" not in found_of
    assert "likely the application has nothing to send" in found_of
    assert "the handshake took no longer than hosts do, and RTTs of 0.01 ms may be the receiver's own delay" in found_of


@pytest.mark.parametrize("near_ms", [3, 10])
def test_a_queue_before_a_capture_near_the_sender_is_the_paths(tmp_path: Path, near_ms: int) -> None:
    """Less than a quarter of the path lies before the capture point, and its queue with it."""
    scenario = tl.loads(PATH + BULK).set_all(
        {
            "link.near.delay": f"{near_ms} ms",
            "link.near.rate": "10 Mbit/s",
            "link.near.queue": "100 packets",
            "link.far.delay": f"{30 - near_ms} ms",
            "link.far.rate": "100 Mbit/s",
        }
    )
    waits = tl.simulate(scenario, pcap=tmp_path / "between.pcap", pcap_at=["between"]).why().delay
    found = tl.capture(tmp_path / "between.pcap").why()
    assert "likely a link of the path is saturated" in found.sentence
    assert f"of the path's shortest RTT of 60 ms, {2 * near_ms}.1 ms are" in found.sentence
    assert waits is not None
    assert found.delay is not None
    assert found.delay.mean_s == pytest.approx(waits.mean_s, rel=0.05)
    assert found.delay.p95_s == pytest.approx(waits.p95_s, rel=0.05)


def test_timestamps_tell_the_queue_of_the_senders_own_link(tmp_path: Path) -> None:
    """A link of a microsecond is the host's own, behind whose queue it captures: next to nothing is in flight there."""
    scenario = tl.loads(PATH + BULK).set_all(
        {"link.near.delay": "1 us", "link.near.rate": "10 Mbit/s", "link.near.queue": "100 packets"}
    )
    scenario = scenario.set_all({"link.far.delay": "100 us", "link.far.rate": "1 Gbit/s"})
    waits = tl.simulate(scenario, pcap=tmp_path / "host.pcap", pcap_at=["between"]).why().delay
    run = tl.capture(tmp_path / "host.pcap")
    found = run.why()
    assert "likely a link of the path is saturated" in found.sentence
    assert "capture" not in found.sentence.replace("in what was captured: lost before the capture point", "")
    assert waits is not None
    assert found.delay is not None
    assert found.delay.mean_s == pytest.approx(waits.mean_s, rel=0.05)


def test_acks_that_leave_at_once_tell_a_receiver(tmp_path: Path) -> None:
    """A simulated host acknowledges within no time, but for the segments behind a gap."""
    scenario = tl.loads(PATH + BULK).set("link.far.loss", "0.3 %").set("link.far.queue", "50 kB")
    tl.simulate(scenario, pcap=tmp_path / "receiver.pcap", pcap_at=["receiver"])
    run = tl.capture(tmp_path / "receiver.pcap")
    (one,) = run.table("connections").iter_rows(named=True)
    assert one["rtt_samples"] > 0.9 * one["acks"] - one["duplicate_acks"]
    assert (one["rtt_min_s"], one["rtt_median_s"], run.flows["rtt_p50_s"][0]) == (0, 0, 0)
    assert "captured at the receiver" in run.why().sentence
    assert "has nothing to send" not in run.why().sentence


@pytest.mark.parametrize(("answered_us", "place"), [(71, "sender"), (8, "receiver")])
def test_parts_of_a_short_handshake_tell_where_a_capture_was_taken(
    tmp_path: Path, answered_us: int, place: str
) -> None:
    """On one machine the first round trip takes several times as long as later ones; a gap hides which these are."""
    stamps = b"\1\1\10\12" + struct.pack(">II", 7, 7)
    offers = b"\2\4\5\xb4\1\3\3\7" + stamps
    a, b, there, back = "10.0.0.1", "10.0.0.2", (5000, 80), (80, 5000)
    steps = [
        (0, a, tcp(there, 99, 0, SYN, 65535, options=offers)),
        (answered_us, b, tcp(back, 499, 100, SYN | ACK, 65535, options=offers)),
        (82, a, tcp(there, 100, 500, ACK, 500, options=stamps)),
    ]
    for turn in range(60):
        at, seq = 200 + 80 * turn, 100 + 1000 * (turn + (turn > 30))
        ticks = b"\1\1\10\12" + struct.pack(">II", 8 + turn, 7 + turn)
        steps += [
            (at, a, tcp(there, seq, 500, ACK, 500, 1000, options=ticks)),
            (at + 10, b, tcp(back, 500, seq + 1000, ACK, 500, options=ticks)),
        ]
    ends = {a: b, b: a}
    frames = [(10**18 + at * 1000, ethernet(ipv4(end, ends[end], TCP, segment))) for at, end, segment in steps]
    run = captured(tmp_path, frames)
    assert run.table("connections")["lost_segments"][0] == 1
    assert ("captured at the receiver" in run.why().sentence) == (place == "receiver")
