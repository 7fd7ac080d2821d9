"""What is said of captures made by code: lost SYNs, outages, resets, copies, closed windows, and captures in the middle
of a path, behind the sender's own queue, or of a connection that had begun before.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import captures
import tightlink as tl
from captures import ACK, FIN, RST, SYN, TCP, ethernet, ipv4, pcap, tcp
from tightlink.diagnosis import vantage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Said = Callable[..., tuple[int, str, str]]

_MS: Final = 10**6
_SEGMENT, _FULL_SEGMENT = 1000, 1460
_OPTIONS: Final = bytes.fromhex("020405b40103030001010402")
_ENDS: Final = ("10.0.0.1", "10.0.0.2")
_PORTS: Final = (5000, 80)


def _packet(  # noqa: PLR0913
    time_ms: float, flags: int, seq: int, ack: int, payload: int = 0, *, back: bool = False, window: int = 60_000
) -> captures.Timed:
    ends, ports = (_ENDS[::-1], _PORTS[::-1]) if back else (_ENDS, _PORTS)
    segment = captures.tcp(ports, seq, ack, flags, window, payload, _OPTIONS if flags & SYN else b"")
    return int(time_ms * _MS), captures.ethernet(captures.ipv4(*ends, captures.TCP, segment))


def _flow(
    begin_ms: float = 0.0,
    *,
    before_ms: float = 0.0,
    behind_ms: float = 40.0,
    rounds: int = 20,
    pause_ms: float = 3.0,
    window: int = 60_000,
) -> list[captures.Timed]:
    """Ten segments in each round trip, of which a part is before the capture point and a part behind it."""
    whole = before_ms + behind_ms
    found = [
        _packet(begin_ms, SYN, 0, 0),
        _packet(begin_ms + behind_ms, SYN | ACK, 0, 1, back=True),
        _packet(begin_ms + whole, ACK, 1, 1),
    ]
    for place in range(rounds * 10):
        time = begin_ms + whole + 0.1 + place // 10 * (whole + pause_ms) + place % 10 * 0.1
        reached = 1 + (place + 1) * _SEGMENT
        found.append(_packet(time, ACK, reached - _SEGMENT, 1, _SEGMENT))
        found.append(_packet(time + behind_ms, ACK, 1, reached, back=True, window=window))
    return sorted(found)


def _sentence(tmp_path: Path, frames: list[captures.Timed]) -> str:
    file = tmp_path / "flow.pcap"
    file.write_bytes(captures.pcap(sorted(frames)))
    return tl.capture(file).why().diagnoses[0].sentence


def test_lost_syns_are_a_slow_handshake(tmp_path: Path) -> None:
    found = _sentence(tmp_path, [_packet(0, SYN, 0, 0), *_flow(1000, rounds=10)])
    assert "likely" not in found.partition(";")[0]
    assert "the handshake took about 1.04 s" in found
    assert "a SYN was retransmitted" in found
    assert "losses" not in found


def test_a_lost_syn_is_told_where_the_first_data_follow_at_once(tmp_path: Path) -> None:
    """Samples are of 20 ms: the second SYN and the data are in one."""
    found = _sentence(tmp_path, [_packet(0, SYN, 0, 0), *_flow(1001, behind_ms=5.0, rounds=10)])
    assert "the handshake took about 1 s" in found
    assert "a SYN was retransmitted" in found
    # A pause between handshake and data is none.
    later = _flow(1001, behind_ms=5.0, rounds=10)[3:]
    assert "SYN" not in _sentence(tmp_path, [*_flow(0, behind_ms=5.0, rounds=0), *later])


def _in_slow_start(begin_ms: float = 0.0, *, wait_ms: float = 0.0) -> list[captures.Timed]:
    """Windows of ten and of twenty segments over a path of 40 ms, some time after the handshake."""
    found, reached = _flow(begin_ms, rounds=0), 1
    for begin, window in ((40.1, 10), (80.1, 20)):
        for place in range(window):
            time, reached = begin_ms + wait_ms + begin + place * 0.01, reached + _FULL_SEGMENT
            found.append(_packet(time, ACK, reached - _FULL_SEGMENT, 1, _FULL_SEGMENT))
            found.append(_packet(time + 39.8, ACK, 1, reached, back=True))
    return found


@pytest.mark.parametrize(("rate", "told"), [("100 Mbit/s", True), ("1 Mbit/s", False)])
def test_a_short_download_is_in_slow_start_at_its_receiver_too(tmp_path: Path, rate: str, *, told: bool) -> None:
    """Two hundred segments: windows of 10, 20, 40, 80 and 160 hold them, if the link does not take longer."""
    scenario = tl.loads(_PATH + _BULK).set_all({"link.far.rate": rate, "traffic.up.bytes": "300 kB"})
    tl.simulate(scenario, pcap=tmp_path / "receiver.pcap", pcap_at=["receiver"])
    found = tl.capture(tmp_path / "receiver.pcap").why()
    assert ("slow start is not over: the transfer ends after 5 round trips" in found.sentence) == told
    assert found.causes[0].name == ("slow_start" if told else "saturated_link")


def test_slow_start_lasts_no_longer_than_a_flow_sends(tmp_path: Path) -> None:
    assert "likely slow start is not over: the transfer ends after 3 round trips" in _sentence(
        tmp_path, _in_slow_start()
    )
    lost = _sentence(tmp_path, [_packet(0, SYN, 0, 0), *_in_slow_start(1000)])
    assert "a SYN was retransmitted; slow start is not over: the transfer ends after 3 round trips" in lost


def test_acks_that_wait_for_an_answer_tell_of_no_queue(tmp_path: Path) -> None:
    """Requests of a segment, which are acknowledged with answers 20 ms after they arrived."""
    found = _flow(rounds=0)
    for number in range(20):
        time, reached = 40.1 + 100 * number, 1 + 100 * (number + 1)
        found.append(_packet(time, ACK, reached - 100, 1 + 50 * number, 100))
        found.append(_packet(time + 60, ACK, 1 + 50 * number, reached, 50, back=True))
        found.append(_packet(time + 60.1, ACK, reached, 51 + 50 * number))
    file = tmp_path / "flow.pcap"
    file.write_bytes(captures.pcap(found))
    asked = tl.capture(file).why("10.0.0.1:5000-10.0.0.2:80")
    assert asked.delay is None
    assert "their ACKs may wait for the answer: RTTs of 60 ms (median; 40 ms at least)" in asked.sentence


@pytest.mark.parametrize("behind_ms", [40, 20, 0.01])
def test_a_wait_before_the_first_data_is_the_applications(tmp_path: Path, behind_ms: float) -> None:
    """At the sender, in the middle and at the receiver: a server that takes two seconds to answer."""
    before = 40 - behind_ms
    found = _flow(before_ms=before, behind_ms=behind_ms, rounds=0)
    for frame in _flow(2000, before_ms=before, behind_ms=behind_ms, rounds=3)[3:]:
        found.append(frame)
    said = _sentence(tmp_path, found)
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
            ports[::-1] if back else ports, seq, ack, flags, 60_000, length, _OPTIONS if flags & SYN else b""
        )
        packet = captures.ipv4(*(_ENDS[::-1] if back else _ENDS), captures.TCP, segment)
        found.append(((1000 * number + (0, 40, 40, 80)[place]) * _MS + place, captures.ethernet(packet)))
    return found


@pytest.mark.parametrize(("connections", "said"), [(5, 5), (6, 1), (300, 1)])
def test_many_short_connections_are_told_of_together(tmp_path: Path, connections: int, said: int) -> None:
    file = tmp_path / "short.pcap"
    file.write_bytes(captures.pcap([frame for one in range(connections) for frame in _short(one, 500 + one % 50)]))
    run = tl.capture(file)
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
            ports, ends = ((port, 5000), _ENDS[::-1]) if back else ((5000, port), _ENDS)
            segment = captures.tcp(ports, 0, int(back), flags, 0, 0)
            found.append((port * _MS + back, captures.ethernet(captures.ipv4(*ends, captures.TCP, segment))))
    assert _sentence(tmp_path, found) == (
        "3 flows, 10.0.0.1:5000-10.0.0.2:1, 10.0.0.1:5000-10.0.0.2:2 and 10.0.0.1:5000-10.0.0.2:3: the connection was "
        "refused."
    )


def test_an_answer_that_comes_late_is_no_capture_at_the_receiver(tmp_path: Path) -> None:
    first, *others = _flow(180)
    found = _sentence(tmp_path, [(0, first[1]), *others])
    assert "receiver" not in found
    assert "a shortest RTT of 40 ms" in found or "of which the shortest is 40 ms" in found


def test_a_reset_after_the_end_is_no_time_of_the_flow(tmp_path: Path) -> None:
    found = _sentence(tmp_path, [*_flow(), _packet(6000, RST | ACK, 1, 1 + 200 * _SEGMENT, back=True)])
    assert "has nothing to send" not in found
    assert "the connection was reset by 10.0.0.2" in found


def test_an_outage_is_told_at_both_ends(tmp_path: Path) -> None:
    """At the sender retransmissions follow each other; at the receiver the first packet is one, for its ACK was lost."""
    last, reached = 20 * 43.1, 1 + 200 * _SEGMENT
    again = _packet(last + 3200, ACK, reached, 1, _SEGMENT)
    after = [again, _packet(last + 3240, ACK, 1, reached + _SEGMENT, back=True)]
    tries = [_packet(last + time, ACK, reached, 1, _SEGMENT) for time in (45, 250, 650, 1450)]
    assert "nothing gets through 78 % of the time, 3.2 s" in _sentence(tmp_path, [*_flow(), *tries, *after])
    known = _flow(before_ms=40, behind_ms=0.01)
    late = known[-1][0] / _MS + 3200
    lost = [_packet(late, ACK, reached - _SEGMENT, 1, _SEGMENT), _packet(late + 0.01, ACK, 1, reached, back=True)]
    found = _sentence(tmp_path, [*known, *lost])
    assert "nothing gets through 78 % of the time, 3.1" in found
    assert "has nothing to send" not in found


def test_a_capture_in_the_middle_has_the_round_trip_of_both_sides(tmp_path: Path) -> None:
    found = _sentence(tmp_path, _flow(before_ms=30, behind_ms=20))
    assert "has nothing to send" not in found
    assert "of the path's shortest RTT of 50 ms, 30 ms are on the sender's side of the capture point" in found


@pytest.mark.parametrize(
    ("window", "said"),
    [
        (11_000, "likely the receiver's window of 11000 bytes (median; 60000 at most) is full, at most 2.2 Mbit/s at the path's"),
        (50_000, "nothing is lost, and its window, 50000 bytes (median), has room"),
    ],
)  # fmt: skip
def test_the_windows_behind_the_handshake_count_at_the_receiver(tmp_path: Path, window: int, said: str) -> None:
    assert said in _sentence(tmp_path, _flow(before_ms=40, behind_ms=0.01, window=window))


def test_the_receivers_window_over_time(tmp_path: Path) -> None:
    """The smallest of each interval; nothing of a RST, whose window is zero, and where the scale is not known."""
    frames = [*_flow(window=50_000), _packet(2000, RST | ACK, 1, 1 + 200 * _SEGMENT, back=True, window=0)]
    frames.append(_packet(405, ACK, 1, 1 + 80 * _SEGMENT, back=True, window=7000))
    file, windows = tmp_path / "flow.pcap", []
    for first in (0, 3):
        file.write_bytes(captures.pcap(sorted(frames)[first:]))
        series = tl.capture(file, interval="10 ms").series
        windows.append(series.filter(series["metric"] == "receiver_window_bytes").select("time_s", "value").rows())
    (small,) = [row for row in windows[0] if row[1] != 50_000]
    assert small == (pytest.approx(0.41), 7000)
    assert len(windows[0]) > 20
    assert windows[1] == []


def test_copies_of_a_mirror_port_are_no_losses(tmp_path: Path) -> None:
    once = [*_flow(), _packet(2000, FIN | ACK, 1 + 200 * _SEGMENT, 1)]
    found = _sentence(tmp_path, [*once, *((time + 5000, frame) for time, frame in once)])
    assert "losses" not in found
    assert "each packet was captured twice" in found


def test_captures_of_both_ends_in_one_file_tell_no_path(tmp_path: Path) -> None:
    """What arrives is a copy of what was sent, half a round trip ago; with losses, and of a small flow beside."""
    scenario = tl.loads(_PATH + _BULK).set("link.far.loss", "0.5 %")
    scenario = scenario.set("traffic.small", {"kind": "bulk", "from": "sender", "to": "receiver", "bytes": "20 kB"})
    tl.simulate(scenario, pcap=tmp_path / "both.pcap", pcap_at=["sender", "receiver"])
    run = tl.capture(tmp_path / "both.pcap")
    (found,) = run.why().diagnoses
    assert len(found.flows) == 2
    assert "each packet was captured at two places of the path" in found.sentence
    assert "retransmitted" not in found.sentence
    # Of the small one only the other tells.
    assert [run.why(label).diagnoses[0].answer for label in found.flows] == [found.answer] * 2
    (tmp_path / "both.pcap").unlink()
    tl.simulate(scenario, pcap=tmp_path / "both.pcap", pcap_at=["sender"])
    assert "two places" not in tl.capture(tmp_path / "both.pcap").why().sentence


def test_a_flow_asked_for_is_told_with_the_errors_that_its_sender_got(tmp_path: Path) -> None:
    """Segments of full size that never get through, and ICMP messages of a router."""
    found = _flow(rounds=0)
    found += [_packet(time, ACK, 1, 1, _FULL_SEGMENT) for time in (50, 300, 900, 2100)]
    # An ACK that says nothing new: the other end is there.
    found.append(_packet(2200, ACK, 1, 1, back=True))
    found.append((int(51 * _MS), captures.ethernet(captures.ipv4("10.0.0.9", _ENDS[0], 1, bytes(36)))))
    file = tmp_path / "flow.pcap"
    file.write_bytes(captures.pcap(sorted(found)))
    run = tl.capture(file)
    assert "10.0.0.9 sent the sender ICMP messages" in run.why("10.0.0.1:5000-10.0.0.2:80").sentence
    assert run.why("10.0.0.1:5000-10.0.0.2:80").diagnoses[0] in run.why().diagnoses
    assert len(run.why("10.0.0.9-10.0.0.1").diagnoses) == 1


def test_copies_beside_pauses_are_no_outage(tmp_path: Path) -> None:
    """The copy of the first packet after a pause is nothing that a timeout retransmits, and that of a keep-alive is none."""
    once = _flow(before_ms=40, behind_ms=0.01, rounds=8, pause_ms=500)
    found = _sentence(tmp_path, [*once, *((time + 5000, frame) for time, frame in once)])
    assert "likely the application has nothing to send: nothing is in flight 9" in found
    assert "each packet was captured twice" in found


def test_what_is_lost_in_a_silence_makes_it_an_outage(tmp_path: Path) -> None:
    """At the receiver the first packet after it is new; behind that a gap shows what was lost before."""
    known = _flow(before_ms=40, behind_ms=0.01)
    late, reached = known[-1][0] / _MS + 3000, 1 + 200 * _SEGMENT
    after = []
    for time, place, in_order in ((0, 0, 1), (45, 1, 2), (45.1, 30, 2), (90, 2, 3), (90.1, 3, 4)):
        after.append(_packet(late + time, ACK, reached + place * _SEGMENT, 1, _SEGMENT))
        after.append(_packet(late + time + 0.01, ACK, 1, reached + in_order * _SEGMENT, back=True))
    found = _sentence(tmp_path, [*known, *after])
    assert "nothing gets through 75 % of the time, 2.98 s at a stretch" in found
    assert "has nothing to send" not in found
    # Nor where the capture begins later, and its place is not known.
    assert "nothing gets through 7" in _sentence(tmp_path, [*known[3:], *after])
    # What an outage lost is not said again as losses.
    assert "of the segments are retransmitted" not in found


def _at_a_steady_rate(segment: int, behind_ms: float = 0.5) -> list[captures.Timed]:
    """A segment each 1.2 ms, over a path of 0.5 ms, or the rest of it behind the capture point."""
    found = [_packet(0, SYN, 0, 0), _packet(behind_ms, SYN | ACK, 0, 1, back=True), _packet(0.5, ACK, 1, 1)]
    for place in range(300):
        time, reached = 1 + place * 1.2, 1 + (place + 1) * segment
        found += [
            _packet(time, ACK, reached - segment, 1, segment), _packet(time + behind_ms, ACK, 1, reached, back=True)
        ]  # fmt: skip
    return found


def test_a_queue_before_the_capture_is_not_called_an_idle_application(tmp_path: Path) -> None:
    found = _sentence(tmp_path, _at_a_steady_rate(_FULL_SEGMENT))
    assert "what bounds the rate cannot be told: nothing is in flight 58 % of the time, at a steady rate" in found
    assert "the sender's own link carries no more" in found
    for behind_ms in (0.3, 0.01):
        found = _sentence(tmp_path, _at_a_steady_rate(_FULL_SEGMENT, behind_ms))
        assert "a link before the capture point carries no more, of which a capture behind it does not see" in found
    assert "what bounds the rate cannot be told: nothing is in flight 57 % of the time, at a steady rate" in found
    # A sender that has more to send does not send half a segment.
    for behind_ms in (0.5, 0.3, 0.01):
        found = _sentence(tmp_path, _at_a_steady_rate(_FULL_SEGMENT // 2, behind_ms))
        assert "likely the application" in found
        assert "link" not in found


def test_a_connection_that_had_begun_before_is_not_taken_for_one_at_the_sender(tmp_path: Path) -> None:
    found = _sentence(tmp_path, _flow(before_ms=40, behind_ms=0.01)[3:])
    assert "what bounds the rate cannot be told, as it is not known where this was captured" in found
    assert "RTTs of 0.01 ms may be the receiver's own delay as well as a path's" in found
    assert "queues" not in found


def test_a_receiver_that_reads_no_more(tmp_path: Path) -> None:
    """The window closes with the last ACK; what passes behind it are probes."""
    known = _flow(rounds=5)
    last, reached = known[-1][0] / _MS, 1 + 50 * _SEGMENT
    probes = [_packet(last + 1, ACK, 1, reached, back=True, window=0)]
    for time in (200, 600, 1400, 3000):
        probes.append(_packet(last + time, ACK, reached - 1, 1))
        probes.append(_packet(last + time + 40, ACK, 1, reached, back=True, window=0))
    for first in (0, 3):  # with the handshake, and without
        found = _sentence(tmp_path, [*known[first:], *probes])
        assert found.startswith("10.0.0.1:5000-10.0.0.2:80: its receiver closed its window, and the last 3.0")
        assert "slow start" not in found


def _captured(tmp_path: Path, changes: Mapping[str, object]) -> str:
    """Why a simulated transfer is as fast as it is, as a capture at its sender tells."""
    scenario = tl.loads("""
    profile = "linux"
    duration = "10 s"
    link.up = { ends = ["home", "net"], rate = "20 Mbit/s", delay = "20 ms", queue = "300 kB" }
    traffic.a = { kind = "bulk", from = "home", to = "net" }
    """)
    tl.simulate(scenario.set_all(changes), pcap=tmp_path / "a.pcapng", pcap_at=["home"])
    run = tl.capture(tmp_path / "a.pcapng")
    return str(run.why(run.flows.sort("bytes_sent", descending=True)["label"][0]).sentence)


def test_a_flow_of_which_each_segment_was_retransmitted_has_no_round_trips(tmp_path: Path) -> None:
    """The ACK of one that was sent twice may be of either (Karn's rule): waits for timers are no queue."""
    found = [_packet(0, SYN, 0, 0), *_flow(1000, behind_ms=40.0, rounds=0)]
    for number in range(12):
        time, reached = 1041 + 2000 * number, 1 + (number + 1) * _SEGMENT
        found += [_packet(time + wait, ACK, reached - _SEGMENT, 1, _SEGMENT) for wait in (0, 1500)]
        found.append(_packet(time + 1540, ACK, 1, reached, back=True))
    assert "queue" not in _sentence(tmp_path, found)


def test_waits_for_retransmissions_are_no_queue(tmp_path: Path) -> None:
    """Half of the segments were lost first, or are behind such: what they waited for is no round trip."""
    lossy = {"link.up.loss": "25 %", "link.up.delay": "170 ms", "duration": "15 s", "seed": 3}
    assert "saturated" not in _captured(tmp_path, {**lossy, "traffic.a.tcp.recovery": "newreno"})


@pytest.mark.parametrize("queue", ["30 kB", "300 kB"])
def test_losses_that_a_control_does_not_heed_do_not_keep_its_window_small(tmp_path: Path, queue: str) -> None:
    lossy = {"link.up.loss": "1 %", "link.up.queue": queue}
    assert "losses keep the window small" not in _captured(tmp_path, {**lossy, "traffic.a.tcp.congestion": "bbr"})
    (tmp_path / "a.pcapng").unlink()
    assert "losses keep the window small" in _captured(tmp_path, {**lossy, "traffic.a.tcp.congestion": "cubic"})


def test_what_an_outage_lost_is_not_told_as_an_overflow_too(tmp_path: Path) -> None:
    down = {"schedule": [{"at": "4 s", "for": "3 s"}], "flush": True}
    found = _captured(tmp_path, {"link.up.outages": down, "traffic.a.tcp.congestion": "cubic"})
    assert "nothing gets through" in found
    assert "overflows" not in found


_MARKED: Final = """
profile = "linux"
duration = "10 s"
link.near = { ends = ["home", "router"], rate = "100 Mbit/s", delay = "5 ms" }
link.up = { ends = ["router", "net"], rate = "10 Mbit/s", delay = "5 ms", queue = { kind = "codel", ecn = true } }
traffic.a = { kind = "bulk", from = "home", to = "net", tcp.ecn = true }
"""


@pytest.mark.parametrize("at", ["home", "router", "net"])
def test_marks_that_keep_a_window_small_are_told_at_each_place(tmp_path: Path, at: str) -> None:
    """CUBIC reduces its window once in a round trip with marks, however its receiver tells of them (RFC 9768 §1)."""
    scenario = tl.loads(_MARKED)
    found = []
    for ecn, option, said in (
        (True, "ecn", "the sender reduced it {} times for them"),
        ("accecn", "accurate ecn", "its receiver counted some in {} round trips"),
    ):
        file = tmp_path / f"{ecn}.pcap"
        marked = tl.simulate(scenario.set("traffic.a.tcp.ecn", ecn), pcap=file, pcap_at=[at]).flows["packets_marked"][0]
        run = tl.capture(file)
        (one,) = run.table("connections").iter_rows(named=True)
        assert 3 <= one["window_reductions"] <= marked
        assert option in one["options"].split(", ")
        assert run.why().causes[0].name == "congestion_marks"
        assert said.format(one["window_reductions"]) in run.why().sentence
        found.append(one["window_reductions"])
    assert found[0] == found[1]


@pytest.mark.parametrize("ecn", [True, "accecn"])
def test_what_reduces_a_window_without_marks_is_no_mark(tmp_path: Path, ecn: object) -> None:
    """CWR says that a window was reduced, and not that it was for marks (RFC 3168 §6.1.2): here it is for losses."""
    scenario = tl.loads(_MARKED).set_all({"link.up.queue": {"kind": "codel"}, "traffic.a.tcp.ecn": ecn})
    assert tl.simulate(scenario, pcap=tmp_path / "a.pcap", pcap_at=["home"]).flows["packets_dropped"][0] > 3
    run = tl.capture(tmp_path / "a.pcap")
    assert run.table("connections")["window_reductions"].to_list() == [0]
    assert "marks" not in run.why().sentence


def test_segments_that_were_retransmitted_as_one_packet_count_each(tmp_path: Path) -> None:
    """A host that leaves segmentation to its interface captures ten segments as one packet, and retransmits them so."""
    payload, rounds, lost = 10 * _FULL_SEGMENT, 60, (20, 30, 40)
    time, found = 40.1, _flow(rounds=0)
    for place in range(rounds):
        reached = 1 + (place + 1) * payload
        found.append(_packet(time, ACK, reached - payload, 1, payload))
        if place in lost:
            time += 60
            found.append(_packet(time, ACK, reached - payload, 1, payload))
        found.append(_packet(time + 40, ACK, 1, reached, back=True))
        time += 40.1
    found.append(_packet(time, ACK, 1 + rounds * payload, 1, _FULL_SEGMENT * 9))
    file = tmp_path / "flow.pcap"
    file.write_bytes(captures.pcap(sorted(found)))
    run = tl.capture(file)
    (one,) = run.table("connections").iter_rows(named=True)
    assert (run.flows["packets_retransmitted"][0], one["retransmitted_bytes"]) == (3, 3 * payload)
    # Thirty of 639 segments; three packets were said to be 0.47 % of them.
    assert "4.7 % of the segments are retransmitted" in run.why().sentence


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
        found.append(_packet(time - before if back else time + before, flags, seq, ack, back=back))
    for number in range(20):
        time, reached = 41 + before + 45 * number, 100 + 1000 * (number + 1)
        found.append(_packet(time, ACK, reached - 1000, 500, 1000))
        found.append(_packet(time + behind_ms, ACK, 500, reached, back=True))
    file = tmp_path / "flow.pcap"
    file.write_bytes(captures.pcap(sorted((when + 100 * _MS, frame) for when, frame in found)))
    run = tl.capture(file)
    (one,) = run.table("connections").iter_rows(named=True)
    assert (one["label"], one["state"]) == ("10.0.0.1:5000-10.0.0.2:80", "open")
    assert one["initial_rtt_s"] == pytest.approx(0.04, abs=3e-5)
    assert vantage.place({**run.flows.row(0, named=True), **one}) == place
    # An answer to a SYN has the number of the SYN before it, and is none again.
    assert run.flows["packets_retransmitted"].to_list() == [0]
    assert "retransmitted" not in run.why().sentence


def test_a_packet_that_is_out_of_place_in_the_file_may_be_the_gap(tmp_path: Path) -> None:
    """Behind its own ACK, as where processors that capture side by side write late."""
    first, place = _flow(), 41
    late = first.index(next(frame for frame in first[place:] if len(frame[1]) > _SEGMENT))
    file = tmp_path / "flow.pcap"
    file.write_bytes(captures.pcap([*first[:late], *first[late + 1 : late + 30], first[late], *first[late + 30 :]]))
    said = tl.capture(file).why().sentence
    assert "or out of place: 1 packet of the file is not in the order of time" in said
    assert "order of time" not in _sentence(tmp_path, [*first[:late], *first[late + 1 :]])


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
    found = [_packet(0, SYN, 0, 0), _packet(0.04, SYN | ACK, 0, 1, back=True), _packet(0.05, ACK, 1, 1)]
    for number in range(3):
        time, asked, answered = 1 + number, 1 + 100 * (number + 1), 1 + 50 * (number + 1)
        found += [
            _packet(time, ACK, asked - 100, answered - 50, 100),
            _packet(time + 0.01, ACK, answered - 50, asked, back=True),
            _packet(time + 0.1, ACK, answered - 50, asked, 50, back=True),
            _packet(time + 0.11, ACK, asked, answered),
        ]
    file = tmp_path / "flow.pcap"
    file.write_bytes(captures.pcap(found))
    found_of = tl.capture(file).why().sentence
    assert "captured at the receiver" not in found_of
    assert "likely the application has nothing to send" in found_of
    assert "the handshake took no longer than hosts do, and RTTs of 0.01 ms may be the receiver's own delay" in found_of


@pytest.mark.parametrize("handshake", [True, False])
@pytest.mark.parametrize("payload", [0, 1])
@pytest.mark.parametrize("ends", [1, 2])
def test_keep_alives_alone_are_no_gap(tmp_path: Path, payload: int, ends: int, *, handshake: bool) -> None:
    """With a byte, as Windows sends them, or without; of one end or both; where the capture began before or behind SYNs."""
    found = _flow(rounds=0) if handshake else []
    for number in range(1, 6):
        for back in range(ends):
            time = 1000 * number + 500 * back
            found.append(_packet(time, ACK, 0, 1, payload, back=bool(back)))
            found.append(_packet(time + 40, ACK, 1, 1, back=not back))
    said = _sentence(tmp_path, found)
    assert "gap" not in said
    assert "keep-alives" in said
    assert "queues" not in said


@pytest.mark.parametrize("first", [0, 3])
def test_a_gap_before_keep_alives_is_told(tmp_path: Path, first: int) -> None:
    gap = [frame for frame in _flow(behind_ms=0.01, before_ms=40) if len(frame[1]) != 54 + _SEGMENT or frame[0] % 7]
    reached = 1 + 200 * _SEGMENT
    alive = [_packet(5000, ACK, reached - 1, 1), _packet(5000.01, ACK, 1, reached, back=True)]
    assert "in what was captured" in _sentence(tmp_path, [*gap, *alive][first:])


def test_the_table_has_the_round_trips_of_the_sentence_above_it(tmp_path: Path, said: Said) -> None:
    lossy = {"link.up.loss": "5 %", "link.up.queue": "30 kB", "traffic.a.tcp.congestion": "bbr"}
    _captured(tmp_path, lossy)
    connections = tl.capture(tmp_path / "a.pcapng").table("connections").sort("payload_bytes", descending=True)
    samples = tl.capture(tmp_path / "a.pcapng").flows.sort("bytes_sent", descending=True)
    waits_s, median_s = connections["rtt_median_s"][0], samples["rtt_p50_s"][0]
    assert waits_s > 1.05 * median_s
    _, out, _ = said("capture", str(tmp_path / "a.pcapng"))
    assert tl.units.format_time(float(f"{median_s:.4g}")) in out


_PATH: Final = """
profile = "linux"
duration = "8 s"
link.near = { ends = ["sender", "between"], rate = "100 Mbit/s", delay = "10 ms" }
link.far = { ends = ["between", "receiver"], rate = "20 Mbit/s", delay = "20 ms", queue = "2 MB" }
"""
_BULK: Final = 'traffic.up = { kind = "bulk", from = "sender", to = "receiver" }'


def _in_the_middle(tmp_path: Path, traffic: str, at: str, changes: Mapping[str, object] | None = None) -> tl.Run:
    """A capture that begins in the second second of a simulated flow."""
    file = tmp_path / f"{at}.pcap"
    tl.simulate(tl.loads(_PATH + traffic).set_all(changes or {}), pcap=file, pcap_at=[at])
    data, kept, place = file.read_bytes(), [], 24
    while place < len(data):
        seconds, _, length, _ = struct.unpack("<4I", data[place : place + 16])
        kept += [data[place : place + 16 + length]] * (seconds > 0)
        place += 16 + length
    file.write_bytes(data[:24] + b"".join(kept))
    return tl.capture(file)


@pytest.mark.parametrize(
    ("at", "behind_s", "before_s", "said"),
    [
        ("sender", 0.06, 0.0, "to a shortest RTT of 6"),
        ("between", 0.04, 0.02, "as timestamps tell: of the path's shortest RTT of at most 61 ms, 20.1 ms are on the"),
        (
            "receiver",
            0.0,
            0.06,
            "captured at the receiver, as timestamps tell, so that its RTTs are the receiver's own",
        ),
    ],
)
def test_timestamps_tell_the_place_of_a_capture_without_the_handshake(
    tmp_path: Path, at: str, behind_s: float, before_s: float, said: str
) -> None:
    run = _in_the_middle(tmp_path, _BULK, at, {"link.far.loss": "0.5 %"})
    (one,) = run.table("connections").iter_rows(named=True)
    assert one["initial_rtt_s"] is None
    assert (one["rtt_min_s"], one["rtt_echoed_min_s"]) == pytest.approx((behind_s, before_s), abs=0.0015)
    assert vantage.place({**run.flows.row(0, named=True), **one}) == at
    assert said in run.why().sentence


def test_a_queue_before_a_receiver_is_told_without_the_handshake(tmp_path: Path) -> None:
    """A queue that Reno fills and drains: half of the round trips are 1.5 times the shortest."""
    far = {"link.far.rate": "4 Mbit/s", "link.far.queue": "60 kB", "link.far.loss": "0.1 %"}
    found = _in_the_middle(tmp_path, _BULK, "receiver", {**far, "traffic.up.tcp.congestion": "reno"}).why().sentence
    assert "likely a link of the path is saturated: packets wait in a queue" in found
    assert " to a shortest RTT of 6" in found


def test_a_window_without_its_scale_is_not_said_to_be_full(tmp_path: Path) -> None:
    """In a round trip arrive 63 kB, and the header says 61 kB, a part of the window."""
    far = {"link.far.rate": "10 Mbit/s", "link.far.queue": "150 kB", "link.far.loss": "0.1 %"}
    run = _in_the_middle(tmp_path, _BULK, "receiver", {**far, "traffic.up.tcp.congestion": "reno"})
    assert "receiver_window" not in {cause.name for cause in run.why().causes}


@pytest.mark.parametrize(
    ("loss", "said"), [("0 %", "losses are few, and"), ("1 %", "likely losses keep the window small")]
)
def test_timestamps_tell_losses_from_reordering_at_the_receiver(tmp_path: Path, loss: str, said: str) -> None:
    reordered = {"link.far.reorder.probability": "4 %", "link.far.reorder.delay": "50 ms"}
    found = _in_the_middle(tmp_path, _BULK, "receiver", {**reordered, "link.far.loss": loss}).why().sentence
    assert said in found
    assert "most of packets that others overtook: the path reorders packets" in found


@pytest.mark.parametrize("near_ms", [3, 10])
def test_a_queue_before_a_capture_near_the_sender_is_the_paths(tmp_path: Path, near_ms: int) -> None:
    """Less than a quarter of the path lies before the capture point, and its queue with it."""
    scenario = tl.loads(_PATH + _BULK).set_all(
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
    scenario = tl.loads(_PATH + _BULK).set_all(
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
    scenario = tl.loads(_PATH + _BULK).set("link.far.loss", "0.3 %").set("link.far.queue", "50 kB")
    tl.simulate(scenario, pcap=tmp_path / "receiver.pcap", pcap_at=["receiver"])
    run = tl.capture(tmp_path / "receiver.pcap")
    (one,) = run.table("connections").iter_rows(named=True)
    assert one["rtt_samples"] > 0.9 * one["acks"] - one["duplicate_acks"]
    assert (one["rtt_min_s"], one["rtt_median_s"], run.flows["rtt_p50_s"][0]) == (0, 0, 0)
    assert "captured at the receiver" in run.why().sentence
    assert "has nothing to send" not in run.why().sentence


@pytest.mark.parametrize("pause_ms", [55, 90, 400])
def test_pauses_of_an_application_are_no_path_before_the_capture(tmp_path: Path, pause_ms: int) -> None:
    """A segment at a time: an echo that comes with the next one says nothing of the path."""
    traffic = (
        f'traffic.up = {{ kind = "cbr", from = "sender", to = "receiver", interval = "{pause_ms} ms", tcp = {{}} }}'
    )
    for at, most_s in (("sender", 0.0), ("receiver", 0.09)):
        run = _in_the_middle(tmp_path, traffic, at)
        found = run.table("connections")["rtt_echoed_min_s"][0]
        assert found is None or found <= most_s
        assert "saturated" not in run.why().sentence


def test_a_pause_at_the_sender_is_the_application_also_without_the_handshake(tmp_path: Path) -> None:
    traffic = 'traffic.up = { kind = "on-off", from = "sender", to = "receiver", rate = "6 Mbit/s", on = "60 ms", off = "300 ms", tcp = {} }'
    for at in ("sender", "receiver"):
        run = _in_the_middle(tmp_path, traffic, at)
        assert "likely the application has nothing to send" in run.why().sentence
        (one,) = run.table("connections").iter_rows(named=True)
        # The same pauses, of which a round trip is the path's.
        assert 2.5 < one["idle_beyond_rtt_s"] < one["idle_s"] - 0.05


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


def test_bursts_of_losses_are_among_what_may_bound_a_rate(tmp_path: Path) -> None:
    """A queue shorter than half the path's round trip overflows now and then; losses one by one would allow less."""
    scenario = tl.loads("""
    profile = "linux"
    duration = "4 s"
    link.access = { ends = ["sender", "r"], rate = "1 Gbit/s", delay = "1 ms", queue = "1000 packets" }
    link.bottleneck = { ends = ["r", "receiver"], rate = "20 Mbit/s", delay = "19 ms", queue = "40 packets" }
    traffic.up = { kind = "bulk", from = "sender", to = "receiver", start = "0.1 s" }
    traffic.later = { kind = "bulk", from = "sender", to = "receiver", start = "0.5 s" }
    """)
    run = tl.simulate(scenario, pcap=tmp_path / "sender.pcap")
    assert run.flows["limited_by_network"][0] > 0.9
    found = tl.capture(tmp_path / "sender.pcap").why("10.0.0.1:61000-10.0.0.3:5201").sentence
    assert "bursts of losses (0.14 % of the segments are retransmitted), as of a queue that overflows" in found


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
    (tmp_path / "short.pcap").write_bytes(pcap(frames))
    run = tl.capture(tmp_path / "short.pcap")
    assert run.table("connections")["lost_segments"][0] == 1
    assert ("captured at the receiver" in run.why().sentence) == (place == "receiver")
