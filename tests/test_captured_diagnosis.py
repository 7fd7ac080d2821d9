"""What is said of captured flows: handshakes, slow start, idle applications, windows, resets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import captures
import tightlink as tl
from captured_flows import (
    BULK,
    ENDS,
    FULL_SEGMENT,
    MS,
    OPTIONS,
    PATH,
    SEGMENT,
    captured,
    captured_upload,
    flow,
    segment_at,
    sentence,
)
from captures import ACK, RST, SYN

if TYPE_CHECKING:
    from collections.abc import Callable

    Said = Callable[..., tuple[int, str, str]]


def test_lost_syns_are_a_slow_handshake(tmp_path: Path) -> None:
    found = sentence(tmp_path, [segment_at(0, SYN, 0, 0), *flow(1000, rounds=10)])
    assert "likely" not in found.partition(";")[0]
    assert "the handshake took about 1.04 s" in found
    assert "a SYN was retransmitted" in found
    assert "losses" not in found


def test_a_lost_syn_is_told_where_the_first_data_follow_at_once(tmp_path: Path) -> None:
    """Samples are of 20 ms: the second SYN and the data are in one."""
    found = sentence(tmp_path, [segment_at(0, SYN, 0, 0), *flow(1001, behind_ms=5.0, rounds=10)])
    assert "the handshake took about 1 s" in found
    assert "a SYN was retransmitted" in found
    # A pause between handshake and data is none.
    later = flow(1001, behind_ms=5.0, rounds=10)[3:]
    assert "SYN" not in sentence(tmp_path, [*flow(0, behind_ms=5.0, rounds=0), *later])


def _in_slow_start(begin_ms: float = 0.0, *, wait_ms: float = 0.0) -> list[captures.Timed]:
    """Windows of ten and of twenty segments over a path of 40 ms, some time after the handshake."""
    found, reached = flow(begin_ms, rounds=0), 1
    for begin, window in ((40.1, 10), (80.1, 20)):
        for place in range(window):
            time, reached = begin_ms + wait_ms + begin + place * 0.01, reached + FULL_SEGMENT
            found.append(segment_at(time, ACK, reached - FULL_SEGMENT, 1, FULL_SEGMENT))
            found.append(segment_at(time + 39.8, ACK, 1, reached, back=True))
    return found


@pytest.mark.parametrize(("rate", "told"), [("100 Mbit/s", True), ("1 Mbit/s", False)])
def test_a_short_download_is_in_slow_start_at_its_receiver_too(tmp_path: Path, rate: str, *, told: bool) -> None:
    """Two hundred segments: windows of 10, 20, 40, 80 and 160 hold them, if the link does not take longer."""
    scenario = tl.loads(PATH + BULK).set_all({"link.far.rate": rate, "traffic.up.bytes": "300 kB"})
    tl.simulate(scenario, pcap=tmp_path / "receiver.pcap", pcap_at=["receiver"])
    found = tl.capture(tmp_path / "receiver.pcap").why()
    assert ("slow start is not over: the transfer ends after 5 round trips" in found.sentence) == told
    assert found.causes[0].name == ("slow_start" if told else "saturated_link")


def test_slow_start_lasts_no_longer_than_a_flow_sends(tmp_path: Path) -> None:
    assert "likely slow start is not over: the transfer ends after 3 round trips" in sentence(
        tmp_path, _in_slow_start()
    )
    lost = sentence(tmp_path, [segment_at(0, SYN, 0, 0), *_in_slow_start(1000)])
    assert "a SYN was retransmitted; slow start is not over: the transfer ends after 3 round trips" in lost


def test_acks_that_wait_for_an_answer_tell_of_no_queue(tmp_path: Path) -> None:
    """Requests of a segment, which are acknowledged with answers 20 ms after they arrived."""
    found = flow(rounds=0)
    for number in range(20):
        time, reached = 40.1 + 100 * number, 1 + 100 * (number + 1)
        found.append(segment_at(time, ACK, reached - 100, 1 + 50 * number, 100))
        found.append(segment_at(time + 60, ACK, 1 + 50 * number, reached, 50, back=True))
        found.append(segment_at(time + 60.1, ACK, reached, 51 + 50 * number))
    asked = captured(tmp_path, found).why("10.0.0.1:5000-10.0.0.2:80")
    assert asked.delay is None
    assert "their ACKs may wait for the answer: RTTs of 60 ms (median; 40 ms at least)" in asked.sentence


@pytest.mark.parametrize("behind_ms", [40, 20, 0.01])
def test_a_wait_before_the_first_data_is_the_applications(tmp_path: Path, behind_ms: float) -> None:
    """At the sender, in the middle and at the receiver: a server that takes two seconds to answer."""
    before = 40 - behind_ms
    found = flow(before_ms=before, behind_ms=behind_ms, rounds=0)
    for frame in flow(2000, before_ms=before, behind_ms=behind_ms, rounds=3)[3:]:
        found.append(frame)
    said = sentence(tmp_path, found)
    assert "likely the application has nothing to send: nothing is in flight 9" in said
    assert "slow start" not in said


def _short(number: int, payload: int) -> list[captures.Timed]:
    """A connection of 40 ms from another port, in which one segment is sent."""
    sent = [
        (SYN, 0, 0, 0, False),
        (SYN | ACK, 0, 1, 0, True),
        (ACK, 1, 1, payload, False),
        (ACK, 1, 1 + payload, 0, True),
    ]
    found = []
    for place, (flags, seq, ack, length, back) in enumerate(sent):
        ports = (6000 + number, 80)
        segment = captures.tcp(
            ports[::-1] if back else ports, seq, ack, flags, 60_000, length, OPTIONS if flags & SYN else b""
        )
        packet = captures.ipv4(*(ENDS[::-1] if back else ENDS), captures.TCP, segment)
        found.append(((1000 * number + (0, 40, 40, 80)[place]) * MS + place, captures.ethernet(packet)))
    return found


@pytest.mark.parametrize(("connections", "said"), [(5, 5), (6, 1), (300, 1)])
def test_many_short_connections_are_told_of_together(tmp_path: Path, connections: int, said: int) -> None:
    run = captured(tmp_path, [frame for one in range(connections) for frame in _short(one, 500 + one % 50)])
    found = run.why().diagnoses
    assert len(found) == said
    assert sorted(flow for diagnosis in found for flow in diagnosis.flows) == sorted(run.flows["label"])
    sizes = f"500 to {min(549, 499 + connections)}" if said == 1 else "504"
    assert f"at most {sizes} bytes are in flight" in found[0].sentence
    # Each of them is still told of by itself.
    assert "at most 503 bytes are in flight" in run.why("10.0.0.1:6003-10.0.0.2:80").sentence


def test_what_was_refused_is_told_once(tmp_path: Path) -> None:
    found = []
    for port in range(1, 4):
        for back, flags in ((False, SYN), (True, RST | ACK)):
            ports, ends = ((port, 5000), ENDS[::-1]) if back else ((5000, port), ENDS)
            segment = captures.tcp(ports, 0, int(back), flags, 0, 0)
            found.append((port * MS + back, captures.ethernet(captures.ipv4(*ends, captures.TCP, segment))))
    assert sentence(tmp_path, found) == (
        "3 flows, 10.0.0.1:5000-10.0.0.2:1, 10.0.0.1:5000-10.0.0.2:2 and 10.0.0.1:5000-10.0.0.2:3: the connection was "
        "refused."
    )


def test_a_reset_after_the_end_is_no_time_of_the_flow(tmp_path: Path) -> None:
    found = sentence(tmp_path, [*flow(), segment_at(6000, RST | ACK, 1, 1 + 200 * SEGMENT, back=True)])
    assert "has nothing to send" not in found
    assert "the connection was reset by 10.0.0.2" in found


@pytest.mark.parametrize(
    ("window", "said"),
    [
        (11_000, "likely the receiver's window of 11000 bytes (median; 60000 at most) is full, at most 2.2 Mbit/s at the path's"),
        (50_000, "nothing is lost, and its window, 50000 bytes (median), has room"),
    ],
)  # fmt: skip
def test_the_windows_behind_the_handshake_count_at_the_receiver(tmp_path: Path, window: int, said: str) -> None:
    assert said in sentence(tmp_path, flow(before_ms=40, behind_ms=0.01, window=window))


def test_the_receivers_window_over_time(tmp_path: Path) -> None:
    """The smallest of each interval; nothing of a RST, whose window is zero, and where the scale is not known."""
    frames = [*flow(window=50_000), segment_at(2000, RST | ACK, 1, 1 + 200 * SEGMENT, back=True, window=0)]
    frames.append(segment_at(405, ACK, 1, 1 + 80 * SEGMENT, back=True, window=7000))
    windows = []
    for first in (0, 3):
        series = captured(tmp_path, sorted(frames)[first:], interval="10 ms").series
        windows.append(series.filter(series["metric"] == "receiver_window_bytes").select("time_s", "value").rows())
    (small,) = [row for row in windows[0] if row[1] != 50_000]
    assert small == (pytest.approx(0.41), 7000)
    assert len(windows[0]) > 20
    assert windows[1] == []


def test_a_flow_asked_for_is_told_with_the_errors_that_its_sender_got(tmp_path: Path) -> None:
    """Segments of full size that never get through, and ICMP messages of a router."""
    found = flow(rounds=0)
    found += [segment_at(time, ACK, 1, 1, FULL_SEGMENT) for time in (50, 300, 900, 2100)]
    # An ACK that says nothing new: the other end is there.
    found.append(segment_at(2200, ACK, 1, 1, back=True))
    found.append((int(51 * MS), captures.ethernet(captures.ipv4("10.0.0.9", ENDS[0], 1, bytes(36)))))
    run = captured(tmp_path, sorted(found))
    assert "10.0.0.9 sent the sender ICMP messages" in run.why("10.0.0.1:5000-10.0.0.2:80").sentence
    assert run.why("10.0.0.1:5000-10.0.0.2:80").diagnoses[0] in run.why().diagnoses
    assert len(run.why("10.0.0.9-10.0.0.1").diagnoses) == 1


def test_a_receiver_that_reads_no_more(tmp_path: Path) -> None:
    """The window closes with the last ACK; what passes behind it are probes."""
    known = flow(rounds=5)
    last, reached = known[-1][0] / MS, 1 + 50 * SEGMENT
    probes = [segment_at(last + 1, ACK, 1, reached, back=True, window=0)]
    for time in (200, 600, 1400, 3000):
        probes.append(segment_at(last + time, ACK, reached - 1, 1))
        probes.append(segment_at(last + time + 40, ACK, 1, reached, back=True, window=0))
    for first in (0, 3):  # with the handshake, and without
        found = sentence(tmp_path, [*known[first:], *probes])
        assert found.startswith("10.0.0.1:5000-10.0.0.2:80: its receiver closed its window, and the last 3.0")
        assert "slow start" not in found


def test_the_table_has_the_round_trips_of_the_sentence_above_it(tmp_path: Path, said: Said) -> None:
    lossy = {"link.up.loss": "5 %", "link.up.queue": "30 kB", "traffic.a.tcp.congestion": "bbr"}
    captured_upload(tmp_path, lossy)
    connections = tl.capture(tmp_path / "a.pcapng").table("connections").sort("payload_bytes", descending=True)
    samples = tl.capture(tmp_path / "a.pcapng").flows.sort("bytes_sent", descending=True)
    waits_s, median_s = connections["rtt_median_s"][0], samples["rtt_p50_s"][0]
    assert waits_s > 1.05 * median_s
    _, out, _ = said("capture", str(tmp_path / "a.pcapng"))
    assert tl.units.format_time(float(f"{median_s:.4g}")) in out


#: A download whose ACKs wait behind an upload for a second, so that windows arrive in bursts; and one that pauses itself.
_UPLOAD: Final = """
profile = "linux"
duration = "24 s"
link.dsl = { ends = ["internet", "pc"], network = "dsl" }
traffic.up = { kind = "bulk", from = "pc", to = "internet" }
"""
_BULK_DOWN: Final = 'traffic.down = { kind = "bulk", from = "internet", to = "pc" }'
_PAUSES: Final = (
    'traffic.down = { kind = "on-off", from = "internet", to = "pc", rate = "12 Mbit/s", on = "1 s", off = "3 s", '
    'tcp.congestion = "cubic" }'
)


@pytest.mark.parametrize(
    ("down", "up", "cause"), [(_BULK_DOWN, "0 s", "saturated_link"), (_PAUSES, "23.9 s", "application")]
)
def test_what_lies_between_windows_is_no_pause_of_the_application(
    tmp_path: Path, down: str, up: str, cause: str
) -> None:
    """At the receiver nothing is in flight between the windows of a long round trip."""
    scenario = tl.loads(_UPLOAD + down).set("traffic.up.start", up)
    tl.simulate(scenario, pcap=tmp_path / "pc.pcap", pcap_at=["pc"])
    run = tl.capture(tmp_path / "pc.pcap")
    pauses = run.table("connections")["idle_beyond_rtt_s"].max()
    assert isinstance(pauses, float)
    assert pauses > 6
    found = next(each for each in run.why().diagnoses if each.flows[0].startswith("10.0.0.1:"))
    assert found.causes[0].name == cause
