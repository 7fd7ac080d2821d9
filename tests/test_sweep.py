"""Sweeps: the folder, going on after a kill, what fails, enough replications, SQL, replay."""

from __future__ import annotations

import contextlib
import json
import math
import os
import pty
import re
import signal
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tightlink as tl
from tightlink import cli, experiment, report
from tightlink.commands.sweep_columns import possible_headers
from tightlink.experiment import running, stored
from tightlink.experiment.factors import Factor, value_at
from tightlink.experiment.invalid import by_news, invalid
from tightlink.experiment.metrics import metrics
from tightlink.experiment.plan import Plan
from tightlink.experiment.precision import Precision, half_width, median_half_width
from tightlink.experiment.running import run
from tightlink.experiment.store import Store
from tightlink.experiment.summary import summary

QUEUE = "link.bottleneck.queue"
WINDOW = "traffic.ftp.tcp.window"
NOISY = """\
traffic.noise = { kind = "on-off", from = "sender", to = "receiver", rate = "1 Mbit/s", on = "50 ms", off = "100 ms" }
"""


@pytest.fixture
def file(one_flow: str, tmp_path: Path) -> Path:
    path = tmp_path / "base.toml"
    path.write_text(one_flow)
    return path


@pytest.fixture
def noisy(one_flow: str, tmp_path: Path) -> Path:
    path = tmp_path / "noisy.toml"
    path.write_text(one_flow + NOISY)
    return path


def test_a_sweep_is_a_grid_of_xarray(noisy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    levels = {QUEUE: ["5 packets", "20 packets"], ("duration", WINDOW): [("1 s", "4 packets"), ("2 s", "8 packets")]}
    found = tl.sweep(tl.load(noisy), levels, replications=2)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "xarray", None)
        with pytest.raises(tl.TightlinkError, match="xarray is needed here and is not installed: pip install"):
            found.to_xarray()
    pytest.importorskip("xarray", reason="xarray is not installed (pip install xarray)")
    grid = found.to_xarray()
    assert dict(grid.sizes) == {QUEUE: 2, "duration": 2, "replication": 2}
    assert grid[WINDOW].dims == ("duration",)
    for row in found.runs.collect().iter_rows(named=True):
        cell = grid.sel({name: row[name] for name in (QUEUE, "duration", "replication")})
        assert (cell[WINDOW], cell["goodput_bps"]) == (row[WINDOW], row["goodput_bps"])


def _bytes(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "report.html"
    }


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
    assert _bytes(tmp_path / "1") == _bytes(tmp_path / "2") == _bytes(tmp_path / "3")


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
    assert _bytes(out) == _bytes(tmp_path / "whole")


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
    before = _bytes(out)
    assert cli.main([*command, "--set", "duration=2 s"]) == 2
    assert "holds the sweep of another scenario; choose another folder" in capsys.readouterr().err
    assert _bytes(out) == before
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


