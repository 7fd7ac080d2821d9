"""Scenarios: what TOML and Python objects mean, what the engine gets, and the way back to TOML."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightlink as tl
from tightlink.scenario import understood


def resolve(text: str) -> dict[str, Any]:
    return tl.loads(text).resolve()


def link_of(text: str, index: int = 0) -> dict[str, Any]:
    link: dict[str, Any] = resolve(text)["links"][index]
    return link


def test_one_flow_resolves_to_what_the_engine_reads(one_flow: str) -> None:
    resolved = resolve(one_flow)
    link = {
        "name": "bottleneck",
        "from": 0,
        "to": 1,
        "rate_bps": 2e6,
        "rate_pps": None,
        "delay_s": 0.01,
        "queue": {"kind": "drop-tail", "limit": {"packets": 20}},
        "framing": {"overhead_bytes": 0, "smallest_bytes": 0},
        "loss": 0.0,
        "mtu_bytes": None,
        "flow_control": False,
    }
    back = {"name": "bottleneck.reverse", "from": 1, "to": 0}
    assert resolved == {
        "profile": "ns2",
        "duration_s": 10.0,
        "seed": 1,
        "nodes": [{"name": "sender"}, {"name": "receiver"}],
        "links": [link, link | back | {"queue": {"kind": "drop-tail", "limit": {"packets": 50}}}],
        "flows": [
            {
                "label": "ftp",
                "group": "ftp",
                "index": 0,
                "from": 0,
                "to": 1,
                "start_s": 0.1,
                "stop_s": 10.0,
                "path": None,
                "reverse_path": None,
                "traffic": {"kind": "bulk", "bytes": None},
                "transport": {
                    "tcp": {
                        "congestion": "reno",
                        "recovery": "reno",
                        "payload_bytes": 1000,
                        "header_bytes": 40,
                        "ack_bytes": 40,
                        "window_packets": 20.0,
                        "initial_window_packets": 2.0,
                        "initial_ssthresh_packets": 20.0,
                        "slow_start": "standard",
                        "max_ssthresh_packets": None,
                        "delayed_ack_s": None,
                        "rto": {"initial_s": 3.0, "min_s": 0.2, "max_s": 60.0, "granularity_s": 0.01},
                        "limited_transmit": True,
                        "pacing": False,
                        "ecn": False,
                    }
                },
            }
        ],
        "users": [],
        "scatter": [],
        "observe": {"interval_s": None, "flows": "each", "periods": []},
    }


def test_dumbbell_order_and_groups(dumbbell: str) -> None:
    resolved = resolve(dumbbell)
    assert [node["name"] for node in resolved["nodes"][:4]] == [
        "net.left_router",
        "net.right_router",
        "net.left[0]",
        "net.right[0]",
    ]
    assert [link["name"] for link in resolved["links"][:8]] == [
        "net.bottleneck",
        "net.bottleneck.reverse",
        "net.access_left[0]",
        "net.access_left[0].reverse",
        "net.access_right[0]",
        "net.access_right[0].reverse",
        "net.access_left[1]",
        "net.access_left[1].reverse",
    ]
    last = resolved["flows"][-1]
    names = [node["name"] for node in resolved["nodes"]]
    assert (last["label"], names[last["from"]], names[last["to"]]) == ("bulk[99]", "net.left[99]", "net.right[99]")
    assert last["start_s"] == 0.991
    assert last["transport"]["tcp"]["initial_ssthresh_packets"] == 46.0


def test_python_objects_are_the_same_model(one_flow: str) -> None:
    scenario = tl.Scenario(
        profile="ns2",
        duration="10 s",
        link={
            "bottleneck": tl.Link(
                ends=("sender", "receiver"),
                rate="2 Mbit/s",
                delay="10 ms",
                queue="20 packets",
                reverse=tl.Reverse(queue="50 packets"),
            )
        },
        traffic={
            "ftp": tl.Bulk(
                from_="sender",
                to="receiver",
                start="0.1 s",
                tcp=tl.Tcp(congestion="reno", recovery="reno", payload="1000 B", window="20 packets"),
            )
        },
    )
    assert scenario == tl.loads(one_flow)
    assert hash(scenario) == hash(tl.loads(one_flow))
    assert scenario.resolve() == resolve(one_flow)


@pytest.mark.parametrize("name", ["one_flow", "dumbbell", "mixed"])
def test_written_and_understood_scenarios_are_read_back(name: str, request: pytest.FixtureRequest) -> None:
    scenario = tl.loads(request.getfixturevalue(name))
    assert tl.loads(scenario.to_toml()) == scenario
    again = tl.loads(understood(scenario))
    assert again.resolve() == scenario.resolve()
    assert again.explicit() == again == scenario.explicit()


def test_rfc_defaults() -> None:
    resolved = resolve(
        'duration = "1 s"\nlink.a = { ends = ["x", "y"], rate = "1 Mbit/s" }\n'
        'traffic.t = { kind = "bulk", from = "x", to = "y" }\n'
        'traffic.u = { kind = "cbr", from = "x", to = "y", interval = "1 ms", udp.datagram = "65 B" }'
    )
    assert resolved["profile"] == "rfc"
    assert resolved["links"][0]["mtu_bytes"] == 1500
    assert resolved["links"][0]["queue"]["limit"] == {"packets": 1000}
    assert resolved["flows"][0]["transport"]["tcp"] == {
        "congestion": "reno",
        "recovery": "sack",
        "payload_bytes": 1448,
        "header_bytes": 52,
        "ack_bytes": 52,
        "window_packets": 10000.0,
        "initial_window_packets": 10.0,
        "initial_ssthresh_packets": None,
        "slow_start": "standard",
        "max_ssthresh_packets": None,
        "delayed_ack_s": 0.2,
        "rto": {"initial_s": 1.0, "min_s": 1.0, "max_s": 60.0, "granularity_s": 0.001},
        "limited_transmit": True,
        "pacing": False,
        "ecn": False,
    }
    udp = {"payload_bytes": 37, "header_bytes": 28, "fragment_header_bytes": 20, "sizes": []}
    assert resolved["flows"][1]["transport"] == {"udp": udp}
    assert resolved["flows"][1]["traffic"] == {"kind": "cbr", "pace": {"interval_s": 0.001}}


LINUX = """
profile = "linux"
duration = "1 s"
link.a = { ends = ["x", "y"], rate = "10 Mbit/s", delay = "10 ms" }
traffic.t = { kind = "bulk", from = "x", to = "y" }
"""


def test_hystart_belongs_to_cubic_and_marks_to_dctcp() -> None:
    def tcp(**settings: object) -> dict[str, Any]:
        changed = {f"traffic.t.tcp.{key}": value for key, value in settings.items()}
        spec: dict[str, Any] = tl.loads(LINUX, set=changed).resolve()["flows"][0]["transport"]["tcp"]
        return spec

    assert (tcp()["congestion"]["kind"], tcp()["recovery"], tcp()["slow_start"], tcp()["ecn"]) == (
        "cubic", "rack", "hystart", False
    )  # fmt: skip
    assert tcp()["window_packets"] == 3 * 2**20 // 1448
    assert tcp(congestion="reno")["slow_start"] == "byte-counting"
    assert tcp(congestion={"kind": "cubic", "beta": 0.5})["slow_start"] == "hystart"
    assert tcp(congestion="dctcp")["ecn"] is True
    assert tcp(slow_start="limited")["max_ssthresh_packets"] == 100
    assert tcp(slow_start="limited", max_ssthresh="1 BDP")["max_ssthresh_packets"] == 17


def test_hosts_take_time_if_it_is_said() -> None:
    told = [tl.loads(LINUX, set={"traffic.t.tcp.processing_delay": text}) for text in ("0 s", "0.1 ms")]
    taken = [scenario.resolve()["flows"][0]["transport"]["tcp"].get("processing_delay_s") for scenario in told]
    assert taken == [None, 1e-4]
    digests = [tl.simulate(scenario).manifest["digest"] for scenario in (tl.loads(LINUX), *told)]
    assert digests[0] == digests[1] != digests[2]


def test_marks_cannot_be_refused_to_a_control_that_reads_them() -> None:
    scenario = tl.loads(LINUX, set={"traffic.t.tcp.congestion": "dctcp", "traffic.t.tcp.ecn": False})
    with pytest.raises(tl.ScenarioError, match=r"traffic\.t\.tcp\.ecn = false: its congestion control reads"):
        tl.simulate(scenario)


def test_ns2_has_no_rack() -> None:
    scenario = tl.loads(LINUX, set={"profile": "ns2", "traffic.t.tcp.recovery": "rack"})
    with pytest.raises(tl.ScenarioError, match=r'traffic\.t\.tcp\.recovery = "rack": profile ns2 has no'):
        tl.simulate(scenario)


ONE = 'profile = "ns2"\nduration = "10 s"\nlink.a = {{ ends = ["x", "y"], rate = "2 Mbit/s", delay = "10 ms"{link} }}\n'
FLOW = 'traffic.t = {{ kind = "bulk", from = "x", to = "y"{flow} }}\n'


def simple(link: str = "", flow: str = "") -> str:
    return ONE.format(link=link) + FLOW.format(flow=flow)


@pytest.mark.parametrize(("profile", "delay_s"), [("ns2", 51 * 1e-3), ("rfc", 0.051)])
def test_delays_in_milliseconds_are_ns2s_doubles_under_its_profile(profile: str, delay_s: float) -> None:
    resolved = tl.loads(simple(), set={"profile": profile, "link.a.delay": "51 ms"}).resolve()
    assert resolved["links"][0]["delay_s"] == delay_s
    assert 51 * 1e-3 != 0.051


@pytest.mark.parametrize(
    ("queue", "limit"),
    [
        ('"20 packets"', {"packets": 20}),
        ('"64 KiB"', {"bytes": 65536}),
        ('"unlimited"', "unlimited"),
        ('{ kind = "drop-tail", limit = "5 packets" }', {"packets": 5}),
        # 2 Mbit/s × 20 ms = 5000 B = 4.8 packets of 1040 B
        ('"1 BDP"', {"packets": 5}),
        ('"2.08 BDP"', {"packets": 10}),
    ],
)
def test_queues(queue: str, limit: object) -> None:
    resolved = resolve(simple(f", queue = {queue}"))
    assert [link["queue"]["limit"] for link in resolved["links"]] == [limit, limit]


@pytest.mark.parametrize(
    ("window", "packets"),
    [('"20 packets"', 20.0), ('"64 KiB"', 65.0), ('"1 BDP"', 5.0), ('"3 BDP"', 15.0)],
)
def test_windows(window: str, packets: float) -> None:
    tcp = resolve(simple(flow=f", tcp.window = {window}"))["flows"][0]["transport"]["tcp"]
    assert tcp["window_packets"] == packets
    assert tcp["initial_ssthresh_packets"] == packets


def test_the_window_after_a_timeout_is_a_key_only_where_it_is_not_one_packet() -> None:
    """So that scenarios, and what is stored of them, stay what they were."""

    def tcp(keys: str) -> dict[str, object]:
        found: dict[str, object] = resolve(simple(flow=keys))["flows"][0]["transport"]["tcp"]
        return found

    usual = tcp("")
    assert "loss_window_packets" not in usual
    assert tcp(', tcp.loss_window = "1 packet"') == usual
    assert tcp(', tcp.loss_window = "4 packets"') == usual | {"loss_window_packets": 4.0}
    assert tcp(', tcp.loss_window = "2500 B"') == usual | {"loss_window_packets": 2.0}


def test_pacing_is_off_until_it_is_asked_for() -> None:
    assert resolve(simple())["flows"][0]["transport"]["tcp"]["pacing"] is False
    assert resolve(simple(flow=", tcp.pacing = true"))["flows"][0]["transport"]["tcp"]["pacing"] is True


def test_a_queue_in_bdp_of_what_a_shaper_lets_through_of_each_path_and_of_a_spare_link() -> None:
    """40 ms of 10 Mbit/s are 33.3 packets of 1500 B, whatever the line could do; of a link that nobody takes, nothing is."""
    scenario = tl.loads("""
        duration = "1 s"
        routing.ecmp = "packet"
        link.in = { ends = ["a", "r"], rate = "100 Mbit/s", delay = "10 ms", queue = "1 BDP", shaper = { rate = "10 Mbit/s", burst = "15 kB" } }
        link.p = { ends = ["r", "b"], rate = "100 Mbit/s", delay = "10 ms", queue = "1 BDP" }
        link.q = { ends = ["r", "b"], rate = "100 Mbit/s", delay = "10 ms", queue = "1 BDP" }
        link.spare = { ends = ["b", "c"], rate = "100 Mbit/s", delay = "10 ms", queue = "1 BDP" }
        traffic.t = { kind = "bulk", from = "a", to = "b" }
    """)
    queues = {link["name"]: link["queue"]["limit"]["packets"] for link in scenario.resolve()["links"]}
    assert [queues[name] for name in ("in", "p", "q", "spare")] == [34, 334, 334, 1]


@pytest.mark.parametrize(
    ("keys", "limit"),
    [
        ('queue = "20 ms"', {"bytes": 250_000}),
        ('queue = "20 ms", shaper = { rate = "10 Mbit/s", burst = "15 kB" }', {"bytes": 25_000}),
        ('queue = { kind = "cake", rate = "8 Mbit/s", limit = "20 ms" }', {"bytes": 20_000}),
        # 1544 bytes of tokens for each 1500 in the queue.
        ('queue = { kind = "cake", rate = "8 Mbit/s", limit = "20 ms", overhead = "44 B" }', {"bytes": 19_430}),
        ('queue = { kind = "cake", rate = "8 Mbit/s", limit = "1 BDP" }', {"packets": 14}),
        ('queue = { kind = "cake", rate = "200 Mbit/s", limit = "20 ms" }', {"bytes": 250_000}),
    ],
)
def test_a_queue_in_time_or_bdp_is_of_what_empties_it(keys: str, limit: object) -> None:
    scenario = tl.loads(f"""
        duration = "1 s"
        link.in = {{ ends = ["a", "b"], rate = "100 Mbit/s", delay = "10 ms", {keys}, reverse.queue = "unlimited" }}
        traffic.t = {{ kind = "bulk", from = "a", to = "b" }}
    """)
    assert scenario.resolve()["links"][0]["queue"]["limit"] == limit


def test_a_queue_in_bdp_takes_the_longest_path_and_the_largest_packet() -> None:
    resolved = resolve(
        'profile = "ns2"\nduration = "10 s"\n'
        'topology.net = { kind = "dumbbell", pairs = 2, bottleneck = { rate = "10 Mbit/s", delay = "8 ms", '
        'queue = "1 BDP" }, access = { rate = "100 Mbit/s", delay = ["1 ms", "6 ms"] } }\n'
        'traffic.t = { kind = "bulk", flows = 2, from = "net.left[*]", to = "net.right[*]" }\n'
        'traffic.u = { kind = "cbr", from = "net.left[0]", to = "net.right[0]", rate = "1 Mbit/s", udp.payload = "4000 B" }'
    )
    # 10 Mbit/s × 40 ms = 50,000 B = 12.5 packets of 4000 B
    assert [link["queue"]["limit"]["packets"] for link in resolved["links"][:2]] == [13, 13]


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


def test_starts_are_the_nearest_doubles() -> None:
    text = simple(flow=', flows = 11, start = { first = "0.1 s", every = "0.13 s" }')
    starts = [flow["start_s"] for flow in resolve(text)["flows"]]
    assert starts == [float(f"{0.1 + 0.13 * i:.2f}") for i in range(11)]
    assert [flow["label"] for flow in resolve(text)["flows"]][::10] == ["t[0]", "t[10]"]


def test_random_starts_depend_on_seed_group_and_index_alone() -> None:
    def starts(flows: str, seed: int = 1) -> list[float]:
        text = simple(flow=f'{flows}, start = {{ first = "100 ms", within = "800 ms" }}')
        return [flow["start_s"] for flow in tl.loads(text).set("seed", seed).resolve()["flows"]]

    drawn = starts(", flows = 400")
    assert starts(", flows = 3") == drawn[:3]
    assert starts("") == drawn[:1]
    assert all(0.1 <= start < 0.9 for start in drawn)
    assert sum(drawn) / 400 == pytest.approx(0.5, abs=4 * 0.8 / (12 * 400) ** 0.5)
    assert not set(drawn) & set(starts(", flows = 400", seed=2))
    # The same on every machine, and in every release.
    assert drawn[0] == 0.10583427708871468


def test_replications_start_random_flows_at_other_times() -> None:
    base = tl.loads(simple(flow=', start = { within = "800 ms" }'))
    starts = tl.sweep(base, replications=2).flows.collect()["start_s"]
    assert starts.n_unique() == len(starts) == 2


@pytest.mark.parametrize("transport", ['udp.payload = "972 B"', 'tcp.payload = "948 B"'])
def test_a_rate_counts_the_headers(transport: str) -> None:
    base = 'duration = "1 s"\nlink.a = { ends = ["x", "y"], rate = "1 Gbit/s" }\n'
    traffic = f'traffic.u = {{ kind = "cbr", from = "x", to = "y", rate = "8 Mbit/s", {transport} }}'
    assert resolve(base + traffic)["flows"][0]["traffic"]["pace"] == {"rate_bps": 8e6}
    # A packet of 1000 B each millisecond, from 0 to 999 ms on, with those of TCP's handshake.
    (sent,) = tl.simulate(tl.loads(base + traffic)).flows["packets_sent"]
    assert sent == (1000 if "udp" in transport else 1002)


def test_on_off() -> None:
    text = ONE.format(link="") + (
        'traffic.t = { kind = "on-off", from = "x", to = "y", rate = "1 Mbit/s", on = "500 ms", off = "1 s" }\n'
        'traffic.p = { kind = "on-off", from = "x", to = "y", rate = "1 Mbit/s", on = "500 ms", off = "1 s", distribution = "pareto" }\n'
    )
    first, second = (flow["traffic"] for flow in resolve(text)["flows"])
    assert first["pace"] == {"rate_bps": 1e6}
    assert first["on"] == {"distribution": "exponential", "mean_s": 0.5}
    assert second["off"] == {"distribution": "pareto", "mean_s": 1.0, "shape": 1.5}


def test_constant_on_and_off_times_make_a_square_wave() -> None:
    text = (
        'duration = "60 s"\nobserve.interval = "500 ms"\nlink.a = { ends = ["x", "y"], rate = "10 Mbit/s" }\n'
        'traffic.t = { kind = "on-off", from = "x", to = "y", rate = "800 kbit/s", on = "1 s", off = "500 ms", '
        'distribution = "constant", udp.datagram = "1000 B" }'
    )
    wave = tl.simulate(tl.loads(text))
    assert wave.flows["packets_sent"].to_list() == [40 * 100]
    rates = wave.series.filter(entity="t", metric="throughput_bps")["value"]
    assert rates.to_list() == pytest.approx([8e5, 8e5, 0] * 39 + [8e5, 8e5], rel=0.03, abs=1)


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


def test_changes(one_flow: str) -> None:
    scenario = tl.loads(one_flow)
    changed = scenario.set("link.bottleneck.rate", "20Mbps").set("traffic[*].tcp.window", "40 packets")
    assert changed.link["bottleneck"].rate == "20 Mbit/s"
    assert scenario.link["bottleneck"].rate == "2 Mbit/s"
    assert changed.set("link.bottleneck.rate", "2 Mbit/s").set("traffic.ftp.tcp.window", "20 packets") == scenario
    assert scenario.set("traffic.ftp.stop", "5 s").set("traffic.ftp.stop", None) == scenario
    assert scenario.set("link.bottleneck.ends[1]", "sink").link["bottleneck"].ends == ("sender", "sink")
    assert scenario.set("observe.interval", "1 s").resolve()["observe"]["interval_s"] == 1.0
    assert tl.loads(one_flow, set={"seed": 5}).seed == 5


def test_several_changes_are_checked_together(mixed: str) -> None:
    scenario = tl.loads(mixed)
    changed = scenario.set_all({"traffic.burst.interval": None, "traffic.burst.rate": "1 Mbit/s"})
    assert changed.traffic["burst"].written()["rate"] == "1 Mbit/s"
    with pytest.raises(tl.ScenarioError, match="either rate or interval"):
        scenario.set("traffic.burst.rate", "1 Mbit/s")


def test_json_schema(one_flow: str) -> None:
    schema = tl.Scenario.json_schema()
    assert schema["required"] == ["duration"]
    assert schema["additionalProperties"] is False
    text = json.dumps(schema)
    assert '"from"' in text
    assert "from_" not in text
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(tomllib.loads(one_flow), schema)


_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
_times = st.builds("{} {}".format, st.integers(1, 10**6), st.sampled_from(["us", "ms", "s", "min"]))
_rates = st.builds("{} {}".format, st.integers(1, 10**6), st.sampled_from(["kbit/s", "Mbps", "Gb/s"]))
_limits = st.one_of(
    st.builds("{} packets".format, st.integers(1, 10**6)),
    st.builds("{} KiB".format, st.integers(1, 10**6)),
    st.just("unlimited"),
)


@st.composite
def scenarios(draw: st.DrawFn) -> tl.Scenario:
    ends = draw(st.lists(_names, min_size=2, max_size=2, unique=True))
    link = tl.Link(
        ends=(ends[0], ends[1]),
        rate=draw(_rates),
        delay=draw(st.none() | _times),
        queue=draw(st.none() | _limits),
        loss=draw(st.none() | st.floats(0, 1)),
        framing=draw(st.none() | st.just(tl.Framing(overhead="38 B"))),
    )
    bulk = tl.Bulk(
        from_=ends[0],
        to=ends[1],
        flows=draw(st.none() | st.integers(1, 5)),
        tcp=draw(st.none() | st.builds(tl.Tcp, delayed_acks=st.none() | st.booleans())),
    )
    return tl.Scenario(
        profile=draw(st.sampled_from(["ns2", "rfc", "linux"])),
        duration=draw(_times),
        seed=draw(st.integers(0, 2**63 - 1)),
        link={draw(_names): link},
        traffic={draw(_names): bulk},
    )


@given(scenarios())
def test_any_scenario_survives_the_way_through_toml(scenario: tl.Scenario) -> None:
    assert tl.loads(scenario.to_toml()) == scenario
    assert tl.loads(understood(scenario)).resolve() == scenario.resolve()


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (
            "traffic.ftp.tcp.congestion",
            {"kind": "vegas", "alpha": "8 packets"},
            'congestion.alpha = "8 packets": expected at most beta, which is "4 packets"',
        ),
        (
            "traffic.ftp.tcp.congestion",
            {"kind": "bic", "max_increment": "1 packet", "min_increment": 2.0},
            "min_increment = 2.0: expected at most max_increment, which is",
        ),
        (
            "link.wire.queue",
            {"kind": "red", "limit": "20 packets", "min": "30 packets"},
            'link.wire.queue.min = "30 packets": expected less than the limit, which is 20 packets',
        ),
    ],
)
def test_thresholds_that_are_never_reached(key: str, value: dict[str, str], said: str) -> None:
    base = tl.loads("""
        duration = "1 s"
        link.wire = { ends = ["a", "b"], rate = "1 Mbit/s", delay = "1 ms" }
        traffic.ftp = { kind = "bulk", from = "a", to = "b" }
        """)
    with pytest.raises(tl.ScenarioError, match=re.escape(said)):
        base.set(key, value).resolve()


def test_intervals_are_drawn_or_not() -> None:
    base = tl.loads("""
        duration = "20 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "1 ms", queue = "unlimited" }
        traffic.calls = { kind = "cbr", from = "a", to = "b", rate = "5 Mbit/s", random = "exponential" }
        """)
    constant = base.set("traffic.calls.random", None)
    assert constant.resolve() == base.set_all({"traffic.calls.random": False}).resolve()
    waits = [tl.simulate(each).links["queueing_delay_mean_s"][0] for each in (constant, base)]
    assert waits[0] == 0
    # M/D/1 at half the rate: half of what a packet takes.
    took = 8 * tl.simulate(base).links["bytes_out"][0] / tl.simulate(base).links["packets_out"][0] / 10e6
    assert waits[1] == pytest.approx(took / 2, rel=0.1)
    with pytest.raises(tl.ScenarioError, match='random = "poisson": expected true, false or "exponential"'):
        base.set("traffic.calls.random", "poisson")


@pytest.mark.parametrize(
    ("traffic", "largest"),
    [('kind = "bulk"', "1368 B"), ('kind = "video", rate = "2 Mbit/s"', "1392 B")],
)
def test_what_fits_a_path_is_what_fits_its_smallest_mtu(traffic: str, largest: str) -> None:
    """A VPN behind a DSL line: what is meant for the first link that is too narrow would not fit the second."""
    text = f"""
