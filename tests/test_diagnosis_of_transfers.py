"""What is said of open-loop transfers: whose links and waits are theirs, what holds them, and what helps."""

from __future__ import annotations

import re
import statistics
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tightlink as tl
from tightlink.diagnosis import Diagnosis
from tightlink.diagnosis.delay_variation import with_delay_variation
from tightlink.diagnosis.paths import Paths

RACK = """
profile = "linux"
duration = "120 ms"
topology.net = { kind = "leaf-spine", leaves = 1, spines = 1, hosts = 8, link = { rate = "10 Gbit/s", delay = "1 us", queue = "2 MB" } }
"""
ELEPHANTS = """
traffic.elephant = { kind = "bulk", from = "net.host[1]", to = "net.host[0]" }
traffic.elephant2 = { kind = "bulk", from = "net.host[2]", to = "net.host[0]" }
traffic.mice = { kind = "transfers", from = ["net.host[3]", "net.host[4]"], to = "net.host[0]", arrivals = "2000 transfers/s", size = "10 kB" }
"""
WIRE = """
profile = "linux"
duration = "2 s"
link.a = { ends = ["h1", "s"], rate = "10 Gbit/s", delay = "2.5 us", queue = "1000 packets" }
link.b = { ends = ["s", "h2"], rate = "1 Gbit/s", delay = "2.5 us", queue = "1000 packets" }
traffic.web = { kind = "transfers", from = "h1", to = "h2", times = ["0 s", "500 ms"], size = "1 MB" }
"""
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
FAT_TREE = """
profile = "linux"
duration = "100 ms"
topology.net = { kind = "fat-tree", k = 4, link = { rate = "10 Gbit/s", delay = "1 us", queue = { kind = "threshold", limit = "3 MB", mark = "65 packets" } } }
[traffic.p]
kind = "transfers"
pairs = "permutation"
together = true
from = "net.host[*]"
to = "net.host[*]"
times = ["0 s"]
size = "5 MB"
tcp = { congestion = "dctcp", rto = { min = "1 ms" } }
"""
LEAVES = """
profile = "linux"
duration = "1 s"
topology.net = { kind = "leaf-spine", leaves = 4, spines = 2, hosts = 8, link = { rate = "1 Gbit/s", delay = "5 us", queue = "200 packets" } }
[traffic.web]
kind = "transfers"
from = "net.host[*]"
to = "net.host[*]"
load = "40 %"
of = "net.host_link[*]"
size = { distribution = "pareto", mean = "100 kB" }
stop = "150 ms"
"""
QUEUE = "topology.net.link.queue"
K8 = Path(tl.__file__).parent / "examples/fat-tree-k8.toml"


@lru_cache(maxsize=8)
def _run(scenario: tl.Scenario) -> tl.Run:
    """What several questions are asked about is simulated once."""
    return tl.simulate(scenario)


@lru_cache(maxsize=8)
def _found(run: tl.Run, group: str) -> Diagnosis:
    (found,) = (each for each in run.why(group).diagnoses if each.flows == (group,))
    return found


def _mean(scenario: tl.Scenario, group: str) -> float:
    times = _run(scenario).completion_times.filter(label=group, size_class="all")
    return float(times["slowdown_mean"][0])


def _helps(scenario: tl.Scenario, group: str, part: float = 0.95) -> list[dict[str, Any]]:
    """The changes that are suggested to a group; each of them makes its transfers faster by a part at least."""
    before = _mean(scenario, group)
    changes = [each.changes for each in _found(_run(scenario), group).suggestions if each.changes]
    for change in changes:
        assert _mean(scenario.set_all(change), group) < part * before, change
    return changes


def test_only_links_that_a_group_takes_are_named() -> None:
    """Group b overloads a link that group a never takes."""
    scenario = tl.loads(f"""{RACK}
traffic.a = {{ kind = "transfers", from = "net.host[0]", to = "net.host[1]", arrivals = "500 transfers/s", size = "100 kB" }}
traffic.b = {{ kind = "transfers", from = ["net.host[3]", "net.host[4]"], to = "net.host[2]", load = "90 %", of = "net.host_link[2]", size = "1 MB" }}
""")
    run = _run(scenario)
    own, other = (_found(run, group) for group in ("a", "b"))
    assert "host_link[2]" not in own.answer
    assert "host_link[0]" in own.answer
    assert other.delay is not None
    assert other.delay.where == "net.host_link[2].reverse"


