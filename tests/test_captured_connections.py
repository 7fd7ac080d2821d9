"""Connections in captures: their states, options, retransmissions, and what their senders wait for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tightlink as tl
from captures import ACK, FIN, RST, SYN, noise, pcap, tcp
from conversations import BACK, PORTS, A, B, conversation, read, segments


def test_snap_length(tmp_path: Path) -> None:
    frames = noise(3)
    cut, whole = read(tmp_path, pcap(frames, snap=54)), read(tmp_path, pcap(frames))
    # Only options of SYN lie behind that.
    assert cut.flows.drop("goodput_bps").equals(whole.flows.drop("goodput_bps"))
    assert cut.table("interfaces")["packets_cut"][0] == sum(len(frame) > 54 for _, frame in frames)
    addresses = read(tmp_path, pcap(frames, snap=40))
    assert "too little was kept of" in addresses.warnings[0]
    # What was not looked at was not seen to be retransmitted, nor not to be.
    assert addresses.flows["packets_retransmitted"].null_count() == addresses.flows.height
    assert cut.flows["packets_retransmitted"].null_count() == 0


def test_sequence_numbers_wrap_around(tmp_path: Path) -> None:
    seq = 2**32 - 2500
    steps = [(n, A, tcp(PORTS, seq + 1000 * n, 1, ACK, 500, 1000)) for n in range(6)]
    steps.append((20, B, tcp(BACK, 1, seq + 6000, ACK, 500)))
    one = read(tmp_path, pcap(segments(steps))).table("connections").row(0, named=True)
    assert (one["delivered_bytes"], one["retransmissions"], one["lost_segments"]) == (6000, 0, 0)
    assert (one["rtt_samples"], one["state"]) == (1, "partial")


@pytest.mark.parametrize(
    ("flags", "state"),
    [([SYN], "unanswered"), ([SYN, RST | ACK], "refused"), ([SYN, SYN | ACK], "open"), ([ACK], "partial")],
)
def test_states_of_connections(tmp_path: Path, flags: list[int], state: str) -> None:
    ends = [(A, PORTS), (B, BACK)]
    steps = [
        (n, end, tcp(ports, 10, 11, flag, 500)) for n, ((end, ports), flag) in enumerate(zip(ends, flags, strict=False))
    ]
    assert read(tmp_path, pcap(segments(steps))).table("connections")["state"].to_list() == [state]


def test_what_deserves_a_look(tmp_path: Path) -> None:
    """A window of 10,000 bytes, filled; round trips of 100 ms; one segment in ten retransmitted."""
    steps = []
    for turn in range(100):
        for place in range(10):
            seq = 100 + 1000 * (10 * turn + place)
            steps.append((turn * 100 + place, A, tcp(PORTS, seq, 1, ACK, 500, 1000)))
        ack = 100 + 10_000 * (turn + 1)
        steps.append((turn * 100 + 50, A, tcp(PORTS, ack - 5000, 1, ACK, 500, 1000)))
        steps.append((turn * 100 + 99, B, tcp(BACK, 1, ack, ACK, 10_000)))
    (one,) = read(tmp_path, pcap(segments(steps))).why().diagnoses
    assert one.flows == ("10.0.0.1:5000-10.0.0.2:80",)
    assert one.answer == (
        "likely the receiver's window of 10000 bytes is full, at most 889 kbit/s at round trips of 90 ms; the "
        "handshake was not captured, and the window may be a multiple of that; losses keep the window small (9.1 % of "
        "the segments are retransmitted): random loss, a short queue or a policer, or drops that keep the queue of a "
        "full link short (CoDel), or a queue that never empties, which a capture does not tell apart."
    )


def test_options_that_were_cut_are_unknown(tmp_path: Path) -> None:
    """A snap length may end before a window's scale: the window is then no less than its header says, as tshark has it."""
    option = b"\2\4\5\xb4\1\3\3\7"
    steps = [
        (0, A, tcp(PORTS, 99, 0, SYN, 500, options=option)),
        (1, B, tcp(BACK, 499, 100, SYN | ACK, 500, options=option)),
        (2, A, tcp(PORTS, 100, 500, ACK, 500, 500)),
        (3, B, tcp(BACK, 500, 600, ACK, 500)),
    ]
    whole, cut = (read(tmp_path, pcap(segments(steps), snap=snap)).table("connections") for snap in (62, 56))
    assert (whole["options"][0], whole["window_max_bytes"][0]) == ("window scale 128", 500 * 128)
    assert (cut["options"][0], cut["window_max_bytes"][0], cut["window_full"][0]) == ("", 500, 0)


