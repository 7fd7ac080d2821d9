"""Sweeps: the command and the call, their folder, the same bytes however they are made."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from sweeps import QUEUE, WINDOW, contents
from tightlink import cli, experiment, report
from tightlink.experiment import running, stored
from tightlink.experiment.plan import Plan
from tightlink.experiment.running import run


def test_a_sweep_from_the_command_line(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    command = ["sweep", str(file), "--vary", f"{QUEUE}=5 packets,20 packets", "--vary", "traffic.ftp.flows=1..3"]
    assert cli.main([*command, "-j", "2", "-o", str(out)]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0].split()[:4] == ["run", "queue", "flows", "goodput"]
    assert len(lines) == 11
    assert lines[-3].endswith(".")
    assert " goes from " in lines[-3]
    assert lines[-1] == f"report: {out / 'report.html'}"
    assert printed.err == ""
    assert {path.name for path in out.iterdir()} == {
        "design.csv", "report.html", "runs", "runs.parquet", "sweep.json", "tables",
    }  # fmt: skip
    runs = pl.read_parquet(out / "runs.parquet")
    assert runs.columns[:6] == ["run", "replication", "seed", "status", QUEUE, "traffic.ftp.flows"]
    assert runs["traffic.ftp.flows"].to_list() == [1, 2, 3, 1, 2, 3]
    alone = tl.simulate(tl.load(file, set={QUEUE: "5 packets", "traffic.ftp.flows": 2}))
    assert runs["goodput_bps"][1] == alone.flows["goodput_bps"].sum()
    assert len(list((out / "runs").glob("*.parquet"))) == 6
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f"Effect of {QUEUE}" in page
    assert f'<div class="lead"><p>{lines[-3]}</p>' in page
    # What makes it again: without how many at a time, and where to.
    made_by = f"tightlink sweep {file} --vary &#39;{QUEUE}=5 packets,20 packets&#39; --vary traffic.ftp.flows=1..3</dd>"
    assert made_by in page
    assert "<summary>The scenario</summary>" in page
    assert cli.main([*command, "-o", str(out)]) == 0
    again = capsys.readouterr()
    assert again.out == printed.out
    assert again.err == "tightlink: 6 of 6 runs were there already\n"
    (out / "report.html").unlink()
    assert report.run_report(out) == out / "report.html"


def test_the_same_bytes_for_any_number_of_jobs(file: Path, tmp_path: Path) -> None:
    plan = Plan.of(tl.load(file, set={"duration": "1 s"}), {WINDOW: "1 packet..6 packets"}, replications=2)
    for jobs in (1, 2, 3):
        run(plan, tmp_path / f"{jobs}", jobs=jobs)
    assert contents(tmp_path / "1") == contents(tmp_path / "2") == contents(tmp_path / "3")


def test_a_scenario_with_many_seeds(noisy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sweep", str(noisy), "--replications", "3", "-o", str(tmp_path / "out"), "--with-lab"]) == 0
    printed = capsys.readouterr().out
    assert "±" in printed
    assert "One combination: what differs from run to run is chance." in printed
    assert "Each run." in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    found = tl.sweep(tl.load(noisy), replications=3)
    assert found.summary["runs"].to_list() == [3]
    assert found.runs.collect()["goodput_bps"].n_unique() > 1
    assert cli.main(["sweep", str(noisy), "-o", str(tmp_path / "other")]) == 2
    assert (
        "--vary: expected at least one factor, such as traffic.bulk.flows=1..20, or 2 replications at least"
        in capsys.readouterr().err
    )


def test_another_scenario_never_takes_old_runs(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    command = ["sweep", str(file), "--vary", f"{WINDOW}=2 packets,4 packets", "-o", str(out)]
    assert cli.main([*command, "--set", "duration=1 s"]) == 0
    before = contents(out)
    assert cli.main([*command, "--set", "duration=2 s"]) == 2
    assert "holds the sweep of another scenario; choose another folder" in capsys.readouterr().err
    assert contents(out) == before
    # More of the same is more of the same: what is there is used.
    more = ["sweep", str(file), "--vary", f"{WINDOW}=2 packets,4 packets,8 packets", "-o", str(out)]
    assert cli.main([*more, "--set", "duration=1 s"]) == 0
    assert "2 of 3 runs were there already" in capsys.readouterr().err
    # Less of the same: what is not named is kept, and in no table.
    fewer = ["sweep", str(file), "--vary", f"{WINDOW}=2 packets", "-o", str(out)]
    assert cli.main([*fewer, "--set", "duration=1 s"]) == 0
    assert "2 more runs are kept there, of other levels: table and report are of what this" in capsys.readouterr().err
    assert experiment.open(out).runs.collect().height == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"a.txt": "mine"}, "is not empty and holds no sweep"),
        ({"sweep.json": "[]"}, "sweep.json: damaged: it is not a JSON object"),
        ({"sweep.json": '{"format": 99, "identity": ""}'}, "written by a newer version of Tightlink"),
    ],
)
def test_a_folder_of_something_else(
    file: Path, tmp_path: Path, content: dict[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name, text in content.items():
        (out / name).write_text(text)
    assert cli.main(["sweep", str(file), "--vary", f"{WINDOW}=2 packets,4 packets", "-o", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert {path.name for path in out.iterdir()} == set(content)


def test_no_place_for_jobs(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sweep", str(file), "--vary", f"{WINDOW}=2 packets,4 packets", "-o", str(tmp_path / "out"), "-j", "0"]
    assert cli.main(command) == 2
    assert "--jobs = 0: expected a whole number of at least 1" in capsys.readouterr().err


def test_on_a_terminal_progress_is_one_line(
    file: Path, tmp_path: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    """Runs done and time left, rewritten in place; nothing of it where stderr is no terminal."""
    command = ["sweep", str(file), "--vary", f"{WINDOW}=2 packets,20 packets"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tightlink", *command, "-o", str(tmp_path / "out")],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm"},
    ) as process:
        os.close(theirs)
        shown = b""
        # A terminal whose other side has gone reads as an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                shown += part
        os.close(ours)
    assert process.returncode == 0
    text = shown.decode()
    assert "2 of 2 runs" in text
    assert "\x1b[2K" in text
    assert "\n" not in text.split("2 of 2 runs")[0]
    code, _, err = said(*command, "-o", str(tmp_path / "piped"))
    assert (code, err) == (0, "")


def test_the_kind_of_a_queue_is_varied_where_it_is_a_plain_limit(one_flow: str) -> None:
    kinds = ["drop-tail", "codel", "red"]
    found = tl.sweep(tl.loads(one_flow), {"link.bottleneck.queue.kind": kinds})
    queues = [found.scenario(f"{place}/0").resolve()["links"][0]["queue"] for place in range(3)]
    assert [queue["kind"] for queue in queues] == kinds
    # The limit is kept.
    assert [queue["limit"] for queue in queues] == [{"packets": 20}] * 3
    assert found.runs.collect()["goodput_bps"].n_unique() == 3


def test_tables_are_the_same_bytes_from_call_to_call(one_flow: str, tmp_path: Path) -> None:
    """In other orders, with other numbers of threads, of several row groups."""
    program = (
        "import sys, tightlink as tl\n"
        "vary = {'traffic.ftp.tcp.window': [f'{n} packets' for n in map(int, sys.argv[3:])]}\n"
        "tl.sweep(tl.loads(sys.argv[1]), vary, output=sys.argv[2], jobs=2)\n"
    )
    scenario = tl.loads(one_flow).set_all({"duration": "10 s", "observe.interval": "500 us"}).to_toml()
    found = []
    for threads, windows in (("1", "2 3 4 5"), ("4", "2 3 4 5"), ("2", "5 4")):
        arguments = [sys.executable, "-c", program, scenario, str(tmp_path), *windows.split()]
        subprocess.run(arguments, env=os.environ | {"POLARS_MAX_THREADS": threads}, check=True)
        found.append(contents(tmp_path))
    assert pl.scan_parquet(tmp_path / "tables" / "series.parquet").select(pl.len()).collect().item() > 250_000
    assert found[0] == found[1]
    assert found[2]["tables/series.parquet"] != found[0]["tables/series.parquet"]


def test_tables_of_many_runs_are_read_in_parts(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of ten thousand runs at once were a gigabyte."""
    vary = {WINDOW: ["2 packets", "4 packets", "6 packets", "8 packets", "10 packets"]}
    tl.sweep(tl.load(file), vary, output=tmp_path / "whole")
    monkeypatch.setattr(running, "_READ_AT_ONCE", 2)
    read: list[int] = []

    def tables(files: Sequence[Path], names: Sequence[str]) -> dict[str, pl.DataFrame]:
        read.append(len(files))
        return stored.tables_of(files, names)

    monkeypatch.setattr(running, "tables_of", tables)
    tl.sweep(tl.load(file), vary, output=tmp_path / "parts")
    assert read == [2, 2, 1]
    for name in ("runs.parquet", "tables/flows.parquet", "tables/links.parquet"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