@pytest.mark.parametrize(
    ("queue", "dscp"), [({"kind": "fq-codel"}, None), ({"kind": "strict", "limit": "2 MB", "order": ["EF"]}, "EF")]
)
def test_waits_of_others_are_not_a_groups_where_a_queue_tells_them_apart(
    queue: dict[str, Any], dscp: str | None
) -> None:
    scenario = tl.loads(RACK + ELEPHANTS).set_all({QUEUE: queue, **({"traffic.mice.dscp": dscp} if dscp else {})})
    run = _run(scenario)
    found, row = _found(run, "mice"), run.flows.filter(label="mice").row(0, named=True)
    link = run.links.filter(link="net.host_link[0].reverse").row(0, named=True)
    assert found.delay is not None
    assert found.delay.mean_s < 0.1 * link["queueing_delay_mean_s"]
    assert found.delay.mean_s == pytest.approx(row["rtt_mean_s"] - found.delay.base_s, rel=0.3)
    assert not found.suggestions
    assert "lost" not in found.answer


def test_who_fills_the_queue_is_said_and_what_helps_against_it() -> None:
    scenario = tl.loads(RACK + ELEPHANTS)
    found = _found(_run(scenario), "mice")
    assert found.causes[0].name == "saturated_link"
    assert found.causes[0].share == pytest.approx(1, abs=0.03)
    assert "which elephant and elephant2 fill" in found.answer
    fair, first = _helps(scenario, "mice", 0.1)
    assert fair == {QUEUE: {"kind": "fq-codel"}}
    assert first["traffic.mice.dscp"] == "EF"


def test_flows_share_a_link_that_send_at_the_same_time() -> None:
    """240 short transfers come within the time of two bulk flows, and few of them are under way at once."""
    run = _run(tl.loads(RACK + ELEPHANTS))
    link, bulk = "net.host_link[0].reverse", run.flows.filter(label="elephant").row(0, named=True)
    each = run.completions.filter(label="mice").select("start_s", "completion_s")
    ends = (pl.col("start_s") + pl.col("completion_s")).fill_null(0.12).clip(upper_bound=0.12)
    at_once = 2 + each.select(ends - pl.col("start_s")).sum().item() / (bulk["stop_s"] - bulk["start_s"])
    assert run.completions.height > 200
    assert Paths(run).sharing(link, bulk) == round(at_once) < 12
    assert f"shared by {round(at_once)} flows" in _found_bulk(run).answer


def _found_bulk(run: tl.Run) -> Diagnosis:
    return next(each for each in run.why().diagnoses if "elephant" in each.flows)


def test_links_are_as_busy_as_they_are_while_there_are_transfers() -> None:
    """Two transfers, 500 ms apart, of which each fills the link for 8 ms; and two groups say the same of the same link."""
    answer = _found(_run(tl.loads(WIRE)), "web").answer
    assert "Link b is saturated (99.8 % busy while there are transfers)" in answer
    other = 'traffic.web2 = { kind = "transfers", from = "h1", to = "h2", times = ["1 s"], size = "1 MB" }\n'
    run = _run(tl.loads(WIRE + other))
    assert "Link b is saturated (99.8 % busy while there are transfers)" in _found(run, "web").answer
    assert "Link b is saturated (99.8 % busy while there are transfers)" in _found(run, "web2").answer


@pytest.mark.parametrize(
    ("changes", "cause", "said"),
    [
        ({"link.b.delay": "5 ms"}, "slow_start", "slow start is not over when they end, after 7.2 round trips"),
        ({"link.b.delay": "5 ms", "traffic.web.tcp.window": "20 packets"}, "receiver_window", "window of 20 packets"),
        ({"link.b.loss": "2 %", "link.b.delay": "500 us"}, "random_loss", "random losses on the wire of b"),
    ],
)
def test_causes_are_those_of_bulk_flows_and_the_suggestion_helps(
    changes: dict[str, Any], cause: str, said: str
) -> None:
    scenario = tl.loads(WIRE).set_all(changes)
    found = _found(_run(scenario), "web")
    assert found.causes[0].name == cause
    assert said in found.answer
    assert _helps(scenario, "web")


