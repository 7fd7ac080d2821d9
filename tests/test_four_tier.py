"""The four-tier network: its counts, its data, its rules, and small traffic over it."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import pytest

import tightlink as tl
from tightlink.scenario.network import Network
from tightlink.scenario.paths import Router
from tightlink.scenario.topologies.backbones import ABILENE, BACKBONES, CITIES, ISP
from tightlink.scenario.topologies.geography import kilometres

#: Great circles of Abilene's links in km, from the coordinates of the Internet Topology Zoo.
KILOMETRES = [1146, 328, 263, 872, 1139, 1641, 503, 1504, 2207, 892, 1042, 731, 1128, 688]
ACCESS = {"direct": 6, "fast": 28, "normal": 105}


def scenario(keys: str = 'speed = "800 packets/ms"') -> tl.Scenario:
    return tl.loads(
        f'duration = "2 s"\ntopology.net = {{ kind = "abilene-four-tier", {keys} }}\n'
        'traffic.t = { kind = "bulk", flows = 6, from = "net.direct[*]", to = "net.normal[*]" }\n'
    )


def link(keys: str, name: str) -> dict[str, object]:
    links: list[dict[str, object]] = scenario(keys).resolve()["links"]
    return next(one for one in links if one["name"] == name)


@pytest.mark.parametrize(("variant", "backbone", "pops", "links"), [("abilene", 11, 22, 14), ("isp", 22, 44, 33)])
def test_counts_and_order(variant: str, backbone: int, pops: int, links: int) -> None:
    net = Network(scenario(f'speed = "800 packets/ms", variant = "{variant}"').explicit())
    routers = {"backbone": backbone, "pop": pops} | ACCESS
    assert list(net.nodes) == [f"net.{group}[{index}]" for group, size in routers.items() for index in range(size)]
    groups = routers | {f"{group}_link": size for group, size in (routers | {"backbone": links}).items()}
    assert net.groups == {f"net.{group}": size for group, size in groups.items()}
    assert len(net.hops) == 2 * (links + pops + 139)


@pytest.mark.parametrize("variant", BACKBONES)
def test_access_routers_are_spread_evenly(variant: str) -> None:
    net = BACKBONES[variant]
    each = [fast + normal for fast, normal in net.pops]
    assert (len(net.direct), sum(fast for fast, _ in net.pops), sum(normal for _, normal in net.pops)) == (6, 28, 105)
    assert max(each) - min(each) <= 1
    assert set(net.direct) <= set(net.cities)


def test_the_backbone_is_abilenes() -> None:
    found = [kilometres(*(CITIES[city] for city in ends)) for ends in ABILENE.links]
    assert found == pytest.approx(KILOMETRES, abs=0.6)
    assert [
        link(scenario_keys, "net.backbone_link[8]")["delay_s"]
        for scenario_keys in ('speed = "8 packets/ms"', 'speed = "8 packets/ms", delay_factor = 2')
    ] == [0.011034, 0.022068]


def test_the_larger_backbone_is_the_gabriel_graph_of_its_cities() -> None:
    def near(one: str, other: str) -> bool:
        square = kilometres(CITIES[one], CITIES[other]) ** 2
        others = [CITIES[city] for city in ISP.cities if city not in {one, other}]
        return all(
            kilometres(CITIES[one], third) ** 2 + kilometres(CITIES[other], third) ** 2 > square for third in others
        )

    assert set(ISP.links) == {pair for pair in combinations(ISP.cities, 2) if near(*pair)}


@pytest.mark.parametrize("variant", BACKBONES)
def test_the_default_round_trip_is_the_mean_between_access_routers(variant: str) -> None:
    net = Network(scenario(f'speed = "800 packets/ms", variant = "{variant}"').explicit())
    router = Router.of(net)
    access = [node for name, node in net.nodes.items() if name.split(".")[1].split("[")[0] in ACCESS]
    ways = [router.path(one, other) or [] for one, other in permutations(access, 2)]
    mean = 2 * sum(net.hops[hop].delay for way in ways for hop in way) / len(ways)
    assert 1e3 * mean == pytest.approx(BACKBONES[variant].round_trip_ms, abs=0.05)


@pytest.mark.parametrize("variant", BACKBONES)
def test_outer_routers_are_joined_to_the_tier_above(variant: str) -> None:
    net = Network(scenario(f'speed = "800 packets/ms", variant = "{variant}"').explicit())
    names = list(net.nodes)
    above = {"direct": "backbone", "fast": "pop", "normal": "pop", "pop": "backbone", "backbone": "backbone"}
    for hop in net.hops:
        if not hop.name.endswith(".reverse"):
            group = hop.name.removeprefix("net.").split("_link")[0]
            outer, inner = names[hop.origin], names[hop.target]
            assert (outer.startswith(f"net.{group}["), inner.startswith(f"net.{above[group]}[")) == (True, True)


def test_speeds_follow_from_one() -> None:
    per_ms = {"backbone": 1600, "pop": 200, "direct": 200, "fast": 40, "normal": 20}
    for group, speed in per_ms.items():
        one = link('speed = "800 packets/ms"', f"net.{group}_link[0]")
        assert (one["rate_pps"], one["rate_bps"]) == (1000.0 * speed, 12e6 * speed)
        # The same in bits: 800 packets/ms of 1500 bytes.
        other = link('speed = "9.6 Gbit/s"', f"net.{group}_link[0].reverse")
        assert (other["rate_pps"], other["rate_bps"]) == (None, 12e6 * speed)


def test_each_factor_is_a_key() -> None:
    net = tl.AbileneFourTier(
        speed="1000 packets/ms", backbone_factor=3, pop_divisor=5, normal_divisor=4, fast_factor=3, direct_factor=6
    )
    assert [net.rate(group) for group in ("backbone", "pop", "normal", "fast", "direct")] == [
        "3000 packets/ms", "200 packets/ms", "50 packets/ms", "150 packets/ms", "300 packets/ms",
    ]  # fmt: skip


@pytest.mark.parametrize("speed", ["800 packets/ms", "9.6 Gbit/s"])
def test_buffers(speed: str) -> None:
    def limits(keys: str) -> list[object]:
        names = [f"net.{group}_link[0]" for group in ("backbone", "pop", "normal", "fast", "direct")]
        return [link(f'speed = "{speed}"{keys}', name)["queue"]["limit"]["packets"] for name in names]  # type: ignore[index]

    per_ms = [1600, 200, 20, 40, 200]
    assert limits("") == [math.ceil(23.1 * rate) for rate in per_ms]
    assert limits(", delay_factor = 2") == [math.ceil(46.2 * rate) for rate in per_ms]
    assert limits(', rtt = "100 ms"') == [100 * rate for rate in per_ms]
    # 400 flows at a normal access router, and in proportion to speed elsewhere.
    shared = limits(', rtt = "100 ms", buffers = "rtt*c/sqrt(n)", flows = 400')
    assert shared == [math.ceil(100 * rate / math.sqrt(400 * rate / 20)) for rate in per_ms]
    assert limits(', buffers = "rtt*c/sqrt(n)"')[2] == math.ceil(23.1 * 20 / 10)


def test_a_queue_replaces_the_rule() -> None:
    keys = 'speed = "800 packets/ms", link.queue = { kind = "codel", limit = "1000 packets" }'
    assert link(keys, "net.pop_link[3]")["queue"] == {
        "kind": "codel", "limit": {"packets": 1000}, "target_s": 0.005, "interval_s": 0.1, "ecn": False,
    }  # fmt: skip


def test_a_queue_without_a_limit_has_that_of_the_rule() -> None:
    """The kind alone, written again and read again, and as it stands in the Python table."""
    rule = 'speed = "800 packets/ms", buffers = "rtt*c/sqrt(n)", flows = 400'
    plain = scenario(rule)
    marking = plain.set("topology.net.link.queue.kind", "red").set("topology.net.link.queue.ecn", value=True)
    limits = [one["queue"]["limit"] for one in plain.resolve()["links"]]
    queues = [one["queue"] for one in marking.resolve()["links"]]
    assert {(queue["kind"], queue["ecn"]) for queue in queues} == {("red", True)}
    assert [queue["limit"] for queue in queues] == limits
    assert len({limit["packets"] for limit in limits}) > 3
    assert tl.loads(marking.to_toml()).resolve() == marking.resolve()
    assert marking.explicit().resolve() == marking.resolve()
    # One with a limit has its own; FQ-CoDel's default is none.
    assert link('speed = "800 packets/ms", link.queue = { kind = "fq-codel" }', "net.normal_link[0]")["queue"] == {
        "kind": "fq-codel", "limit": {"packets": math.ceil(23.1 * 20)}, "target_s": 0.005, "interval_s": 0.1,
        "ecn": True, "flows": 1024, "quantum_bytes": 1514,
    }  # fmt: skip


@pytest.mark.parametrize("variant", BACKBONES)
def test_flows_run_over_it(variant: str) -> None:
    run = tl.simulate(scenario(f'speed = "8 packets/ms", variant = "{variant}"'))
    assert min(run.flows["packets_delivered"].to_list()) > 100
    # A normal access router carries 200 packets a second.
    assert max(run.flows["goodput_bps"].to_list()) <= 200 * 8 * 1448


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ("flows = 3", "topology.net.speed: this key is needed"),
        ('speed = "0 packets/ms"', "topology.net.speed"),
        ('speed = "800"', 'expected a unit, too: a rate such as "2 Mbit/s" or a packet rate such as "20 packets/ms"'),
        ('speed = "8 packets/ms", variant = "abilen"', 'expected one of abilene, isp; did you mean "abilene"?'),
        ('speed = "8 packets/ms", pop_divisor = 0', "topology.net.pop_divisor = 0: expected a number from"),
        ('speed = "8 packets/ms", delay_factor = "2"', 'topology.net.delay_factor = "2": expected a number'),
        ('speed = "8 packets/ms", buffers = "rtt*c/n"', "topology.net.buffers"),
        ('speed = "8 packets/ms", flows = 10', 'nothing here without buffers = "rtt*c/sqrt(n)"'),
        (
            'speed = "8 packets/ms", link.queue = "5 packets", rtt = "1 ms"',
            "expected nothing here, as link.queue has a limit",
        ),
        ('speed = "8 packets/ms", link.queue.limt = "1 packet"', "topology.net.link.queue.kind: expected a kind"),
        ('speed = "8 packets/ms", link.queue.kind = "rom"', 'did you mean "rem"?'),
        ('speed = "8 packets/ms", link.queue = { kind = "rem", gama = 1 }', 'did you mean "gamma"?'),
        ('speed = "8 packets/ms", link.framing.overhead = "38 B"', "topology.net.link.framing"),
        (
            'speed = "1e6 packets/ms", rtt = "1 h"',
            'topology.net.rtt = "1 h": expected a round trip with queues of fewer than 2³¹ packets',
        ),
        ('speed = "1e17 bit/s", backbone_factor = 20', 'a speed with which all routers have at most "1000000 Tbit/s"'),
        ('speed = "2 packets/s"', 'a speed with which all routers have at least "1 packet/s"'),
        ('speed = "100 bit/s", pop_divisor = 1000', 'a speed with which all routers have at least "1 bit/s"'),
    ],
)
def test_what_is_wrong_is_said(keys: str, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        scenario(keys).resolve()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
