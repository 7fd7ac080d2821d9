"""The kernel of this machine as a router: what its tables say, what it refuses, and that nothing is left of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import tightlink as tl
from in_real_time import needs_router, tried_again
from tightlink.errors import ScenarioError, TightlinkError
from tightlink.measure import forwarding, kernel_router
from tightlink.measure.forwarding import forward, slowest, tables
from tightlink.measure.forwarding_sender import Sending
from tightlink.measure.kernel_router import Did, Sample
from tightlink.measure.plan import Plan
from tightlink.measure.relay import InvalidMeasurementError
from tightlink.measure.sending import jobs
from tightlink.run import Framed, Run
from waiting import soon

#: 1,000 packets of 128 B in a second; the line takes 10 Mbit/s.
_TEXT = """
profile = "rfc"
duration = "1 s"
link.lan = { ends = ["sender", "router"], rate = "1 Gbit/s", delay = "1 us" }
link.line = { ends = ["router", "receiver"], rate = "10 Mbit/s", delay = "1 us", queue = "50 packets" }
traffic.probe = { kind = "cbr", from = "sender", to = "receiver", interval = "1 ms", udp.payload = "100 B" }
"""
SCENARIO = tl.loads(_TEXT)
_PROCESSOR = 'node.router.processor.per_packet = "1 ms"\n'
#: A router that lives until its process is killed; says which bed it is of.
_HELD = """
from tightlink.measure.forwarding import _smallest
from tightlink.measure.kernel_router import KernelRouter
from tightlink.measure.plan import Plan
from tightlink.measure.testbed import Bed
with Bed() as bed:
    router = KernelRouter.lay_out(bed, Plan.of(_smallest()), packet_bytes=100)
    print(router.device, flush=True)
    time.sleep(60)
"""


def _run(sent: int, during: Did, after: Did) -> Run:
    plan = Plan.of(SCENARIO)
    return Run(SCENARIO, {"source": "measurement"}, Framed(tables(plan, jobs(plan)[0], sent, during, after)))


def test_each_packet_is_lost_before_the_router_or_behind_it_or_arrives() -> None:
    during = Did(passed_s=1.05, packets_in=900, packets_out=700, dropped_out=0, ran_s=0.4, waited_s=0.0)
    after = replace(during, packets_in=910, packets_out=750)
    run = _run(1000, during, after)
    node, link, flow = (table.row(0, named=True) for table in (run.nodes, run.links, run.flows))
    assert (node["packets_in"], node["packets_served"], node["load_reported"]) == (1000, 910, 0.4)
    assert (node["dropped_input_ring"], node["dropped_output_ring"]) == (90, 160)
    # What arrives when the flow has stopped is not of its time, and not lost.
    assert (flow["packets_sent"], flow["packets_delivered"], flow["packets_dropped"]) == (1000, 700, 250)
    assert flow["goodput_bps"] == 700 * 100 * 8
    assert flow["throughput_bps"] == 700 * 128 * 8
    assert link["utilization"] == pytest.approx(700 * (128 + 14) * 8 / 10e6)
    assert flow["one_way_delay_mean_s"] is None


@pytest.mark.parametrize(
    ("packets_out", "ran_s", "limit"), [(8800, 0.99, "line"), (700, 0.99, "router"), (700, 0.5, "sender")]
)
def test_what_was_slowest_is_told(packets_out: int, ran_s: float, limit: str) -> None:
    did = Did(1.0, packets_out, packets_out, 0, ran_s, 0.0)
    assert slowest(_run(packets_out, did, did)) == limit


def test_waking_up_is_no_waiting() -> None:
    before = Sample(0, 0, 0, 0, 0.0, 0.0, 0)
    woken = Sample(10**9, 1000, 1000, 0, 0.01, 0.004, 1000).since(before)
    assert woken.waited_s == 0
    shared = Sample(10**9, 1000, 1000, 0, 0.01, 0.154, 1000).since(before)
    assert shared.waited_s == pytest.approx(0.144)


@pytest.mark.parametrize(
    ("waited_s", "busy", "late", "steal", "why"),
    [
        (0.144, 1.0, 0.0, 0.0, r"the router waited for a processor for 14\.4% of the time"),
        (0.0, 0.5, 0.0, 0.0, "the sender had its processor for 50%"),
        (0.0, 1.0, 0.03, 0.0, r"counted for 3\.0% longer than the flow lasted"),
        (0.0, 1.0, 0.0, 0.04, r"other machines had 4\.0% of the processors' time"),
    ],
)
def test_what_others_took_part_in_is_refused(waited_s: float, busy: float, late: float, steal: float, why: str) -> None:
    alone = Did(1.0, 1000, 1000, 0, 0.01, 0.01)
    forwarding._check(alone, Sending(1000, {"busy": 0.95}), late=0.001, steal=0.01)
    with pytest.raises(InvalidMeasurementError, match=f"lateness: .*{why}"):
        forwarding._check(replace(alone, waited_s=waited_s), Sending(1000, {"busy": busy}), late=late, steal=steal)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            'kind = "cbr", from = "sender", to = "receiver", interval = "1 ms", udp.payload = "100 B"',
            'kind = "bulk", from = "sender", to = "receiver"',
            "traffic.probe: what the kernel is to forward is one flow of datagrams",
        ),
        (
            'from = "sender", to = "receiver"',
            'from = "receiver", to = "sender"',
            "traffic.probe: .* in the direction of the link",
        ),
        ('delay = "1 us", queue', 'delay = "1 ms", queue', "link.line.delay = .*: expected delays of at most 100 us"),
        ("50 packets", "4 KiB", "link.line.queue: .* is in packets"),
        ("link.lan", f"{_PROCESSOR}link.lan", "node.router.processor: router is to be the machine's kernel"),
    ],
)
def test_other_scenarios_are_refused(old: str, new: str, why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        forward(tl.loads(_TEXT.replace(old, new)))


def test_one_processor_is_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    with pytest.raises(TightlinkError, match="takes a processor beside that of its sender"):
        forward(SCENARIO)


def test_threads_of_the_kernel_that_cannot_be_seen_are_said() -> None:
    with pytest.raises(TightlinkError, match="cannot be seen here"):
        kernel_router._thread("none")


@tried_again
@needs_router
def test_the_kernel_forwards_every_packet_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts are counts, however busy the machine is."""
    monkeypatch.setattr(forwarding, "_check", lambda *_, **__: None)
    run = forward(SCENARIO)
    node, flow = run.nodes.row(0, named=True), run.flows.row(0, named=True)
    assert flow["packets_sent"] == 1000
    assert node["packets_served"] + node["dropped_input_ring"] == 1000
    assert flow["packets_dropped"] == node["dropped_input_ring"] + node["dropped_output_ring"]
    if not flow["packets_dropped"]:
        assert flow["packets_delivered"] == 1000
    assert 0 < node["load_reported"] < 1
    assert run.manifest["link"]["device"] == "veth"