def test_controls_are_checked_before_anything_runs(file: Path, tmp_path: Path) -> None:
    with pytest.raises(tl.ScenarioError, match=r'^vary: traffic.ftp.tcp.congestion = "bbrr": .* did you mean "bbr"\?$'):
        tl.sweep(tl.load(file), {"traffic.ftp.tcp.congestion": ["reno", "bbrr"]}, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_combinations_that_the_engine_refuses_are_told_first(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vary = ["--vary", "traffic.ftp.tcp.recovery=sack,reno", "--vary", "traffic.ftp.tcp.congestion=reno,bbr"]
    told = (
        "tightlink: 1 of 4 combinations cannot be simulated\n"
        'tightlink: cell 3: --vary: traffic.ftp.tcp.recovery = "reno": expected "sack" or "rack" with bbr, which samples '
        "the rate of deliveries\n"
    )
    assert cli.main(["sweep", str(file), *vary, "--dry-run"]) == 2
    assert told in capsys.readouterr().err
    assert cli.main(["sweep", str(file), *vary, "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(told)
    assert "1 of 4 runs failed" in said
    # Of a group, too, the line that has the value is not the profile's.
    flows = ["--set", "traffic.ftp.flows=2", "--vary", "traffic.ftp.start=0.1 s,20 s"]
    assert cli.main(["sweep", str(file), *vary, *flows, "--dry-run"]) == 2
    said = capsys.readouterr().err
    assert "5 of 8 combinations cannot be simulated" in said
    assert "profile" not in said
    assert "and 2 more" in said


def test_levels_are_checked_before_combinations_of_them(file: Path) -> None:
    """Where there is no time to check all, those come first that have something new."""
    levels = {"traffic.ftp.start": ["0.1 s", "0.2 s", "20 s"], WINDOW: ["2 packets", "4 packets"]}
    cells = Plan.of(tl.load(file), levels).cells
    found = invalid(cells, within_s=0)
    assert (found.checked, found.errors) == (1, {})
    assert [cell.number for cell in by_news(cells)] == [0, 1, 2, 4, 3, 5]
    assert list(invalid(cells, within_s=60).errors) == [4, 5]


def test_python_is_told_before_the_first_run(file: Path, tmp_path: Path) -> None:
    """What `tightlink sweep` says, with the names of arguments: who makes errors of warnings waits for no run."""
    levels = {"traffic.ftp.start": ["0.1 s", "20 s"]}
    told = (
        r'^1 of 2 combinations cannot be simulated\ncell 1: vary: traffic\.ftp\.start = "20 s": expected starts before'
    )
    with warnings.catch_warnings(action="error"), pytest.raises(tl.TightlinkWarning, match=told):
        tl.sweep(tl.load(file), levels, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


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


def test_tables_of_all_runs(file: Path, tmp_path: Path) -> None:
    base = tl.load(file, set={"observe.interval": "1 s"})
    found = tl.sweep(base, {WINDOW: ["2 packets", "20 packets"]}, output=tmp_path / "out")
    flows = found.flows.collect()
    assert flows["run"].to_list() == ["0/0", "1/0"]
    assert flows.drop("run").row(1) == found.run("1/0").flows.row(0)
    assert found.links.collect().height == 4
    assert found.series.filter(pl.col("metric") == "queue_packets").collect().height == 36
    connection = found.connect()
    rows = connection.sql(
        f"select \"{WINDOW}\", l.utilization from links l join runs using (run) where link = 'bottleneck' order by run"
    )
    assert (
        rows.fetchall()
        == found.links.join(found.runs, on="run")
        .filter(pl.col("link") == "bottleneck")
        .sort("run")
        .select(WINDOW, "utilization")
        .collect()
        .rows()
    )
    # The same from the files of the runs, as in the folder of a study.
    for path in (tmp_path / "out" / "tables").iterdir():
        path.unlink()
    again = experiment.open(tmp_path / "out")
    assert again.flows.collect().equals(flows)
    assert again.connect().sql("select * from flows order by run").fetchall() == flows.rows()
    assert again.connect().sql("select count(*) from packets").fetchall() == [(0,)]
    with pytest.raises(tl.TightlinkError, match='no table is called "flow"'):
        again.table("flow")


def test_a_temporary_folder_goes_at_the_end_and_not_before_its_frames_are_read(file: Path) -> None:
    program = f"""
import tightlink as tl
runs = tl.sweep(tl.load({str(file)!r}), {{"traffic.ftp.tcp.window": ["2 packets"]}}).runs
assert runs.collect().height == 1
print(tl.sweep(tl.load({str(file)!r}), {{"traffic.ftp.tcp.window": ["2 packets"]}}).folder)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip()).exists()


def test_sql(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    tl.sweep(tl.load(file), {WINDOW: ["2 packets", "20 packets"]}, output=out)
    assert cli.main(["query", str(out), "select run, packets_sent from runs order by run desc"]) == 0
    assert capsys.readouterr().out.split() == ["run", "packets_sent", "1/0", "2385", "0/0", "815"]
    assert cli.main(["query", str(out), "select count(*) as n from flows", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 2}]
    assert cli.main(["query", str(out), "select nothing from runs"]) == 2
    assert '"nothing" not found' in capsys.readouterr().err
    assert cli.main(["query", str(out), "select avg(bulk.share) from runs"]) == 2
    assert capsys.readouterr().err.endswith('stands in double quotes: "bulk.share"\n')
    assert cli.main(["query", str(tmp_path), "select 1"]) == 2
    assert "or of a finished sweep or study" in capsys.readouterr().err


def test_the_file_of_an_experiment(noisy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "queues.toml"
    plan.write_text(
        f'scenario = "{noisy.name}"\nreplications = 2\nset = {{ "duration" = "1 s" }}\n'
        f'[vary]\n"{QUEUE}" = ["5 packets", "20 packets"]\n"{WINDOW}" = "1 packet..4 packets:x2"\n'
        '"link.bottleneck.rate & link.bottleneck.delay" = [["1 Mbit/s", "1 ms"], ["2 Mbit/s", "2 ms"]]\n'
    )
    assert cli.main(["sweep", str(plan), "--dry-run"]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 13
    assert "24 runs of 12 combinations, about 1 s" in printed.err
    assert not (tmp_path / "results").exists()
    made = Plan.load(plan, [], None, replications=3)
    assert (len(made.cells), made.replications, made.scenario.duration) == (12, 3, "1 s")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("replication = 2", 'replication: unknown key.*did you mean "replications"'),
        ("replications = 0", "replications = 0: expected a whole number of at least 1"),
        ("vary = 3", "vary = 3: expected a table of dotted keys"),
        (f'vary = {{ "{QUEUE}" = [] }}', f"vary.{QUEUE} = .*: expected at least one level"),
        (f'vary = {{ "{QUEUE}" = ["5 mW"] }}', f'{QUEUE} = "5 mW": expected a number of packets'),
        ('design = "fractional"', "at least one factor"),
        ("[vary", "not valid TOML"),
    ],
)
def test_files_that_are_no_experiment(
    file: Path, tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(f'scenario = "{file.name}"\n{text}\n')
    with pytest.raises(tl.ScenarioError, match=message):
        _ = Plan.load(plan).cells
    assert cli.main(["sweep", str(plan), "-o", str(tmp_path / "out")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_enough_replications(noisy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cells get as many replications as they need; those that cannot are named."""
    command = [
        "sweep",
        str(noisy),
        "--vary",
        f"{QUEUE}=5 packets,20 packets",
        "--precision",
        "goodput_bps=2 %",
        "-j",
        "2",
    ]
    out = tmp_path / "out"
    assert cli.main([*command, "-o", str(out)]) == 0
    runs = pl.read_parquet(out / "runs.parquet")
    wanted = Precision.parse("goodput_bps=2 %")
    counts = []
    for _, rows in runs.group_by(QUEUE, maintain_order=True):
        values = rows["goodput_bps"].to_list()
        assert wanted.enough(values)
        assert rows["replication"].to_list() == list(range(rows.height))
        counts.append(rows.height)
    assert min(counts) >= 5
    assert max(counts) > 5
    capsys.readouterr()
    capped = [*command, "--max-replications", "5", "-o", str(out)]
    assert cli.main(capped) == 3
    missed = "1 of 2 combinations did not get to goodput_bps ± 2 % within 5 replications: "
    assert missed in capsys.readouterr().err
    varied: dict[str, object] = {QUEUE: ["5 packets", "20 packets"]}
    with pytest.warns(tl.TightlinkWarning, match=missed):
        found = tl.sweep(tl.load(noisy), varied, precision="goodput_bps=2 %", max_replications=5, output=out)
    assert found.warnings[0].startswith(missed)
    assert cli.main([*command[:-4], "--precision", "goodput=2 %", "-o", str(tmp_path / "other")]) == 2
    assert not (tmp_path / "other").exists()
    assert "did you mean goodput_bps" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"design_seed": 3}, "design_seed = 3: expected nothing here: only design latin-hypercube has it"),
        ({"max_replications": 7}, "max_replications = 7: expected nothing here: only a precision has it"),
    ],
)
def test_settings_without_effect_are_refused(
    settings: dict[str, Any], sentence: str, noisy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(tl.ScenarioError, match=f"^{sentence}$"):
        tl.sweep(tl.load(noisy), {QUEUE: ["5 packets", "20 packets"]}, **settings)
    ((name, value),) = settings.items()
    option = f"--{name.replace('_', '-')}"
    words = ["--vary", f"{QUEUE}=5 packets,20 packets", option, str(value), "-o", str(tmp_path)]
    assert cli.main(["sweep", str(noisy), *words]) == 2
    assert sentence.replace(name, option, 1) in capsys.readouterr().err
    table = tmp_path / "design.csv"
    table.write_text(f"{QUEUE}\n5 packets\n20 packets\n")
    with pytest.raises(tl.ScenarioError, match="expected nothing here"):
        tl.sweep(tl.load(noisy), design=str(table), **settings)


def test_intervals_cover_what_they_should() -> None:
    """Student's t: 95 % of intervals of normal samples hold the mean."""
    import numpy as np

    draws = np.random.default_rng(1).normal(size=(4000, 5))
    covered = [abs(float(np.mean(row))) <= half_width(list(row)) for row in draws]
    assert sum(covered) / len(covered) == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize("values", [3, 4, 5, 7, 10])
def test_intervals_of_medians_hold_at_least_what_they_should(values: int) -> None:
    """At the few repeats that measurements have: of normal values, and of exponential ones, which are skewed."""
    import numpy as np

    random, times = np.random.default_rng(1), 600
    for draw, median in ((random.normal, 0.0), (random.exponential, math.log(2))):
        draws = draw(size=(times, values))
        covered = [abs(statistics.median(row) - median) <= median_half_width(row) for row in draws.tolist()]
        # Less by three standard errors at most.
        assert sum(covered) / times >= 0.95 - 3 * (0.95 * 0.05 / times) ** 0.5


def test_the_summary_of_cells(noisy: Path) -> None:
    found = tl.sweep(tl.load(noisy, set={"duration": "2 s"}), {QUEUE: ["5 packets", "20 packets"]}, replications=4)
    cells = summary(found.runs.collect(), [QUEUE])
    values = found.runs.filter(pl.col(QUEUE) == "20 packets").collect()["goodput_bps"].to_list()
    assert cells["runs"].to_list() == [4, 4]
    assert cells["goodput_bps"][1] == pytest.approx(sum(values) / 4)
    assert cells["goodput_half_width_bps"][1] == pytest.approx(half_width(values))


def test_delays_and_goodputs_of_groups_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "two.toml"
    call = 'traffic.call = { kind = "cbr", from = "a", to = "b", rate = "100 kbit/s" }\n'
    link = 'link.up = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }\n'
    file.write_text(f'duration = "1 s"\n{link}traffic.bulk = {{ kind = "bulk", from = "a", to = "b" }}\n{call}')
    sweep = ["sweep", str(file), "--vary", "link.up.queue=5 packets,50 packets", "-o", str(tmp_path / "sweep")]
    assert cli.main(sweep) == 0
    header = capsys.readouterr().out.splitlines()[0]
    assert "call p95 one-way delay" in header
    assert "flows' mean p95 one-way delay" not in header
    assert cli.main([*sweep, "--columns", "call loss,flows' mean p95 one-way delay"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert re.split(r"\s\s+", shown[0]) == ["run", "call loss", "flows' mean p95 one-way delay"]
    assert " %" in shown[1]
    # Of all flows and links, too, there is more than what is printed without.
    assert cli.main([*sweep, "--columns", "mean queueing delay,timeouts"]) == 0
    assert re.split(r"\s\s+", capsys.readouterr().out.splitlines()[0]) == ["run", "mean queueing delay", "timeouts"]


def test_a_wrong_column_is_told_before_the_first_run(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", str(file), "--vary", f"{QUEUE}=5 packets,20 packets", "-o", str(tmp_path / "out")]
    for wrong, meant in (("goodptu", "goodput"), ("qeue", "queue"), ("ftp los", "ftp loss")):
        assert cli.main([*command, "--columns", wrong]) == 2
        said = capsys.readouterr()
        assert (said.out, f'--columns = "{wrong}": expected one of queue, ' in said.err) == ("", True)
        assert f"did you mean {meant}?" in said.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "traffic",
    [
        """
        call = { kind = "cbr", from = "a", to = "b", rate = "100 kbit/s" }
        ftp = { kind = "bulk", from = "a", to = "b", flows = 2 }
        """,
        """
        web = { kind = "transfers", from = "a", to = "b", size = "20 kB", arrivals = "9 transfers/s", size_classes = ["9 kB"] }
        ftp = { kind = "bulk", from = "a", to = "b", bytes = "100 kB" }
        """,
        'many = { kind = "scatter", at = ["a", "b"], rate = "100 packets/s" }',
        "",
    ],
)
def test_each_column_of_a_sweep_is_known_before(
    traffic: str, small_users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = 'duration = "2 s"\nlink.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }\n'
    file = tmp_path / "base.toml"
    file.write_text(f"{link}[traffic]\n{traffic}" if traffic else small_users)
    vary = "seed=1,2"
    assert cli.main(["sweep", str(file), "--vary", vary, "-o", str(tmp_path / "out"), "--wide"]) in {0, 3}
    headers = re.split(r"\s\s+", capsys.readouterr().out.splitlines()[0])
    assert len(headers) > 9
    assert set(headers) <= set(possible_headers(Plan.load(file, [Factor.parse(vary)])))


def test_flows_of_one_group_are_not_grouped(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take as long as all else that a sweep does with a small run."""
    run = tl.simulate(tl.load(file))
    monkeypatch.delattr(pl.DataFrame, "group_by")
    assert metrics(run)["goodput_bps"] == run.flows["goodput_bps"][0]


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


def test_users_are_swept_like_flows(small_users: str, tmp_path: Path) -> None:
    found = tl.sweep(tl.loads(small_users), {"traffic.web.think": ["100 ms", "1 s"]}, output=tmp_path / "users")
    rows = found.runs.collect()
    assert rows["status"].to_list() == ["done", "done"]
    for row in rows.iter_rows(named=True):
        users = found.run(row["run"]).users
        assert row["packets_sent"] == float(users["packets_sent"].sum())
        assert row["sources_transmitting"] == pytest.approx(users["sources_transmitting"].mean())
        assert row["loss"] == pytest.approx(1 - row["packets_delivered"] / row["packets_sent"])
        assert "goodput_bps" not in row
    fewer, more = sorted(rows["transfers_completed"])
    assert more > 1.5 * fewer
    assert found.table("transfers").collect()["run"].unique().sort().to_list() == rows["run"].to_list()
    assert metrics(found.run("0/0")) == {name: rows.row(0, named=True)[name] for name in metrics(found.run("0/0"))}
    text = report.run_report(tmp_path / "users").read_text()
    assert "sources transmitting</th>" in text
    assert "Effect of traffic.web.think" in text


def test_the_command_shows_what_there_is_of_users(
    small_users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "users.toml"
    file.write_text(small_users)
    assert cli.main(["sweep", str(file), "--vary", "traffic.web.think=1 s", "-o", str(tmp_path / "out")]) == 0
    header = capsys.readouterr().out.splitlines()[0].split("  ")
    named = [name.strip() for name in header if name.strip()]
    assert named == [
        "run",
        "think",
        "sources transmitting",
        "transfers completed",
        "loss",
        "largest p95 queueing delay",
        "mean RTT",
        "utilization",
    ]


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
        found.append(_bytes(tmp_path))
    assert pl.scan_parquet(tmp_path / "tables" / "series.parquet").select(pl.len()).collect().item() > 250_000
    assert found[0] == found[1]
    assert found[2]["tables/series.parquet"] != found[0]["tables/series.parquet"]


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--vary", "seed=1..1000000000"], "expected a range of at most 100000 levels"),
        (["--vary", "seed=1..100000", "--vary", f"{QUEUE}=1..10000"], "1,000,000,000 runs (1,000,000,000 combinations)"),
        (["--vary", "seed=1..60000", "--vary", f"{QUEUE}=1..60000 if seed=1"], "3,600,000,000 runs"),
        (["--vary", f"seed & {QUEUE}=" + ",".join(f"{n} & {n} packets" for n in range(1, 400)), "--vary",
          f"{WINDOW}=1..400"], "159,600 runs"),
        (["--vary", f"{QUEUE}=1 packet..9 packets", "--design", "latin-hypercube", "--runs", "100000000"],
         "100,000,000 runs"),
        (["--vary", f"{QUEUE}=5 packets,20 packets", "--replications", "100000000"],
         "200,000,000 runs (2 combinations of 100,000,000 replications): expected at most 100,000; vary less"),
        (["--vary", f"{QUEUE}=5 packets,20 packets", "--replications", "9" * 30], "more than 10^30 runs"),
        ([f"--vary=traffic.ftp{n}.bytes=1 kB,2 kB" for n in range(30)] + ["--design", "two-level"],
         "1,073,741,824 runs"),
        ([f"--vary=traffic.ftp{n}.bytes=1 kB,2 kB" for n in range(40)] + ["--design", "fractional", "--runs", "99999999"],
         "67,108,864 runs"),
        ([f"--vary=traffic.ftp{n}.bytes=1 kB,2 kB" for n in range(40)] + ["--design", "fractional", "--resolution", "20"],
         "1,073,741,824 runs (1,073,741,824 combinations)"),
        (["--vary", f"{QUEUE}=5 packets,20 packets", "--precision", "goodput_bps=0.000001 %",
          "--max-replications", "10000000"], "runs (as many as goodput_bps ± 1e-06 % takes by the 10 there are, which are kept): expected at most 100,000"),
    ],
)  # fmt: skip
def test_sizes_that_nobody_meant(
    options: list[str], message: str, noisy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert cli.main(["sweep", str(noisy), *options, "--set", "duration=0.5 s", "-o", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not (out / "runs.parquet").exists()


def test_more_runs_where_somebody_means_them(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vary = {WINDOW: ["2 packets", "4 packets"]}
    with pytest.raises(
        tl.ScenarioError, match=r"2 runs \(2 combinations\): expected at most 1; .* allow more \(max_runs, or --yes\)$"
    ):
        Plan.of(tl.load(file), vary, max_runs=1)
    with pytest.raises(tl.ScenarioError, match="at most 100000 levels"):
        Plan.of(tl.load(file), {"seed": range(10**9)})
    plan = tmp_path / "plan.toml"
    plan.write_text(f'scenario = "{file.name}"\nmax_runs = 1\nvary = {{ "{WINDOW}" = ["2 packets", "4 packets"] }}\n')
    assert cli.main(["sweep", str(plan), "--dry-run"]) == 2
    assert f"{plan}: 2 runs" in capsys.readouterr().err
    assert cli.main(["sweep", str(plan), "--dry-run", "--yes"]) == 0


def test_intervals_that_leave_what_is_possible_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two replications say nothing of shares and rates that differ that far."""
    monkeypatch.chdir(tmp_path)
    Path("share.toml").write_text(
        """
duration = "3 s"
link.l = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "0.5 BDP", loss = "0.3 %" }
traffic.f = { kind = "bulk", from = "a", to = "b", tcp.congestion = "cubic" }
traffic.g = { kind = "bulk", from = "a", to = "b", tcp.congestion = "reno" }
""",
        encoding="utf-8",
    )
    for name, loss in (("one", "0.003"), ("two", "0.01")):
        command = ["sweep", "share.toml", "--set", f"link.l.loss={loss}", "--vary", "link.l.queue=0.5 BDP,2 BDP"]
        assert cli.main([*command, "--replications", "2", "-o", name]) == 0
        swept = capsys.readouterr()
        assert "± ? Mbit/s" in swept.out
        assert "too few replications" in swept.err
    assert cli.main(["compare", "one", "two"]) == 0
    compared = capsys.readouterr().out
    assert "± ? %" in compared
    assert "± ? points" in compared
    assert "± ?: too few replications" in compared
    for said in (swept.out, compared):
        for mean, half in re.findall(r"(?<![+−\d.])([\d.]+) ± ([\d.]+) (?:%|Mbit/s|ms)", said):
            assert float(half) <= float(mean), (mean, half)
    report = Path("one/report.html").read_text(encoding="utf-8")
    assert "± ?<" in report


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--precision", "loss=5"], "expected less than 1, the largest loss that there can be"),
        (["--precision", "loss=5"], 'did you mean "loss=5 %"?'),
        (["--vary", "traffic.ftp.flows=1..3:0.5"], "traffic.ftp.flows = 1.5: expected a whole number"),
    ],
)
def test_what_would_have_no_effect_is_refused(
    options: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["sweep", str(file), "--vary", f"{WINDOW}=2 packets,4 packets", *options, "--dry-run"]) == 2
    assert message in capsys.readouterr().err


def test_a_factor_that_no_combination_varies_is_named(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vary = ["--vary", f"{WINDOW}=2 packets,4 packets", "--vary", f"{QUEUE}=5 packets,20 packets if {WINDOW}=3 packets"]
    said = f"{QUEUE} is not varied: no combination has {WINDOW} = 3 packets"
    for more in (["--dry-run"], ["-o", str(tmp_path / "out")]):
        assert cli.main(["sweep", str(file), *vary, *more]) == 0
        assert said in capsys.readouterr().err
    assert said in (tmp_path / "out" / "report.html").read_text()


def test_words_of_a_plan(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vary = ["--vary", "traffic.ftp.tcp.ecn=true,false", "--vary", "link.bottleneck.loss=0..1:0.5"]
    assert cli.main(["sweep", str(file), *vary, "--dry-run"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[1:] for row in rows] == [[ecn, loss] for ecn in ("true", "false") for loss in ("0", "0.5", "1")]
    # What a sweep writes as its design is read as one.
    tl.sweep(tl.load(file), {"traffic.ftp.tcp.ecn": [True, False]}, output=file.parent / "ecn")
    assert cli.main(["sweep", str(file), "--design", str(file.parent / "ecn" / "design.csv"), "--dry-run"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [["0", "true"], ["1", "false"]]
    assert cli.main(["sweep", str(file), "--vary", "traffic.ftp.flows=2", "--dry-run"]) == 0
    assert "tightlink: 1 run, about" in capsys.readouterr().err


def test_folders_that_are_not_there_or_not_finished(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["query", str(tmp_path / "nowhere"), "from runs"]) == 2
    assert "nowhere: there is no such folder; expected" in capsys.readouterr().err
    tl.sweep(tl.load(file), {WINDOW: ["2 packets", "4 packets"]}, output=tmp_path / "out")
    (tmp_path / "out" / "runs.parquet").unlink()
    assert cli.main(["analyze", "effects", str(tmp_path / "out")]) == 2
    assert "the sweep is not finished; 2 runs of it are kept" in capsys.readouterr().err


def test_unknown_intervals_are_explained_where_some_are(
    noisy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", str(noisy), "--replications", "2", "-o", str(tmp_path / "out")]
    explained = "too few replications for an interval"
    assert cli.main([*command, "--columns", "noise goodput"]) == 0
    printed = capsys.readouterr()
    assert "± ?" in printed.out
    assert explained in printed.err
    # That of a column that is not printed needs no explanation.
    assert cli.main([*command, "--columns", "loss"]) == 0
    printed = capsys.readouterr()
    assert "± ?" not in printed.out
    assert explained not in printed.err


def test_one_at_a_time_of_a_key_with_its_default(file: Path, tmp_path: Path) -> None:
    base = tl.load(file).set("duration", "1 s")
    keys = {"link.bottleneck.delay": ["5 ms", "10 ms"], "traffic.ftp.flows": [1, 2]}
    found = tl.sweep(base, keys, design="one-at-a-time", output=tmp_path / "out")
    own = value_at(base, "link.bottleneck.delay")
    rows = [(own, 1), *((delay, 1) for delay in ("5 ms", "10 ms") if delay != own), (own, 2)]
    assert found.summary.select("link.bottleneck.delay", "traffic.ftp.flows").rows() == rows
    page = report.run_report(tmp_path / "out").read_text()
    assert "2 levels of <code>traffic.ftp.flows</code>" in page
    assert "Hardly changed: ." not in page


def test_a_sweep_counts_marks() -> None:
    scenario = tl.loads("""
        duration = "5 s"
        link.w = { ends = ["s", "r"], rate = "20 Mbit/s", delay = "20 ms", queue = { kind = "codel", ecn = true } }
        traffic.f = { kind = "bulk", from = "s", to = "r", tcp = { congestion = "cubic", ecn = true } }
    """)
    table = tl.sweep(scenario, {"link.w.queue.ecn": [True, False]}).runs.collect()
    assert table["packets_marked"][0] > 0
    assert table["packets_marked"][1] == 0


def test_responses_of_media() -> None:
    """What a call and a video need: jitter and p99 of each group, and the share of the frames that are complete."""
    text = """
    duration = "3 s"
    link.up = { ends = ["a", "b"], rate = "3 Mbit/s", delay = "10 ms", queue = "100 packets" }
    traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B" }
    traffic.camera = { kind = "video", from = "a", to = "b", rate = "4 Mbit/s" }
    """
    found = experiment.metrics.metrics(run := tl.simulate(tl.loads(text)))
    call, camera = run.flows.iter_rows(named=True)
    assert found["call.jitter_mean_s"] == call["jitter_mean_s"]
    assert found["call.one_way_delay_p99_s"] == call["one_way_delay_p99_s"]
    complete = camera["frames_complete"] / camera["frames_sent"]
    assert 0 < complete < 1
    assert found["share_of_frames_complete"] == found["camera.share_of_frames_complete"] == complete
    assert "call.share_of_frames_complete" not in found
    assert {"share_of_frames_complete", "GROUP.share_of_frames_complete", "GROUP.jitter_mean_s"} <= dict(
        experiment.metrics.listed()
    ).keys()


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no pipe has a name on this system")
def test_a_scenario_from_a_pipe_is_read_once(one_flow: str) -> None:
    """As from <(…) of a shell: it is empty afterwards."""
    read, write = os.pipe()
    os.write(write, one_flow.encode())
    os.close(write)
    plan = Plan.load(f"/dev/fd/{read}", [Factor.parse("traffic.ftp.tcp.congestion=reno,cubic")])
    os.close(read)
    assert [cell.scenario.duration for cell in plan.cells] == ["10 s", "10 s"]
