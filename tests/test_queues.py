"""Queue disciplines in scenarios: defaults with their source, what is wrong, and what they do to a run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import tightlink as tl
from tightlink import _core
from tightlink.diagnosis.kinds import MANAGED
from tightlink.diagnosis.words import DISCIPLINES
from tightlink.scenario.held_disciplines import HELD
from tightlink.scenario.queues import KINDS

SCENARIO = """\
duration = "20 s"
link.a = { ends = ["x", "y"], rate = "10 Mbit/s", delay = "20 ms" }
traffic.t = { kind = "bulk", from = "x", to = "y", flows = 4, start = { every = "0.1 s" } }
"""


def with_queue(queue: object) -> tl.Scenario:
    return tl.loads(SCENARIO).set("link.a.queue", queue)


def resolved(queue: object) -> dict[str, Any]:
    spec: dict[str, Any] = with_queue(queue).resolve()["links"][0]["queue"]
    return spec


@pytest.mark.parametrize("kind", ["fq-codel", "cake", "pie", "dualpi2", "fq-pie", "cobalt", "fq-cobalt"])
@pytest.mark.parametrize("before", ["codel", "fq-codel", "cake", "pie", "dualpi2"])
def test_another_kind_has_its_own_defaults(before: str, kind: str) -> None:
    changed = with_queue({"kind": before}).set("link.a.queue.kind", kind)
    assert changed == with_queue({"kind": kind})
    assert changed.explicit() == with_queue({"kind": kind}).explicit()


def test_what_was_written_of_a_queue_stays_with_another_kind() -> None:
    written = {"kind": "codel", "limit": "300 packets", "ecn": False}
    changed = with_queue(written).set("duration", "5 s").set("link.a.queue.kind", "fq-codel")
    assert changed.link["a"].queue == tl.FqCodel(limit="300 packets", ecn=False)
    with pytest.raises(tl.ScenarioError, match=r"link.a.queue.interval: unknown key"):
        with_queue({"kind": "codel", "interval": "50 ms"}).set("link.a.queue.kind", "pie")


def test_options_have_the_defaults_of_their_sources() -> None:
    limit = {"packets": 100}
    assert resolved({"kind": "codel", "limit": "100 packets"}) == {
        "kind": "codel", "limit": limit, "target_s": 0.005, "interval_s": 0.1, "ecn": False,
    }  # fmt: skip
    assert resolved({"kind": "fq-codel"}) == {
        "kind": "fq-codel", "limit": {"packets": 10240}, "target_s": 0.005, "interval_s": 0.1,
        "flows": 1024, "quantum_bytes": 1514, "ecn": True,
    }  # fmt: skip
    assert resolved({"kind": "pie", "limit": "100 packets", "ecn": True}) == {
        "kind": "pie", "limit": limit, "target_s": 0.015, "update_s": 0.015, "burst_s": 0.15, "ecn": True,
    }  # fmt: skip
    assert resolved({"kind": "rem", "limit": "100 packets"}) == {
        "kind": "rem", "limit": limit, "gamma": 0.001, "alpha": 0.1, "phi": 1.001, "target_packets": 20.0,
        "interval_s": 0.002, "packet_bytes": 1500, "ecn": False, "drop": True,
    }  # fmt: skip
    assert resolved({"kind": "threshold", "limit": "100 packets", "mark": "30 kB"}) == {
        "kind": "threshold", "limit": limit, "mark": {"bytes": 30_000},
    }  # fmt: skip
    assert resolved({"kind": "fq-pie"}) == {
        "kind": "fq-pie", "limit": {"packets": 10240}, "target_s": 0.015, "update_s": 0.015, "burst_s": 0.15,
        "flows": 1024, "quantum_bytes": 1514, "ecn": False,
    }  # fmt: skip
    cobalt = {"target_s": 0.005, "interval_s": 0.1}
    assert resolved({"kind": "cobalt", "limit": "100 packets"}) == {
        "kind": "cobalt", "limit": limit, **cobalt, "ecn": False,
    }  # fmt: skip
    assert resolved({"kind": "cake"}) == {
        "kind": "cake", "limit": {"packets": 10240}, **cobalt, "ecn": True, "rate_bps": None,
        "overhead": {"bytes": 0, "smallest_bytes": 0, "cells": "none"}, "isolation": "triple-isolate",
        "tins": "diffserv3", "ack_filter": "none",
    }  # fmt: skip
    assert resolved({"kind": "dualpi2"}) == {
        "kind": "dualpi2", "limit": {"packets": 10000}, "target_s": 0.015, "update_s": 0.016, "alpha": 0.16, "beta": 3.2,
        "coupling": 2.0, "ramp_s": [0.0008, 0.0012], "ramp_packets": 1, "scheduler": {"wrr": 0.1}, "overload": "drop",
        "l4s": [],
    }  # fmt: skip
    assert resolved({"kind": "dualpi2", "scheduler": "time-shifted"})["scheduler"] == {"time-shifted": 0.04}
    assert resolved({"kind": "drr", "limit": "100 packets", "weights": {"CS0": 2}}) == {
        "kind": "drr", "limit": limit, "quantum_bytes": 1514, "weights": [[0, 2.0]],
    }  # fmt: skip


def test_red_follows_its_link() -> None:
    spec = resolved({"kind": "red", "limit": "1 BDP"})
    # 1250 packets of 1000 B a second: 5 ms are 6.25 packets, of which half is less than five.
    assert (spec["min"], spec["max"], spec["in_bytes"]) == (5.0, 15.0, False)
    assert math.isclose(spec["weight"], 1 - math.exp(-1 / (10 * 0.1 * 1250)), rel_tol=1e-9)
    assert spec["adaptive"] is None
    fast = with_queue({"kind": "red", "limit": "1000 packets", "adaptive": True}).set("link.a.rate", "1 Gbit/s")
    spec = fast.resolve()["links"][0]["queue"]
    assert (spec["min"], spec["max"]) == (312.5, 937.5)
    assert spec["adaptive"] == {"interval_s": 0.5, "least": 8e-5, "most": 0.5}
    in_bytes = resolved({"kind": "red", "limit": "100 packets", "max": "30 kB"})
    assert (in_bytes["min"], in_bytes["max"], in_bytes["in_bytes"]) == (10_000.0, 30_000.0, True)


@pytest.mark.parametrize("kind", [name for name, _ in _core.queues()])
def test_every_queue_can_be_written_and_read_again(kind: str) -> None:
    needed: dict[str, dict[str, object]] = {
        "threshold": {"mark": "20 packets"},
        "policer": {"rate": "9.5 Mbit/s", "burst": "30 kB"},
        "strict": {"order": ["CS0"]},
    }
    scenario = with_queue({"kind": kind, "limit": "100 packets"} | needed.get(kind, {}))
    assert tl.loads(scenario.to_toml()).resolve() == scenario.resolve()
    links = tl.simulate(scenario).links
    assert links["utilization"][0] > 0.9
    assert links["packets_dropped"][0] > 0
    assert links["packets_marked"].to_list() == [0, 0]


def test_a_managed_queue_is_shorter_than_drop_tail_and_says_why_it_drops() -> None:
    def mean(queue: object) -> float:
        return float(tl.simulate(with_queue(queue)).links["queue_mean_packets"][0])

    drop_tail = mean("100 packets")
    for kind in ("red", "pie", "rem", "codel", "fq-codel", "fq-pie", "cobalt", "fq-cobalt", "cake", "dualpi2"):
        queue = {"kind": kind, "limit": "100 packets"}
        assert mean(queue) < drop_tail / 2, kind
        packets = tl.simulate(with_queue(queue), trace=True).packets
        assert "queue management" in packets["reason"].unique().to_list(), kind


def test_watching_changes_nothing() -> None:
    shaped = {"rate": "8 Mbit/s", "overhead": "18 B", "ack_filter": "normal"}
    plain: dict[str, str] = {}
    for kind, options in [*((kind, plain) for kind in HELD if kind != "strict"), ("cake", shaped)]:
        scenario = with_queue({"kind": kind, "limit": "60 packets"} | options)
        assert tl.simulate(scenario).manifest["digest"] == tl.simulate(scenario, trace=True).manifest["digest"]


WRONG = [
    ({"kind": "drop-tail"}, "link.a.queue.limit: this key is needed"),
    ({"kind": "codel", "limit": "9 packets", "targt": "5 ms"}, 'did you mean "target"?'),
    ({"kind": "codel", "limit": "9 packets", "target": "0.1 s"}, "expected a time below interval, which is 100 ms"),
    ({"kind": "fq-codel", "flows": 0}, "expected a whole number of queues from 1 to 65536"),
    ({"kind": "fq_codel"}, 'did you mean "fq-codel"?'),
    ({"kind": "threshold", "limit": "9 packets"}, "link.a.queue.mark: this key is needed"),
    ({"kind": "red", "limit": "9 packets", "min": "5 packets", "max": "4 packets"}, "expected more than min"),
    ({"kind": "red", "limit": "9 packets", "min": "5 packets", "max": "4 kB"}, "expected packets or bytes, as for min"),
    ({"kind": "red", "limit": "9 packets", "weight": 0}, "expected a fraction above 0"),
    ({"kind": "red", "limit": "9 packets", "max_probability": 0}, "expected a fraction above 0"),
    ({"kind": "red", "limit": "9 packets", "interval": "1 s"}, "expected nothing here without adaptive = true"),
    ({"kind": "pie", "limit": "9 packets", "update": "1 us"}, 'expected a time of at least "10 us"'),
    ({"kind": "pie", "limit": "9 packets", "update": "0.1 ns"}, 'expected a time of at least "10 us"'),
    ({"kind": "pie", "limit": "9 packets", "ecn": 1}, "expected true or false"),
    ({"kind": "rem", "limit": "9 packets", "phi": 1}, "expected a number from 1.000001 to 10, such as 1.001"),
    ({"kind": "rem", "limit": "9 packets", "gamma": 0}, "expected a number above 0 and up to 1000, such as 0.1"),
    ({"kind": "rem", "limit": "9 packets", "target": "1 kB"}, 'expected a number of packets such as "20 packets"'),
    ({"kind": "rem", "limit": "9 packets", "interval": "1 us"}, 'expected a time of at least "10 us"'),
    ({"kind": "rem", "limit": "9 packets", "drop": False}, "expected nothing here without ecn = true"),
    ({"kind": "fq-pie", "update": "1 us"}, 'expected a time of at least "10 us"'),
    ({"kind": "cake", "overhead": "18 B"}, "expected nothing here without rate, of which it is the shaper's"),
    ({"kind": "cake", "cells": "atm"}, "expected nothing here without rate"),
    ({"kind": "cake", "tins": "diffserv8"}, 'did you mean "diffserv'),
    ({"kind": "cake", "rate": "8 Mbit/s", "isolation": "hosts"}, "expected one of flows, dual-srchost"),
    ({"kind": "dualpi2", "max_threshold": "0.1 ms"}, "expected a time of at least min_threshold, which is 0.8 ms"),
    ({"kind": "dualpi2", "shift": "40 ms"}, 'expected nothing here without scheduler = "time-shifted"'),
    ({"kind": "dualpi2", "coupling": 0.5}, "expected a number from 1 to 100, such as 2"),
    ({"kind": "dualpi2", "classic_share": 1}, "expected a fraction above 0 and below 1"),
    ({"kind": "dualpi2", "l4s": ["EF"]}, 'link.a.queue.l4s = "EF": expected a class that some traffic has as its dscp'),
    ({"kind": "drr", "limit": "9 packets", "weights": {"EF": 2}}, "of which there is CS0"),
    ({"kind": "drr", "limit": "9 packets", "weights": {"CS0": 0}}, "expected a weight from 0.001 to 1000, such as 3"),
    ({"kind": "drr", "limit": "9 packets", "weights": {"AF44": 1}}, 'did you mean "AF'),
    ({"kind": "strict", "limit": "9 packets"}, "link.a.queue.order: this key is needed"),
    ({"kind": "strict", "limit": "9 packets", "order": ["CS0", "CS0"]}, "expected each class once"),
    ({"kind": "strict", "limit": "9 packets", "order": ["EF"]}, 'link.a.queue.order = "EF": expected a class that'),
]


@pytest.mark.parametrize(("queue", "sentence"), WRONG, ids=lambda value: str(value)[:60])
def test_what_is_wrong_is_said_in_a_sentence(queue: object, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        with_queue(queue).resolve()
    assert sentence in str(caught.value)


def test_the_diagnosis_knows_every_queue() -> None:
    """Whether its limit alone keeps it short, and what it is called where it has no sentences that are its alone."""
    assert set(KINDS) - set(MANAGED) == {"drop-tail", "threshold", "policer", "drr", "strict"}, "diagnosis/kinds.py"
    assert set(KINDS) - set(DISCIPLINES) == {"drop-tail", "policer", "drr", "strict"}, "diagnosis/words.py"


@pytest.mark.parametrize("kind", ["red", "pie", "rem", "fq-pie", "dualpi2"])
def test_a_source_that_saturates_needs_a_queue_that_takes_what_it_has_room_for(kind: str) -> None:
    scenario = tl.Scenario.from_dict({
        "duration": "1 s",
        "link": {"a": {"ends": ["x", "y"], "rate": "1 Mbit/s", "queue": {"kind": kind, "limit": "9 packets"}}},
        "traffic": {"t": {"kind": "saturate", "from": "x", "to": "y"}},
    })  # fmt: skip
    with pytest.raises(tl.ScenarioError, match=f'queue.kind = "{kind}": a source that saturates it needs'):
        tl.simulate(scenario)


def test_flow_control_needs_a_queue_that_looks_at_its_length() -> None:
    def scenario(queue: dict[str, str]) -> tl.Scenario:
        return tl.Scenario.from_dict({
            "duration": "1 s",
            "link": {
                "a": {"ends": ["x", "r"], "rate": "1 Mbit/s", "queue": queue, "flow_control": True},
                "b": {"ends": ["r", "y"], "rate": "1 Mbit/s"},
            },
            "node": {"r": {"processor": {"per_packet": "1 ms", "input_ring": "20 packets"}}},
            "traffic": {"t": {"kind": "cbr", "from": "x", "to": "y", "rate": "2 Mbit/s"}},
        })  # fmt: skip

    for kind in ("pie", "rem", *(kind for kind in HELD if kind != "strict")):
        with pytest.raises(tl.ScenarioError, match="looks at its length"):
            tl.simulate(scenario({"kind": kind, "limit": "9 packets"}))
    assert tl.simulate(scenario({"kind": "red", "limit": "9 packets"})).links["packets_dropped"][0] > 0


def test_the_example_spares_the_sparse_flow() -> None:
    scenario = tl.load(Path(__file__).parent.parent / "examples" / "queues.toml").set("duration", "10 s")

    def latency(of: tl.Scenario) -> float:
        flows = tl.simulate(of).flows
        return float(flows.filter(flows["label"] == "voice")["one_way_delay_mean_s"][0])

    assert latency(scenario) < 0.024
    assert latency(scenario.set("link.bottleneck.queue", "200 packets")) > 0.06


CLASSES = """\
duration = "20 s"
link.a = { ends = ["x", "y"], rate = "4 Mbit/s", delay = "5 ms" }
traffic.calls = { kind = "cbr", from = "x", to = "y", rate = "RATE", udp.datagram = "1000 B", dscp = "EF" }
traffic.backup = { kind = "cbr", from = "x", to = "y", rate = "5 Mbit/s", udp.datagram = "1000 B", dscp = "CS1" }
traffic.web = { kind = "cbr", from = "x", to = "y", rate = "5 Mbit/s", udp.datagram = "1000 B" }
"""


def throughputs(queue: object, rate: str = "5 Mbit/s") -> dict[str, float]:
    run = tl.simulate(tl.loads(CLASSES.replace("RATE", rate)).set("link.a.queue", queue))
    return dict(zip(run.flows["label"], run.flows["throughput_bps"] / 1e6, strict=True))


def test_classes_share_by_weight_and_by_priority() -> None:
    """Each flow wants more than the link has: shares are those of the discipline, within half a percent of the link."""
    found = throughputs({"kind": "drr", "limit": "100 packets", "weights": {"EF": 5, "CS1": 1, "CS0": 2}})
    assert found == pytest.approx({"calls": 2.5, "backup": 0.5, "web": 1.0}, abs=0.02)
    strict = {"kind": "strict", "limit": "100 packets", "order": ["EF", "CS0"]}
    # What the highest class leaves is the next one's, and the rest has nothing but what went before others came.
    found = throughputs(strict, "3 Mbit/s")
    assert found == pytest.approx({"calls": 3.0, "backup": 0.0, "web": 1.0}, abs=0.02)
    # CAKE's tins: voice goes first up to a quarter of the rate, bulk has a sixteenth, best effort the rest.
    cake = {"kind": "cake", "limit": "100 packets", "rate": "3.9 Mbit/s", "tins": "diffserv4"}
    found = throughputs(cake)
    assert found["calls"] == pytest.approx(3.9 / 4, rel=0.05)
    assert found["backup"] == pytest.approx(3.9 / 16, rel=0.05)


def test_a_class_of_one_flow_alone_is_written_only_where_it_is_one() -> None:
    """A scenario that says CS0 is the one that says nothing."""
    flows = tl.loads(CLASSES.replace("RATE", "1 Mbit/s")).resolve()["flows"]
    assert [flow.get("dscp") for flow in flows] == [46, 8, None]
    with pytest.raises(tl.ScenarioError, match='did you mean "CS1"'):
        tl.loads(SCENARIO).set("traffic.t.dscp", "CS11")


def test_the_shaper_of_cake_keeps_to_its_rate_after_overhead() -> None:
    """40 + 1000 B packets in ATM cells: 22 of 53 B each, so that 1,000 / 1,166 of the shaper's rate are left."""
    scenario = tl.loads(CLASSES.replace("RATE", "5 Mbit/s"))
    queue = {"kind": "cake", "rate": "2 Mbit/s", "overhead": "40 B", "cells": "atm"}
    run = tl.simulate(scenario.set("link.a.queue", queue))
    assert run.flows["throughput_bps"].sum() == pytest.approx(2e6 * 1000 / (22 * 53), rel=0.005)