def test_options_that_were_cut_off_are_said(tmp_path: Path) -> None:
    """A SYN of Linux is 74 bytes long; half of its options are behind byte 64."""
    frames = conversation()
    (warning,) = read(tmp_path, pcap(frames, snap=54)).warnings
    assert (
        warning == "options of SYNs of a connection were cut off, and windows are not known: capture 96 bytes of each"
    )
    assert read(tmp_path, pcap(frames, snap=96)).warnings == []


def test_what_a_sender_waits_for(tmp_path: Path) -> None:
    """Nothing in flight, or no room for another segment in the window, until the sender sends again."""
    said = [
        (0, A, tcp(PORTS, 99, 0, SYN, 3000, options=b"\2\4\3\xe8")),
        (20, B, tcp(BACK, 499, 100, SYN | ACK, 3000, options=b"\2\4\3\xe8")),
        (20, A, tcp(PORTS, 100, 500, ACK, 3000)),
        (30, A, tcp(PORTS, 100, 500, ACK, 3000, 1000)),
        (50, B, tcp(BACK, 500, 1100, ACK, 3000)),
        # After 150 ms of silence, and 10 ms behind the handshake, it fills the window but for 500 bytes.
        (200, A, tcp(PORTS, 1100, 500, ACK, 3000, 1000)),
        (201, A, tcp(PORTS, 2100, 500, ACK, 3000, 1000)),
        (202, A, tcp(PORTS, 3100, 500, ACK, 3000, 500)),
        (220, B, tcp(BACK, 500, 2100, ACK, 3000)),
        (222, B, tcp(BACK, 500, 3600, ACK, 3000)),
        (322, A, tcp(PORTS, 3600, 500, FIN | ACK, 3000)),
    ]
    (one,) = read(tmp_path, pcap(segments(said))).table("connections").iter_rows(named=True)
    found = one["idle_s"], one["idle_beyond_rtt_s"], one["window_limited_s"]
    assert found == pytest.approx((0.26, 0.21, 0.018))


def test_data_in_a_syn_are_in_flight(tmp_path: Path) -> None:
    """TCP Fast Open (RFC 7413)."""
    said = [
        (0, A, tcp(PORTS, 99, 0, SYN, 3000, 500)),
        (40, B, tcp(BACK, 499, 600, SYN | ACK, 3000)),
        (40, A, tcp(PORTS, 600, 500, FIN | ACK, 3000)),
    ]
    run = read(tmp_path, pcap(segments(said)))
    assert run.table("connections").select("payload_bytes", "delivered_bytes", "in_flight_max_bytes").rows() == [
        (500, 500, 500)
    ]
    assert "at most 500 bytes are in flight" in run.why().sentence


_FILLED = [
    (0, A, tcp(PORTS, 99, 0, SYN, 3000, options=b"\2\4\3\xe8")),
    (20, B, tcp(BACK, 499, 100, SYN | ACK, 2000, options=b"\2\4\3\xe8")),
    (20, A, tcp(PORTS, 100, 500, ACK, 3000)),
    (30, A, tcp(PORTS, 100, 500, ACK, 3000, 1000)),
]
_PROBES = [step for time in (300, 700, 1500) for step in (
    (time, A, tcp(PORTS, 1099, 500, ACK, 3000)), (time + 20, B, tcp(BACK, 500, 1100, ACK, 0)),
)]  # fmt: skip


@pytest.mark.parametrize(
    ("after", "first", "idle_s", "window_limited_s"),
    [
        # From the handshake to its data 10 ms pass. The window closes, and what follows are probes of it and their answers; also where the scale is not known.
        ([(50, B, tcp(BACK, 500, 1100, ACK, 0)), *_PROBES], 0, 0.01, 1.47),
        ([(50, B, tcp(BACK, 500, 1100, ACK, 0)), *_PROBES], 3, 0.0, 1.47),
        # It is full, and nobody acknowledges what is retransmitted.
        ([(time, A, tcp(PORTS, 1100, 500, ACK, 3000, 1000)) for time in (31, 400, 1031)], 0, 0.01, 1.0),
        # Everything was delivered: keep-alives, or the other end's FIN, make that no pause.
        ([(50, B, tcp(BACK, 500, 1100, ACK, 2000)), (900, A, tcp(PORTS, 1099, 500, ACK, 3000))], 0, 0.01, 0.0),
        ([(50, B, tcp(BACK, 500, 1100, ACK, 2000)), (900, B, tcp(BACK, 500, 1100, FIN | ACK, 2000))], 0, 0.01, 0.0),
        # After its FIN a sender waits for no window.
        (
            [(40, A, tcp(PORTS, 1100, 500, FIN | ACK, 3000)), (60, B, tcp(BACK, 500, 1101, ACK, 0)),
             (900, B, tcp(BACK, 500, 1101, FIN | ACK, 0))],
            0, 0.01, 0.0,
        ),
    ],
)  # fmt: skip
def test_what_a_sender_waits_for_at_the_end(
    tmp_path: Path, after: list[tuple[int, str, bytes]], first: int, idle_s: float, window_limited_s: float
) -> None:
    (one,) = read(tmp_path, pcap(segments([*_FILLED, *after][first:]))).table("connections").iter_rows(named=True)
    assert (one["idle_s"], one["window_limited_s"]) == pytest.approx((idle_s, window_limited_s))


