"""Processors of nodes, sources that are pushed back, videos: keys, errors and tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import tightlink as tl
from tightlink.cli import main

EXAMPLE = Path(__file__).parent.parent / "examples" / "router-with-processor.toml"
WIRE = 'duration = "5 s"\nlink.wire = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "5 us", queue = "100 packets", framing = { overhead = "38 B", smallest = "84 B" } }\n'
NIC = 'node.a.processor = { per_packet = "33 us", per_byte = "16 ns" }\n'
SATURATE = 'traffic.udp = { kind = "saturate", from = "a", to = "b", udp.payload = "1450 B" }\n'


def router(interval: str, **changes: object) -> dict[str, Any]:
    """The row of router_a when a 65-byte packet comes every ``interval``."""
    changes = {"traffic.probe.interval": interval, "duration": "90 s", **changes}
    run = tl.simulate(tl.load(EXAMPLE).set_all(changes))
    return run.nodes.filter(run.nodes["node"] == "router_a").row(0, named=True)


def test_the_router_of_the_example_is_busy_with_packets() -> None:
    row = router("1 ms")
    # 187 us for each of 1000 packets a second, and the meter's own 1 ms a second.
    assert row["load_true"] == pytest.approx(0.188, abs=2e-4)
    assert row["load_reported"] == pytest.approx(0.188, abs=2e-3)
    assert row["dropped_input_ring"] == row["dropped_output_ring"] == 0


def test_past_saturation_the_reported_load_falls() -> None:
    reported = {interval: router(interval)["load_reported"] for interval in ("0.25 ms", "0.2 ms", "0.15 ms")}
    assert reported["0.2 ms"] > reported["0.25 ms"] > reported["0.15 ms"] == 0
    row = router("0.15 ms")
    assert row["load_true"] > 1
    assert row["dropped_input_ring"] > 0
    assert row["dropped_output_ring"] > 0
    guaranteed = {"cpu": "10 ms", "every": "1 s", "guaranteed": "5 %"}
    seen = router("0.15 ms", **{"node.router_a.processor.background": guaranteed})
    assert seen["load_reported"] == pytest.approx(1, abs=0.01)


def test_a_ring_may_count_bytes() -> None:
    resolved = tl.load(EXAMPLE).set("node.router_a.processor.input_ring", "4875 B").resolve()
    processor = next(node["processor"] for node in resolved["nodes"] if node["name"] == "router_a")
    assert processor["input_ring"] == {"bytes": 4875}
    assert [link["queue"]["limit"] for link in resolved["links"] if link["from"] == 1] == [{"packets": 40}] * 2


def test_a_series_follows_a_processor() -> None:
    run = tl.simulate(tl.load(EXAMPLE).set("duration", "3 s"))
    series = run.series.filter(run.series["entity"] == "router_a")
    assert set(series["metric"]) == {"load", "load_reported", "ring_packets", "packets_dropped"}
    load = series.filter(series["metric"] == "load")["value"].to_list()
    assert load == pytest.approx([0.187, 0.188], abs=1e-3)


def test_nodes_without_a_processor_have_no_load() -> None:
    run = tl.simulate(tl.load(EXAMPLE).set("duration", "1 s"))
    assert run.nodes["load_true"].is_null().to_list() == [True, False, True, True]


@pytest.mark.parametrize(
    ("payload", "packets", "limit"),
    [
        # 33 us and 16 ns for each byte of the IP datagram; then 8 ns for each byte of the line.
        (25, 5 / (33e-6 + 53 * 16e-9), "limited_by_sender_rate"),
        (1450, 5 / (1516 * 8e-8), "limited_by_network"),
    ],
)
def test_saturating_traffic_reaches_what_its_host_can_send(payload: int, packets: float, limit: str) -> None:
    run = tl.simulate(tl.loads(WIRE + NIC + SATURATE, set={"traffic.udp.udp.payload": f"{payload} B"}))
    (flow,) = run.flows.iter_rows(named=True)
    assert flow["packets_delivered"] == pytest.approx(packets, abs=2)
    assert flow["packets_dropped"] == 0
    assert flow[limit] > 0.98


def test_datagram_flows_have_loss_runs_and_the_jitter_of_rfc_3550() -> None:
    row = tl.simulate(tl.load(EXAMPLE).set_all({"duration": "2 s", "traffic.probe.interval": "0.2 ms"})).flows.row(
        0, named=True
    )
    # What was sent before the last arrival and is missing was lost in runs.
    lost = row["loss_runs"] * row["loss_run_mean_packets"]
    assert row["packets_dropped"] - 80 <= lost <= row["packets_dropped"]
    assert 1 <= row["loss_run_mean_packets"] <= row["loss_run_max_packets"]
    assert 0 < row["jitter_rfc3550_s"] < 1e-3
    tcp = tl.simulate(tl.loads(WIRE + 'traffic.ftp = { kind = "bulk", from = "a", to = "b" }')).flows.row(0, named=True)
    assert tcp["loss_runs"] is tcp["jitter_rfc3550_s"] is tcp["frames_sent"] is None


def test_a_video_sends_its_frames() -> None:
    video = 'traffic.tv = { kind = "video", from = "a", to = "b", rate = "4 Mbit/s", udp.payload = "1000 B" }\n'
    scenario = tl.loads(WIRE + video).set_all({"duration": "60 s", "link.wire.queue": "500 packets"})
    row = tl.simulate(scenario).flows.row(0, named=True)
    assert row["frames_sent"] == 60 * 25
    assert row["frames_complete"] == row["frames_sent"]
    assert row["goodput_bps"] == pytest.approx(4e6, rel=0.03)
    # A frame that leaves at once waits behind itself; one that is spread does not.
    spread = tl.simulate(scenario.set("traffic.tv.spread", value=True)).flows.row(0, named=True)
    assert spread["one_way_delay_mean_s"] < row["one_way_delay_mean_s"] / 3
    lossy = tl.simulate(scenario.set("link.wire.loss", "1 %")).flows.row(0, named=True)
    assert lossy["frames_complete"] < lossy["frames_sent"]
    assert not math.isnan(lossy["loss_run_mean_packets"])


def test_nodes_of_topologies_have_processors_singly_or_in_groups() -> None:
    text = """