def test_cake_divides_a_link_between_hosts_and_fq_codel_between_flows() -> None:
    """CAKE's paper, section III.B: a host with eight flows gets no more than one with one flow."""
    text = """\
duration = "30 s"
link.one = { ends = ["one", "r"], rate = "1 Gbit/s" }
link.many = { ends = ["many", "r"], rate = "1 Gbit/s" }
link.up = { ends = ["r", "y"], rate = "10 Mbit/s", delay = "5 ms" }
link.far_one = { ends = ["y", "server_one"], rate = "1 Gbit/s" }
link.far_many = { ends = ["y", "server_many"], rate = "1 Gbit/s" }
traffic.one = { kind = "bulk", from = "one", to = "server_one" }
traffic.many = { kind = "bulk", from = "many", to = "server_many", flows = 8 }
"""
    shares = {}
    for name, queue in {
        "cake": {"kind": "cake"},
        "flows": {"kind": "cake", "isolation": "flows"},
        "fq-codel": {"kind": "fq-codel"},
    }.items():
        flows = tl.simulate(tl.loads(text).set("link.up.queue", queue)).flows
        one = flows.filter(flows["label"] == "one")["goodput_bps"][0]
        shares[name] = one / flows["goodput_bps"].sum()
    # A flow alone does not fill its half throughout, as its losses are its own: the less, the longer the path.
    assert 0.42 < shares["cake"] < 0.51
    assert shares["flows"] == pytest.approx(1 / 9, rel=0.1)
    assert shares["fq-codel"] == pytest.approx(1 / 9, rel=0.1)


