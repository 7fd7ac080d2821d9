"""Why is a window small? Queues, marks, timeouts, receivers, and what would help against them."""

from __future__ import annotations

import re
from typing import Any, Final

import polars as pl
import pytest

import tightlink as tl
from diagnosis_cases import named


def test_it_is_said_whose_bdp_it_is() -> None:
    """Where round trips differ, that of the longest path is what a queue of "1 BDP" has."""
    unlike = """
    duration = "3 s"
    link.wire = { ends = ["l", "r"], rate = "10 Mbit/s", delay = "5 ms", queue = "1 BDP" }
    link.near = { ends = ["a", "l"], rate = "1 Gbit/s", delay = "1 ms" }
    link.far = { ends = ["b", "l"], rate = "1 Gbit/s", delay = "50 ms" }
    traffic.short = { kind = "bulk", from = "a", to = "r" }
    traffic.long = { kind = "bulk", from = "b", to = "r" }
    """
    run = tl.simulate(tl.loads(unlike))
    assert "packets, 1 BDP of long)" in run.why("long").sentence
    short = run.why("short")
    # One queue has one BDP for all of its flows.
    assert "packets, 1 BDP of long)" in short.sentence
    # Its one BDP would starve the other one.
    assert not any("path holds" in each.text for each in short.suggestions)
    deep = tl.simulate(tl.loads(unlike.replace("1 BDP", "500 packets"))).why("short")
    assert any(each.text.startswith("a queue of what the longest path holds (") for each in deep.suggestions)
    alone = tl.simulate(tl.loads(unlike.replace("50 ms", "1 ms")))
    assert "BDP of" not in str(alone.why())


def test_a_limit_in_time_is_the_same_queue_for_all() -> None:
    """Bytes are so many packets of one size, and other ones of another."""
    run = tl.simulate(tl.loads(named("a game behind an upload")).set("link.uplink.queue", "50 kB"))
    said = [diagnosis.delay.text for diagnosis in run.why().diagnoses if diagnosis.delay is not None]
    assert len(said) > 1
    assert all("the queue of uplink (50 kB" in text for text in said), said


def test_a_timeout_that_has_not_expired_at_the_end_is_one() -> None:
    """Bulk flows that lose all that they have sent wait for a second, and the run ends before that."""
    scenario = tl.loads("""
profile = "rfc"
duration = "100 ms"
[topology.net]
kind = "dumbbell"
pairs = 200
access = { rate = "40 Gbit/s", delay = "10 us", queue = "unlimited" }
bottleneck = { rate = "10 Gbit/s", delay = "20 us", queue = { kind = "threshold", limit = "1000 packets", mark = "20 packets" } }
[traffic.ftp]
kind = "bulk"
from = "net.left[*]"
to = "net.right[*]"
flows = 200
tcp = { congestion = "dctcp", window = "1000 packets" }
""")
    run = tl.simulate(scenario)
    stuck = next(each for each in run.why().diagnoses if "ftp[78]" in each.flows)
    assert run.flows.filter(label="ftp[78]")["timeouts"][0] == 0
    assert stuck.causes[0].name == "timeouts"
    assert "a retransmission timeout of 1 s or more is awaited at the end" in stuck.answer


def _one(queue: str, control: str, profile: str = "rfc", **tcp: Any) -> tl.Run:
    scenario = tl.loads(f"""
        profile = "{profile}"
        duration = "6 s"
        link.w = {{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "{queue}" }}
        traffic.f = {{ kind = "bulk", from = "a", to = "b" }}
    """)
    return tl.simulate(scenario.set("traffic.f.tcp", {"congestion": control, **tcp}))


def test_a_pacing_rate_of_a_control_in_python_is_no_small_window() -> None:
    class Slowly(tl.CongestionControl):
        def on_sample(self, _: tl.RateSample) -> None:
            self.cwnd, self.pacing_rate = 1000, 200

    found = _one("20 packets", Slowly.name).why()
    assert found.causes[0].name == "pacing"
    assert "window" not in found.sentence
    assert not found.suggestions


def test_many_losses_at_a_saturated_link_are_said() -> None:
    class Unheeding(tl.CongestionControl):
        def on_report(self, _: tl.Report) -> None:
            self.cwnd = min(self.cwnd + 20, 5000)

        def on_loss(self, loss: tl.Loss) -> float:
            return loss.in_use

    run = _one("1 BDP", Unheeding.name, "linux")
    first = run.why().causes[0]
    assert first.name == "saturated_link"
    lost = run.flows["packets_dropped"][0] / run.flows["packets_sent"][0]
    assert lost > 0.2
    assert f"{lost * 100:.2g} % of the packets are lost" in first.text


