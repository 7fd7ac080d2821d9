"""Series of what congestion control and recovery are at: `observe.transport`."""

from __future__ import annotations

import polars as pl
import pytest

import tightlink as tl

SCENARIO = """
profile = "linux"
duration = "8 s"
link.wire = { ends = ["a", "z"], rate = "10 Mbit/s", delay = "20 ms", queue = "40 packets" }
traffic.flow = { kind = "bulk", from = "a", to = "z", tcp = { congestion = "bbr3" } }
"""
#: `bbr3`: startup, drain, probe-bw-down, -cruise, -refill, -up, probe-rtt.
PHASES = range(7)


def test_the_phases_of_bbr_are_a_series() -> None:
    run = tl.simulate(tl.loads(SCENARIO, set={"observe.interval": "10 ms", "observe.transport": True}))
    phases = run.series.filter(pl.col("metric") == "congestion_phase")["value"].to_list()
    assert phases[0] == 0
    assert set(phases) <= set(PHASES)
    # Eight seconds have startup, cruises, a probe of the bandwidth and one of the round-trip time.
    assert {0, 3, 5, 6} <= set(phases)
    assert set(run.series.filter(pl.col("metric") == "recovery_state")["value"].to_list()) <= {0, 1, 2}


def test_it_changes_nothing_else() -> None:
    plain = tl.simulate(tl.loads(SCENARIO, set={"observe.interval": "100 ms"}))
    observed = tl.simulate(tl.loads(SCENARIO, set={"observe.interval": "100 ms", "observe.transport": True}))
    assert plain.flows.equals(observed.flows)
    own = ["congestion_phase", "recovery_state", "bandwidth_bps", "rtt_base_s", "plateau_packets", "marked_share"]
    assert plain.series.equals(observed.series.filter(~pl.col("metric").is_in(own)))


def test_without_series_it_is_an_error() -> None:
    with pytest.raises(tl.ScenarioError, match=r"observe.interval"):
        tl.simulate(tl.loads(SCENARIO, set={"observe.transport": True}))
