"""Links that are limited in packets per second: what the engine gets, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

import tightlink as tl
from tightlink.analysis.effects.factors import in_si
from tightlink.analysis.networks.flow_limits import flow_limits
from tightlink.experiment.factors import same
from tightlink.experiment.levels import levels
from tightlink.scenario import understood

BASE = """\
duration = "10 s"
link.wire = {{ ends = ["x", "y"], rate = "{rate}", delay = "50 ms"{more} }}
traffic.t = {{ kind = "bulk", from = "x", to = "y", tcp = {{ payload = "{payload}", window = "{window}" }} }}
"""


def base(rate: str = "2 packets/ms", more: str = "", payload: str = "1448 B", window: str = "1 BDP") -> tl.Scenario:
    return tl.loads(BASE.format(rate=rate, more=more, payload=payload, window=window))


def link(scenario: tl.Scenario, index: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = scenario.resolve()["links"][index]
    return found


def test_the_engine_gets_both_rates() -> None:
    forward, back = (link(base(more=', reverse.rate = "10 Mbit/s"'), index) for index in (0, 1))
    assert (forward["rate_bps"], forward["rate_pps"]) == (24e6, 2000.0)
    assert (back["rate_bps"], back["rate_pps"]) == (1e7, None)


def test_the_scenario_survives_being_written() -> None:
    scenario = base(rate="25000 pps")
    assert scenario.link["wire"].rate == "25000 packets/s"
    assert tl.loads(understood(scenario)).resolve() == scenario.resolve()
    assert tl.loads(scenario.to_toml()) == scenario


def test_groups_of_links_may_be_limited_in_packets() -> None:
    links = tl.loads("""
        duration = "1 s"
        topology.net = { kind = "chain", hops = 2, hop.rate = ["2 packets/ms", "10 Mbit/s"] }
        traffic.t = { kind = "bulk", from = "net.router[0]", to = "net.router[2]" }
    """).resolve()["links"]
    assert [hop["rate_pps"] for hop in links] == [2000.0, 2000.0, None, None]


@pytest.mark.parametrize("payload", ["100 B", "1448 B"])
def test_a_bandwidth_delay_product_counts_packets(payload: str) -> None:
    """2000 packets/s × 100 ms are 200 packets, of any size."""
    scenario = base(more=', queue = "1 BDP"', payload=payload)
    assert link(scenario)["queue"]["limit"] == {"packets": 200}
    (flow,) = scenario.resolve()["flows"]
    assert flow["transport"]["tcp"]["window_packets"] == 200.0


def test_red_sees_packets() -> None:
    spec = link(base(more=', queue = { kind = "red", limit = "1000 packets" }'))["queue"]
    # Half of what is sent in 5 ms, at least 5 packets.
    assert (spec["min"], spec["max"]) == (5.0, 15.0)
    faster = base(rate="20 packets/ms", more=', queue = { kind = "red", limit = "1000 packets", packet = "100 B" }')
    assert (link(faster)["queue"]["min"], link(faster)["queue"]["max"]) == (50.0, 150.0)


@pytest.mark.parametrize("size", [100, 1500])
def test_maximum_flow_is_in_packets(size: int) -> None:
    found = flow_limits(base(), packet_bytes=size)
    assert float(found.bits.value or 0) == 2000 * 8 * size


def test_levels_of_an_experiment_may_be_packet_rates() -> None:
    assert levels("1 packets/ms..3 packets/ms:1 packets/ms") == ["1 packet/ms", "2 packets/ms", "3 packets/ms"]
    assert not same("1000 packets/s", "1000 bit/s")
    assert same("1000 packets/s", "1 packet/ms")
    assert in_si(["1 packet/ms", "500 packets/s"]) == ("pps", [1000.0, 500.0])


def test_it_carries_its_packets_whatever_their_size() -> None:
    run = tl.simulate(
        tl.loads("""
        duration = "10 s"
        link.wire = { ends = ["x", "y"], rate = "500 packets/s", queue = "20 packets" }
        traffic.small = { kind = "cbr", from = "x", to = "y", interval = "2 ms", udp.datagram = "64 B" }
        traffic.large = { kind = "cbr", from = "x", to = "y", interval = "2 ms", udp.datagram = "1500 B" }
    """)
    )
    # 1000 packets a second are offered. The last service would end with the run, when nothing happens any more.
    assert run.links["packets_out"].to_list()[0] == 500 * 10 - 1
    assert run.links["utilization"].to_list()[0] == pytest.approx(1.0, abs=1e-9)
