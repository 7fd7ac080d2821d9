"""Several links of a scenario emulated in one testbed: which, what a trace says of them, and packets that cross them."""

from __future__ import annotations

import sys
from typing import Any

import polars as pl
import pytest

import tightlink as tl
from in_real_time import measured, measures
from tightlink import cli
from tightlink.measure import traced
from tightlink.measure.emulation import Emulation
from tightlink.measure.forwarding import forward
from tightlink.measure.plan import Plan
from tightlink.measure.relay import late_after_s, relay_spec
from tightlink.measure.sides import Route

#: A home's line, a fast network that is free, and a slow peering.
HOME = """
profile = "linux"
duration = "2 s"
link.dsl = { ends = ["home", "provider"], rate = "8 Mbit/s", delay = "10 ms", queue = "40 packets", reverse.rate = "50 Mbit/s" }
link.core = { ends = ["provider", "exchange"], rate = "10 Gbit/s", delay = "3 ms" }
link.peering = { ends = ["exchange", "server"], rate = "6 Mbit/s", delay = "5 ms", queue = "30 packets" }
traffic.upload = { kind = "bulk", from = "home", to = "server", tcp.congestion = "cubic" }
"""
#: Three bottlenecks, a flow over all of them, and one over each.
LOT = """
profile = "linux"
duration = "2 s"
link.first = { ends = ["a", "b"], rate = "4 Mbit/s", delay = "5 ms", queue = "20 packets" }
link.second = { ends = ["b", "c"], rate = "3 Mbit/s", delay = "10 ms", queue = "20 packets" }
link.third = { ends = ["c", "d"], rate = "4 Mbit/s", delay = "5 ms", queue = "20 packets" }
traffic.long = { kind = "bulk", from = "a", to = "d", tcp.congestion = "reno" }
traffic.one = { kind = "cbr", from = "a", to = "b", rate = "3 Mbit/s", udp.datagram = "1000 B" }
traffic.two = { kind = "bulk", from = "b", to = "c", tcp.congestion = "reno" }
traffic.three = { kind = "cbr", from = "c", to = "d", rate = "3 Mbit/s", udp.datagram = "1000 B" }
"""


def _plan(text: str, *links: str) -> Plan:
    return Plan.of(tl.loads(text, file="x.toml"), links=links)


# Which links.


def test_the_slowest_of_each_flow_are_emulated() -> None:
    plan = _plan(LOT)
    assert plan.links == ("first", "second", "third")
    assert [link["name"] for link in plan.directions][:3] == ["first", "first.reverse", "second"]
    assert {host.name: (host.side, host.address) for host in plan.hosts.values()} == {
        "a": (0, "10.64.0.1"), "d": (1, "10.64.0.2"), "b": (2, "10.64.0.3"), "c": (3, "10.64.0.4")
    }  # fmt: skip
    assert plan.warnings == ()
    # Any host reaches any other.
    assert len(plan.routes) == 12
    assert plan.route("a", "d") == Route((0, 1), (0, 2, 4), 0.0, (0.0, 0.0))
    assert plan.route("d", "b").links == (5, 3)
    assert plan.round_trip_s("a", "d") == pytest.approx(0.04)


def test_links_that_are_equally_slow_are_all_emulated() -> None:
    assert _plan(HOME.replace("8 Mbit/s", "6 Mbit/s")).links == ("dsl", "peering")


def test_one_slowest_link_is_emulated_alone_and_others_can_be_chosen() -> None:
    assert (_plan(HOME).links, _plan(HOME).sides) == (("peering",), 2)
    plan = _plan(HOME, "peering.reverse", "dsl", "peering")
    assert plan.links == ("dsl", "peering")
    # What is free between the two takes its time between them.
    assert plan.route("home", "server") == Route((0, 1), (0, 2), 0.0, (0.003,))
    assert plan.warnings == ("taken as free, but for their delays: core",)


def test_a_link_that_is_free_and_slow_is_told_of() -> None:
    lossy = LOT.replace('queue = "20 packets" }\nlink.third', 'queue = "20 packets", loss = "1 %" }\nlink.third')
    with pytest.raises(
        tl.ScenarioError, match=r"^x.toml: link.second: second loses packets, and only first, third is emulated"
    ):
        _plan(lossy.replace("traffic.two", "# traffic.two"), "first", "third")
    warnings = _plan(LOT.replace("traffic.two", "# traffic.two"), "first", "third").warnings
    assert warnings == ("second would not be faster than first: taken as free",)