def test_what_is_sent_again_within_a_round_trip(tmp_path: Path) -> None:
    """At the sender it is retransmitted; behind the loss it is new. tshark calls both out of order."""
    offers = [(0, A, tcp(PORTS, 99, 0, SYN, 500)), (20, B, tcp(BACK, 499, 100, SYN | ACK, 500))]
    offers.append((21, A, tcp(PORTS, 100, 500, ACK, 500)))
    first = [(30 + n, A, tcp(PORTS, 100 + 1000 * n, 500, ACK, 500, 1000)) for n in range(4)]
    again = (40, A, tcp(PORTS, 1100, 500, ACK, 500, 1000))
    for steps, retransmitted in (([*offers, *first, again], 1), ([*offers, first[0], *first[2:], again], 0)):
        run = read(tmp_path, pcap(segments(steps)))
        assert run.flows["packets_retransmitted"].to_list() == [retransmitted]
        assert run.table("connections")["out_of_order"].to_list() == [1]


LOSSY = """
profile = "linux"
duration = "20 s"
[node]
sender = {{}}
receiver = {{}}
[link.there]
ends = ["sender", "receiver"]
rate = "20 Mbit/s"
delay = "35 ms"
queue = "5000 packets"
{link}
[traffic.upload]
kind = "bulk"
from = "sender"
to = "receiver"
"""


def _at_both_ends(link: str, tmp_path: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The rows of a flow as simulated, and captured at the sender and at the receiver."""
    rows = []
    for place in ("sender", "receiver"):
        file = tmp_path / f"{place}.pcapng"
        run = tl.simulate(tl.loads(LOSSY.format(link=link)), pcap=file, pcap_at=[place])
        rows.append(tl.capture(file).flows.row(0, named=True))
    return run.flows.row(0, named=True), rows[0], rows[1]


def test_what_was_lost_before_the_capture_counts_as_retransmitted(tmp_path: Path) -> None:
    simulated, sender, receiver = _at_both_ends("loss = 0.005", tmp_path)
    lost = simulated["packets_retransmitted"]
    assert lost > 20
    assert sender["packets_retransmitted"] == lost
    # One may be on its way at the end, and the retransmission of a retransmission fills one gap.
    assert lost - 3 <= receiver["packets_retransmitted"] <= lost


@pytest.mark.parametrize(
    ("delay", "loss"),
    [
        ("5 ms", ""),
        # Later than half a round trip: timestamps tell.
        ("50 ms", ""),
        ("50 ms", "loss = 0.005"),
        # Later than what was retransmitted for it.
        ("100 ms", ""),
    ],
)
def test_what_was_overtaken_does_not(tmp_path: Path, delay: str, loss: str) -> None:
    link = f'reorder = {{ probability = "1 %", delay = "{delay}" }}\n{loss}'
    simulated, sender, receiver = _at_both_ends(link, tmp_path)
    assert (simulated["packets_dropped"] > 20) == bool(loss)
    assert sender["packets_retransmitted"] == simulated["packets_retransmitted"]
    # The retransmission of a retransmission fills one gap.
    packets = tl.simulate(tl.loads(LOSSY.format(link=link)), trace=True).packets.filter(type="tcp")
    first = packets.group_by("seq").agg(pl.col("uid").min())["uid"]
    lost_again = packets.filter(pl.col("event") == "d", ~pl.col("uid").is_in(first.implode())).height
    assert receiver["packets_retransmitted"] == simulated["packets_retransmitted"] - lost_again


def test_one_direction_alone_is_said(tmp_path: Path) -> None:
    there = segments((n, A, tcp((4000, 80), 100, 500 + 1000 * n, ACK, 500)) for n in range(20))
    assert "one direction alone" in read(tmp_path, pcap(there)).why().sentence