@tried_again
@needs_router
def test_the_line_behind_the_kernel_is_as_fast_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the router had its processor is not asked: a token bucket makes up for it."""
    monkeypatch.setattr(forwarding, "_check", lambda *_, **__: None)
    fast = SCENARIO.set("traffic.probe.interval", "50 us").set("traffic.probe.udp.payload", "1000 B")
    run = forward(fast.set("duration", "0.5 s"))
    # 20,000 packets/s of 1042 B are sixteen times what it takes; a burst of 64 KiB may pass at once.
    most = 10e6 / 8 * run.manifest["forwarding"]["passed_s"] + (1 << 16)
    assert 0.5 * 10e6 / 8 * 0.5 < run.links["packets_out"][0] * 1042 < 1.01 * most
    assert run.nodes["dropped_output_ring"][0] > 0


@tried_again
@needs_router
def test_trains_are_cut_to_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "_check", lambda *_, **__: None)
    text = _TEXT.replace('"cbr"', '"saturate"').replace('interval = "1 ms", ', "")
    run = forward(tl.loads(text).set("duration", "0.2 s").set("link.line.rate", "900 Mbit/s"))
    node = run.nodes.row(0, named=True)
    assert run.manifest["sender"]["name"] == "trains"
    # 64 datagrams each, of which the router takes each by itself.
    assert node["packets_in"] % 64 == 0
    assert 64 < node["packets_served"] <= node["packets_in"]


@needs_router
@pytest.mark.parametrize("interval", ["1 ms", "5 us"])
def test_it_ends_soon_when_it_is_told_to(interval: str) -> None:
    """One by one and in trains."""

    def watch(_: object) -> None:
        raise KeyboardInterrupt

    scenario = SCENARIO.set("duration", "60 s").set("traffic.probe.interval", interval)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        forward(scenario, watch=watch)
    assert time.monotonic() - began < 30


@needs_router
def test_nothing_is_left_after_sigkill() -> None:
    with subprocess.Popen([sys.executable, "-c", _HELD], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            device = process.stdout.readline().strip()
            assert kernel_router._thread(device)
        finally:
            process.send_signal(signal.SIGKILL)
    assert soon(lambda: not _there(device), within_s=20)
    assert not Path("/sys/class/net", device).exists()


def _there(device: str) -> bool:
    try:
        return bool(kernel_router._thread(device))
    except TightlinkError:
        return False
