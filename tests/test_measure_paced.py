"""Applications that send at times of their own, over TCP and UDP: exact as jobs, loosely as measured beside simulated."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from in_real_time import SideBySide, measured, measures, measures_side_by_side
from programs import lacking, needs
from tightlink.measure import sender_iperf3
from tightlink.measure.measuring import measure
from tightlink.measure.plan import Plan
from tightlink.measure.sending import jobs
from tightlink.measure.traffic import Constant, Times

iperf3 = needs("iperf3")

WIRE = """
profile = "linux"
duration = "2 s"
seed = 3
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
"""
CBR = 'traffic.app = { kind = "cbr", from = "a", to = "b", start = "0.1 s", rate = "1 Mbit/s", tcp = { congestion = "reno", payload = "1000 B" } }'
TOO_FAST = CBR.replace("1 Mbit/s", "3 Mbit/s")
BURSTS = CBR.replace('"cbr"', '"on-off", on = "0.2 s", off = "0.1 s"')
DATAGRAMS = 'traffic.app = { kind = "on-off", on = "0.2 s", off = "0.1 s", from = "a", to = "b", start = "0.1 s", rate = "1 Mbit/s", udp.datagram = "1000 B" }'
FILE = (
    'traffic.app = { kind = "bulk", from = "a", to = "b", start = "0.2 s", bytes = "150 kB", tcp.congestion = "reno" }'
)
STOPPED = 'traffic.app = { kind = "bulk", from = "a", to = "b", start = "0.2 s", stop = "1.2 s", tcp = { congestion = "reno", window = "10 packets" } }'


APPLICATIONS = {
    "cbr": (CBR, "probe"),
    "cbr faster than the link": (TOO_FAST, "probe"),
    "on-off": (BURSTS, "probe"),
    "on-off over UDP": (DATAGRAMS, "probe"),
    "bulk of a size": (FILE, "probe"),
    "bulk that is stopped": (STOPPED, "probe"),
    "cbr of iperf3": (CBR, "iperf3"),
}


@pytest.fixture(scope="module")
def applications() -> SideBySide:
    """All of them, over a link each."""
    return SideBySide({
        name: (tl.loads(WIRE + traffic), {"sender": sender})
        for name, (traffic, sender) in APPLICATIONS.items()
        if sender != "iperf3" or lacking("iperf3") is None
    })  # fmt: skip


@measures_side_by_side
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[iperf3] if "iperf3" in name else []) for name in APPLICATIONS]
)
def test_goodput_is_that_of_the_simulator(name: str, applications: SideBySide) -> None:
    traffic, sender = APPLICATIONS[name]
    scenario, run = tl.loads(WIRE + traffic), applications.run(name)
    flow, simulated = (each.flows.row(0, named=True) for each in (run, tl.simulate(scenario)))
    assert flow["goodput_bps"] == pytest.approx(simulated["goodput_bps"], rel=0.05)
    # The data of iperf3 start a few round trips after its start.
    assert flow["start_s"] == pytest.approx(simulated["start_s"], abs=0.1 if sender == "probe" else 0.4)
    assert flow["stop_s"] == pytest.approx(simulated["stop_s"], abs=0.1)
    if flow["limited_by_application"] is not None:
        assert flow["limited_by_application"] == pytest.approx(simulated["limited_by_application"], abs=0.2)


@measures
def test_a_transfer_is_complete_when_its_last_hole_is_filled() -> None:
    """Packets behind a lost one have come long before it: a round trip of 40 ms, which the measurement has to count."""
    scenario = tl.loads("""
profile = "linux"
duration = "0.8 s"
link.wire = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "20 ms", queue = "100 packets", loss = { packets = [5] } }
traffic.file = { kind = "bulk", from = "a", to = "b", bytes = "100 kB", start = "0.1 s", tcp.congestion = "reno" }
""")
    (found,), (simulated,) = (each.completions.rows(named=True) for each in (measured(scenario), tl.simulate(scenario)))
    assert found["packets_retransmitted"] == simulated["packets_retransmitted"] == 1
    assert found["completion_s"] == pytest.approx(simulated["completion_s"], abs=0.005)
    assert (found["bytes"], found["ideal_s"]) == (simulated["bytes"], simulated["ideal_s"])


def test_a_rate_counts_whole_packets() -> None:
    (job,) = jobs(Plan.of(tl.loads(WIRE + CBR)))
    # 1000 B, IP 20, TCP 20, timestamps 12.
    assert job.pattern == Constant(8 * 1052 / 1e6)
    assert job.payload_bytes == 1000


@pytest.mark.parametrize(
    ("kind", "longest_s"),
    [
        ('"cbr"', 0.008),
        ('"cbr", random = true', 0.012),
        ('"cbr", random = "exponential"', math.inf),
        ('"on-off", on = "0.2 s", off = "0.1 s"', math.inf),
    ],
    ids=["cbr", "random cbr", "Poisson process", "on-off"],
)
def test_random_times_are_those_of_the_simulator(kind: str, longest_s: float) -> None:
    scenario = tl.loads(WIRE + DATAGRAMS.replace('"on-off", on = "0.2 s", off = "0.1 s"', kind))
    (job,) = jobs(Plan.of(scenario))
    trace = tl.simulate(scenario, trace=True).packets.filter(pl.col("event") == "+")
    offered = np.array(trace["time_s"].to_list())
    if isinstance(job.pattern, Times):
        assert np.allclose(np.array(job.pattern.at_s) + 0.1, offered, rtol=0, atol=1e-12)
        # 8 ms from datagram to datagram of 1000 B at 1 Mbit/s.
        assert 0.01 < np.diff(offered).max() < longest_s
    else:
        assert job.pattern is not None
        assert np.allclose(np.diff(offered), job.pattern.interval_s, rtol=0, atol=1e-12)


def test_other_seeds_have_other_times() -> None:
    (one,), (other,) = (jobs(Plan.of(tl.loads(text + BURSTS))) for text in (WIRE, WIRE.replace("seed = 3", "seed = 4")))
    assert isinstance(one.pattern, Times)
    assert isinstance(other.pattern, Times)
    assert one.pattern.at_s[0] == other.pattern.at_s[0] == 0
    assert one.pattern != other.pattern


@pytest.mark.parametrize(
    ("traffic", "sender", "says"),
    [
        (
            'traffic.app = { kind = "video", from = "a", to = "b", rate = "1 Mbit/s" }',
            "probe",
            'traffic.app.kind = "video": expected one of bulk, cbr, on-off, saturate, to be sent live',
        ),
        (
            BURSTS,
            "iperf3",
            "traffic.app: iperf3 sends bulk, saturate and cbr at a constant interval only; the sender probe sends this, too",
        ),
    ],
    ids=["video", "on-off by iperf3"],
)
def test_what_cannot_be_sent_is_refused(traffic: str, sender: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name)
    with pytest.raises(tl.ScenarioError) as error:
        measure(tl.loads(WIRE + traffic, file="x.toml"), sender=sender)
    assert str(error.value) == f"x.toml: {says}"


def test_iperf3_that_is_told_to_end_twice_has_ended() -> None:
    """Seen on a busy machine: a server whose client has terminated asks the socket, which is closed by then."""
    text = '{"intervals": [], "error": "the client has terminated", "error": "getsockopt - Bad file descriptor"}'
    assert sender_iperf3._read(text, "iperf3 for app")["intervals"] == []
    with pytest.raises(tl.TightlinkError, match=r"^iperf3 for app: unable to connect"):
        sender_iperf3._read('{"error": "unable to connect to server"}', "iperf3 for app")
