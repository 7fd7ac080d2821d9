"""Keys of links, and of links of topologies; paths over them."""

from __future__ import annotations

from typing import Any

import pytest

import tightlink as tl
from one_link import FLOW, resolve, simple
from tightlink.scenario import understood


def link_of(text: str, index: int = 0) -> dict[str, Any]:
    link: dict[str, Any] = resolve(text)["links"][index]
    return link


@pytest.mark.parametrize(("profile", "delay_s"), [("ns2", 51 * 1e-3), ("rfc", 0.051)])
def test_delays_in_milliseconds_are_ns2s_doubles_under_its_profile(profile: str, delay_s: float) -> None:
    resolved = tl.loads(simple(), set={"profile": profile, "link.a.delay": "51 ms"}).resolve()
    assert resolved["links"][0]["delay_s"] == delay_s
    assert 51 * 1e-3 != 0.051


def test_reverse_framing_loss_and_mtu() -> None:
    text = simple(
        ', loss = "1 %", mtu = "1500 B", framing.overhead = "38 B", reverse = { rate = "1 Mbit/s", loss = 0 }'
    )
    forward, back = (link_of(text, index) for index in (0, 1))
    assert (forward["loss"], back["loss"]) == (0.01, 0.0)
    assert (forward["rate_bps"], back["rate_bps"]) == (2e6, 1e6)
    assert forward["mtu_bytes"] == back["mtu_bytes"] == 1500
    assert forward["framing"] == back["framing"] == {"overhead_bytes": 38, "smallest_bytes": 0}


def test_one_way_links() -> None:
    text = (
        'duration = "1 s"\nlink.there = { ends = ["x", "y"], rate = "1 Mbit/s", one_way = true }\n'
        'link.back = { ends = ["y", "x"], rate = "1 Mbit/s", one_way = true }\n'
    ) + FLOW.format(flow="")
    assert [link["name"] for link in resolve(text)["links"]] == ["there", "back"]


def test_paths() -> None:
    text = (
        'duration = "1 s"\ntopology.net = { kind = "dumbbell", pairs = 2, bottleneck.rate = "1 Mbit/s", access.rate = "1 Mbit/s" }\n'
        'traffic.t = { kind = "bulk", flows = 2, from = "net.left[*]", to = "net.right[*]", '
        'path = ["net.access_left[*]", "net.bottleneck", "net.access_right[*]"], '
        'reverse_path = ["net.access_right[*].reverse", "net.bottleneck.reverse", "net.access_left[*].reverse"] }'
    )
    resolved = resolve(text)
    names = [link["name"] for link in resolved["links"]]
    assert [names[link] for link in resolved["flows"][1]["path"]] == [
        "net.access_left[1]",
        "net.bottleneck",
        "net.access_right[1]",
    ]
    assert names[resolved["flows"][1]["reverse_path"][0]] == "net.access_right[1].reverse"


def test_links_can_join_a_topology() -> None:
    text = (
        'duration = "1 s"\ntopology.lot = { kind = "chain", hops = 2, hop = { rate = "1 Mbit/s", delay = ["1 ms", "2 ms"] } }\n'
        'link.side = { ends = ["x", "lot.router[1]"], rate = "1 Mbit/s" }\n'
        'traffic.t = { kind = "bulk", from = "x", to = "lot.router[2]" }\n'
        'traffic.u = { kind = "bulk", from = "lot.router[0]", to = "lot.router[2]" }'
    )
    resolved = resolve(text)
    assert [node["name"] for node in resolved["nodes"]] == ["lot.router[0]", "lot.router[1]", "lot.router[2]", "x"]
    assert [link["delay_s"] for link in resolved["links"]] == [0.001, 0.001, 0.002, 0.002, 0.0, 0.0]


def test_access_links_of_one_side() -> None:
    text = (
        'duration = "1 s"\ntopology.net = { kind = "dumbbell", pairs = 1, bottleneck.rate = "1 Mbit/s", '
        'access = { rate = "1 Gbit/s", framing.overhead = "38 B" }, '
        'access_right = { rate = "10 Mbit/s", framing.smallest = "84 B" } }\n'
        'traffic.t = { kind = "bulk", from = "net.left[0]", to = "net.right[0]" }'
    )
    left, right = (link_of(text, index) for index in (2, 4))
    assert (left["rate_bps"], right["rate_bps"]) == (1e9, 1e7)
    assert right["framing"] == {"overhead_bytes": 38, "smallest_bytes": 84}
    only = text.replace("access = {", "access_left = {")
    assert link_of(only, 2)["rate_bps"] == 1e9
    assert tl.loads(understood(tl.loads(only))).resolve() == resolve(only)


def test_delays_spread_over_a_group() -> None:
    text = (
        'duration = "1 s"\ntopology.net = { kind = "dumbbell", pairs = 1000, bottleneck.rate = "1 Mbit/s", '
        'access = { rate = "1 Gbit/s", delay = { first = "1 ms", every = "19 us" }, reverse.delay = { every = "1 us" } } }\n'
        'traffic.t = { kind = "bulk", from = "net.left[0]", to = "net.right[0]" }'
    )
    links = {link["name"]: link["delay_s"] for link in resolve(text)["links"]}
    assert links["net.access_left[0]"] == links["net.access_right[0]"] == 0.001
    assert links["net.access_left[999]"] == 0.019981
    assert tl.loads(understood(tl.loads(text))).resolve() == resolve(text)
