"""tcptrace reads the same captures, and counts the same packets, bytes, retransmissions and duplicate ACKs.

It judges fewer things than tshark and some of them otherwise; what differs is on the page of definitions.
"""

from __future__ import annotations

import csv
import subprocess
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from captures import ACK, FIN, PSH, SYN, TCP, ethernet, ipv4, noise, pcap, tcp
from programs import needs

if TYPE_CHECKING:
    from pathlib import Path

    from captures import Timed

pytestmark = needs("tcptrace")

#: A full queue that drops, a receiver's window that fills, and data in both directions.
TRAFFIC = """
profile = "PROFILE"
duration = "5 s"
link.wire = { ends = ["a", "b"], rate = "5 Mbit/s", delay = "20 ms", queue = "20 packets", reverse.queue = "100 packets" }
traffic.ftp = { kind = "bulk", flows = 3, from = "a", to = "b", start = ["0.1 s", "0.4 s", "1 s"], tcp.congestion = "reno" }
traffic.back = { kind = "bulk", from = "b", to = "a", start = "2 s", bytes = "200 kB", tcp = { congestion = "reno", window = "10 packets" } }
"""
#: What tcptrace calls it in the direction of the data, and we in connections or flows.
SAME = {
    "total_packets": "packets_captured",
    "actual_data_pkts": "data_packets",
    "actual_data_bytes": "payload_bytes",
    "rexmt_data_pkts": "packets_retransmitted",
    "duplicate_acks": "duplicate_acks",
}
#: The same of the direction of the ACKs.
SAME_BACK = {"total_packets": "acks", "zero_win_adv": "zero_windows", "max_win_adv": "window_max_bytes"}
#: What does not depend on a judgement.
PLAIN = ("total_packets", "actual_data_pkts", "actual_data_bytes")


def _tcptrace(file: Path) -> dict[str, tuple[dict[str, str], str, str]]:
    """By the name of each flow: a line of tcptrace, and the ends of names in its direction and in the other one."""
    command = ["tcptrace", "-l", "-r", "-n", "--csv", str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("#")]
    names, *rows = ([cell.strip() for cell in row] for row in csv.reader(lines))
    found = {}
    for row in (dict(zip(names, row, strict=False)) for row in rows):
        one, other = (f"{row[f'host_{end}']}:{row[f'port_{end}']}" for end in "ab")
        found[f"{one}-{other}"] = (row, "_a2b", "_b2a")
        found[f"{other}-{one}"] = (row, "_b2a", "_a2b")
    return found


def _flows(run: tl.Run) -> list[dict[str, Any]]:
    retransmitted = run.flows.select("flow", "packets_retransmitted", clear_rtt_s="rtt_mean_s")
    return run.table("connections").join(retransmitted, on="flow").to_dicts()


@pytest.mark.parametrize("profile", ["rfc", "linux"])
def test_simulated_flows(tmp_path: Path, profile: str) -> None:
    file = tmp_path / "out.pcap"
    simulated = tl.simulate(tl.loads(TRAFFIC.replace("PROFILE", profile)), pcap=file)
    run = tl.capture(file)
    theirs = _tcptrace(file)
    assert run.flows.height == 4
    for flow in _flows(run):
        row, here, back = theirs[flow["label"]]
        assert {name: int(row[name + here]) for name in SAME} == {name: flow[own] for name, own in SAME.items()}
        assert {name: int(row[name + back]) for name in SAME_BACK} == {
            name: flow[own] for name, own in SAME_BACK.items()
        }
        assert float(row["RTT_min" + here]) / 1e3 == pytest.approx(flow["rtt_min_s"], abs=1e-4)
        # Karn's rule, as in flows; written to a tenth of a millisecond.
        assert float(row["RTT_avg" + here]) / 1e3 == pytest.approx(flow["clear_rtt_s"], abs=6e-5)
        assert float(row["RTT_from_3WHS" + here]) / 1e3 == pytest.approx(flow["initial_rtt_s"], abs=1e-4)
    # What the simulator says itself.
    assert (
        sum(flow["packets_retransmitted"] for flow in _flows(run))
        == simulated.flows["packets_retransmitted"].sum()
        > 50
    )


def test_a_window_that_closes(tmp_path: Path) -> None:
    """By hand: ten segments of which one is retransmitted, three duplicate ACKs, a window that closes."""
    a, b = ("10.0.0.1", "10.0.0.2"), ("10.0.0.2", "10.0.0.1")
    ports, back = (5000, 80), (80, 5000)
    steps = [(0, a, tcp(ports, 99, 0, SYN, 500)), (20, b, tcp(back, 499, 100, SYN | ACK, 5000))]
    steps.append((21, a, tcp(ports, 100, 500, ACK, 500)))
    steps += [(30 + n, a, tcp(ports, 100 + 500 * n, 500, ACK | PSH, 500, 500)) for n in range(10)]
    steps += [(50 + n, b, tcp(back, 500, 1100, ACK, 4000)) for n in range(4)]
    steps.append((60, a, tcp(ports, 1100, 500, ACK, 500, 500)))
    steps += [(80, b, tcp(back, 500, 5100, ACK, 0)), (180, b, tcp(back, 500, 5100, ACK, 4000))]
    steps += [(190, a, tcp(ports, 5100, 500, FIN | ACK, 500)), (210, b, tcp(back, 500, 5101, FIN | ACK, 4000))]
    steps.append((211, a, tcp(ports, 5101, 501, ACK, 500)))
    frames: list[Timed] = [(10**18 + at * 10**6, ethernet(ipv4(*ends, TCP, segment))) for at, ends, segment in steps]
    file = tmp_path / "hand.pcap"
    file.write_bytes(pcap(frames, nano=False))
    (flow,) = _flows(tl.capture(file))
    row, here, back_ = _tcptrace(file)[flow["label"]]
    expected = {
        "total_packets": 15, "actual_data_pkts": 11, "actual_data_bytes": 5500, "rexmt_data_pkts": 1, "duplicate_acks": 3,
    }  # fmt: skip
    assert {name: int(row[name + here]) for name in SAME} == expected
    assert {name: flow[own] for name, own in SAME.items()} == expected
    assert int(row["zero_win_adv" + back_]) == flow["zero_windows"] == 1


def test_plain_counts_of_whatever_there_is(tmp_path: Path) -> None:
    file = tmp_path / "noise.pcap"
    file.write_bytes(pcap(noise(5, conversations=12), nano=False))
    theirs = _tcptrace(file)
    run = tl.capture(file)
    # Ports that are used again are one connection here and two there, or the other way round.
    once = run.table("connections").filter(pl.col("label").is_unique())
    compared = 0
    for flow in once.iter_rows(named=True):
        row, here, _ = theirs[flow["label"]]
        if int(row["total_packets" + here]) == flow["packets_captured"]:
            assert {name: int(row[name + here]) for name in PLAIN} == {name: flow[SAME[name]] for name in PLAIN}
            compared += 1
    assert compared > once.height / 2
