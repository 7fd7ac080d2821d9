"""Networks from a few keys: how many nodes and links, who reaches whom, and by which way."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from tightlink.scenario import understood
from tightlink.scenario.network import Network
from tightlink.scenario.paths import Router

#: One of each, small.
KINDS = {
    "dumbbell": 'pairs = 2, bottleneck.rate = "1 Mbit/s", access.rate = "1 Gbit/s"',
    "chain": 'hops = 3, pairs = 2, hop.rate = "1 Mbit/s", access.rate = "1 Gbit/s"',
    "parking-lot": 'hops = 3, pairs = 2, cross = 2, hop.rate = "1 Mbit/s", access.rate = "1 Gbit/s"',
    "fat-tree": 'k = 4, link.rate = "1 Gbit/s"',
    "leaf-spine": 'leaves = 4, spines = 2, hosts = 4, link.rate = "1 Gbit/s"',
    "graph": 'routers = ["a", "b"], edges = [{ ends = ["a", "b"], rate = "1 Gbit/s" }]',
    "abilene-four-tier": 'speed = "800 packets/ms"',
}


def scenario(kind: str, keys: str, source: str = "", target: str = "") -> tl.Scenario:
    """A datagram from one node to another, or between the first two."""
    text = f'duration = "1 s"\ntopology.net = {{ kind = "{kind}", {keys} }}\n'
    nodes = list(tl.loads(text).topology["net"].nodes("net"))
    source, target = source or nodes[0], target or nodes[1]
    return tl.loads(f'{text}traffic.t = {{ kind = "cbr", from = "{source}", to = "{target}", interval = "600 ms" }}\n')


def network(kind: str, keys: str) -> Network:
    return Network(scenario(kind, keys).explicit())


def links_between(net: Network, router: Router, source: str, target: str) -> list[str]:
    path = router.path(net.nodes[source], net.nodes[target])
    assert path is not None
    return [net.hops[link].name for link in path]


@pytest.mark.parametrize("kind", KINDS)
def test_groups_have_the_members_that_they_say(kind: str) -> None:
    net = network(kind, KINDS[kind])
    for group, size in net.groups.items():
        members = {f"{group}[{index}]" for index in range(size)}
        known = {f"net.router[{index}]" for index in range(2)} if group == "net.router" and kind == "graph" else set()
        assert members <= {*net.nodes, *net.links, *known}
        assert f"{group}[{size}]" not in {*net.nodes, *net.links}


def test_one_link_of_a_group_fails() -> None:
    """Losses, outages and changing rates are a list, of which each link has one, in both directions."""
    steps = '{ schedule = [{ at = "0 s", rate = "1 Gbit/s" }, { at = "0.1 s", rate = "1 Mbit/s" }] }'
    outages = '{ up = "1 s", down = "10 ms" }, "none", "none", "none"'
    spine = f'rate = ["1 Gbit/s", "1 Gbit/s", "1 Gbit/s", {steps}], loss = [0, "1 %", 0, 0], outages = [{outages}]'
    keys = f'leaves = 2, spines = 2, hosts = 2, link.rate = "1 Gbit/s", spine_link = {{ {spine} }}'
    written = scenario("leaf-spine", keys)
    for each in (written, tl.loads(written.to_toml())):
        links = {link["name"]: link for link in each.resolve()["links"]}
        for back in ("", ".reverse"):
            four = [links[f"net.spine_link[{index}]{back}"] for index in range(4)]
            assert ["outages" in link for link in four] == [True, False, False, False]
            assert [link["loss"] for link in four] == [0, 0.01, 0, 0]
            assert ["rate" in link for link in four] == [False, False, False, True]
    changed = written.set("topology.net.spine_link.outages[1]", {"schedule": [{"at": "1 s", "for": "1 s"}]})
    assert "outages" in next(link for link in changed.resolve()["links"] if link["name"] == "net.spine_link[1]")
    with pytest.raises(tl.ScenarioError, match=r"spine_link\.loss = .*: expected 4 values, one for each link, not 1"):
        written.set("topology.net.spine_link.loss", ["1 %"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_node_reaches_every_other(kind: str) -> None:
    net = network(kind, KINDS[kind])
    router = Router.of(net)
    nodes = range(len(net.nodes))
    assert all(router.path(one, other) for one, other in permutations(nodes, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_understood_means_the_same(kind: str) -> None:
    written = scenario(kind, KINDS[kind])
    assert tl.loads(understood(written)).resolve() == written.resolve()
    assert tl.loads(written.to_toml()) == written


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 12), st.integers(1, 3), st.integers(1, 4), st.integers(0, 100))
def test_cross_traffic_of_a_parking_lot_crosses_one_hop(hops: int, pairs: int, cross: int, chosen: int) -> None:
    net = network(
        "parking-lot",
        f'hops = {hops}, pairs = {pairs}, cross = {cross}, hop.rate = "1 Mbit/s", access.rate = "1 Gbit/s"',
    )
    assert len(net.nodes) == hops + 1 + 2 * pairs + 2 * hops * cross
    assert len(net.hops) == 2 * (hops + 2 * pairs + 2 * hops * cross)
    index = chosen % (hops * cross)
    taken = links_between(net, Router.of(net), f"net.enter[{index}]", f"net.leave[{index}]")
    assert taken == [f"net.access_enter[{index}]", f"net.hop[{index % hops}]", f"net.access_leave[{index}]"]
    through = links_between(net, Router.of(net), "net.left[0]", "net.right[0]")
    assert through[1:-1] == [f"net.hop[{hop}]" for hop in range(hops)]


def test_hosts_of_a_parking_lot_may_differ() -> None:
    keys = 'hops = 2, hop.rate = "1 Mbit/s", access.rate = "1 Gbit/s", access_cross = { rate = ["2 Mbit/s", "3 Mbit/s"], delay = "1 ms" }'
    rates = {link["name"]: link["rate_bps"] for link in scenario("parking-lot", keys).resolve()["links"]}
    assert [rates[f"net.access_{side}[1]"] for side in ("enter", "leave")] == [3e6, 3e6]
    assert rates["net.access_left[0]"] == 1e9


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_counts_of_a_fat_tree(k: int) -> None:
    net = network("fat-tree", f'k = {k}, link.rate = "1 Gbit/s"')
    sizes = {group.removeprefix("net."): size for group, size in net.groups.items()}
    tier = k**3 // 4
    assert sizes == {
        "core": k**2 // 4,
        "aggregation": k**2 // 2,
        "edge": k**2 // 2,
        "host": tier,
        "host_link": tier,
        "edge_link": tier,
        "core_link": tier,
    }
    assert len(net.hops) == 6 * tier
    ports: dict[int, set[int]] = {}
    for hop in net.hops:
        ports.setdefault(hop.origin, set()).add(hop.target)
    switches = [node for name, node in net.nodes.items() if "host" not in name]
    assert all(len(ports[switch]) == k for switch in switches)


@pytest.mark.parametrize(("leaves", "spines", "hosts"), [(4, 2, 3), (1, 1, 5), (3, 4, 1)])
def test_hosts_of_leaves_are_two_or_four_links_apart(leaves: int, spines: int, hosts: int) -> None:
    net = network("leaf-spine", f'leaves = {leaves}, spines = {spines}, hosts = {hosts}, link.rate = "1 Gbit/s"')
    sizes = {group.removeprefix("net."): size for group, size in net.groups.items()}
    every = leaves * hosts
    assert sizes == {"spine": spines, "leaf": leaves, "host": every, "host_link": every, "spine_link": leaves * spines}
    router, used = Router.of(net), set()
    for one, other in permutations(range(every), 2):
        taken = links_between(net, router, f"net.host[{one}]", f"net.host[{other}]")
        assert len(taken) == (2 if one // hosts == other // hosts else 4)
        used |= {name.removesuffix(".reverse") for name in taken if "spine" in name}
    # Without a choice for each flow, the leaves have different spines as far as these last.
    assert len(used) >= (min(leaves, spines) if leaves > 1 else 0)


def test_flows_of_leaves_and_spines_take_all_paths() -> None:
    found = tl.simulate(
        tl.loads("""
        duration = "100 ms"
        topology.net = { kind = "leaf-spine", leaves = 2, spines = 4, hosts = 16, link = { rate = "1 Gbit/s", delay = "5 us" } }
        traffic.all = { kind = "bulk", flows = 16, from = "net.host[0]", to = "net.host[31]" }
        """)
    )
    up = found.links.filter(pl.col("link").is_in([f"net.spine_link[{spine}]" for spine in range(4)]))
    assert (up["packets_in"] > 0).all()


@pytest.mark.parametrize("k", [2, 4, 6])
def test_hosts_of_a_fat_tree_are_two_four_or_six_links_apart(k: int) -> None:
    net = network("fat-tree", f'k = {k}, link.rate = "1 Gbit/s"')
    router = Router.of(net)
    half = k // 2
    for one, other in permutations(range(k**3 // 4), 2):
        taken = links_between(net, router, f"net.host[{one}]", f"net.host[{other}]")
        same_edge, same_pod = one // half == other // half, one // half**2 == other // half**2
        assert len(taken) == (2 if same_edge else 4 if same_pod else 6)


@pytest.mark.parametrize("k", [4, 6])
def test_paths_in_a_fat_tree_spread_over_all_switches(k: int) -> None:
    """Towards the edge switches of a pod over different aggregation switches, and over all cores in the end."""
    net = network("fat-tree", f'k = {k}, link.rate = "1 Gbit/s"')
    router = Router.of(net)
    half = k // 2
    hosts = range(0, k**3 // 4, half)
    cores = set()
    for target in hosts:
        ways = {
            tuple(name for name in links_between(net, router, f"net.host[{source}]", f"net.host[{target}]")[3:])
            for source in hosts
            if source // half**2 != target // half**2
        }
        assert len(ways) == 1, "one way down to each edge switch"
        cores |= {way[0] for way in ways}
    assert len({net.hops[net.links[core]].origin for core in cores}) == half**2


@pytest.mark.parametrize(
    ("kind", "keys", "source", "target"),
    [
        ("abilene-four-tier", 'speed = "8 packets/ms"', "net.normal[30]", "net.direct[2]"),
        ("abilene-four-tier", 'speed = "8 packets/ms", variant = "isp"', "net.fast[0]", "net.normal[40]"),
        ("parking-lot", KINDS["parking-lot"], "net.left[1]", "net.leave[4]"),
    ],
)
def test_the_engine_takes_the_way_that_the_model_says(kind: str, keys: str, source: str, target: str) -> None:
    written = scenario(kind, keys, source, target)
    net = Network(written.explicit())
    run = tl.simulate(written)
    taken = run.links.filter(pl.col("packets_out") > 0)["link"].to_list()
    assert sorted(taken) == sorted(links_between(net, Router.of(net), source, target))
    assert run.flows["packets_delivered"].to_list() == [2]


@pytest.mark.parametrize(
    ("kind", "keys", "sentence"),
    [
        ("fat-tree", 'k = 5, link.rate = "1 Gbit/s"', "topology.net.k = 5: expected an even number of ports from 2 to 128; did you mean 6?"),
        ("fat-tree", 'k = 0, link.rate = "1 Gbit/s"', "topology.net.k = 0: expected an even number of ports"),
        ("fat-tree", 'k = true, link.rate = "1 Gbit/s"', "topology.net.k = true: expected an even number of ports"),
        ("fat-tree", "k = 4", 'topology.net.link.rate: expected a rate such as "1 Gbit/s"'),
        ("fat-tree", 'k = 4, link.delay = "1 ms", host_link.rate = "1 Gbit/s"', "topology.net.link.rate: expected a rate"),
        ("leaf-spine", 'leaves = 0, spines = 1, hosts = 1, link.rate = "1 Gbit/s"', "topology.net.leaves = 0: expected a whole number from 1 to 1024"),
        ("leaf-spine", "leaves = 2, spines = 1, hosts = 1", 'topology.net.link.rate: expected a rate such as "1 Gbit/s"'),
        ("fat-tree", 'k = 4, link.rate = ["1 Gbit/s"]', 'topology.net.link.rate = ["1 Gbit/s"]: expected 16 values, one for each link, not 1'),
        ("parking-lot", 'hops = 2, hop.rate = "1 Mbit/s"', "topology.net.access.rate: expected a rate"),
        ("parking-lot", 'hops = 0, hop.rate = "1 Mbit/s", access.rate = "1 Mbit/s"', "topology.net.hops = 0: expected a whole number of hops"),
        ("parking-lot", 'hops = 2, hop.rate = "1 Mbit/s", access_left.rate = "1 Mbit/s", access_right.rate = "1 Mbit/s"', "topology.net.access_cross.rate: expected a rate"),
        ("parking-lot", 'hops = 2, cross = 0, hop.rate = "1 Mbit/s", access.rate = "1 Mbit/s"', "topology.net.cross = 0: expected a whole number of pairs for each hop"),
        ("parking-lot", 'hops = 2, hop.rate = "1 Mbit/s", access.rate = "1 Mbit/s", access_cross.delay = ["1 ms"]', "topology.net.access_cross.delay"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(kind: str, keys: str, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        tl.loads(f'duration = "1 s"\ntopology.net = {{ kind = "{kind}", {keys} }}\n').resolve()
    assert sentence in str(caught.value)


def test_a_flow_may_take_another_way_through_a_fat_tree() -> None:
    """Link i of a tier leads up from switch i div k/2, to the i mod k/2-th above it."""
    written = scenario("fat-tree", KINDS["fat-tree"], "net.host[0]", "net.host[15]")
    up = ["net.host_link[0]", "net.edge_link[1]", "net.core_link[2]"]
    down = ["net.core_link[14].reverse", "net.edge_link[15].reverse", "net.host_link[15].reverse"]
    links = tl.simulate(written.set("traffic.t.path", [*up, *down])).links
    assert set(links.filter(pl.col("packets_out") > 0)["link"]) == {*up, *down}


def test_flows_share_the_last_link_of_a_fat_tree() -> None:
    keys: dict[str, Any] = {"k": 4, "link": {"rate": "10 Mbit/s", "delay": "10 us", "queue": "20 packets"}}
    run = tl.simulate(
        tl.Scenario(
            duration="5 s",
            topology={"net": tl.FatTree(**keys)},
            traffic={"t": tl.Bulk(flows=8, from_="net.host[*]", to="net.host[15]")},
        )
    )
    last = run.links.filter(pl.col("link") == "net.host_link[15].reverse")
    assert last["utilization"].to_list()[0] > 0.9
    assert run.flows["goodput_bps"].sum() == pytest.approx(10e6 * 1448 / 1500, rel=0.1)
