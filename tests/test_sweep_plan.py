"""What a sweep says before its first run: levels, combinations, their number, files of experiments."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import pytest

import tightlink as tl
from sweeps import QUEUE, WINDOW
from tightlink import cli, report
from tightlink.experiment.factors import Factor, value_at
from tightlink.experiment.invalid import by_news, invalid
from tightlink.experiment.plan import Plan


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


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no pipe has a name on this system")
def test_a_scenario_from_a_pipe_is_read_once(one_flow: str) -> None:
    """As from <(…) of a shell: it is empty afterwards."""
    read, write = os.pipe()
    os.write(write, one_flow.encode())
    os.close(write)
    plan = Plan.load(f"/dev/fd/{read}", [Factor.parse("traffic.ftp.tcp.congestion=reno,cubic")])
    os.close(read)
    assert [cell.scenario.duration for cell in plan.cells] == ["10 s", "10 s"]
