"""What is said of transfers over leaves and spines, and over fat trees: outages, spraying, links that are unlike."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest

import tightlink as tl
from open_loop import QUEUE, cause_of, helps, mean_slowdown, transferred

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


K8 = Path(tl.__file__).parent / "examples/fat-tree-k8.toml"


def test_an_outage_of_several_links_is_one_and_what_handshakes_wait_for() -> None:
    """Each uplink is on the way of few: all of them together hold nearly all transfers, some of these before they begin."""
    scenario = tl.loads(LEAVES).set("topology.net.spine_link.outages", {"schedule": [{"at": "20 ms", "for": "100 s"}]})
    found = cause_of(transferred(scenario), "web")
    assert found.causes[0].name == "outage"
    assert found.causes[0].share == pytest.approx(1.0, abs=0.05)
    assert "8 links, net.spine_link[0..7], are down, 980 ms, while" in found.answer
    assert not found.suggestions
    short = scenario.set("topology.net.spine_link.outages", {"schedule": [{"at": "20 ms", "for": "10 ms"}]})
    waits, more = [], []
    # Which packets an outage catches, and so which timers wait, is left to the seed.
    for seed in range(1, 8):
        run = transferred(short.set("seed", seed))
        waits += [cause.share or 0.0 for cause in cause_of(run, "web").causes if cause.name == "outage"]
        assert ", are down, 10 ms, while" in cause_of(run, "web").answer
        without = transferred(scenario.set("topology.net.spine_link.outages", "none").set("seed", seed))
        took_s, least_s = (sum(each.completions["completion_s"].drop_nulls().to_list()) for each in (run, without))
        more.append(1 - least_s / took_s)
    assert len(waits) == len(more)
    assert statistics.fmean(waits) == pytest.approx(statistics.fmean(more), rel=0.5)


def test_sprayed_packets_that_overtake_each_other() -> None:
    scenario = tl.loads(FAT_TREE).set_all({"routing.ecmp": "packet", "traffic.p.tcp.recovery": "sack"})
    found = cause_of(transferred(scenario), "p")
    assert found.causes[0].name == "reordering"
    assert "retransmitted without need" in found.answer
    # More than the path holds in flight on average is small at times only.
    shuffle = cause_of(transferred(tl.load(K8).set("routing.ecmp", "packet")), "shuffle")
    assert "keep the window small at times; 15 packets in flight on average, the path holds 11" in shuffle.answer
    assert helps(scenario, "p") == [{"traffic.p.tcp.recovery": "rack"}]


def test_flows_that_meet_on_a_link_beside_idle_ones_are_sprayed() -> None:
    scenario = tl.loads(FAT_TREE)
    found = cause_of(transferred(scenario), "p")
    assert found.causes[0].name == "saturated_link"
    assert "core_link" in found.causes[0].where
    assert helps(scenario, "p") == [{"routing.ecmp": "packet"}]
    sprayed = cause_of(transferred(scenario.set("routing.ecmp", "packet")), "p")
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
    found = cause_of(transferred(scenario), "web")
    assert found.causes[0].where == "net.spine_link[0].reverse"
    assert found.suggestions
    assert all("routing.ecmp" not in each.changes for each in found.suggestions)
    assert mean_slowdown(scenario.set("routing.ecmp", "packet"), "web") > 2 * mean_slowdown(scenario, "web")


def test_of_links_that_are_not_alike_only_the_overloaded_one_is_to_be_faster() -> None:
    scenario = tl.loads(LEAVES).set_all({**UNLIKE, "traffic.web.load": "25 %"})
    (suggestion,) = cause_of(transferred(scenario), "web").suggestions
    assert suggestion.changes.keys() == {"topology.net.spine_link.rate[0]"}
    assert suggestion.text.endswith(" for net.spine_link[0]")
    assert helps(scenario, "web", 0.8) == [suggestion.changes]


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
    found = cause_of(transferred(scenario), "mice")
    assert found.delay is not None
    assert found.delay.where == "net.host_link[15].reverse"
    assert found.suggestions[0].text.startswith("FQ-CoDel")
    assert found.suggestions[-1].changes == {"routing.ecmp": "packet"}


def test_an_overload_is_told_by_what_is_offered() -> None:
    scenario = tl.loads(LEAVES)
    run = transferred(scenario)
    found = cause_of(run, "web")
    assert found.causes[0].name == "saturated_link"
    assert "spine_link" in found.causes[0].where
    assert "ore is offered to each of" in found.answer
    assert "Gbit/s while transfers arrive, of 1 Gbit/s" in found.answer
    (change,) = helps(scenario, "web", 0.5)
    assert list(change) == ["topology.net.spine_link.rate"]
    # A load that fits is no overload.
    assert "is offered" not in cause_of(transferred(scenario.set("traffic.web.load", "10 %")), "web").answer


def test_small_transfers_behind_large_ones_get_turns() -> None:
    """Sizes of one group that are far apart; and handshakes that are lost in a full queue."""
    text = LEAVES.replace('load = "40 %"', 'load = "20 %"').replace("200 packets", "100 packets")
    scenario = tl.loads(text).set("topology.net.spine_link.rate", "4 Gbit/s")
    changes = helps(scenario, "web")
    assert {QUEUE: {"kind": "fq-codel"}} in changes
    # Of one size, none waits behind a larger one.
    alike = scenario.set_all({"traffic.web.size": "100 kB"})
    assert all(QUEUE not in each.changes for each in cause_of(transferred(alike), "web").suggestions)