def test_the_ack_filter_gives_a_slow_way_back_to_data() -> None:
    """A link of 1:15 with data both ways: uploads gain what ACKs took, and downloads lose nothing."""
    text = """\
profile = "linux"
duration = "30 s"
link.home = { ends = ["server", "home"], rate = "30 Mbit/s", delay = "10 ms", queue.kind = "cake", reverse.rate = "2 Mbit/s" }
traffic.down = { kind = "bulk", from = "server", to = "home", flows = 2 }
traffic.up = { kind = "bulk", from = "home", to = "server", flows = 2 }
"""
    found = {}
    for which in ("none", "normal", "aggressive"):
        found[which] = [0.0, 0.0]
        # Which packets of four flows are lost is chance; their delays decide, of which these are three.
        for delay in ("9 ms", "10 ms", "12 ms"):
            queue = {"kind": "cake", "ack_filter": which}
            scenario = tl.loads(text).set_all({"link.home.reverse.queue": queue, "link.home.delay": delay})
            flows = tl.simulate(scenario).flows
            up = flows["label"].str.starts_with("up")
            for side, here in enumerate((up, ~up)):
                found[which][side] += float(sum(flows.filter(here)["goodput_bps"]))
    for which in ("normal", "aggressive"):
        assert found[which][0] > 1.1 * found["none"][0]
        assert found[which][1] > 0.98 * found["none"][1]