@pytest.mark.parametrize("queue", ["418 packets", "2 BDP", "4 BDP"])
def test_suggestions_against_timeouts_help_and_lead_in_no_circle(queue: str) -> None:
    scenario = tl.loads(f"""
        duration = "6 s"
        link.w = {{ ends = ["a", "b"], rate = "100 Mbit/s", delay = "25 ms", queue = "{queue}" }}
        traffic.f = {{ kind = "bulk", from = "a", to = "b", tcp = {{ congestion = "cubic", window = "100000 packets", slow_start = "byte-counting" }} }}
    """)
    run = tl.simulate(scenario)
    found = run.why()
    assert found.causes[0].name == "timeouts"
    assert not any("longer" in each.text for each in found.suggestions)
    after = tl.simulate(scenario.set_all(found.suggestions[0].changes))
    assert after.flows["goodput_bps"][0] > 1.5 * run.flows["goodput_bps"][0]


@pytest.mark.parametrize(("profile", "flush"), [("linux", True), ("rfc", True), ("linux", False)])
def test_the_timer_behind_an_outage_is_part_of_it(profile: str, flush: bool) -> None:  # noqa: FBT001
    """Unless packets wait for the end of the outage: then their ACKs follow at once."""
    scenario = tl.loads(f"""
        profile = "{profile}"
        duration = "25 s"
        observe.interval = "100 ms"
        link.w = {{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "60 packets" }}
        traffic.f = {{ kind = "bulk", from = "a", to = "b" }}
    """).set("link.w.outages", {"flush": flush, "schedule": [{"at": "5 s", "for": "12 s"}]})
    run = tl.simulate(scenario)
    goodput = run.series.filter(pl.col("metric") == "goodput_bps", pl.col("time_s") > 17, pl.col("value") > 0)
    (down,) = (cause for cause in run.why().causes if cause.name == "outage")
    assert 25 * (down.share or 0) == pytest.approx(goodput["time_s"].sort()[0] - 5, rel=0.1)
    assert ("timer is awaited" in down.text) is flush


def test_a_steady_source_whose_bytes_all_arrive_needs_no_other_control() -> None:
    scenario = tl.loads("""
        profile = "linux"
        duration = "10 s"
        link.w = { ends = ["a", "b"], rate = "50 Mbit/s", delay = "25 ms", queue = "1 BDP" }
        traffic.f = { kind = "cbr", from = "a", to = "b", rate = "5 Mbit/s", tcp.congestion = "ledbat" }
    """)
    found = tl.simulate(scenario).why()
    assert [each.name for each in found.causes] == ["application", "control"]
    assert not found.suggestions


def test_marks_are_no_losses_where_they_are_more() -> None:
    """Slow start overshoots what RED marks, and loses some packets; what cuts the window later are its marks."""
    scenario = tl.loads("""
profile = "ns2"
duration = "10 s"
[topology.net]
kind = "dumbbell"
pairs = 4
access = { rate = "100 Mbit/s", queue = "1000 packets", delay = "1 ms" }
access_left = { delay = { first = "1 ms", every = "3 ms" } }
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "red", limit = "40 packets", min = "5 packets", max = "15 packets", weight = 0.002, ecn = true } }
[traffic.ftp]
kind = "bulk"
from = "net.left[*]"
to = "net.right[*]"
flows = 4
start = { first = "0.1 s", every = "130 ms" }
tcp = { recovery = "newreno", window = "60 packets", ecn = true }
""")
    run = tl.simulate(scenario)
    dropped, marked = run.flows.filter(label="ftp[3]").select("packets_dropped", "packets_marked").row(0)
    assert 0 < dropped < marked / 5
    said = run.why("ftp[3]")
    assert [cause.name for cause in said.causes] == ["saturated_link", "congestion_marks"]
    assert "marks keep the window small" in said.sentence


def test_a_queue_that_takes_no_burst_is_to_be_longer() -> None:
    """Also where a bandwidth-delay product is a packet."""
    scenario = tl.loads("""
duration = "20 s"
link.w = { ends = ["a", "b"], rate = "1 Mbit/s", delay = "1 ms", queue = "1 packet" }
traffic.t = { kind = "bulk", from = "a", to = "b" }
""")
    run = tl.simulate(scenario)
    (diagnosis,) = run.why().diagnoses
    assert diagnosis.causes[0].name == "recovery"
    assert diagnosis.suggestions[0].text == "a queue of 10 packets"
    after = tl.simulate(scenario.set_all(diagnosis.suggestions[0].changes))
    assert after.flows["goodput_bps"][0] > 1.5 * run.flows["goodput_bps"][0]


