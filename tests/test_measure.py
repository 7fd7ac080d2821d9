"""Scenarios measured with real senders in real time. What is busy makes them late: bounds are wide, and a run that the
machine made invalid is skipped."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

import tightlink as tl
from in_real_time import SideBySide, measures, measures_side_by_side
from measured import FTP, VOICE
from programs import lacking, needs
from tightlink.measure import hosts, settings
from tightlink.measure.measuring import measure
from tightlink.measure.plan import Plan

if TYPE_CHECKING:
    from tightlink.measure.testbed import Bed


iperf3 = needs("iperf3")


PAIRS = """
profile = "linux"
duration = "1.5 s"
topology.net = { kind = "dumbbell", pairs = 2, bottleneck = { rate = "4 Mbit/s", delay = "5 ms", queue = "40 packets" }, access = { rate = "1 Gbit/s", delay = "1 ms" } }
traffic.bulk = { kind = "bulk", flows = 2, from = "net.left[*]", to = "net.right[*]", bytes = "100 kB", tcp.congestion = "cubic" }
"""


DOWN = """
profile = "linux"
duration = "4 s"
link.home = { ends = ["server", "home"], rate = "20 Mbit/s", delay = "10 ms", queue.kind = "cake", reverse.rate = "500 kbit/s" }
traffic.down = { kind = "bulk", from = "server", to = "home" }
"""
# Packets in disorder, and drawn alike: of ten one takes 7 ms longer, and of five one comes twice.
DISORDER = VOICE.replace("3 Mbit/s", "1 Mbit/s").replace(
    "queue", 'reorder = { probability = "10 %", delay = "7 ms" }, duplicate = "20 %", queue'
)
BESIDE = """
profile = "linux"
duration = "2 s"
link.wire = { ends = ["a", "b"], rate = "4 Mbit/s", delay = "10 ms", queue = "40 packets" }
traffic.old = { kind = "bulk", from = "a", to = "b", tcp.congestion = "reno" }
traffic.new = { kind = "bulk", from = "a", to = "b", tcp.congestion = "cubic" }
"""
MIXED = FTP + VOICE.splitlines()[-1].replace("3 Mbit/s", "400 kbit/s")
ACK_FILTER = {"kind": "cake", "ack_filter": "aggressive"}


@pytest.fixture(scope="module")
def real() -> SideBySide:
    """What is compared with its simulation, over a link each."""
    wanted: dict[str, tuple[tl.Scenario, dict[str, Any]]] = {
        "a window": (tl.loads(FTP), {"echo_s": 0.2}),
        "datagrams": (tl.loads(VOICE), {}),
        "disorder": (tl.loads(DISORDER), {}),
        "ACK filter": (tl.loads(DOWN).set("link.home.reverse.queue", ACK_FILTER), {}),
        "a group": (tl.loads(PAIRS), {}),
        "two controls": (tl.loads(BESIDE), {}),
    }
    if lacking("iperf3") is None:
        wanted["iperf3"] = (tl.loads(MIXED), {"sender": "iperf3"})
    return SideBySide(wanted)


@measures_side_by_side
def test_a_window_is_exact_in_packets(tmp_path: Path, real: SideBySide) -> None:
    run = real.run("a window")
    flow, simulated = run.flows.row(0, named=True), tl.simulate(tl.loads(FTP)).flows.row(0, named=True)
    assert flow["label"] == "ftp"
    assert flow["packets_dropped"] == 0
    assert flow["goodput_bps"] == pytest.approx(simulated["goodput_bps"], rel=0.05)
    assert flow["packets_sent"] == pytest.approx(simulated["packets_sent"], rel=0.05)
    # 20 packets are 16 to 20 behind each other; more would wait longer. The slowest of all tells the worst moment of a
    # busy machine.
    assert flow["one_way_delay_p95_s"] == pytest.approx(simulated["one_way_delay_p95_s"], rel=0.15)
    assert flow["limited_by_network"] == pytest.approx(simulated["limited_by_network"], abs=0.15)
    assert run.links["link"].to_list() == ["wire", "wire.reverse"]
    assert 0.8 < run.links["utilization"][0] <= 1.0
    assert set(run.series["metric"]) >= {"queue_packets", "goodput_bps", "cwnd_packets", "rtt_s"}
    echoes = run.series.filter(entity="echo")["value"]
    assert 0.0205 < echoes.min() < 0.03  # type: ignore[operator]
    again = tl.open_run(run.save(tmp_path / "run"))
    assert again.source == "measurement"
    assert again.flows.equals(run.flows)
    assert again.manifest["host"]["hosts"]["a"]["settings"]["tcp_timestamps"] == "1"
    assert again.manifest["relay"]["lateness"]["invalid"] is False


@measures_side_by_side
def test_datagrams_are_dropped_as_in_the_simulator(real: SideBySide) -> None:
    run = real.run("datagrams")
    flow, simulated = (each.flows.row(0, named=True) for each in (run, tl.simulate(tl.loads(VOICE))))
    assert 0 <= run.manifest["sender"]["late_p99_s"] <= run.manifest["sender"]["late_max_s"]
    assert flow["packets_sent"] == pytest.approx(simulated["packets_sent"], abs=3)
    assert flow["packets_dropped"] == pytest.approx(simulated["packets_dropped"], abs=5)
    assert flow["one_way_delay_p95_s"] == pytest.approx(simulated["one_way_delay_p95_s"], abs=0.01)
    assert flow["jitter_rfc3550_s"] is not None
    assert flow["congestion"] == ""


@measures_side_by_side
def test_datagrams_come_twice_and_out_of_order_as_in_the_simulator(real: SideBySide) -> None:
    flow, simulated = (
        each.flows.row(0, named=True) for each in (real.run("disorder"), tl.simulate(tl.loads(DISORDER)))
    )
    # Drawn packet by packet alike: about 100 datagrams and 20 copies, of which the last may come after the end.
    assert flow["packets_sent"] == pytest.approx(simulated["packets_sent"], abs=3)
    assert flow["packets_delivered"] == pytest.approx(simulated["packets_delivered"], abs=4)
    assert simulated["packets_delivered"] > 1.1 * simulated["packets_sent"]
    # One of ten takes 7 ms longer.
    assert flow["one_way_delay_p95_s"] == pytest.approx(simulated["one_way_delay_p95_s"], abs=0.003)


@measures_side_by_side
def test_the_ack_filter_drops_what_it_drops_in_the_simulator(real: SideBySide) -> None:
    """Real ACKs of a download wait before a way back of a fortieth of its rate."""
    runs = (real.run("ACK filter"), tl.simulate(tl.loads(DOWN).set("link.home.reverse.queue", ACK_FILTER)))
    for goodput in zip(*(run.flows["goodput_bps"] for run in runs), strict=True):
        assert goodput[0] == pytest.approx(goodput[1], rel=0.1)
    dropped = [run.links.filter(link="home.reverse")["packets_dropped"].item() for run in runs]
    # A few at a time, while slow start fills the way back: 66 and 82 when this was written. Without the filter none is.
    assert min(dropped) > 20
    assert max(dropped) < 3 * min(dropped)


@measures_side_by_side
def test_flows_of_a_group_end_with_their_bytes(real: SideBySide) -> None:
    run = real.run("a group")
    assert run.flows["label"].to_list() == ["bulk[0]", "bulk[1]"]
    assert run.flows["congestion"].to_list() == ["cubic", "cubic"]
    assert run.flows["stop_s"].max() < 1.5  # type: ignore[operator]
    # 100 kB are 70 segments; SYN and the last ACK of the handshake come with them.
    assert run.flows["packets_delivered"].min() >= 72  # type: ignore[operator]
    assert run.flows["one_way_delay_mean_s"].min() > 0.007  # type: ignore[operator]
    # What else is said is of a busy machine.
    assert run.warnings[0] == "taken as free, but for their delays: net.access_left[*], net.access_right[*]"
    assert run.manifest["receivers"]["acks"] > 0
    assert 0.0 <= run.manifest["receivers"]["p50_s"] <= run.manifest["receivers"]["max_s"]


@measures_side_by_side
def test_each_flow_of_a_host_has_its_own_congestion_control(real: SideBySide) -> None:
    """The probe asks the kernel afterwards which one its connection had."""
    run, simulated = real.run("two controls"), tl.simulate(tl.loads(BESIDE))
    assert run.flows.select("label", "congestion").rows() == [("old", "reno"), ("new", "cubic")]
    assert run.flows["goodput_bps"].sum() == pytest.approx(simulated.flows["goodput_bps"].sum(), rel=0.05)


@measures
def test_a_route_with_another_congestion_control_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    own = settings.of_hosts

    def with_a_route(plan: Plan) -> dict[str, settings.HostSettings]:
        found = own(plan)
        found["a"].metrics["cc_algo"] = "cubic"
        return found

    monkeypatch.setattr(hosts, "of_hosts", with_a_route)
    with pytest.raises(tl.TightlinkError, match=r"congestion control reno: the route to 10\.\S+ has cubic"):
        measure(tl.loads(BESIDE), tries=1)


def test_where_a_default_is_refused_a_route_names_the_control() -> None:
    name = settings.CONGESTION_CONTROL
    own = settings.HostSettings(system={name: "cubic", "net.ipv4.tcp_sack": "1"})
    bed = cast("Bed", SimpleNamespace(set=lambda _, wanted: dict.fromkeys(wanted, "operation not permitted")))
    assert hosts._set(bed, "a", own) == {"net.ipv4.tcp_sack": "operation not permitted"}
    assert own.metrics == {"cc_algo": "cubic"}
    allowed = settings.HostSettings(system={name: "reno"})
    assert hosts._set(cast("Bed", SimpleNamespace(set=lambda *_: {})), "a", allowed) == {}
    assert allowed.metrics == {}


@measures_side_by_side
@iperf3
def test_iperf3_is_a_witness(real: SideBySide) -> None:
    run = real.run("iperf3")
    ftp, voice = run.flows.iter_rows(named=True)
    assert ftp["goodput_bps"] == pytest.approx(1.5e6, rel=0.2)
    assert voice["goodput_bps"] == pytest.approx(400e3 * 972 / 1000, rel=0.2)
    assert ftp["rtt_mean_s"] > 0.02
    assert ftp["start_s"] > 0.1
    assert run.manifest["sender"]["version"].startswith("iperf")
    assert any("iperf3 keeps no window with segments below 1400 B: ftp" in text for text in run.warnings)