def test_late_is_told_by_the_shortest_way() -> None:
    # The first link alone: 5 ms and 20 packets of 3 ms.
    assert late_after_s(_plan(LOT)) == pytest.approx(0.01 * (0.005 + 20 * 0.003))
    assert [port["node"] for port in relay_spec(_plan(LOT))["ports"]] == ["a", "d", "b", "c"]


_BESIDE = 'link.beside = { ends = ["a", "b"], rate = "4 Mbit/s", delay = "1 ms" }\n'


@pytest.mark.parametrize(
    ("text", "links", "says"),
    [
        (LOT + 'node.b.processor = { per_packet = "1 us" }\n', (), "node.b.processor: b is a host, whose interface is"),
        (
            HOME + 'node.exchange.processor = { per_packet = "1 us" }\n',
            ("dsl", "peering"),
            "node.exchange.processor: exchange has a processor, which is emulated beside one link only, not dsl, peering; ",
        ),
        (LOT + _BESIDE, ("first", "beside", "second", "third"), "link.beside: first and beside join the same nodes"),
        (LOT, ("first", "second"), "traffic.three: it crosses none of first, second"),
        (
            LOT + _BESIDE
            + 'traffic.other = { kind = "bulk", from = "a", to = "b", path = ["beside"], reverse_path = ["beside.reverse"] }\n',
            ("first", "second", "third"),
            "traffic.other: it crosses none of first, second, third",
        ),
        (
            HOME + 'link.way = { ends = ["home", "provider"], rate = "1 Gbit/s", delay = "1 ms" }\n'
            'traffic.other = { kind = "bulk", from = "home", to = "server", path = ["way", "core", "peering"], '
            'reverse_path = ["peering.reverse", "core.reverse", "way.reverse"] }\n',
            ("dsl", "peering"),
            "traffic.other: it goes another way than upload, between the same hosts",
        ),
    ],
    ids=["host", "processor", "parallel", "aside", "beside", "two ways"],
)  # fmt: skip
def test_refused(text: str, links: tuple[str, ...], says: str) -> None:
    with pytest.raises(tl.ScenarioError) as error:
        _plan(text, *links)
    assert str(error.value).startswith(f"x.toml: {says}")
    assert str(error.value).endswith("not a scenario that an emulated link can carry")


def test_the_kernel_as_a_router_has_one_link() -> None:
    scenario = tl.loads(HOME.replace("8 Mbit/s", "6 Mbit/s").replace(
        '"bulk", from = "home", to = "server", tcp.congestion = "cubic"', '"cbr", from = "home", to = "server", interval = "1 ms", udp.payload = "100 B"'
    ))  # fmt: skip
    with pytest.raises(tl.ScenarioError, match="slowest are dsl, peering"):
        forward(scenario)


# What a trace says.


def test_tables_of_a_chain_are_the_simulators() -> None:
    run = tl.simulate(tl.loads(LOT).set("observe.interval", "0.25 s"), trace=True)
    packets = run.packets.with_columns(pl.col("type").replace("cbr", "udp"))
    chain = [("a", "b"), ("b", "c"), ("c", "d")]
    ways = {"long": chain, "one": chain[:1], "two": chain[1:2], "three": chain[2:]}
    columns = ["packets_sent", "packets_delivered", "packets_dropped", "bytes_sent", "bytes_delivered"]
    means = [
        "one_way_delay_mean_s",
        "one_way_delay_max_s",
        "queueing_delay_mean_s",
        "queueing_delay_max_s",
        "jitter_mean_s",
    ]
    assert run.flows["packets_dropped"].sum() > 10
    for row in run.flows.iter_rows(named=True):
        found = traced.of_flow(packets, row["flow"], way=ways[row["label"]])
        assert {name: found[name] for name in columns} == {name: row[name] for name in columns}
        # They differ by the order of additions.
        assert [found[name] for name in means] == pytest.approx([row[name] for name in means], rel=1e-9, abs=1e-12)
    times = run.series["time_s"].unique().sort().to_list()
    wanted = run.series.filter(entity="long", metric="throughput_bps")["value"].to_list()
    series = traced.series_of_flow(packets, 0, "long", chain, times).filter(metric="throughput_bps")
    assert series["value"].to_list() == pytest.approx(wanted)
    links = list(zip(tl.loads(LOT).resolve()["links"][::2], chain, strict=True))
    whole = {"round_trip_s": 0.1, "start_s": 0.0, "stop_s": 2.0}
    alone = [traced.full_share(packets, [each], **whole) for each in links]
    assert max(alone) <= traced.full_share(packets, links, **whole) <= 1.0


