"""Marks in captures of simulated packets: where they arrive, how receivers tell of them, paths that bleach them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from written_captures import CWR, ECE, LINUX, SYN, captured

if TYPE_CHECKING:
    from pathlib import Path


def test_marks_are_seen_where_they_arrive(tmp_path: Path) -> None:
    text = (
        LINUX.replace('loss = "0.5 %"', 'loss = "0 %"')
        .replace("1000000 B", "10 MB")
        .replace("limit", "ecn = true, limit")
    )
    run, packets = captured(text, tmp_path / "out.pcapng", pcap_at=["a", "b"])
    sent, arrived = ([p.ecn for p in packets if p.interface == at and p.payload] for at in ("a", "b"))
    # A packet sent for the first time may be marked (RFC 3168 §6.1.5).
    assert (sent.count(2), sent.count(3)) == (len(sent) - run.flows["packets_retransmitted"][0], 0)
    assert arrived.count(3) > 0
    marked = next(p for p in packets if p.ecn == 3)
    echoed = next(p for p in packets if p.flags & ECE and not p.flags & SYN)
    assert (echoed.interface, echoed.time_ns >= marked.time_ns) == ("b", True)
    reduced = next(p for p in packets if p.flags & CWR and p.payload)
    assert reduced.time_ns > echoed.time_ns


def test_accurate_ecn_counts_marks_in_three_flags(tmp_path: Path) -> None:
    text = (
        LINUX.replace('loss = "0.5 %"', 'loss = "0 %"')
        .replace("1000000 B", "10 MB")
        .replace("3 s", "9 s")
        .replace("limit", "ecn = true, limit")
        .replace("tcp.ecn = true", 'tcp.ecn = "accecn"')
    )
    run, packets = captured(text, tmp_path / "out.pcapng", pcap_at=["a", "b"])
    syn, answer, bare = packets[0:5:2]
    # RFC 9768 §3.1.1: all three flags ask; the answer says that the SYN arrived with ECT(0), the third step that the answer
    # was Not-ECT.
    assert [p.ace for p in (syn, answer, bare)] == [0b111, 0b100, 0b010]
    assert [p.ecn for p in (syn, answer, bare)] == [2, 0, 0]
    data = [p for p in packets if p.interface == "a" and p.payload]
    # No ACK is marked, so that the other counter stays where it begins.
    assert {p.ace for p in data} == {5}
    arrived = sum(p.ecn == 3 for p in packets if p.interface == "b" and p.payload)
    told = [5, *(p.ace for p in packets if p.interface == "a" and not p.outbound and not p.flags & SYN)]
    counted = sum((after - before) % 8 for before, after in itertools.pairwise(told))
    assert counted == arrived == run.flows["packets_marked"][0]
    assert counted > 8


def test_a_path_that_bleaches_shows_in_its_captures(tmp_path: Path) -> None:
    text = LINUX.replace("loss", 'ecn = "bleach", loss').replace("tcp.ecn = true", 'tcp.ecn = "accecn"')
    run, packets = captured(text, tmp_path / "out.pcapng", pcap_at=["a", "b"])
    syn, arrived, answer = packets[:3]
    assert (syn.ecn, arrived.ecn, answer.ace) == (2, 0, 0b010)
    assert {p.ecn for p in packets if p.payload} == {0}
    # Not knowing of accurate ECN, ends say ECT although it never arrives.
    _, packets = captured(text.replace('"accecn"', "true"), tmp_path / "classic.pcapng", pcap_at=["a", "b"])
    assert [{p.ecn for p in packets if p.payload and p.interface == at} for at in ("a", "b")] == [{0, 2}, {0}]
    assert run.flows["packets_marked"][0] == 0