L4S = """\
profile = "linux"
duration = "30 s"
link.a = { ends = ["x", "y"], rate = "40 Mbit/s", delay = "10 ms", queue = { kind = "dualpi2" } }
traffic.l4s = { kind = "bulk", from = "x", to = "y", tcp.congestion = "prague" }
traffic.classic = { kind = "bulk", from = "x", to = "y", tcp.congestion = "cubic" }
"""


def test_dualpi2_keeps_l4s_short_beside_classic_traffic() -> None:
    """RFC 9332 §1.4: both share one link, each with its delay."""
    scenario = tl.loads(L4S)
    flows = tl.simulate(scenario).flows
    l4s, classic = flows["goodput_bps"]
    delays = flows["one_way_delay_p95_s"] - 0.01
    assert delays[0] < 0.002
    assert 0.01 < delays[1] < 0.04
    # Rates within the factor of 2 that a window-based control has with a round trip of 25 ms beside one of 40 ms.
    assert 0.5 < l4s / classic < 2
    # With ECT(0) they meet in the Classic queue.
    together = tl.simulate(scenario.set("traffic.l4s.tcp.congestion", "dctcp")).flows["one_way_delay_p95_s"]
    assert all(delay > 0.015 for delay in together)


def test_dualpi2_holds_classic_traffic_at_its_target() -> None:
    """The controller integrates until the delay is its target: within a quarter, with 4 to 20 flows, and the link busy."""
    for flows in (4, 10, 20):
        for queue in ({"kind": "dualpi2"}, {"kind": "dualpi2", "scheduler": "time-shifted"}):
            scenario = with_queue(queue).set_all({"traffic.t.flows": flows, "duration": "60 s"})
            link = tl.simulate(scenario).links.row(0, named=True)
            assert link["queueing_delay_mean_s"] == pytest.approx(0.015, rel=0.25), (flows, queue)
            assert link["utilization"] > 0.95