duration = "1 s"
topology.net = { kind = "dumbbell", pairs = 3, bottleneck.rate = "10 Mbit/s", access.rate = "1 Gbit/s" }
node."net.left[*]".processor = { per_packet = "10 us" }
node."net.left[1]".processor = { per_packet = "20 us" }
node."net.left_router".processor = { per_packet = "5 us", output_ring = "7 packets" }
traffic.ftp = { kind = "bulk", flows = 3, from = "net.left[*]", to = "net.right[*]" }
"""
    scenario = tl.loads(text, set={"node.net.left_router.processor.per_packet": "6 us"})
    resolved = scenario.resolve()
    costs = {node["name"]: node["processor"]["per_packet_s"] for node in resolved["nodes"] if "processor" in node}
    assert costs == {"net.left[0]": 1e-5, "net.left[1]": 2e-5, "net.left[2]": 1e-5, "net.left_router": 6e-6}
    queues = {link["name"]: link["queue"]["limit"] for link in resolved["links"]}
    assert queues["net.bottleneck"] == queues["net.access_left[2].reverse"] == {"packets": 7}
    assert queues["net.access_left[2]"] == {"packets": 1000}
    assert tl.loads(scenario.explicit().to_toml()).resolve() == resolved


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("node.aa.processor", {"per_packet": "1 us"}, 'node.aa: expected the name of a node; did you mean "a"?'),
        ("node.a.procesor", {"per_packet": "1 us"}, 'unknown key; expected processor; did you mean "processor"?'),
        ("node.a.processor", {}, "node.a.processor.per_packet: this key is needed"),
        ("node.a.processor.per_packet", 33, 'expected a unit, too: a time such as "10 ms"'),
        ("node.a.processor.input_ring", "unlimited", "expected a number of packets"),
        (
            "node.a.processor.output_ring",
            "5 packets",
            "node.a.processor.output_ring = 5 packets is the queue of this link",
        ),
        ("node.a.processor.meter", {"every": "10 ns"}, "expected at most 10000000 jobs in a run"),
        ("node.a.processor.meter", {"average": "mean"}, "expected one of window, exponential"),
        ("node.a.processor.background", {"cpu": "1 ms", "every": "1 s", "guaranteed": 1}, "a fraction below 1"),
        ("link.wire.queue", "unlimited", "a queue without one never pushes back traffic.udp"),
    ],
)
def test_errors_say_what_was_expected(key: str, value: object, says: str) -> None:
    with pytest.raises(tl.ScenarioError) as error:
        tl.loads(WIRE + NIC + SATURATE).set(key, value).resolve()
    assert says in str(error.value)


def test_saturating_traffic_is_udp() -> None:
    with pytest.raises(tl.ScenarioError, match='kind = "bulk" sends as fast as it can'):
        tl.Saturate(from_="a", to="b", tcp=tl.Tcp(window="1 packet"))


def test_a_queue_that_takes_no_packet_cannot_be_saturated() -> None:
    scenario = tl.loads(WIRE + SATURATE, set={"link.wire.queue": "100 B"})
    with pytest.raises(tl.ScenarioError, match="a queue that takes a packet of 1478 B"):
        tl.simulate(scenario)


def test_the_summary_has_a_line_for_each_processor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(EXAMPLE), "--set", "duration=1s"]) == 0
    assert "router_a   18.7 %" in capsys.readouterr().out


RECEIVER = 'node.b.processor = { per_packet = "200 us", input_ring = "32 packets", receive = true }\n'


def test_flow_control_pauses_instead_of_dropping() -> None:
    scenario = tl.loads(WIRE + RECEIVER + SATURATE)
    rate = 1 / (1516 * 8e-8)
    lossy = tl.simulate(scenario).flows.row(0, named=True)
    assert lossy["packets_sent"] == pytest.approx(5 * rate, rel=0.01)
    assert lossy["packets_dropped"] == pytest.approx(5 * (rate - 5000), rel=0.01)
    run = tl.simulate(scenario.set("link.wire.flow_control", value=True))
    row = run.flows.row(0, named=True)
    assert row["packets_dropped"] == 0
    assert row["packets_delivered"] == pytest.approx(25000, abs=2)
    assert row["limited_by_network"] > 0.999
    wire = run.links.row(0, named=True)
    assert wire["queue_mean_packets"] == pytest.approx(100, abs=1)
    assert wire["utilization"] == pytest.approx(5000 / rate, abs=0.01)


def test_flow_control_holds_where_a_processor_can_pause() -> None:
    # The reverse direction ends at a host that has no processor to be full.
    text = WIRE.replace("queue =", "flow_control = true, queue =") + RECEIVER + SATURATE
    assert [link["flow_control"] for link in tl.loads(text).resolve()["links"]] == [True, False]
    off = tl.loads(text).set("link.wire.reverse.flow_control", value=True).set("link.wire.flow_control", value=False)
    with pytest.raises(tl.ScenarioError, match=r"link\.wire\.reverse\.flow_control = True: expected a to have"):
        off.resolve()
    # A host's processor does not see what it receives, unless receive = true.
    deaf = tl.loads(text).set("node.b.processor.receive", value=False)
    with pytest.raises(tl.ScenarioError, match=r"link\.wire\.flow_control = true: expected b to have a processor"):
        deaf.resolve()


def test_flow_control_of_a_group_holds_at_the_routers_that_have_a_processor() -> None:
    text = """
duration = "1 s"
topology.net = { kind = "dumbbell", pairs = 2, bottleneck.rate = "10 Mbit/s", access = { rate = "1 Gbit/s", flow_control = true } }
node."net.left_router".processor = { per_packet = "5 us" }
traffic.ftp = { kind = "bulk", flows = 2, from = "net.left[*]", to = "net.right[*]" }
"""
    paused = [link["name"] for link in tl.loads(text).resolve()["links"] if link["flow_control"]]
    assert paused == ["net.access_left[0]", "net.access_left[1]"]
    with pytest.raises(tl.ScenarioError, match=r"topology\.net\.access\.flow_control = true: expected net\."):
        tl.loads(text.replace("left_router", "right[1]")).resolve()
