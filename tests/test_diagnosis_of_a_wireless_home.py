"""Why is it slow, on a line with a wireless hop behind it: sentences that must not contradict their own numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import tightlink as tl
from tightlink.run import Run

HOME: Final = """
duration = "20 s"
link.line = { ends = ["server", "router"], rate = "10 Mbit/s", delay = "15 ms", queue = "250 packets" }
link.air = { ends = ["router", "laptop"], rate = "80 Mbit/s", delay = "2 ms", loss = "0.5 %" }
traffic.down = { kind = "bulk", from = "server", to = "laptop", tcp.congestion = "cubic" }
traffic.up = { kind = "bulk", from = "laptop", to = "server" }
traffic.call = { kind = "cbr", from = "server", to = "laptop", rate = "100 kbit/s", udp.payload = "200 B" }
"""
TRANSFER: Final = """
duration = "20 s"
link.line = { ends = ["a", "b"], rate = "50 Mbit/s", delay = "20 ms" }
traffic.get = { kind = "bulk", from = "a", to = "b", bytes = "200 kB" }
"""


def _run(text: str, **changes: object) -> Run:
    return tl.simulate(tl.loads(text).set_all({key.replace("__", "."): value for key, value in changes.items()}))


def test_a_window_that_fills_the_path_on_average_is_small_at_times() -> None:
    said = _run(HOME, link__air__loss="0.1 %").why("up").sentence
    assert "random losses on the wire of air.reverse" in said
    assert "keep the window small at times; 45 packets in flight on average, the path holds 29" in said
    # Where it never fills the path it is small all the time.
    said = _run(HOME, link__line__rate="50 Mbit/s").why("up").sentence
    assert "keep the window small; " in said


def test_what_a_transfer_takes_comes_before_the_delay_of_its_last_ack() -> None:
    """All bytes are there before the receiver delays its last ACK: that is in no completion time."""
    run = _run(TRANSFER)
    (found,) = run.why("get").diagnoses
    row = run.flows.row(0, named=True)
    assert row["limited_by_application"] > row["limited_by_congestion_window"]
    assert [cause.name for cause in found.causes[:2]] == ["slow_start", "last_ack"]
    # Windows of 10, 15, 23, 34 and 51 packets, and the handshake.
    assert "the transfer of 200 kB ends after 6.2 round trips" in found.sentence
    # A transfer that its first window holds takes no longer than on an empty path: nothing else is to be told.
    (found,) = _run(TRANSFER, traffic__get__bytes="10 kB").why("get").diagnoses
    assert found.causes[0].name == "last_ack"
    assert not found.suggestions


def test_a_call_that_waits_in_an_aqm_without_turns_is_given_turns() -> None:
    run = _run(HOME, link__air__loss=0, link__line__rate="50 Mbit/s", link__line__queue={"kind": "codel"})
    tried = run.why("call").suggestions[0]
    # Both directions carry data and ACKs.
    assert tried.text == "CAKE with its ACK filter at line and line.reverse"
    helped = tl.simulate(run.scenario.set_all(tried.changes))
    waits = [each.flows.filter(label="call")["queueing_delay_p95_s"][0] for each in (run, helped)]
    assert waits[0] > 0.03
    assert waits[1] < 0.002
    assert not helped.why("call").suggestions


def test_a_capture_near_the_receiver_does_not_say_that_it_was_at_it(tmp_path: Path) -> None:
    file = tmp_path / "out.pcap"
    tl.simulate(tl.loads(HOME), pcap=file, pcap_at=["router"])
    run = tl.capture(file)
    label = run.flows.sort("bytes_sent", descending=True)["label"][0]
    said = run.why(label).sentence
    assert "captured near the receiver: its RTTs are those behind the capture point, 4 ms at least" in said
    assert "the receiver's own delay" not in said