@pytest.mark.parametrize(("window", "back", "said"), [
    # As long as the path of which the unit speaks, and shorter than the one that packets take.
    ("1 BDP", False, "the path holds 6 packets (2 Mbit/s × 24.3 ms, transmission included, which 1 BDP leaves out)."),
    # No shorter than the path: what holds the rate is the queue in which ACKs wait, behind data that come the other way.
    ("8 packets", True, "and round trips take 37.1 ms with the queues."),
])  # fmt: skip
def test_a_window_that_should_fill_the_path_is_told_why_it_does_not(window: str, back: bool, said: str) -> None:  # noqa: FBT001
    scenario = tl.load("examples/one-flow.toml", set={"traffic.ftp.tcp.window": window})
    if back:
        other = {"kind": "bulk", "from": "receiver", "to": "sender", "tcp": {"window": "5 packets"}}
        scenario = scenario.set("traffic.other", other)
    diagnosis = tl.simulate(scenario).why("ftp").diagnoses[0]
    assert diagnosis.causes[0].name == "receiver_window", diagnosis.sentence
    assert said in diagnosis.sentence


NEAR_HOSTS: Final = """
profile = "linux"
duration = "10 ms"
topology.net = { kind = "leaf-spine", leaves = 2, spines = 1, hosts = 4, link = { rate = "100 Gbit/s", delay = "1 us", queue = "1 MB" } }
"""


def test_delays_between_near_hosts_keep_their_digits() -> None:
    """Base round trips of 4 and 9 us are no "0 ms", nor is 0.01 ms of queue "under 0.1 ms" beside them."""
    run = tl.simulate(
        tl.loads(f'{NEAR_HOSTS}traffic.q = {{ kind = "bulk", flows = 7, from = "net.host[*]", to = "net.host[7]" }}')
    )
    assert re.search(r"add [\d.]+ (to [\d.]+ )?ms to base RTTs of 0\.004\d* to 0\.008\d* ms", run.why().sentence)
    alone = tl.simulate(
        tl.loads(
            f'{NEAR_HOSTS}traffic.q = {{ kind = "cbr", rate = "1 Gbit/s", from = "net.host[0]", to = "net.host[7]" }}'
        )
    )
    assert "under" not in alone.why().sentence


def test_a_receivers_window_that_still_opens() -> None:
    """What holds is not the largest window, of many BDP, but what Linux has opened of it; a smaller one is open at once."""
    scenario = tl.loads(
        f'{NEAR_HOSTS}traffic.b = {{ kind = "bulk", from = "net.host[0]", to = "net.host[7]", bytes = "1 MB" }}'
    ).set_all({"topology.net.link.mtu": "9000 B", "traffic.b.tcp.payload": "8948 B"})
    run = tl.simulate(scenario)
    (found,) = run.why().diagnoses
    assert found.causes[0].name == "receiver_window"
    assert "window, which opens up to 3 MiB (351 packets) as it is used, still holds the rate" in found.sentence
    (suggestion,) = found.suggestions
    helped = tl.simulate(scenario.set_all(suggestion.changes))
    assert helped.flows["stop_s"][0] < 0.75 * run.flows["stop_s"][0]
    assert helped.why().diagnoses[0].causes[0].name == "saturated_link"


MARKED: Final = """
profile = "linux"
duration = "200 ms"
[topology.net]
kind = "dumbbell"
pairs = 4
access = { rate = "10 Gbit/s", delay = "5 us", queue = "unlimited" }
bottleneck = { rate = "10 Gbit/s", delay = "40 us", queue = { kind = "threshold", limit = "500 packets", mark = "65 packets" } }
[traffic.a]
kind = "bulk"
flows = 2
from = "net.left[*]"
to = "net.right[*]"
tcp = { congestion = "dctcp" }
[traffic.b]
kind = "bulk"
flows = 2
from = "net.left[*]"
to = "net.right[*]"
"""


