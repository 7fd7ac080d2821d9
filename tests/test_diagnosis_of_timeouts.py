"""What is said of transfers that wait for timers: incasts, bursts, last packets, and losses of a few."""

from __future__ import annotations

from typing import Any

import pytest

import tightlink as tl
from open_loop import QUEUE, cause_of, helps, mean_slowdown, transferred

INCAST = """
profile = "linux"
duration = "1 s"
[topology.net]
kind = "leaf-spine"
leaves = 1
spines = 1
hosts = 41
link = { rate = "1 Gbit/s", delay = "20 us", queue = { kind = "threshold", limit = "75 kB", mark = "20 packets" } }
[traffic.q]
kind = "transfers"
pairs = "incast"
senders = 40
from = "net.host[*]"
to = "net.host[0]"
times = ["0 s"]
size = "25 kB"
tcp = { congestion = "dctcp", rto = { min = "200 ms", initial = "1 s" } }
"""


@pytest.mark.parametrize(("least", "share", "count"), [("200 ms", 0.59, 2), ("10 ms", 0.07, 2), ("1 ms", 0.007, 3)])
def test_timeouts_are_as_much_of_the_time_as_they_last(least: str, share: float, count: int) -> None:
    """Two or three timeouts among 40 transfers of about 7 ms each, while the receiver's link is full."""
    scenario = tl.loads(INCAST).set("traffic.q.tcp.rto.min", least)
    run = transferred(scenario)
    assert run.flows["timeouts"][0] == count
    found = cause_of(run, "q")
    shares = {cause.name: cause.share for cause in found.causes}
    # What is below 3 % is no cause.
    assert shares.get("timeouts", 0.0) == pytest.approx(share if share >= 0.03 else 0, abs=0.01)
    assert found.causes[0].name == ("timeouts" if share > 0.5 else "saturated_link")
    if share > 0.5:
        takes = {"kind": "threshold", "limit": "600 kB", "mark": "20 packets"}
        assert helps(scenario, "q", 0.6) == [{"traffic.q.tcp.rto.min": "1 ms"}, {QUEUE: takes}]
    else:
        assert "link net.host_link[0].reverse is saturated" in found.answer.replace("Link", "link")


def test_a_link_that_idles_while_a_few_wait_for_timers() -> None:
    """Without probes: what was lost last waits for these instead."""
    plain = {"congestion": "cubic", "recovery": "sack", "rto": {"min": "1 ms", "initial": "1 ms"}}
    run = tl.simulate(
        tl.loads(INCAST).set_all({"traffic.q.tcp": plain, "traffic.q.size": "2800 B", QUEUE: "30 packets"})
    )
    assert run.flows["timeouts"][0] > 0
    assert "busy while there are transfers, of which some wait for timers" in cause_of(run, "q").answer


@pytest.mark.parametrize(
    ("queue", "takes"),
    [
        ("66 packets", "400 packets"),
        ("100 kB", "600 kB"),
        ({"kind": "threshold", "limit": "100 kB", "mark": "20 packets"}, "600 kB"),
    ],
)
def test_a_queue_that_takes_an_incast(queue: Any, takes: str) -> None:
    """As much as 40 initial windows of ten packets, in the unit of the limit, however long some wait for timers."""
    plain = {QUEUE: queue, "traffic.q.tcp": {"congestion": "cubic", "rto": {"min": "200 ms"}}}
    scenario = tl.loads(INCAST).set_all({**plain, "traffic.q.times": ["0 s", "300 ms"]})
    run = transferred(scenario)
    (suggestion,) = (each for each in cause_of(run, "q").suggestions if "initial windows" in each.text)
    ((key, longer),) = suggestion.changes.items()
    assert key == QUEUE
    assert longer == (takes if isinstance(queue, str) else {**queue, "limit": takes})
    helped = transferred(scenario.set_all(suggestion.changes))
    assert helped.completion_times["slowdown_mean"][0] < 0.5 * run.completion_times["slowdown_mean"][0]


def test_transfers_below_32_packets_at_a_full_link() -> None:
    """Their last round trip counts, though it has few packets."""
    run = transferred(tl.loads(INCAST).set("topology.net.link.queue.limit", "100 MB"))
    assert run.flows["limited_by_network"][0] > 0.5
    assert run.flows["packets_dropped"][0] == 0
    found = cause_of(run, "q")
    assert found.causes[0].name == "saturated_link"
    assert "congestion window" not in found.answer


