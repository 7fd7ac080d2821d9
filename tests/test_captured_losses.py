"""Losses in captures: outages, retransmissions, marks in their place; copies and gaps that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

import tightlink as tl
from captured_flows import BULK, FULL_SEGMENT, MS, PATH, SEGMENT, captured, captured_upload, flow, segment_at, sentence
from captures import ACK, FIN, SYN


def test_an_outage_is_told_at_both_ends(tmp_path: Path) -> None:
    """At the sender retransmissions follow each other; at the receiver the first packet is one, for its ACK was lost."""
    last, reached = 20 * 43.1, 1 + 200 * SEGMENT
    again = segment_at(last + 3200, ACK, reached, 1, SEGMENT)
    after = [again, segment_at(last + 3240, ACK, 1, reached + SEGMENT, back=True)]
    tries = [segment_at(last + time, ACK, reached, 1, SEGMENT) for time in (45, 250, 650, 1450)]
    assert "nothing gets through 78 % of the time, 3.2 s" in sentence(tmp_path, [*flow(), *tries, *after])
    known = flow(before_ms=40, behind_ms=0.01)
    late = known[-1][0] / MS + 3200
    lost = [segment_at(late, ACK, reached - SEGMENT, 1, SEGMENT), segment_at(late + 0.01, ACK, 1, reached, back=True)]
    found = sentence(tmp_path, [*known, *lost])
    assert "nothing gets through 78 % of the time, 3.1" in found
    assert "has nothing to send" not in found


def test_copies_of_a_mirror_port_are_no_losses(tmp_path: Path) -> None:
    once = [*flow(), segment_at(2000, FIN | ACK, 1 + 200 * SEGMENT, 1)]
    found = sentence(tmp_path, [*once, *((time + 5000, frame) for time, frame in once)])
    assert "losses" not in found
    assert "each packet was captured twice" in found


def test_captures_of_both_ends_in_one_file_tell_no_path(tmp_path: Path) -> None:
    """What arrives is a copy of what was sent, half a round trip ago; with losses, and of a small flow beside."""
    scenario = tl.loads(PATH + BULK).set("link.far.loss", "0.5 %")
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


def test_copies_beside_pauses_are_no_outage(tmp_path: Path) -> None:
    """The copy of the first packet after a pause is nothing that a timeout retransmits, and that of a keep-alive is none."""
    once = flow(before_ms=40, behind_ms=0.01, rounds=8, pause_ms=500)
    found = sentence(tmp_path, [*once, *((time + 5000, frame) for time, frame in once)])
    assert "likely the application has nothing to send: nothing is in flight 9" in found
    assert "each packet was captured twice" in found


def test_what_is_lost_in_a_silence_makes_it_an_outage(tmp_path: Path) -> None:
    """At the receiver the first packet after it is new; behind that a gap shows what was lost before."""
    known = flow(before_ms=40, behind_ms=0.01)
    late, reached = known[-1][0] / MS + 3000, 1 + 200 * SEGMENT
    after = []
    for time, place, in_order in ((0, 0, 1), (45, 1, 2), (45.1, 30, 2), (90, 2, 3), (90.1, 3, 4)):
        after.append(segment_at(late + time, ACK, reached + place * SEGMENT, 1, SEGMENT))
        after.append(segment_at(late + time + 0.01, ACK, 1, reached + in_order * SEGMENT, back=True))
    found = sentence(tmp_path, [*known, *after])
    assert "nothing gets through 75 % of the time, 2.98 s at a stretch" in found
    assert "has nothing to send" not in found
    # Nor where the capture begins later, and its place is not known.
    assert "nothing gets through 7" in sentence(tmp_path, [*known[3:], *after])
    # What an outage lost is not said again as losses.
    assert "of the segments are retransmitted" not in found


def test_a_flow_of_which_each_segment_was_retransmitted_has_no_round_trips(tmp_path: Path) -> None:
    """The ACK of one that was sent twice may be of either (Karn's rule): waits for timers are no queue."""
    found = [segment_at(0, SYN, 0, 0), *flow(1000, behind_ms=40.0, rounds=0)]
    for number in range(12):
        time, reached = 1041 + 2000 * number, 1 + (number + 1) * SEGMENT
        found += [segment_at(time + wait, ACK, reached - SEGMENT, 1, SEGMENT) for wait in (0, 1500)]
        found.append(segment_at(time + 1540, ACK, 1, reached, back=True))
    assert "queue" not in sentence(tmp_path, found)


def test_waits_for_retransmissions_are_no_queue(tmp_path: Path) -> None:
    """Half of the segments were lost first, or are behind such: what they waited for is no round trip."""
    lossy = {"link.up.loss": "25 %", "link.up.delay": "170 ms", "duration": "15 s", "seed": 3}
    assert "saturated" not in captured_upload(tmp_path, {**lossy, "traffic.a.tcp.recovery": "newreno"})


@pytest.mark.parametrize("queue", ["30 kB", "300 kB"])
def test_losses_that_a_control_does_not_heed_do_not_keep_its_window_small(tmp_path: Path, queue: str) -> None:
    lossy = {"link.up.loss": "1 %", "link.up.queue": queue}
    assert "losses keep the window small" not in captured_upload(tmp_path, {**lossy, "traffic.a.tcp.congestion": "bbr"})
    (tmp_path / "a.pcapng").unlink()
    assert "losses keep the window small" in captured_upload(tmp_path, {**lossy, "traffic.a.tcp.congestion": "cubic"})


def test_what_an_outage_lost_is_not_told_as_an_overflow_too(tmp_path: Path) -> None:
    down = {"schedule": [{"at": "4 s", "for": "3 s"}], "flush": True}
    found = captured_upload(tmp_path, {"link.up.outages": down, "traffic.a.tcp.congestion": "cubic"})
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
    payload, rounds, lost = 10 * FULL_SEGMENT, 60, (20, 30, 40)
    time, found = 40.1, flow(rounds=0)
    for place in range(rounds):
        reached = 1 + (place + 1) * payload
        found.append(segment_at(time, ACK, reached - payload, 1, payload))
        if place in lost:
            time += 60
            found.append(segment_at(time, ACK, reached - payload, 1, payload))
        found.append(segment_at(time + 40, ACK, 1, reached, back=True))
        time += 40.1
    found.append(segment_at(time, ACK, 1 + rounds * payload, 1, FULL_SEGMENT * 9))
    run = captured(tmp_path, sorted(found))
    (one,) = run.table("connections").iter_rows(named=True)
    assert (run.flows["packets_retransmitted"][0], one["retransmitted_bytes"]) == (3, 3 * payload)
    # Thirty of 639 segments; three packets were said to be 0.47 % of them.
    assert "4.7 % of the segments are retransmitted" in run.why().sentence


def test_a_packet_that_is_out_of_place_in_the_file_may_be_the_gap(tmp_path: Path) -> None:
    """Behind its own ACK, as where processors that capture side by side write late."""
    first, place = flow(), 41
    late = first.index(next(frame for frame in first[place:] if len(frame[1]) > SEGMENT))
    said = (
        captured(tmp_path, [*first[:late], *first[late + 1 : late + 30], first[late], *first[late + 30 :]])
        .why()
        .sentence
    )
    assert "or out of place: 1 packet of the file is not in the order of time" in said
    assert "order of time" not in sentence(tmp_path, [*first[:late], *first[late + 1 :]])


@pytest.mark.parametrize("handshake", [True, False])
@pytest.mark.parametrize("payload", [0, 1])
@pytest.mark.parametrize("ends", [1, 2])
def test_keep_alives_alone_are_no_gap(tmp_path: Path, payload: int, ends: int, *, handshake: bool) -> None:
    """With a byte, as Windows sends them, or without; of one end or both; where the capture began before or behind SYNs."""
    found = flow(rounds=0) if handshake else []
    for number in range(1, 6):
        for back in range(ends):
            time = 1000 * number + 500 * back
            found.append(segment_at(time, ACK, 0, 1, payload, back=bool(back)))
            found.append(segment_at(time + 40, ACK, 1, 1, back=not back))
    said = sentence(tmp_path, found)
    assert "gap" not in said
    assert "keep-alives" in said
    assert "queues" not in said


@pytest.mark.parametrize("first", [0, 3])
def test_a_gap_before_keep_alives_is_told(tmp_path: Path, first: int) -> None:
    gap = [frame for frame in flow(behind_ms=0.01, before_ms=40) if len(frame[1]) != 54 + SEGMENT or frame[0] % 7]
    reached = 1 + 200 * SEGMENT
    alive = [segment_at(5000, ACK, reached - 1, 1), segment_at(5000.01, ACK, 1, reached, back=True)]
    assert "in what was captured" in sentence(tmp_path, [*gap, *alive][first:])


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
