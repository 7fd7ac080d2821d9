"""Captures that began later than their flow, without its handshake: what timestamps tell in its place."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from captured_flows import BULK, PATH, flow, sentence
from tightlink.diagnosis import vantage

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_a_connection_that_had_begun_before_is_not_taken_for_one_at_the_sender(tmp_path: Path) -> None:
    found = sentence(tmp_path, flow(before_ms=40, behind_ms=0.01)[3:])
    assert "what bounds the rate cannot be told, as it is not known where this was captured" in found
    assert "RTTs of 0.01 ms may be the receiver's own delay as well as a path's" in found
    assert "queues" not in found


def _captured_late(tmp_path: Path, traffic: str, at: str, changes: Mapping[str, object] | None = None) -> tl.Run:
    """A capture that begins in the second second of a simulated flow."""
    file = tmp_path / f"{at}.pcap"
    tl.simulate(tl.loads(PATH + traffic).set_all(changes or {}), pcap=file, pcap_at=[at])
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
    run = _captured_late(tmp_path, BULK, at, {"link.far.loss": "0.5 %"})
    (one,) = run.table("connections").iter_rows(named=True)
    assert one["initial_rtt_s"] is None
    assert (one["rtt_min_s"], one["rtt_echoed_min_s"]) == pytest.approx((behind_s, before_s), abs=0.0015)
    assert vantage.place({**run.flows.row(0, named=True), **one}) == at
    assert said in run.why().sentence


def test_a_queue_before_a_receiver_is_told_without_the_handshake(tmp_path: Path) -> None:
    """A queue that Reno fills and drains: half of the round trips are 1.5 times the shortest."""
    far = {"link.far.rate": "4 Mbit/s", "link.far.queue": "60 kB", "link.far.loss": "0.1 %"}
    found = _captured_late(tmp_path, BULK, "receiver", {**far, "traffic.up.tcp.congestion": "reno"}).why().sentence
    assert "likely a link of the path is saturated: packets wait in a queue" in found
    assert " to a shortest RTT of 6" in found


def test_a_window_without_its_scale_is_not_said_to_be_full(tmp_path: Path) -> None:
    """In a round trip arrive 63 kB, and the header says 61 kB, a part of the window."""
    far = {"link.far.rate": "10 Mbit/s", "link.far.queue": "150 kB", "link.far.loss": "0.1 %"}
    run = _captured_late(tmp_path, BULK, "receiver", {**far, "traffic.up.tcp.congestion": "reno"})
    assert "receiver_window" not in {cause.name for cause in run.why().causes}


@pytest.mark.parametrize(
    ("loss", "said"), [("0 %", "losses are few, and"), ("1 %", "likely losses keep the window small")]
)
def test_timestamps_tell_losses_from_reordering_at_the_receiver(tmp_path: Path, loss: str, said: str) -> None:
    reordered = {"link.far.reorder.probability": "4 %", "link.far.reorder.delay": "50 ms"}
    found = _captured_late(tmp_path, BULK, "receiver", {**reordered, "link.far.loss": loss}).why().sentence
    assert said in found
    assert "most of packets that others overtook: the path reorders packets" in found


@pytest.mark.parametrize("pause_ms", [55, 90, 400])
def test_pauses_of_an_application_are_no_path_before_the_capture(tmp_path: Path, pause_ms: int) -> None:
    """A segment at a time: an echo that comes with the next one says nothing of the path."""
    traffic = (
        f'traffic.up = {{ kind = "cbr", from = "sender", to = "receiver", interval = "{pause_ms} ms", tcp = {{}} }}'
    )
    for at, most_s in (("sender", 0.0), ("receiver", 0.09)):
        run = _captured_late(tmp_path, traffic, at)
        found = run.table("connections")["rtt_echoed_min_s"][0]
        assert found is None or found <= most_s
        assert "saturated" not in run.why().sentence


def test_a_pause_at_the_sender_is_the_application_also_without_the_handshake(tmp_path: Path) -> None:
    traffic = 'traffic.up = { kind = "on-off", from = "sender", to = "receiver", rate = "6 Mbit/s", on = "60 ms", off = "300 ms", tcp = {} }'
    for at in ("sender", "receiver"):
        run = _captured_late(tmp_path, traffic, at)
        assert "likely the application has nothing to send" in run.why().sentence
        (one,) = run.table("connections").iter_rows(named=True)
        # The same pauses, of which a round trip is the path's.
        assert 2.5 < one["idle_beyond_rtt_s"] < one["idle_s"] - 0.05
