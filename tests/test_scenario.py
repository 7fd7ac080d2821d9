"""Scenarios: what TOML and Python objects mean, what the engine gets, and the way back to TOML."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightlink as tl
from one_link import resolve
from tightlink.scenario import understood


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