def test_round_trips_that_acks_make_longer_are_the_groups() -> None:
    scenario = tl.loads(WIRE).set_all({"link.b.rate": "10 Gbit/s", "traffic.web.tcp.window": "10 packets"})
    both = scenario.set("traffic.back", {"kind": "bulk", "from": "h2", "to": "h1"})
    run = _run(both)
    (window,) = (cause for cause in _found(run, "web").causes if cause.name == "receiver_window")
    rtt_ms = 1000 * run.flows.filter(label="web")["rtt_mean_s"][0]
    assert f"round trips take {rtt_ms:.2g} ms, as ACKs wait at" in window.text


def test_an_outage_is_named_with_what_waits_for_it() -> None:
    scenario = tl.loads(WIRE).set_all({
        "traffic.web.times": ["0 s", "505 ms", "520 ms", "1 s"],
        "link.b.outages": {"schedule": [{"at": "510 ms", "for": "50 ms"}]},
    })  # fmt: skip
    found = _found(_run(scenario), "web")
    assert (found.causes[0].name, found.causes[0].where) == ("outage", "b")
    assert "link b is down, 50 ms, while 2 of 4 transfers are under way" in found.answer
    missed = scenario.set("link.b.outages", {"schedule": [{"at": "700 ms", "for": "50 ms"}]})
    assert [cause.name for cause in _found(_run(missed), "web").causes] == ["saturated_link"]


def test_an_outage_of_several_links_is_one_and_what_handshakes_wait_for() -> None:
    """Each uplink is on the way of few: all of them together hold nearly all transfers, some of these before they begin."""
    scenario = tl.loads(LEAVES).set("topology.net.spine_link.outages", {"schedule": [{"at": "20 ms", "for": "100 s"}]})
    found = _found(_run(scenario), "web")
    assert found.causes[0].name == "outage"
    assert found.causes[0].share == pytest.approx(1.0, abs=0.05)
    assert "8 links, net.spine_link[0..7], are down, 980 ms, while" in found.answer
    assert not found.suggestions
    short = scenario.set("topology.net.spine_link.outages", {"schedule": [{"at": "20 ms", "for": "10 ms"}]})
    waits, more = [], []
    # Which packets an outage catches, and so which timers wait, is left to the seed.
    for seed in range(1, 8):
        run = _run(short.set("seed", seed))
        waits += [cause.share or 0.0 for cause in _found(run, "web").causes if cause.name == "outage"]
        assert ", are down, 10 ms, while" in _found(run, "web").answer
        without = _run(scenario.set("topology.net.spine_link.outages", "none").set("seed", seed))
        took_s, least_s = (sum(each.completions["completion_s"].drop_nulls().to_list()) for each in (run, without))
        more.append(1 - least_s / took_s)
    assert len(waits) == len(more)
    assert statistics.fmean(waits) == pytest.approx(statistics.fmean(more), rel=0.5)


def test_sprayed_packets_that_overtake_each_other() -> None:
    scenario = tl.loads(FAT_TREE).set_all({"routing.ecmp": "packet", "traffic.p.tcp.recovery": "sack"})
    found = _found(_run(scenario), "p")
    assert found.causes[0].name == "reordering"
    assert "retransmitted without need" in found.answer
    # More than the path holds in flight on average is small at times only.
    shuffle = _found(_run(tl.load(K8).set("routing.ecmp", "packet")), "shuffle")
    assert "keep the window small at times; 15 packets in flight on average, the path holds 11" in shuffle.answer
    assert _helps(scenario, "p") == [{"traffic.p.tcp.recovery": "rack"}]


