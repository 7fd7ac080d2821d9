"""Captures as runs: tables and their totals, what is stored, the command and its mistakes."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

import tightlink as tl
from captures import UDP, ethernet, ipv4, noise, pcap, pcapng, udp
from conversations import MS, A, B, conversation, read
from tightlink import _core, cli, console
from tightlink.report import run_report
from tightlink.tables import TABLES


def test_a_conversation(tmp_path: Path) -> None:
    run = read(tmp_path, pcap(conversation()))
    flow = run.flows.row(0, named=True)
    assert run.flows.height == 1
    expected = {
        "label": "10.0.0.1:5000-10.0.0.2:80", "from": A, "to": B, "transport": "tcp", "start_s": 0.0,
        "packets_sent": 5, "packets_retransmitted": 1, "bytes_sent": 40 + 12 + 3 * 1040 + 40, "timeouts": None,
        "packets_dropped": None, "congestion": None, "packets_marked": 0,
    }  # fmt: skip
    assert {name: flow[name] for name in expected} == expected
    assert flow["stop_s"] == pytest.approx(0.364)
    assert flow["goodput_bps"] == pytest.approx(2000 * 8 / 0.364)
    one = run.table("connections").row(0, named=True)
    expected = {
        "state": "complete", "packets_captured": 7, "data_packets": 3, "payload_bytes": 3000, "delivered_bytes": 2000,
        "retransmissions": 1, "fast_retransmissions": 0, "out_of_order": 0, "acks": 4, "duplicate_acks": 0,
        "window_max_bytes": 65535, "in_flight_max_bytes": 2000, "mss_bytes": 1460,
        "options": "sack, window scale 128", "rtt_samples": 4,
    }  # fmt: skip
    assert {name: one[name] for name in expected} == expected
    assert one["initial_rtt_s"] == pytest.approx(0.021)
    # tshark's rule: the ACK of what was sent twice counts from the first time.
    assert (one["rtt_min_s"], one["rtt_max_s"]) == pytest.approx((0.020, 0.340))
    assert one["rtt_median_s"] == pytest.approx(0.0205, rel=0.03)
    assert one["rtt_mean_s"] == pytest.approx((0.020 + 0.021 + 0.340 + 0.020) / 4)
    # Karn's rule, as of simulated transports: that one does not count.
    assert flow["rtt_mean_s"] == pytest.approx((0.020 + 0.021 + 0.020) / 3)
    assert run.warnings == []


def test_all_tables_have_their_columns(tmp_path: Path) -> None:
    run = read(tmp_path, pcap(noise(1, 3)), packets=True)
    assert run.tables == [name for name in TABLES if name in run.tables]
    assert {"flows", "links", "series", "packets", "connections", "findings"} < set(run.tables)
    for name in run.tables:
        assert run.table(name).columns == [column.name for column in TABLES[name]]
    saved = tl.open_run(run.save(tmp_path / "saved"))
    for name in run.tables:
        assert saved.table(name).equals(run.table(name))
    assert saved.manifest == run.manifest


def test_totals_agree(tmp_path: Path) -> None:
    run = read(tmp_path, pcapng(noise(2)), interval="100 ms", packets=True)
    frames = noise(2)
    link = run.links.row(0, named=True)
    size = sum(len(frame) - 14 for _, frame in frames)
    assert (link["link"], link["packets_out"], link["bytes_out"]) == ("eth0", len(frames), size)
    assert run.table("interfaces")["frame_bytes"].to_list() == [size + 14 * len(frames)]
    assert run.table("protocols").rows() == [("tcp", len(frames), size, 1.0, run.flows.height)]
    sizes = run.table("packet_sizes")
    assert (sizes["packets"].sum(), (sizes["packets"] * sizes["size_bytes"]).sum()) == (len(frames), size)
    series = run.series.filter((run.series["entity"] == "tcp") & (run.series["metric"] == "throughput_bps"))
    assert sum(series["value"].to_list()) * 0.1 / 8 == pytest.approx(size)
    assert series["time_s"].diff().drop_nulls().to_list() == pytest.approx([0.1] * (series.height - 1))
    assert run.packets["uid"].to_list() == list(range(1, len(frames) + 1))
    assert run.packets["size_bytes"].sum() == size


def test_a_capture_without_packets(tmp_path: Path) -> None:
    run = read(tmp_path, pcap([]), packets=True)
    assert run.warnings == ["the capture holds no packets"]
    assert {name: run.table(name).height for name in run.tables} == dict.fromkeys(run.tables, 0) | {
        "links": 1, "interfaces": 1
    }  # fmt: skip
    assert "0 packets" in run_report(run.save(tmp_path / "run")).read_text()
    with pytest.raises(tl.TightlinkError, match="this run has no table nodes: a capture does not tell it"):
        _ = run.nodes
    with pytest.raises(tl.TightlinkError, match=r"no table packets: .* of a capture, packets=True"):
        _ = tl.capture(tmp_path / "trace").packets


def test_compressed_and_from_standard_input(tmp_path: Path) -> None:
    content = pcapng(noise(4))
    plain, packed = read(tmp_path, content), read(tmp_path, gzip.compress(content))
    assert packed.flows.equals(plain.flows)
    assert packed.manifest["compressed"]
    assert packed.manifest["identity"] != plain.manifest["identity"]
    command = [sys.executable, "-m", "tightlink", "capture", "-", "--json"]
    done = subprocess.run(command, input=gzip.compress(content), capture_output=True, check=True, timeout=60)
    printed = json.loads(done.stdout)
    assert printed["flows"] == plain.flows.to_dicts()
    assert printed["manifest"]["file"] == "standard input"


def test_bounded_memory(tmp_path: Path) -> None:
    """Few connections at a time: what was quiet is concluded, the largest are listed."""
    frames = [(n * MS, ethernet(ipv4(A, B, UDP, udp((1000 + n % 50, 53), 100 + n % 50)))) for n in range(500)]
    (tmp_path / "many").write_bytes(pcap(frames))
    found = _core.capture(str(tmp_path / "many"), interval_ns=10**9, limits=(8, 5))
    facts = json.loads(found.manifest())
    assert (facts["listed"], facts["packets"]) == (5, 500)
    assert facts["concluded"] >= 400
    assert facts["connections"] > 400
    assert set(found.table("flows")["bytes_sent"]) == {177.0}
    assert sum(found.table("protocols")["packets"]) == 500


def test_the_same_capture_again_is_there_already(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, folder = tmp_path / "a.pcap", str(tmp_path / "run")
    file.write_bytes(pcap(conversation()))
    assert cli.main(["capture", str(file), "-o", folder]) == 0
    out = capsys.readouterr().out
    why, _, tables = out.partition("\n\n")
    assert why.startswith("10.0.0.1:5000-10.0.0.2:80: likely nothing gets through 82 % of the time, 300 ms")
    assert tables.splitlines()[1].split()[:3] == ["10.0.0.1:5000-10.0.0.2:80", "tcp", "complete"]
    assert cli.main(["capture", str(file), "-o", folder]) == 0
    assert cli.main(["capture", str(file), "-o", folder, "--interval", "10 ms"]) == console.WRONG
    assert "there is another capture; choose another folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--only", "10.0.0.1:x"],
            '--only = "10.0.0.1:x": expected an address, a port or a flow, such as "10.0.0.1", ":443"',
        ),
        (["--only", ":9"], '--only = ":9": expected packets of'),
        (["--interval", "0 s"], '--interval = "0 s": expected a time above zero'),
        (["--interval", "1 Mbit"], "--interval"),
        (["--packets"], "--packets = true: expected --output beside it"),
    ],
)
def test_wrong_options(tmp_path: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").write_bytes(pcap(conversation()))
    assert cli.main(["capture", str(tmp_path / "a"), *options]) == console.WRONG
    assert said in capsys.readouterr().err


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["capture", str(tmp_path / "none")]) == console.WRONG
    assert cli.main(["capture", str(tmp_path)]) == console.WRONG
    assert "no such file or directory" in (error := capsys.readouterr().err)
    assert "and it is a folder" in error


def test_a_file_out_of_the_order_of_time_is_said(tmp_path: Path) -> None:
    frames = noise(5)
    assert read(tmp_path, pcap(sorted(frames))).warnings == []
    pairs = [frames[at : at + 2][::-1] for at in range(0, len(frames), 2)]
    (warning,) = read(tmp_path, pcap([frame for pair in pairs for frame in pair])).warnings
    assert f"of {len(frames)} packets have an earlier time than the one before them" in warning
    assert "reordercap" in warning


def test_a_clock_that_went_back_is_said(tmp_path: Path) -> None:
    def warned(*times: int) -> list[str]:
        packet = ethernet(ipv4(A, B, UDP, udp((5000, 53), 100)))
        return list(read(tmp_path, pcap([(10**18 + time * MS, packet) for time in times])).manifest["warnings"])

    assert warned(0, 20, 10, 30) == []
    (warning,) = warned(0, 9000, 10, 20)
    assert (
        warning == "the clock of the capture went back by 8.99 s: times, durations and rates around that are not right"
    )