@pytest.mark.parametrize("load", [0.6, 0.8, 0.9])
@pytest.mark.parametrize(("mark", "wanted"), [(3, 14), (14, 86)])
def test_marks_that_come_too_early_are_told_at_any_load(load: float, mark: int, wanted: int) -> None:
    """Open-loop transfers keep a link as busy as their load is, however slow marks make them."""
    scenario = tl.loads("""
profile = "linux"
duration = "0.6 s"
link.l = { ends = ["a", "b"], rate = "10 Gbit/s", delay = "50 us", queue = { kind = "threshold", limit = "1000 packets", mark = "3 packets" } }
traffic.t = { kind = "transfers", from = "a", to = "b", load = 0.6, of = "l", size = "1 MB", tcp.congestion = "dctcp" }
""").set_all({"traffic.t.load": load, "link.l.queue.mark": f"{mark} packets"})
    if (load, mark) == (0.9, 14):
        # Packets wait: the link is full.
        assert cause_of(transferred(scenario), "t").causes[0].name == "saturated_link"
        return
    found = cause_of(transferred(scenario), "t")
    assert found.suggestions[0].changes == {"link.l.queue.mark": f"{wanted} packets"}
    assert mean_slowdown(scenario.set_all(found.suggestions[0].changes), "t") < 0.9 * mean_slowdown(scenario, "t")


def test_bursts_that_meet_at_an_idle_link_are_to_find_room() -> None:
    """Nearly all of their time is waiting, though the link is busy for a few per cent of it."""
    scenario = tl.loads("""
profile = "linux"
duration = "100 ms"
topology.net = { kind = "leaf-spine", leaves = 1, spines = 1, hosts = 17, link = { rate = "10 Gbit/s", delay = "5 us", queue = "100 packets" } }
traffic.inc = { kind = "transfers", from = "net.host[*]", to = "net.host[16]", times = ["1 ms", "30 ms", "60 ms"], size = "64 kB", pairs = "incast" }
""")
    assert helps(scenario, "inc") == [{QUEUE: "160 packets"}]


FEW = """
duration = "3 s"
topology.n = { kind = "leaf-spine", leaves = 1, spines = 1, hosts = 48, link = { rate = "1 Gbit/s", delay = "12 us", queue = "64 packets" } }
traffic.q = { kind = "transfers", from = "n.host[*]", to = "n.host[0]", pairs = "incast", senders = 47, times = ["10 ms"], size = "5446 B", tcp = { congestion = "reno", initial_window = "3 packets", rto = { min = "200 ms" } } }
"""


def test_a_transfer_that_lost_its_last_packet_waits_for_a_probe() -> None:
    """Not for links that are hardly busy (RFC 8985 section 7; Phanishayee et al. 2008)."""
    scenario = tl.loads(f'profile = "linux"{FEW}').set_all({"traffic.q.senders": 2, "traffic.q.size": "128 kB"})
    run = transferred(scenario)
    assert (run.flows["timeouts"][0], run.completion_times["completion_max_s"][0] > 0.2) == (0, True)
    found = cause_of(run, "q")
    assert (found.causes[0].name, (found.causes[0].share or 0.0) > 0.9) == ("timeouts", True)
    assert "They wait for tail loss probes, as 9 % of the packets are lost" in found.answer
    assert "busy at times" not in found.answer
    assert helps(scenario, "q", 0.1) == [{"traffic.q.tcp.rto.min": "1 ms"}]


def test_transfers_that_were_complete_await_no_timeout_at_the_end() -> None:
    run = transferred(tl.loads(f'profile = "linux"{FEW}'))
    assert (run.flows["timeouts"][0], run.completion_times["completion_max_s"][0] < 0.01) == (0, True)
    found = cause_of(run, "q")
    assert "tail loss probes are awaited" in found.answer
    assert "at the end, as" not in found.answer


def test_round_trips_that_a_receiver_delays_make_no_timeout_short() -> None:
    """Of an odd last segment the ACK waits for 200 ms under profile rfc."""
    scenario = tl.loads(f'profile = "rfc"{FEW}')
    assert transferred(scenario).flows["rtt_p95_s"][0] > 0.2
    assert {"traffic.q.tcp.rto.min": "1 ms"} in helps(scenario, "q", 0.3)


def test_losses_of_a_few_are_not_what_most_wait_for() -> None:
    """Eleven packets of ten thousand are lost, and most transfers end in slow start, as behind a plain queue."""
    scenario = tl.loads("""
        profile = "linux"
        duration = "8 s"
        link.access = { ends = ["server", "home"], rate = "20 Mbit/s", delay = "25 ms", queue = { kind = "fq-codel" } }
        [traffic.web]
        kind = "transfers"
        from = "server"
        to = "home"
        load = "50 %"
        of = "access"
        size = { distribution = "pareto", mean = "100 kB" }
        stop = "7 s"
    """)
    run = transferred(scenario)
    retransmitted = run.completions["packets_retransmitted"]
    assert 0 < (retransmitted > 0).sum() < run.completions.height / 4
    found = cause_of(run, "web")
    assert {"slow_start", "early_drops"} & {cause.name for cause in found.causes} == {"slow_start"}
    assert "of their packets are lost, most at access" in found.answer