@pytest.mark.parametrize(
    ("control", "key", "least"), [("dctcp", "traffic.b.tcp.congestion", 0.9), ("cubic", "traffic.b.tcp.ecn", 0.5)]
)
def test_who_does_not_answer_marks_leaves_nothing_to_others(control: str, key: str, least: float) -> None:
    """Between near hosts FQ-CoDel would add delay: with the same control, or ECN, the queue is short and shared."""
    scenario = tl.loads(MARKED).set_all({"traffic.a.tcp.congestion": control, "traffic.a.tcp.ecn": True})
    run = tl.simulate(scenario)
    assert "b gets 9" in run.why().sentence.replace("\n", " ")
    (found,) = run.why("a[0]").diagnoses
    assert "as b does not answer the marks that others do" in found.answer
    (suggestion,) = found.suggestions
    assert suggestion.changes.keys() == {key}
    helped = tl.simulate(scenario.set_all(suggestion.changes))
    rates = helped.flows["goodput_bps"].to_list()
    assert sum(rates) ** 2 / (4 * sum(rate**2 for rate in rates)) > least
    waits_s, before_s = (max(each.flows["queueing_delay_mean_s"].to_list()) for each in (helped, run))
    assert waits_s < 0.3 * before_s
    assert "does not answer" not in helped.why().sentence


@pytest.mark.parametrize(
    ("profile", "lost", "said"),
    [
        ("linux", [91], "a tail loss probe is awaited, 203 ms, as all is sent and 1.1 % of the packets are lost at w"),
        ("linux", [90, 91], "a tail loss probe is awaited"),
        ("rfc", [91], "a retransmission timeout of 1 s or more is awaited, as 1.1 % of the packets are lost at w"),
    ],
)
def test_a_transfer_that_loses_its_tail_waits_for_a_timer(profile: str, lost: list[int], said: str) -> None:
    """And no other control would spare it that."""
    scenario = tl.loads(f"""
        profile = "{profile}"
        duration = "3 s"
        link.w = {{ ends = ["a", "b"], rate = "1 Gbit/s", delay = "0.5 ms", loss = {{ packets = {lost} }}, reverse = {{ loss = 0 }} }}
        traffic.f = {{ kind = "bulk", from = "a", to = "b", bytes = "128872 B" }}
    """)
    run = tl.simulate(scenario)
    (found,) = run.why().diagnoses
    assert said in found.answer
    (change,) = (each.changes for each in found.suggestions if each.changes)
    assert list(change) == ["traffic.f.tcp.rto.min"]
    shorter = tl.simulate(scenario.set_all(change))
    assert shorter.completions["completion_s"][0] < 0.7 * run.completions["completion_s"][0]


@pytest.mark.parametrize(("control", "loss"), [("reno", "1 %"), ("bbr", "1 %"), ("bbr", "10 %")])
def test_who_does_not_heed_losses_needs_rack(control: str, loss: str) -> None:
    """BBR with SACK alone gets a fraction of what it does with RACK at random losses (Cardwell et al. 2016, figure 8)."""
    scenario = tl.loads(f"""
        duration = "20 s"
        link.w = {{ ends = ["a", "b"], rate = "100 Mbit/s", delay = "50 ms", queue = "1 BDP", loss = "{loss}", reverse = {{ loss = 0 }} }}
        traffic.f = {{ kind = "bulk", from = "a", to = "b", tcp.congestion = "{control}" }}
    """)
    run = tl.simulate(scenario)
    first = run.why().suggestions[0]
    assert first.changes["traffic.f.tcp.recovery"] == "rack"
    wanted_bps = 0.6 * (1 - float(loss.split(maxsplit=1)[0]) / 100) * 100e6
    assert (
        run.flows["goodput_bps"][0] < wanted_bps < tl.simulate(scenario.set_all(first.changes)).flows["goodput_bps"][0]
    )


def test_who_halves_by_each_mark_beside_dctcp() -> None:
    """CUBIC and Reno with ECN get little beside DCTCP (Judd 2015)."""
    scenario = tl.loads("""
        profile = "linux"
        duration = "2 s"
        link.w = { ends = ["r", "z"], rate = "1 Gbit/s", delay = "0.5 ms", queue = { kind = "threshold", limit = "500 packets", mark = "30 packets" } }
        link.a = { ends = ["a", "r"], rate = "10 Gbit/s", delay = "1 us" }
        link.b = { ends = ["b", "r"], rate = "10 Gbit/s", delay = "1 us" }
        traffic.new = { kind = "bulk", from = "a", to = "z", tcp = { congestion = "dctcp" } }
        traffic.old = { kind = "bulk", from = "b", to = "z", flows = 2, tcp = { congestion = "cubic", ecn = true } }
    """)
    run = tl.simulate(scenario)
    found = run.why()
    assert "as dctcp reduces by the share of marks, and old by each of them" in found.sentence
    first = found.suggestions[0]
    assert first.changes == {"traffic.old.tcp.congestion": "dctcp"}
    before, after = (
        each.flows["goodput_bps"].to_list() for each in (run, tl.simulate(scenario.set_all(first.changes)))
    )
    assert min(after) > 0.8 * sum(after) / 3
    assert min(before) < 0.2 * sum(before) / 3


