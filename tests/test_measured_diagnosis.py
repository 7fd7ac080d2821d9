"""What a diagnosis makes of a measurement: what hosts and emulated links counted, of which simulations know more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from tightlink.run import Framed, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

LINK = """
profile = "linux"
duration = "8 s"
link.up = { ends = ["home", "net"], rate = "20 Mbit/s", delay = "20 ms", queue = "200 packets" }
traffic.a = { kind = "bulk", from = "home", to = "net", tcp.congestion = "cubic" }
"""


def _as_measured(run: Run, flows: pl.DataFrame, shortest_s: Mapping[str, float] | None = None) -> Run:
    """A simulated run as a measurement would have it, with the shortest round trips that kernels took."""
    counted = {"busy_s": 1.0, "receiver_limited_s": 0.0, "buffer_limited_s": 0.0}
    info = {label: {**counted, "rtt_min_s": least_s} for label, least_s in (shortest_s or {}).items()}
    manifest: dict[str, Any] = {"source": "measurement", "tcp_info": info}
    return Run(run.scenario, manifest, Framed({"flows": flows, "links": run.links}))


def test_a_round_trip_that_waited_in_a_full_queue_is_no_base() -> None:
    later = 'traffic.b = { kind = "bulk", from = "home", to = "net", tcp.congestion = "cubic", start = "3 s" }\n'
    run = tl.simulate(tl.loads(LINK + later))
    found = _as_measured(run, run.flows, {"a": 0.0405, "b": 0.117}).why("b").delay
    assert found is not None
    assert found.base_s == pytest.approx(0.0406, abs=0.003)
    # A machine that takes its time is seen by all of its packets.
    slow = run.flows.with_columns(pl.col("rtt_mean_s") + 0.02)
    late = _as_measured(run, slow, {"a": 0.0605, "b": 0.137}).why("a").delay
    assert late is not None
    assert late.base_s == pytest.approx(0.0605)


def test_a_handshake_is_no_base_of_a_slow_line() -> None:
    """A SYN takes 6.5 ms of a line that full packets take 188 ms of, and the kernel's shortest round trip is its."""
    slow = {"link.up.rate": "64 kbit/s", "link.up.delay": "10 ms", "traffic.a.bytes": "29 kB"}
    run = tl.simulate(tl.loads(LINK).set_all(slow))
    simulated, found = run.why("a").delay, _as_measured(run, run.flows, {"a": 0.0352}).why("a").delay
    assert simulated is not None
    assert found is not None
    assert (found.base_s, found.mean_s) == pytest.approx((simulated.base_s, simulated.mean_s))
    assert found.base_s == pytest.approx((1500 + 52) * 8 / 64e3 + 0.02, rel=0.01)


def test_marks_that_only_the_link_counted_are_told_all_the_same() -> None:
    marking = {"link.up.queue": {"kind": "fq-codel"}, "traffic.a.tcp.ecn": True}
    run = tl.simulate(tl.loads(LINK).set_all(marking))
    assert run.flows["packets_marked"][0] > 0
    unknown = run.flows.with_columns(packets_marked=pl.lit(None, pl.Int64))
    simulated, measured = run.why(), _as_measured(run, unknown).why()
    assert "marks keep the window small" in simulated.sentence
    assert [cause.name for cause in measured.causes] == [cause.name for cause in simulated.causes]
    without = tl.simulate(tl.loads(LINK).set("link.up.queue", {"kind": "fq-codel"}))
    assert "congestion_marks" not in {cause.name for cause in _as_measured(without, without.flows).why().causes}


def test_what_flows_of_one_sentence_differ_in_is_a_range() -> None:
    calls = """
    duration = "4 s"
    link.up = { ends = ["home", "net"], rate = "20 Mbit/s", delay = "20 ms", queue = "200 packets" }
    traffic.call = { kind = "cbr", from = "home", to = "net", rate = "1 Mbit/s", udp.payload = "1000 B" }
    traffic.flood = { kind = "cbr", from = "home", to = "net", rate = "2 Mbit/s", udp.payload = "1000 B" }
    """
    (told,) = tl.simulate(tl.loads(calls)).why().diagnoses
    assert told.flows == ("call", "flood")
    assert "the application sets the rate, 1 to 2 Mbit/s." in told.answer
    run = tl.simulate(tl.loads(LINK).set_all({"traffic.a.flows": 3, "link.up.queue": {"kind": "fq-codel"}}))
    apart = run.flows.with_columns(
        queueing_delay_mean_s=pl.Series([0.0087, 0.0075, 0.0055]),
        queueing_delay_p95_s=pl.Series([0.0361, 0.0398, 0.0151]),
    )
    (measured,) = _as_measured(run, apart).why().diagnoses
    assert "add 5.5 to 8.7 ms (15.1 to 39.8 ms at p95) to a base RTT of" in measured.answer


def test_an_outage_comes_before_the_recovery_from_it() -> None:
    down = {"schedule": [{"at": "4 s", "for": "3 s"}], "flush": True}
    run = tl.simulate(tl.loads(LINK).set_all({"duration": "12 s", "link.up.outages": down}))
    none = [name for name in run.flows.columns if name.startswith("limited_by_")]
    flows = run.flows.with_columns(pl.lit(0.0).alias(name) for name in none).with_columns(
        limited_by_network=pl.lit(0.48), limited_by_congestion_window=pl.lit(0.52)
    )
    found = _as_measured(run, flows).why()
    assert [cause.name for cause in found.diagnoses[0].causes] == ["saturated_link", "outage", "recovery"]
    # A quarter of the time it is down; the timer, which has doubled four times, expires at 9.3 s.
    assert "for 39 % link up is down or behind that the retransmission timer is awaited" in found.sentence
