"""``analyze traffic`` and ``analyze arrivals`` of captures: files, compressed files and folders."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

import tightlink as tl
from tightlink.capture import is_capture
from tightlink.cli import main

UPLOADS = Path(__file__).parent.parent / "examples" / "slow-uploads.pcapng.gz"


def _found(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main(["analyze", *arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_capture_is_told_by_its_first_bytes(tmp_path: Path) -> None:
    plain = tmp_path / "without-ending"
    with gzip.open(UPLOADS) as packed, plain.open("wb") as target:
        shutil.copyfileobj(packed, target)
    assert is_capture(plain)
    assert is_capture(UPLOADS)
    (tmp_path / "table.csv").write_text("time_s,bytes\n1,2\n")
    assert not is_capture(tmp_path / "table.csv")
    assert not is_capture(tmp_path)
    assert not is_capture(tmp_path / "nothing.pcap")


def test_the_traffic_of_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_file = _found(capsys, "traffic", str(UPLOADS))
    assert set(of_file) == {"laptop throughput_bps", "tcp throughput_bps", "udp throughput_bps"}
    folder = tl.capture(UPLOADS, interval="10 ms").save(tmp_path / "run")
    assert _found(capsys, "traffic", str(folder)) == of_file
    assert _found(capsys, "traffic", str(UPLOADS), "--interval", "5 ms") != of_file


def test_too_few_intervals_are_said_with_what_makes_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tl.capture(UPLOADS, interval="500 ms").save(tmp_path / "run")
    assert main(["analyze", "traffic", str(folder)]) == 2
    assert capsys.readouterr().err.endswith(
        "6 values: expected at least 256, at intervals below 0.5 s or over a longer time\n"
    )


def test_the_arrivals_of_captured_packets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tl.capture(UPLOADS, packets=True)
    assert main(["analyze", "arrivals", str(run.save(tmp_path / "run")), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    ends = run.packets.select("from", "to").unique().rows()
    assert {each["of"] for each in found} <= {f"{begin} to {end}" for begin, end in ends}
    assert found == _found(capsys, "arrivals", str(UPLOADS))


def test_the_sizes_of_captured_flows(capsys: pytest.CaptureFixture[str]) -> None:
    """What flows sent: what was delivered, a capture does not have."""
    assert main(["analyze", "sizes", str(UPLOADS)]) == 2
    assert ": bytes_sent: 3 sizes above zero: expected at least 100" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("effects", "expected a CSV file in UTF-8; it is a capture, of which tightlink capture -o makes tables"),
        ("markov", "expected a CSV file in UTF-8; it is a capture"),
    ],
)
def test_what_a_capture_is_not(command: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", command, str(UPLOADS)]) == 2
    assert said in capsys.readouterr().err


def test_one_captured_run_is_no_table_of_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tl.capture(UPLOADS).save(tmp_path / "run"))
    for command, said in (
        ("effects", "a folder with runs.parquet, and it is that of one run; tightlink sweep makes many"),
        ("markov", "this run has no table users: a capture does not tell it"),
    ):
        assert main(["analyze", command, folder]) == 2
        assert said in capsys.readouterr().err