def test_a_window_that_opens_slowly_holds_bbr_at_random_losses() -> None:
    """What waits behind holes takes room of it: with a larger one BBR has what Linux with buffers of 32 MiB has."""
    scenario = tl.loads("""
        profile = "linux"
        duration = "30 s"
        link.w = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "50 ms", queue = "1 BDP", loss = "1 %", reverse = { loss = 0 } }
        traffic.f = { kind = "bulk", from = "a", to = "b", tcp.congestion = "bbr" }
    """)
    run = tl.simulate(scenario)
    assert 0.1 < run.flows["limited_by_receiver_window"][0] < 0.2
    first = run.why().suggestions[0]
    assert first.changes == {"traffic.f.tcp.window": "3340 packets"}
    before, after = (each.flows["goodput_bps"][0] for each in (run, tl.simulate(scenario.set_all(first.changes))))
    assert after > 1.15 * before


def test_a_small_queue_of_many_flows_is_to_be_a_part_of_the_path() -> None:
    """BDP / sqrt(n) keeps the link busy (Appenzeller et al. 2004); all that the path holds would wait for nothing."""
    scenario = tl.loads("""
        duration = "20 s"
        [topology.n]
        kind = "dumbbell"
        pairs = 100
        access_left = { rate = "1 Gbit/s", delay = { first = "12 ms", every = "0.6 ms" } }
        access_right = { rate = "1 Gbit/s", delay = "1 ms" }
        bottleneck = { rate = "155 Mbit/s", delay = "7 ms", queue = "64 packets" }
        [traffic.f]
        kind = "bulk"
        flows = 100
        from = "n.left[*]"
        to = "n.right[*]"
        start = { within = "5 s" }
    """)
    found = next(each for each in tl.simulate(scenario).why().diagnoses if each.causes[0].name == "small_queue")
    assert "what the longest path holds over the square root of 100 flows (206 packets)" in found.answer
    change = found.suggestions[0].changes
    link = tl.simulate(scenario.set("observe.interval", "1 s").set_all(change)).series.filter(
        entity="n.bottleneck", metric="utilization"
    )
    busy = link.filter(pl.col("time_s") > 10)["value"].to_list()
    assert sum(busy) / len(busy) > 0.98


def test_an_overshoot_beside_marks_is_no_recovery() -> None:
    """Two flows that are alike at a queue that marks, of which one has lost 0.1 % in slow start."""
    scenario = tl.loads("""
        profile = "linux"
        duration = "60 s"
        link.w = { ends = ["r", "z"], rate = "50 Mbit/s", delay = "30 ms", queue = { kind = "red", limit = "300 packets", min = "5 packets", max = "15 packets", ecn = true } }
        link.a = { ends = ["a", "r"], rate = "10 Gbit/s", delay = "1 us" }
        link.b = { ends = ["b", "r"], rate = "10 Gbit/s", delay = "1 us" }
        traffic.f = { kind = "bulk", from = "a", to = "z", tcp.ecn = true }
        traffic.g = { kind = "bulk", from = "b", to = "z", start = "10 ms", tcp.ecn = true }
    """)
    run = tl.simulate(scenario)
    lost, marked = run.flows["packets_dropped"], run.flows["packets_marked"]
    assert lost[0] > marked[0] > 20
    (found,) = run.why().diagnoses
    assert (found.causes[0].name, found.causes[0].where) == ("congestion_marks", "w")


@pytest.mark.parametrize(
    ("flows", "holds"), [(1, "(50 Mbit/s × 150 ms)"), (4, "(50 Mbit/s × 150 ms, shared by 4 flows)")]
)
def test_what_a_path_holds_is_shared(flows: int, holds: str) -> None:
    """To each of several the path is not what it is to one."""
    run = tl.simulate(
        tl.loads(f"""
profile = "linux"
duration = "10 s"
link.wan = {{ ends = ["a", "b"], rate = "50 Mbit/s", delay = "75 ms", queue = "500 packets" }}
traffic.old = {{ kind = "bulk", from = "a", to = "b", flows = {flows}, tcp.window = "64 KiB" }}
""")
    )
    assert f"the path holds 626 packets {holds}" in run.why("old").sentence
