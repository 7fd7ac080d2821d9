"""Sweeps that were killed, or of which runs failed: what is kept, what is said, how they continue."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tightlink as tl
from sweeps import QUEUE, WINDOW, contents
from tightlink import cli, experiment
from tightlink.experiment.store import Store


def test_killed_and_started_again(noisy: Path, tmp_path: Path) -> None:
    """kill -9 half way: what was finished is not simulated again, and the end is the same."""
    options = ["--vary", f"{QUEUE}=5 packets,20 packets", "--replications", "8", "--set", "duration=200 s"]
    out = tmp_path / "killed"
    # By itself: from outside, the last twelve runs may be done before anybody sees the first four.
    code = (
        "import os, signal, sys; from tightlink import cli; from tightlink.experiment.store import Store\n"
        "kept, keep = [], Store.keep\n"
        "def half(*of):\n"
        "    kept.append(keep(*of))\n"
        "    return kept[-1] if len(kept) < 8 else os.kill(os.getpid(), signal.SIGKILL)\n"
        "Store.keep = half\n"
        "cli.main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "sweep", str(noisy), *options, "-j", "2", "-o", str(out)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    assert done.returncode == -signal.SIGKILL
    there = {path: path.stat().st_mtime_ns for path in Store(out / "runs").files()}
    assert 4 <= len(there) < 16
    assert not (out / "runs.parquet").exists()
    with pytest.raises(
        tl.TightlinkError,
        match=rf"the sweep is not finished; {len(there)} runs of it are kept, and the same command, or tl.sweep",
    ):
        experiment.open(out)
    assert cli.main(["sweep", str(noisy), *options, "-j", "2", "-o", str(out)]) == 0
    assert {path: path.stat().st_mtime_ns for path in there} == there
    assert cli.main(["sweep", str(noisy), *options, "-o", str(tmp_path / "whole")]) == 0
    assert contents(out) == contents(tmp_path / "whole")


def test_one_failed_run(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    vary = ["--vary", "traffic.ftp.to=receiver,nowhere", "--vary", f"{QUEUE}=5 packets,20 packets"]
    assert cli.main(["sweep", str(file), *vary, "-j", "2", "-o", str(out)]) == 1
    said = capsys.readouterr().err
    assert "2 of 4 runs failed; the others are finished and kept" in said
    assert 'traffic.ftp.to = "nowhere": expected the name of a node' in said
    assert f"tightlink run --replay {out} 2/0" in said
    vary_both = {"traffic.ftp.to": ["receiver", "nowhere"], QUEUE: ["5 packets", "20 packets"]}
    with (
        pytest.warns(tl.TightlinkWarning, match="2 of 4 combinations cannot be simulated"),
        pytest.warns(tl.TightlinkWarning, match="2 of 4 runs failed; the others are finished and kept"),
    ):
        assert tl.sweep(tl.load(file), vary_both, output=out).warnings
    found = experiment.open(out)
    assert found.warnings[0].startswith("2 of 4 runs failed")
    assert found.runs.collect()["status"].to_list() == ["done", "done", "failed", "failed"]
    assert list(found.failures) == ["2/0", "3/0"]
    assert found.scenario("2/0").written()["traffic"]["ftp"]["to"] == "nowhere"
    with pytest.raises(tl.TightlinkError, match=r"run 2/0 failed: .*nowhere"):
        found.run("2/0")
    assert cli.main(["run", "--replay", str(out), "2/0"]) == 2
    assert '"nowhere"' in capsys.readouterr().err
    assert cli.main(["run", "--replay", str(out), "1/0", "--json"]) == 0
    replayed = json.loads(capsys.readouterr().out)
    assert replayed["manifest"]["digest"] == found.run("1/0").manifest["digest"]
    assert cli.main(["run", "--replay", str(out), "7/0"]) == 2
    assert 'no run is called "7/0"' in capsys.readouterr().err
    assert "Failed" in (out / "report.html").read_text(encoding="utf-8")


def test_a_temporary_folder_goes_at_the_end_and_not_before_its_frames_are_read(file: Path) -> None:
    program = f"""
import tightlink as tl
runs = tl.sweep(tl.load({str(file)!r}), {{"traffic.ftp.tcp.window": ["2 packets"]}}).runs
assert runs.collect().height == 1
print(tl.sweep(tl.load({str(file)!r}), {{"traffic.ftp.tcp.window": ["2 packets"]}}).folder)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip()).exists()


def test_a_killed_sweep_of_other_levels_leaves_no_mixture(file: Path, tmp_path: Path) -> None:
    """Tables of one sweep are never taken with those of another one: it is finished, or it is not."""
    out = tmp_path / "out"
    tl.sweep(tl.load(file), {WINDOW: ["2 packets", "20 packets"]}, output=out)
    code = (
        "import os, signal, sys, tightlink as tl; from tightlink.experiment import results\n"
        "results.write_results = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"tl.sweep(tl.load(sys.argv[1]), {{{WINDOW!r}: ['3 packets']}}, output=sys.argv[2])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file), str(out)], check=False)
    assert done.returncode == -signal.SIGKILL
    with pytest.raises(tl.TightlinkError, match="the sweep is not finished"):
        experiment.open(out)
    assert tl.sweep(tl.load(file), {WINDOW: ["3 packets"]}, output=out).flows.collect().height == 1


def test_folders_that_are_not_there_or_not_finished(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["query", str(tmp_path / "nowhere"), "from runs"]) == 2
    assert "nowhere: there is no such folder; expected" in capsys.readouterr().err
    tl.sweep(tl.load(file), {WINDOW: ["2 packets", "4 packets"]}, output=tmp_path / "out")
    (tmp_path / "out" / "runs.parquet").unlink()
    assert cli.main(["analyze", "effects", str(tmp_path / "out")]) == 2
    assert "the sweep is not finished; 2 runs of it are kept" in capsys.readouterr().err
