"""Which of several shortest paths flows take."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

import tightlink as tl

FAT_TREE = """
duration = "20 ms"
topology.net = { kind = "fat-tree", k = 4, link = { rate = "1 Gbit/s", delay = "5 us", queue = "1000 packets" } }
traffic.pairs = { kind = "cbr", flows = 512, from = "net.host[0]", to = "net.host[12]", interval = "100 ms", udp = { payload = "100 B" } }
"""
#: From a to d over b or c, and directly by a link that is slow.
DIAMOND = """
duration = "1 s"
link.ab = { ends = ["a", "b"], rate = "1 Mbit/s", delay = "1 ms" }
link.ac = { ends = ["a", "c"], rate = "1 Mbit/s", delay = "1 ms" }
link.bd = { ends = ["b", "d"], rate = "1 Mbit/s", delay = "1 ms" }
link.cd = { ends = ["c", "d"], rate = "1 Mbit/s", delay = "1 ms" }
link.ad = { ends = ["a", "d"], rate = "1 Mbit/s", delay = "50 ms" }
traffic.ftp = { kind = "bulk", from = "a", to = "d", flows = 16 }
"""
#: From a to d over b, or over c and one of two links; over b it is 4 ms less far.
FORKS = """
duration = "10 s"
link.ab = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms" }
link.ac = { ends = ["a", "c"], rate = "10 Mbit/s", delay = "20 ms" }
link.bd = { ends = ["b", "d"], rate = "10 Mbit/s", delay = "20 ms" }
link.cd = { ends = ["c", "d"], rate = "10 Mbit/s", delay = "24 ms" }
link.cd2 = { ends = ["c", "d"], rate = "10 Mbit/s", delay = "24 ms" }
traffic.ftp = { kind = "bulk", from = "a", to = "d", tcp = { recovery = "sack", window = "40 packets" } }
routing.ecmp = "packet"
"""


def _paths(scenario: tl.Scenario, side: str = "path") -> list[list[str]]:
    resolved: dict[str, Any] = scenario.resolve()
    names = [link["name"] for link in resolved["links"]]
    return [[names[link] for link in flow[side]] for flow in resolved["flows"]]


def test_flows_of_a_fat_tree_spread_evenly_over_its_cores() -> None:
    """Four cores, 512 flows between two hosts: 128 each but for chance, of which five standard deviations are 49."""
    paths = _paths(tl.loads(FAT_TREE))
    assert {len(path) for path in paths} == {6}
    cores = Counter(path[2] for path in paths)
    assert len(cores) == 4
    assert all(abs(count - 128) < 49 for count in cores.values()), cores


def test_another_seed_chooses_other_paths_and_the_same_seed_the_same() -> None:
    scenario = tl.loads(FAT_TREE)
    assert _paths(scenario) == _paths(tl.loads(FAT_TREE))
    assert _paths(scenario) != _paths(scenario.set("seed", 2))


def test_packets_take_the_paths_that_were_chosen() -> None:
    scenario = tl.loads(FAT_TREE)
    crossed = Counter(link for path in _paths(scenario) for link in path)
    links = tl.simulate(scenario).links.filter(pl.col("packets_in") > 0)
    assert dict(links.select("link", "packets_in").iter_rows()) == crossed


def test_equal_costs_are_shared_and_answers_choose_for_themselves() -> None:
    scenario = tl.loads(DIAMOND + 'routing.ecmp = "flow"\nrouting.by = "delay"\n')
    there, back = _paths(scenario), _paths(scenario, "reverse_path")
    assert {tuple(path) for path in there} == {("ab", "bd"), ("ac", "cd")}
    assert {tuple(path) for path in back} == {("bd.reverse", "ab.reverse"), ("cd.reverse", "ac.reverse")}
    over = [(path[0][1] == way[1][1]) for path, way in zip(there, back, strict=True)]
    assert {True, False} == set(over), "some answers come back another way"


def test_the_shortest_is_that_of_the_fewest_links_or_of_the_least_delay() -> None:
    def first(more: str) -> list[str]:
        return _paths(tl.loads(DIAMOND + more))[0]

    assert first('routing.ecmp = "flow"\n') == ["ad"]
    assert first('routing.by = "delay"\n') == ["ab", "bd"], "of equals the first of the scenario"
    # As the engine finds it by itself.
    links = tl.simulate(tl.loads(DIAMOND)).links
    assert links.filter(pl.col("packets_in") > 0)["link"].to_list() == ["ad", "ad.reverse"]


def test_paths_that_are_spelled_out_stay() -> None:
    scenario = tl.loads(DIAMOND + 'routing = { by = "delay", ecmp = "flow" }\n')
    scenario = scenario.set_all({"traffic.ftp.path": ["ad"], "traffic.ftp.reverse_path": ["ad.reverse"]})
    assert set(map(tuple, _paths(scenario))) == {("ad",)}


def test_a_router_chooses_for_each_packet_at_random() -> None:
    """Each path has the probability of the choices on it."""
    resolved = tl.loads(FORKS).resolve()
    names = [link["name"] for link in resolved["links"]]
    (flow,) = resolved["flows"]
    shares = {tuple(names[link] for link in path["links"]): path["share"] for path in flow["spraying"]["paths"]}
    assert shares == {("ab", "bd"): 0.5, ("ac", "cd"): 0.25, ("ac", "cd2"): 0.25}
    assert (flow["path"], flow["reverse_path"]) == tuple(
        flow["spraying"][key][0]["links"] for key in ("paths", "reverse_paths")
    )


def test_packets_of_one_flow_spread_over_the_cores_on_any_number_of_threads() -> None:
    """Four paths for 2,000 packets: 500 each but for chance, of which five standard deviations are 97."""
    text = FAT_TREE.replace("flows = 512, ", "").replace("100 ms", "10 us")
    scenario = tl.loads(text + 'routing.ecmp = "packet"\n')
    run = tl.simulate(scenario)
    cores = run.links.filter(pl.col("link").str.starts_with("net.core_link"), pl.col("packets_in") > 0)
    up = cores.filter(~pl.col("link").str.ends_with(".reverse"))["packets_in"].to_list()
    assert len(up) == 4
    assert all(abs(count - 500) < 97 for count in up), up
    assert run.manifest["random_draws"] == run.flows["packets_sent"].sum()
    assert tl.simulate(scenario, threads=2).manifest["digest"] == run.manifest["digest"]


@pytest.mark.parametrize(("recovery", "cause"), [("sack", "reordering"), ("rack", "receiver_window")])
def test_paths_of_different_delays_hold_back_who_counts_duplicate_acks(recovery: str, cause: str) -> None:
    """Nothing is lost: what is retransmitted was overtaken, for which RACK waits (RFC 8985 §6.2)."""
    run = tl.simulate(tl.loads(FORKS).set("traffic.ftp.tcp.recovery", recovery))
    assert run.flows["packets_dropped"].item() == 0
    assert run.why("ftp").causes[0].name == cause


def test_bandwidth_delay_products_are_those_of_the_path_that_is_taken() -> None:
    wanted = DIAMOND.replace("flows = 16", 'flows = 16, tcp.window = "1 BDP"')
    windows = [
        tl.loads(wanted + more).resolve()["flows"][0]["transport"]["tcp"]["window_packets"]
        for more in ("", 'routing.by = "delay"\n')
    ]
    # 1 Mbit/s for 100 ms and for 4 ms, in packets of 1500 B, rounded up.
    assert windows == [9, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DIAMOND + 'routing.ecmp = "random"\n', r'routing.ecmp = "random": expected one of none, flow, packet'),
        (DIAMOND + 'routing.weight = "delay"\n', "routing.weight"),
        (DIAMOND.replace('kind = "bulk"', 'kind = "saturate"') + 'routing = { ecmp = "packet", by = "delay" }\n',
         r'routing.ecmp = "packet": expected one link from "a", whose interface ftp\[0\] waits for'),
        (DIAMOND.replace('["b", "d"]', '["b", "e"]').replace('["c", "d"]', '["c", "e"]').replace('["a", "d"]', '["a", "e"]')
         + 'routing.by = "delay"\n', 'no node "d"|"d"'),
        (DIAMOND.split("traffic", maxsplit=1)[0] + 'routing.ecmp = "flow"\n'
         'traffic.calls = { kind = "scatter", at = ["a", "b"], rate = "10 packets/s" }\n', "routing: expected no routing beside"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(text: str, expected: str) -> None:
    with pytest.raises(tl.ScenarioError, match=expected):
        tl.loads(text).resolve()