def test_flows_that_meet_on_a_link_beside_idle_ones_are_sprayed() -> None:
    scenario = tl.loads(FAT_TREE)
    found = _found(_run(scenario), "p")
    assert found.causes[0].name == "saturated_link"
    assert "core_link" in found.causes[0].where
    assert _helps(scenario, "p") == [{"routing.ecmp": "packet"}]
    sprayed = _found(_run(scenario.set("routing.ecmp", "packet")), "p")
    assert all("routing.ecmp" not in each.changes for each in sprayed.suggestions)


UNLIKE: dict[str, Any] = {
    "topology.net.spines": 4,
    "topology.net.spine_link.rate": ["250 Mbit/s", *["1 Gbit/s"] * 15],
    "traffic.web.tcp.congestion": "dctcp",
    QUEUE: {"kind": "threshold", "limit": "400 packets", "mark": "20 packets"},
}


def test_paths_that_are_not_alike_are_not_sprayed() -> None:
    """Each path gets as many packets: one at a quarter of the rate would carry what comes for it no more."""
    scenario = tl.loads(LEAVES).set_all({**UNLIKE, "traffic.web.load": "18 %", "seed": 4})
    found = _found(_run(scenario), "web")
    assert found.causes[0].where == "net.spine_link[0].reverse"
    assert found.suggestions
    assert all("routing.ecmp" not in each.changes for each in found.suggestions)
    assert _mean(scenario.set("routing.ecmp", "packet"), "web") > 2 * _mean(scenario, "web")


def test_of_links_that_are_not_alike_only_the_overloaded_one_is_to_be_faster() -> None:
    scenario = tl.loads(LEAVES).set_all({**UNLIKE, "traffic.web.load": "25 %"})
    (suggestion,) = _found(_run(scenario), "web").suggestions
    assert suggestion.changes.keys() == {"topology.net.spine_link.rate[0]"}
    assert suggestion.text.endswith(" for net.spine_link[0]")
    assert _helps(scenario, "web", 0.8) == [suggestion.changes]


def test_spraying_comes_last_where_a_hosts_own_link_makes_wait() -> None:
    """Two elephants that meet on the way to a host fill its link: no other path leads around that."""
    scenario = tl.loads("""
profile = "linux"
duration = "120 ms"
seed = 4
topology.net = { kind = "leaf-spine", leaves = 2, spines = 2, hosts = 8, link = { rate = "10 Gbit/s", delay = "2 us", queue = "1 MB" } }
traffic.elephant = { kind = "bulk", flows = 2, from = "net.host[*]", to = "net.host[15]" }
traffic.mice = { kind = "transfers", from = "net.host[*]", to = "net.host[15]", arrivals = "5 transfers/ms", size = "10 kB", stop = "60 ms" }
""")
    found = _found(_run(scenario), "mice")
    assert found.delay is not None
    assert found.delay.where == "net.host_link[15].reverse"
    assert found.suggestions[0].text.startswith("FQ-CoDel")
    assert found.suggestions[-1].changes == {"routing.ecmp": "packet"}


@pytest.mark.parametrize(("least", "share", "count"), [("200 ms", 0.59, 2), ("10 ms", 0.07, 2), ("1 ms", 0.007, 3)])
def test_timeouts_are_as_much_of_the_time_as_they_last(least: str, share: float, count: int) -> None:
    """Two or three timeouts among 40 transfers of about 7 ms each, while the receiver's link is full."""
    scenario = tl.loads(INCAST).set("traffic.q.tcp.rto.min", least)
    run = _run(scenario)
    assert run.flows["timeouts"][0] == count
    found = _found(run, "q")
    shares = {cause.name: cause.share for cause in found.causes}
    # What is below 3 % is no cause.
    assert shares.get("timeouts", 0.0) == pytest.approx(share if share >= 0.03 else 0, abs=0.01)
    assert found.causes[0].name == ("timeouts" if share > 0.5 else "saturated_link")
    if share > 0.5:
        takes = {"kind": "threshold", "limit": "600 kB", "mark": "20 packets"}
        assert _helps(scenario, "q", 0.6) == [{"traffic.q.tcp.rto.min": "1 ms"}, {QUEUE: takes}]
    else:
        assert "link net.host_link[0].reverse is saturated" in found.answer.replace("Link", "link")