# Between hosts.

#: Sends so many datagrams of 972 B, 1000 with their headers, at once, and waits until the last has crossed the links.
_FLOOD = """
import socket, sys, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    for number in range(int(sys.argv[2])):
        out.sendto(bytes(972), (sys.argv[1], 9))
time.sleep(1.0)
"""


@measures
@pytest.mark.parametrize("device", ["tun", "packet"])
def test_packets_cross_all_links_in_a_row(device: Any) -> None:
    slow = dict.fromkeys((f"link.{name}.rate" for name in ("first", "second", "third")), "400 kbit/s")
    plan = Plan.of(tl.loads(LOT).set_all(slow))
    with Emulation(plan, device, late_s=1.0, trace=True) as emulation:
        for host, count in (("a", 30), ("b", 30)):
            target = plan.hosts["d"].address
            done = emulation.bed.run(host, [sys.executable, "-c", _FLOOD, target, str(count)], timeout_s=20)
            assert done.code == 0, done.errors
        run = emulation.finish()
    assert run.links["link"].to_list() == [link["name"] for link in plan.directions]
    first, second, third = run.links.filter(pl.col("link").is_in(["first", "second", "third"])).iter_rows(named=True)
    # 20 ms each on a line: of thirty that come at once a queue takes twenty, which find room at the next link.
    assert (first["packets_in"], first["packets_out"]) == (30, 20)
    assert (second["packets_in"], second["packets_dropped"]) == (50, 50 - second["packets_out"])
    assert third["packets_in"] == third["packets_out"] == second["packets_out"] == 40
    udp = run.packets.filter(type="udp")
    passed = udp.filter((pl.col("event") == "r") & (pl.col("to") == "b")).select("uid", out_s="time_s")
    taken = udp.filter((pl.col("event") == "+") & (pl.col("from") == "b")).join(passed, on="uid")
    # One packet has one number, and comes to a link at the instant at which it leaves the one before.
    assert taken.height == 20
    assert (taken["out_s"] == taken["time_s"]).all()
    assert udp["time_s"].is_sorted()
    deliveries = run.table("deliveries")
    assert deliveries.filter(to="d").height == 40
    assert set(deliveries["to"].unique()) <= {"a", "b", "d"}
    assert deliveries["late_s"].min() >= 0  # type: ignore[operator]
    (flow, *_) = run.manifest["relay"]["flows"]
    assert (flow["from"], flow["to"]) == ("a", "d")


@measures
def test_a_parking_lot_is_measured() -> None:
    # Loose: what the machine is asked for is loose, too.
    run = measured(tl.loads(LOT), late_s=0.05)
    simulated = tl.simulate(tl.loads(LOT))
    assert run.flows["label"].to_list() == simulated.flows["label"].to_list()
    assert run.links["link"].to_list() == simulated.links["link"].to_list()
    found, expected = (dict(each.flows.select("label", "goodput_bps").iter_rows()) for each in (run, simulated))
    # What does not react to losses loses nothing beside flows that do.
    for label in ("one", "three"):
        assert found[label] == pytest.approx(expected[label], rel=0.1)
    assert run.links.filter(link="second")["utilization"].item() > 0.8
    flows = {row["label"]: row for row in run.flows.iter_rows(named=True)}
    assert flows["long"]["one_way_delay_mean_s"] > flows["two"]["one_way_delay_mean_s"] > 0.01
    assert run.manifest["link"]["names"] == ["first", "second", "third"]


def test_an_unknown_link_among_several(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lot.toml"
    file.write_text(LOT, encoding="utf-8")
    assert cli.main(["emulate", str(file), "--link", "first", "--link", "thirt"]) == 2
    assert '--link = "thirt": expected the name of a link; did you mean "third"?' in capsys.readouterr().err