def test_a_call_joins_the_l4s_queue_by_its_class() -> None:
    text = (
        L4S
        + 'traffic.call = { kind = "cbr", from = "x", to = "y", interval = "20 ms", udp.payload = "172 B", dscp = "EF" }'
    )

    def delay(queue: dict[str, object]) -> float:
        flows = tl.simulate(tl.loads(text).set("link.a.queue", {"kind": "dualpi2"} | queue)).flows
        return float(flows.filter(flows["label"] == "call")["one_way_delay_p95_s"][0]) - 0.01

    assert delay({"l4s": ["EF"]}) < 0.002 < delay({})


#: Two flows that are on and off and one that is not, twice what the line carries.
FLOOD = """\
duration = "1 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms" }
traffic.one = { kind = "on-off", from = "a", to = "b", rate = "8 Mbit/s", on = "100 ms", off = "100 ms", udp.datagram = "1472 B" }
traffic.two = { kind = "on-off", from = "a", to = "b", rate = "12 Mbit/s", on = "170 ms", off = "170 ms", udp.datagram = "1000 B" }
traffic.three = { kind = "cbr", from = "a", to = "b", rate = "5 Mbit/s", udp.datagram = "700 B" }
"""


@pytest.mark.parametrize(("name", "duration", "queue", "least"), [
    # One that CoDel leaves alone, with a limit of 99 packets there, to which the packet on the line does not count.
    ("fq-codel", "1 s", {"kind": "fq-codel", "limit": "100 packets", "target": "90 s", "interval": "100 s"}, 1000),
    # Two that are never full.
    ("fq-codel-with-room", "4 s", {"kind": "fq-codel", "limit": "100000 packets"}, 400),
    ("codel-with-room", "4 s", {"kind": "codel", "limit": "100000 packets"}, 400),
])  # fmt: skip
def test_codel_and_fq_codel_drop_what_linux_drops(name: str, duration: str, queue: dict[str, str], least: int) -> None:
    """The packets that sch_*.c of Linux 6.12 drop, compiled for user space, of the same arrivals at the same line."""
    scenario = tl.loads(FLOOD).set("duration", duration).set("link.wire.queue", queue)
    dropped = tl.simulate(scenario, trace=True).packets.filter(event="d")["uid"].sort().to_list()
    linux = Path(__file__).parent / "data" / "linux" / f"{name}-drops.txt"
    assert dropped == [int(number) for number in linux.read_text().split()]
    assert len(dropped) > least


#: Twice what the line carries for 2 s, then 0.9 of it, so that no packet waits, and after three seconds twice as much again.
CALM = """\
duration = "6 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms", queue = { kind = "pie", limit = "10000 packets" } }
traffic.calm = { kind = "cbr", from = "a", to = "b", rate = "9 Mbit/s", udp.datagram = "1472 B" }
traffic.flood = { kind = "cbr", from = "a", to = "b", rate = "11 Mbit/s", udp.datagram = "1472 B", stop = "2 s" }
traffic.again = { kind = "cbr", from = "a", to = "b", rate = "11 Mbit/s", udp.datagram = "1472 B", start = "5 s" }
"""


def test_pie_fades_while_no_packet_waits_though_the_line_be_busy() -> None:
    """RFC 8033 §4.2: delay is what waits; without any, 0.98 of the probability is left of each update, and a burst passes again."""
    dropped = tl.simulate(tl.loads(CALM), trace=True).packets.filter(event="d")["time_s"]
    assert dropped.is_between(1, 2).sum() > 100
    assert dropped.is_between(5, 5.15).sum() == 0 < dropped.is_between(5.15, 6).sum()