def test_how_much_comes_for_a_link_that_each_transfer_fills() -> None:
    """At a tenth of the load a link is busy whenever there is a transfer, and has room for nine times as many."""
    text = WIRE.replace('times = ["0 s", "500 ms"]', 'arrivals = "12.5 transfers/s", stop = "9 s"')
    run = _run(tl.loads(text).set("duration", "10 s"))
    comes = 8 * sum(run.completions["bytes"].to_list()) * 1500 / 1448 / 9 / 1e9
    said = re.search(
        r"busy while there are transfers, which bring (\d+) % of what it carries\)", _found(run, "web").answer
    )
    assert said
    assert int(said[1]) == pytest.approx(100 * comes, abs=1)


def test_a_link_that_idles_while_a_few_wait_for_timers() -> None:
    """Without probes: what was lost last waits for these instead."""
    plain = {"congestion": "cubic", "recovery": "sack", "rto": {"min": "1 ms", "initial": "1 ms"}}
    run = tl.simulate(
        tl.loads(INCAST).set_all({"traffic.q.tcp": plain, "traffic.q.size": "2800 B", QUEUE: "30 packets"})
    )
    assert run.flows["timeouts"][0] > 0
    assert "busy while there are transfers, of which some wait for timers" in _found(run, "q").answer


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
    run = _run(scenario)
    (suggestion,) = (each for each in _found(run, "q").suggestions if "initial windows" in each.text)
    ((key, longer),) = suggestion.changes.items()
    assert key == QUEUE
    assert longer == (takes if isinstance(queue, str) else {**queue, "limit": takes})
    helped = _run(scenario.set_all(suggestion.changes))
    assert helped.completion_times["slowdown_mean"][0] < 0.5 * run.completion_times["slowdown_mean"][0]


def test_transfers_below_32_packets_at_a_full_link() -> None:
    """Their last round trip counts, though it has few packets."""
    run = _run(tl.loads(INCAST).set("topology.net.link.queue.limit", "100 MB"))
    assert run.flows["limited_by_network"][0] > 0.5
    assert run.flows["packets_dropped"][0] == 0
    found = _found(run, "q")
    assert found.causes[0].name == "saturated_link"
    assert "congestion window" not in found.answer


def test_an_overload_is_told_by_what_is_offered() -> None:
    scenario = tl.loads(LEAVES)
    run = _run(scenario)
    found = _found(run, "web")
    assert found.causes[0].name == "saturated_link"
    assert "spine_link" in found.causes[0].where
    assert "ore is offered to each of" in found.answer
    assert "Gbit/s while transfers arrive, of 1 Gbit/s" in found.answer
    (change,) = _helps(scenario, "web", 0.5)
    assert list(change) == ["topology.net.spine_link.rate"]
    # A load that fits is no overload.
    assert "is offered" not in _found(_run(scenario.set("traffic.web.load", "10 %")), "web").answer


def test_small_transfers_behind_large_ones_get_turns() -> None:
    """Sizes of one group that are far apart; and handshakes that are lost in a full queue."""
    text = LEAVES.replace('load = "40 %"', 'load = "20 %"').replace("200 packets", "100 packets")
    scenario = tl.loads(text).set("topology.net.spine_link.rate", "4 Gbit/s")
    changes = _helps(scenario, "web")
    assert {QUEUE: {"kind": "fq-codel"}} in changes
    # Of one size, none waits behind a larger one.
    alike = scenario.set_all({"traffic.web.size": "100 kB"})
    assert all(QUEUE not in each.changes for each in _found(_run(alike), "web").suggestions)


def test_the_way_back_of_acks_is_full() -> None:
    scenario = tl.loads("""
profile = "linux"
duration = "10 s"
link.l = { ends = ["isp", "home"], rate = "20 Mbit/s", delay = "15 ms", queue = "200 packets", reverse = { rate = "1 Mbit/s", queue = "100 packets" } }
traffic.web = { kind = "transfers", from = "isp", to = "home", load = 0.3, of = "l", size = "50 kB" }
traffic.up = { kind = "bulk", from = "home", to = "isp" }
""")
    found = _found(_run(scenario), "web")
    assert (found.causes[0].name, found.causes[0].where) == ("ack_path", "l.reverse")
    assert "which up fills" in found.answer
    assert _helps(scenario, "web", 0.5)