profile = "linux"
duration = "1 s"
link.dsl = {{ ends = ["office", "isp"], rate = "10 Mbit/s", mtu = "1492 B" }}
link.tunnel = {{ ends = ["isp", "hq"], rate = "1 Gbit/s", mtu = "1420 B" }}
traffic.x = {{ from = "office", to = "hq", {traffic} }}
"""
    with pytest.raises(tl.ScenarioError, match=f'link tunnel has an MTU of 1420 B; did you mean "{largest}"'):
        tl.loads(text).resolve()
    key = "tcp" if "bulk" in traffic else "udp"
    assert tl.loads(text).set(f"traffic.x.{key}.payload", largest).resolve()


def test_datagrams_of_two_sizes_are_a_poisson_process_by_interval_alone() -> None:
    """M/G/1 at half the rate (Pollaczek, Khinchine); by ``rate`` an interval is longer behind a larger packet."""
    base = tl.loads("""
        duration = "400 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "1 ms", queue = "unlimited" }
        [traffic.calls]
        kind = "cbr"
        from = "a"
        to = "b"
        interval = "1.28 ms"
        random = "exponential"
        sizes = { small = { size = "100 B", share = 0.5 }, large = { size = "1500 B" } }
        """)
    first_s, second_s = 0.64e-3, (0.08e-3**2 + 1.2e-3**2) / 2
    theory_s = 0.5 / first_s * second_s / 2 / (1 - 0.5)
    by_rate = base.set_all({"traffic.calls.interval": None, "traffic.calls.rate": "5 Mbit/s"})
    waits_s = [tl.simulate(each).links["queueing_delay_mean_s"][0] for each in (base, by_rate)]
    assert waits_s[0] == pytest.approx(theory_s, rel=0.02)
    assert waits_s[1] < 0.95 * theory_s
    assert "not by ``rate`` with several" in (
        tl.Cbr.model_json_schema()["properties"]["random"].get("description") or ""
    )
