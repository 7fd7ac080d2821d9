"""Why is it slow, over lines on which one full packet takes longer than the path: serial lines, HF, NB-IoT."""

from __future__ import annotations

import re
from typing import Final

import pytest

import tightlink as tl
from tightlink.diagnosis.first_window import longer_timeout
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.transfers import completed

#: A first window of ten packets takes 7.5 s of it, and a timer of RFC 6298 waits for a second.
SLOW: Final = """
duration = "60 s"
link.line = { ends = ["plant", "centre"], rate = "16 kbit/s", delay = "10 ms", queue = "250 packets" }
traffic.file = { kind = "bulk", from = "plant", to = "centre", bytes = "29 kB" }
"""


def test_a_first_window_that_outlasts_the_timer_is_retransmitted_and_a_longer_timeout_helps() -> None:
    scenario = tl.loads(SLOW)
    run = tl.simulate(scenario)
    found = run.why("file")
    row = run.flows.row(0, named=True)
    assert row["packets_dropped"] == 0
    assert f"{row['packets_retransmitted']} packets are retransmitted, though none was lost" in found.sentence
    first = found.suggestions[0]
    assert first.text == "a least timeout of 8 s, as long as the first window takes"
    helped = tl.simulate(scenario.set_all(first.changes))
    assert helped.flows["packets_retransmitted"][0] == 0
    took = [each.completion_times["completion_mean_s"][0] for each in (run, helped)]
    # 29 kB in 21 packets, with headers of 52 B each.
    alone_s = (29_000 + 21 * 52) * 8 / 16e3
    assert took[1] == pytest.approx(alone_s, abs=0.2)
    assert took[0] > 1.4 * alone_s
    assert not any("timeout" in each.text for each in helped.why("file").suggestions)


def test_one_packet_is_not_several() -> None:
    run = tl.simulate(tl.loads(SLOW).set_all({"profile": "linux", "link.line.rate": "32 kbit/s"}))
    assert run.flows["packets_retransmitted"][0] == 1
    assert "1 packet is retransmitted, though none was lost." in run.why("file").sentence
    # F-RTO has undone that timeout, where a measurement could not try what a longer one does.
    assert longer_timeout(run.flows.row(0, named=True), Paths(run).of("file")) is None


def test_slow_start_is_no_cause_while_the_line_is_always_busy() -> None:
    """A larger initial window would only make more wait."""
    run = tl.simulate(tl.loads(SLOW).set("duration", "15 s"))
    assert run.links["utilization"][0] > 0.99
    found = run.why("file")
    assert found.causes[0].name == "saturated_link"
    assert not any("initial window" in each.text for each in found.suggestions)
    # Where the path has room for it, it is one.
    far = tl.simulate(tl.loads(SLOW).set_all({"link.line.rate": "10 Mbit/s", "link.line.delay": "1 s"}))
    assert far.why("file").causes[0].name == "slow_start"


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("250 packets", "(250 packets, up to 188 s)"),
        ("37500 B", "(37500 B, up to 18.8 s)"),
        ("400 BDP", "packets, 400 BDP)"),
    ],
)
def test_a_queue_is_told_in_time_where_a_bdp_is_less_than_a_packet(limit: str, said: str) -> None:
    """250 packets are 9,375 of these products."""
    assert said in tl.simulate(tl.loads(SLOW).set("link.line.queue", limit)).why("file").sentence


def test_sensors_that_lose_none_by_chance_are_told_with_the_others() -> None:
    """Of 100 packets a wire that loses one in fifty loses none of one sensor in seven or eight."""
    run = tl.simulate(
        tl.loads("""
    duration = "300 s"
    link.lora = { ends = ["node", "gateway"], rate = "5 kbit/s", delay = "30 ms", queue = "8 packets", loss = "2 %", mtu = "255 B" }
    traffic.sensor = { kind = "cbr", flows = 12, from = "node", to = "gateway", interval = "3 s", random = true, udp.payload = "8 B" }
    """)
    )
    assert run.flows["packets_dropped"].min() == 0
    (told,) = run.why().diagnoses
    assert len(told.flows) == 12
    assert re.search(r"0 to \d.* % of their packets are lost on the wire of lora", told.answer)


def test_of_a_few_transfers_the_slowest_is_told_and_waits_in_queues_are_not_short() -> None:
    """Seven values have no 99th percentile but the largest; and packets that wait 400 ms wait in no short queue."""
    few = """
    duration = "60 s"
    link.up = { ends = ["modem", "net"], rate = "375 kbit/s", delay = "60 ms", queue = "600 ms" }
    traffic.log = { kind = "bulk", from = "modem", to = "net" }
    traffic.telemetry = { kind = "transfers", from = "modem", to = "net", arrivals = "0.2 transfers/s", size = "2 kB" }
    """
    run = tl.simulate(tl.loads(few))
    row = run.completion_times.row(0, named=True)
    assert row["transfers"] < 100
    assert row["slowdown_p99"] == row["slowdown_max"]
    told = run.why("telemetry")
    assert told.delay is not None
    assert told.delay.mean_s > told.delay.base_s
    assert f"{row['slowdown_max']:.2g} times at most" in told.sentence
    texts = [cause.text for cause in told.causes]
    assert "they connect, or all is sent and the last ACK is awaited, waits in queues aside" in texts
    many = {"transfers": 100, "unfinished": 0, "slowdown_p50": 2.0, "slowdown_p99": 4.0}
    assert completed(many).endswith("in the median, 4 times at 99 %")