def test_web_behind_a_backup() -> None:
    scenario = tl.loads("""
profile = "linux"
duration = "20 s"
link.l = { ends = ["isp", "home"], rate = "20 Mbit/s", delay = "15 ms", queue = "500 packets", reverse.rate = "2 Mbit/s" }
traffic.web = { kind = "transfers", from = "isp", to = "home", load = 0.2, of = "l", size = { distribution = "pareto", mean = "100 kB" } }
traffic.backup = { kind = "bulk", from = "isp", to = "home" }
""")
    found = _found(_run(scenario), "web")
    assert "which backup fills" in found.answer
    assert {"link.l.queue": {"kind": "fq-codel"}} in _helps(scenario, "web", 0.5)


def test_a_router_that_forwards_no_more() -> None:
    scenario = tl.loads("""
profile = "linux"
duration = "2 s"
link.a = { ends = ["h1", "r"], rate = "1 Gbit/s", delay = "1 ms", queue = "1000 packets" }
link.b = { ends = ["r", "h2"], rate = "1 Gbit/s", delay = "1 ms", queue = "1000 packets" }
node.r.processor = { per_packet = "100 us", input_ring = "256 packets" }
traffic.web = { kind = "transfers", from = "h1", to = "h2", arrivals = "100 transfers/s", size = "200 kB" }
""")
    found = _found(_run(scenario), "web")
    assert "router_packet_rate" in {cause.name for cause in found.causes}
    assert "router r forwards no more than 10,000 packets/s" in found.answer


def test_paths_are_found_once_for_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    call = 'traffic.call = { kind = "cbr", from = "net.host[5]", to = "net.host[0]", rate = "1 Mbit/s" }'
    runs = [tl.simulate(tl.loads(RACK + ELEPHANTS + call).set("duration", "20 ms")) for _ in range(2)]
    made, find = [], Paths.__init__

    def found(self: Paths, run: tl.Run) -> None:
        made.append(run)
        find(self, run)

    monkeypatch.setattr(Paths, "__init__", found)
    for run in runs:
        assert run.why().causes
        assert run.why("elephant").causes
        assert "delay_variation_p95_s" in with_delay_variation(run).columns
    assert made == runs


def test_transfers_on_a_changing_link_get_the_interval_of_others_there() -> None:
    scenario = tl.loads("""
    profile = "linux"
    duration = "30 s"
    link.access = { ends = ["net", "phone"], network = "lte" }
    traffic.web = { kind = "transfers", from = "net", to = "phone", arrivals = "4 transfers/s", size = { distribution = "exponential", mean = "300 kB" } }
    traffic.d = { kind = "bulk", from = "net", to = "phone" }
    """)
    run = _run(scenario)
    suggestion = run.why("web").suggestions[0]
    better = _run(scenario.set_all(suggestion.changes))
    plain = _run(scenario.set_all({"link.access.queue": {"kind": "fq-codel"}}))
    of_d = [each.flows.filter(pl.col("label") == "d")["goodput_bps"][0] for each in (run, plain, better)]
    less = 100 * (1 - of_d[2] / of_d[0])
    assert suggestion.text == f"FQ-CoDel (a queue for each flow, interval 300 ms; d gets {less:.0f} % less)"
    assert of_d[2] > 1.1 * of_d[1]


def test_a_transfer_behind_its_own_packets_gets_no_shorter_queue() -> None:
    scenario = tl.loads("""
    profile = "linux"
    duration = "5 s"
    link.a = { ends = ["net", "home"], rate = "1 Gbit/s", delay = "10 ms", queue = "1000 packets", shaper = { rate = "50 Mbit/s", burst = "1 MB" } }
    traffic.d = { kind = "bulk", from = "net", to = "home", bytes = "2 MB", tcp.initial_window = "100 packets" }
    """)
    found = _run(scenario).why("d")
    assert found.delay is not None
    assert found.delay.mean_s > 0.005
    assert found.suggestions == ()


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
        assert _found(_run(scenario), "t").causes[0].name == "saturated_link"
        return
    found = _found(_run(scenario), "t")
    assert found.suggestions[0].changes == {"link.l.queue.mark": f"{wanted} packets"}
    assert _mean(scenario.set_all(found.suggestions[0].changes), "t") < 0.9 * _mean(scenario, "t")


