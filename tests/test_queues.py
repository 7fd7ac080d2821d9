"""Queue disciplines in scenarios: defaults with their source, what is wrong, and what they do to a run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import tightlink as tl
from tightlink import _core

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


def test_options_have_the_defaults_of_their_sources() -> None:
    limit = {"packets": 100}
    assert resolved({"kind": "codel", "limit": "100 packets"}) == {
        "kind": "codel", "limit": limit, "target_s": 0.005, "interval_s": 0.1, "ecn": False,
    }  # fmt: skip
    assert resolved({"kind": "fq-codel"}) == {
        "kind": "fq-codel", "limit": {"packets": 10240}, "target_s": 0.005, "interval_s": 0.1,
        "flows": 1024, "quantum_bytes": 1514, "ecn": False,
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
    mark = {"mark": "20 packets"} if kind == "threshold" else {}
    scenario = with_queue({"kind": kind, "limit": "100 packets"} | mark)
    assert tl.loads(scenario.to_toml()).resolve() == scenario.resolve()
    links = tl.simulate(scenario).links
    assert links["utilization"][0] > 0.9
    assert links["packets_dropped"][0] > 0
    assert links["packets_marked"].to_list() == [0, 0]


def test_a_managed_queue_is_shorter_than_drop_tail_and_says_why_it_drops() -> None:
    def mean(queue: object) -> float:
        return float(tl.simulate(with_queue(queue)).links["queue_mean_packets"][0])

    drop_tail = mean("100 packets")
    for kind in ("red", "pie", "rem", "codel", "fq-codel"):
        queue = {"kind": kind, "limit": "100 packets"}
        assert mean(queue) < drop_tail / 2, kind
        packets = tl.simulate(with_queue(queue), trace=True).packets
        assert "queue management" in packets["reason"].unique().to_list(), kind


def test_watching_changes_nothing() -> None:
    for kind in ("codel", "fq-codel"):
        scenario = with_queue({"kind": kind, "limit": "60 packets"})
        assert tl.simulate(scenario).manifest["digest"] == tl.simulate(scenario, trace=True).manifest["digest"]


WRONG = [
    ({"kind": "codel"}, "link.a.queue.limit: this key is needed"),
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
    ({"kind": "pie", "limit": "9 packets", "ecn": 1}, "expected true or false"),
    ({"kind": "rem", "limit": "9 packets", "phi": 1}, "expected a number from 1.000001 to 10, such as 1.001"),
    ({"kind": "rem", "limit": "9 packets", "gamma": 0}, "expected a number above 0 and up to 1000, such as 0.1"),
    ({"kind": "rem", "limit": "9 packets", "target": "1 kB"}, 'expected a number of packets such as "20 packets"'),
    ({"kind": "rem", "limit": "9 packets", "interval": "1 us"}, 'expected a time of at least "10 us"'),
    ({"kind": "rem", "limit": "9 packets", "drop": False}, "expected nothing here without ecn = true"),
]


@pytest.mark.parametrize(("queue", "sentence"), WRONG, ids=lambda value: str(value)[:60])
def test_what_is_wrong_is_said_in_a_sentence(queue: object, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        with_queue(queue).resolve()
    assert sentence in str(caught.value)


@pytest.mark.parametrize("kind", ["red", "pie", "rem"])
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

    for kind in ("pie", "rem", "codel", "fq-codel"):
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