def test_bursts_that_meet_at_an_idle_link_are_to_find_room() -> None:
    """Nearly all of their time is waiting, though the link is busy for a few per cent of it."""
    scenario = tl.loads("""
profile = "linux"
duration = "100 ms"
topology.net = { kind = "leaf-spine", leaves = 1, spines = 1, hosts = 17, link = { rate = "10 Gbit/s", delay = "5 us", queue = "100 packets" } }
traffic.inc = { kind = "transfers", from = "net.host[*]", to = "net.host[16]", times = ["1 ms", "30 ms", "60 ms"], size = "64 kB", pairs = "incast" }
""")
    assert _helps(scenario, "inc") == [{QUEUE: "160 packets"}]


def test_red_beside_datagrams_is_what_leaves_windows_small() -> None:
    """These have no window that would fill the path."""
    scenario = tl.loads("""
duration = "20 s"
link.x = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "30 ms", queue = { kind = "red", limit = "60 packets", min = "5 packets", max = "15 packets" } }
traffic.f = { kind = "bulk", from = "a", to = "b", flows = 2 }
traffic.o = { kind = "on-off", from = "a", to = "b", rate = "4 Mbit/s", on = "300 ms", off = "700 ms" }
""")
    assert _run(scenario).why("f").causes[0].name == "early_drops"


FEW = """
duration = "3 s"
topology.n = { kind = "leaf-spine", leaves = 1, spines = 1, hosts = 48, link = { rate = "1 Gbit/s", delay = "12 us", queue = "64 packets" } }
traffic.q = { kind = "transfers", from = "n.host[*]", to = "n.host[0]", pairs = "incast", senders = 47, times = ["10 ms"], size = "5446 B", tcp = { congestion = "reno", initial_window = "3 packets", rto = { min = "200 ms" } } }
"""


def test_a_transfer_that_lost_its_last_packet_waits_for_a_probe() -> None:
    """Not for links that are hardly busy (RFC 8985 section 7; Phanishayee et al. 2008)."""
    scenario = tl.loads(f'profile = "linux"{FEW}').set_all({"traffic.q.senders": 2, "traffic.q.size": "128 kB"})
    run = _run(scenario)
    assert (run.flows["timeouts"][0], run.completion_times["completion_max_s"][0] > 0.2) == (0, True)
    found = _found(run, "q")
    assert (found.causes[0].name, (found.causes[0].share or 0.0) > 0.9) == ("timeouts", True)
    assert "They wait for tail loss probes, as 9 % of the packets are lost" in found.answer
    assert "busy at times" not in found.answer
    assert _helps(scenario, "q", 0.1) == [{"traffic.q.tcp.rto.min": "1 ms"}]


def test_transfers_that_were_complete_await_no_timeout_at_the_end() -> None:
    run = _run(tl.loads(f'profile = "linux"{FEW}'))
    assert (run.flows["timeouts"][0], run.completion_times["completion_max_s"][0] < 0.01) == (0, True)
    found = _found(run, "q")
    assert "tail loss probes are awaited" in found.answer
    assert "at the end, as" not in found.answer


def test_round_trips_that_a_receiver_delays_make_no_timeout_short() -> None:
    """Of an odd last segment the ACK waits for 200 ms under profile rfc."""
    scenario = tl.loads(f'profile = "rfc"{FEW}')
    assert _run(scenario).flows["rtt_p95_s"][0] > 0.2
    assert {"traffic.q.tcp.rto.min": "1 ms"} in _helps(scenario, "q", 0.3)


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
    run = _run(scenario)
    retransmitted = run.completions["packets_retransmitted"]
    assert 0 < (retransmitted > 0).sum() < run.completions.height / 4
    found = _found(run, "web")
    assert {"slow_start", "early_drops"} & {cause.name for cause in found.causes} == {"slow_start"}
    assert "of their packets are lost, most at access" in found.answer
