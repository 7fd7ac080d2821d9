"""The command line: what it prints where, its exit codes, and what it does not touch."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import tightlink as tl
from tightlink import cli, console
from tightlink.commands.run_output import print_summary
from tightlink.measure import system


def test_a_summary_and_nothing_written(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(file)]) == 0
    out, err = capsys.readouterr()
    why, _, tables = out.partition("\n\n")
    assert why.startswith("ftp: link bottleneck is saturated")
    lines = tables.splitlines()
    assert [name.strip() for name in lines[0].split("  ") if name.strip()] == [
        *("flow", "goodput", "sent", "dropped", "retransmitted", "one-way delay mean"),
        *("one-way delay p95", "jitter", "limited by"),
    ]
    assert lines[1].split()[:5] == ["ftp", "1.912", "Mbit/s", "2,385", "0"]
    assert "bottleneck.reverse" in out
    assert "\x1b" not in out
    assert err == ""
    assert list(file.parent.iterdir()) == [file]


def test_a_folder_with_the_run(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    assert cli.main(["run", str(file), "-o", str(folder), "--seed", "3", "--set", "duration=2 s"]) == 0
    assert tl.open_run(folder).manifest["scenario"]["duration"] == "2 s"
    assert tl.open_run(folder).manifest["seed"] == 3
    first = capsys.readouterr()
    assert f"wrote {folder}" in first.err
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert cli.main(["run", str(file), "-o", str(folder), "--seed", "3", "--set", "duration=2 s"]) == 0
    second = capsys.readouterr()
    assert "already there" in second.err
    assert second.out == first.out
    assert cli.main(["run", str(file), "-o", str(folder)]) == 2
    assert "another scenario" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(file), "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert sorted(out) == ["flows", "links", "manifest", "nodes", "why"]
    assert out["flows"][0]["packets_sent"] == 2385
    assert out["manifest"]["scenario"]["traffic"]["ftp"]["tcp"]["window"] == "20 packets"


def test_show_config_is_a_scenario_again(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(file), "--show-config", "--set", 'link.bottleneck.rate="20 Mbit/s"']) == 0
    out = capsys.readouterr().out
    assert 'tcp.rto.granularity = "0.01 s"' in out
    (tmp_path / "shown.toml").write_text(out)
    assert (
        tl.load(tmp_path / "shown.toml").resolve() == tl.load(file).set("link.bottleneck.rate", "20 Mbit/s").resolve()
    )


def test_threads_that_do_not_help_are_not_used_and_said_once(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(file), "--threads", "2"]) == 0
    err = capsys.readouterr().err
    assert err.count("tightlink: --threads 2: 1 used, as more are not faster here (--show-config says why)") == 1
    assert cli.main(["run", str(file), "--threads", "2", "--show-config"]) == 0
    assert capsys.readouterr().err.endswith("tightlink: a run uses 1 thread: more would not be faster here\n")
    assert cli.main(["run", str(file), "--threads", "1"]) == 0
    assert "used" not in capsys.readouterr().err


def test_traces(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert cli.main(["run", str(file), "-o", str(folder)]) == 0
    assert cli.main(["run", str(file), "-o", str(folder), "--trace", "--tr", str(tmp_path / "out.tr")]) == 0
    assert tl.open_run(folder).packets.height == len((tmp_path / "out.tr").read_text().splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "missing"),
        (
            ["--set", "link.botleneck.rate=2 Mbit/s"],
            'there is no link "botleneck" in the scenario; did you mean link.bottleneck?',
        ),
        (["--set", "link.bottleneck.rate=2 mbps"], 'did you mean "2 Mbit/s"?'),
        (["--set", "nonsense"], "expected key=value"),
        (["--seed", "-4"], "--seed"),
        (["--seed", "x"], "seed"),
        (["--seed", "1.5"], '--seed = "1.5": expected a whole number'),
        (["--threads", "1.9"], '--threads = "1.9": expected a whole number'),
        (["--threads", "0"], "--threads = 0: expected a whole number from 1 to 1024"),
        (["--nonsense"], "--nonsense"),
        (["-o", ""], '-o = "": expected the name of a file or folder'),
        (["--controls", ""], '--controls = "": expected the name of a file or folder'),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = file if arguments else file.with_name("missing.toml")
    assert cli.main(["run", str(path), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1
    assert list(file.parent.iterdir()) == [file]


def test_unknown_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["rnu"]) == 2
    assert cli.main(["list", "nonsense"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("congestion", "reno"),
        ("queues", "drop-tail"),
        ("recovery", "newreno"),
        ("profiles", "ns2"),
        ("topologies", "dumbbell"),
        ("metrics", "flows.goodput_bps"),
    ],
)
def test_lists(what: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", what]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert name in [line.split()[0] for line in lines]
    assert all(len(line.split()) > 1 for line in lines)


def test_what_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list"]) == 0
    kinds = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert {"congestion", "queues", "studies", "metrics"} < set(kinds)
    for kind in kinds:
        assert cli.main(["list", kind]) == 0
        assert capsys.readouterr().out


def test_warnings_must_be_read(file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tl.Run, "warnings", ["look here"])
    assert cli.main(["run", str(file)]) == 3
    assert "tightlink: warning: look here" in capsys.readouterr().err


def test_interruption(file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tl.Scenario, "resolve", interrupted)
    assert cli.main(["run", str(file), "-o", str(file.parent / "out")]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert list(file.parent.iterdir()) == [file]


def test_a_folder_that_cannot_be_written(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(file), "-o", str(file / "out")]) == console.WRONG
    assert capsys.readouterr().err.startswith("tightlink: ")


def test_studies(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "study", "my_study"]) == 0
    assert cli.main(["new", "study", "my_study"]) == 2
    assert cli.main(["new", "study", "my-study"]) == 2
    capsys.readouterr()
    assert cli.main(["study", "my_study.py", "--claims"]) == 0
    assert "holds if windows.8.goodput_bps > 1.9e6" in capsys.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["my_study.py"]
    assert cli.main(["study", "my_study.py", "-j", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split() == "Eight packets fill the link – 1.912 Mbit/s holds".split()
    assert (tmp_path / "results" / "my-study" / "report.html").exists()
    wrong = (tmp_path / "my_study.py").read_text(encoding="utf-8").replace("bps > 1.9e6", "bps > 2.9e6")
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")
    assert cli.main(["study", "wrong.py", "-o", "two"]) == 3
    assert "theory contradicted" in capsys.readouterr().out
    for text, said in {
        "1 / 0": "wrong.py, line 1: ZeroDivisionError: division by zero",
        "STUDY = 1": "wrong.py: it defines no STUDY",
        wrong.replace(
            "relative = 0.05", 'relative = "5 %"'
        ): 'wrong.py: claim delay-32: relative = "5 %": expected a share',
        wrong.replace("WINDOWS.table(runs, metrics)", "runs / 2"): "wrong.py, line 53: TypeError: unsupported operand",
        wrong.replace('"window", "one_way_delay_mean_s"', '"window", "x"'): "wrong.py, line 56: ColumnNotFoundError: ",
        wrong.replace("holds = ", "hold = "): 'claim full-8: "hold" is no key of a claim; did you mean holds?',
        wrong.replace("windows.8.goodput_bps >", "windows.9.goodput_bps >"): "observed; windows has 2, 8, 32, window, ",
        wrong.replace('"{window}", lambda', '"{win}", lambda'): 'wrong.py, line 15: cases "{win}": there is no factor',
        wrong.replace("lambda window", "lambda packets"): "scenario of window: missing a required argument: 'packets'",
        wrong.replace('{"windows": WINDOWS.table(runs, metrics)}', "WINDOWS.table(runs, metrics)"): (
            "wrong.py: observe must return values by their names, not DataFrame"
        ),
    }.items():
        (tmp_path / "wrong.py").write_text(text, encoding="utf-8")
        assert cli.main(["study", "wrong.py", "-o", "three"]) in {1, 2}
        assert said in capsys.readouterr().err
    tasks, scenario = "tasks=WINDOWS.tasks", 'BASE.set("traffic.ftp.tcp.window", f"{window} packets")'
    for text, said in {
        wrong.replace(
            tasks, "tasks=lambda: [BASE]"
        ): "wrong.py: tasks must return scenarios by their names, or tasks, not S",
        wrong.replace(
            tasks, "tasks=lambda: None"
        ): "wrong.py: tasks must return scenarios by their names, or tasks, not None",
        wrong.replace(
            tasks, "tasks=[]"
        ): "line 49: study my-study: tasks must be a function without arguments, not list",
        wrong.replace(tasks, "tasks=lambda x: x"): "tasks must be a function without arguments: missing a required",
        wrong.replace(
            "observe=lambda runs:", "observe=lambda:"
        ): "observe must be a function of runs: too many positional",
        wrong.replace(
            "lambda found, _: page", "lambda found: page"
        ): "must be a function of what was observed and claims: t",
        wrong.replace(
            "lambda found, _: page(", "lambda found, _: print("
        ): "report must return a Report, as page() makes it, ",
        wrong.replace(scenario, "None"): "tasks must return scenarios by their names, or tasks, not task 2 of NoneType",
        wrong.replace("(2, 8, 32)", "8"): 'line 15: cases "{window}": the levels of window must be a list, not 8',
        wrong.replace("claims=CLAIMS", "claims=[]"): "claims must be a text or a path, not list",
    }.items():
        (tmp_path / "wrong.py").write_text(text, encoding="utf-8")
        assert cli.main(["study", "wrong.py", "-o", "three"]) == 2
        assert said in capsys.readouterr().err
    # What is wrong with a table of claims is said before anything is simulated.
    for text, said in {
        wrong.replace('"full-8"', '"delay-32"'): "wrong.py: two claims have the id delay-32",
        wrong.replace("holds = ", "hold = "): 'claim full-8: "hold" is no key of a claim',
    }.items():
        (tmp_path / "wrong.py").write_text(text, encoding="utf-8")
        assert cli.main(["study", "wrong.py", "-o", "four"]) == 2
        assert said in capsys.readouterr().err
        assert not (tmp_path / "four").exists()
    assert cli.main(["study", "on-flow"]) == 2
    assert "did you mean one-flow?" in capsys.readouterr().err
    assert cli.main(["study", "one-flow", "--scale", "1"]) == 2
    assert "no such option: study one-flow has --live" in capsys.readouterr().err
    assert cli.main(["list", "studies"]) == 0
    assert capsys.readouterr().out.startswith("one-flow ")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ModuleNotFoundError("no", name="dask"), 2, 'dask is needed here and is not installed: pip install "dask>='),
        (
            ModuleNotFoundError("no", name="vl_convert"),
            2,
            'vl_convert is needed here and is not installed: pip install "vl-',
        ),
        (MemoryError(), 1, "out of memory: fewer sources"),
        (OSError(errno.ENOSPC, "No space left on device", "runs/a"), 1, "runs/a: no space left on device"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "standard output: no space left on device"),
        (PermissionError(errno.EACCES, "Permission denied", "a.csv"), 2, "a.csv: permission denied"),
        (ZeroDivisionError("division by zero"), 1, "a bug of Tightlink ended this command: ZeroDivisionError: "),
        (ModuleNotFoundError("no", name="tightlink.x"), 1, "a bug of Tightlink"),
    ],
)
def test_whatever_ends_a_command_is_a_sentence(
    error: Exception,
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.delenv("TIGHTLINK_TRACEBACK", raising=False)
    assert cli.main(["list", "queues"]) == code
    err = capsys.readouterr().err
    assert err.startswith(f"tightlink: {said}")
    assert "Traceback" not in err
    monkeypatch.setenv("TIGHTLINK_TRACEBACK", "1")
    assert cli.main(["list", "queues"]) == code
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("words", [["list", "queues"], ["--version"]])
def test_standard_output_that_takes_nothing(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tightlink", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "tightlink: standard output: no space left on device\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size on this system")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_that_takes_a_part(unbuffered: str, mixed: str, tmp_path: Path) -> None:
    """Python without a buffer loses what of a single text a full disk does not take, and says nothing."""
    (tmp_path / "mixed.toml").write_text(mixed)
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
    script = f"{limited}from tightlink.entry import main; sys.exit(main())"
    with (tmp_path / "out.csv").open("w") as part:
        done = subprocess.run(
            [sys.executable, "-c", script, "run", str(tmp_path / "mixed.toml"), "--csv"],
            stdout=part, stderr=subprocess.PIPE, text=True, check=False,
            # Python would keep what it compiles cut off, too, and others would read it.
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "tightlink: standard output: file too large\n")


@pytest.mark.parametrize("words", [["measure", "x.toml"], ["measure", "path", "localhost"], ["emulate", "x.toml"]])
def test_what_takes_linux_says_so_elsewhere(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "sys", SimpleNamespace(platform="darwin"))
    assert cli.main(words) == 2
    assert "tightlink: measure and emulate need Linux, and this is darwin: " in capsys.readouterr().err


def test_a_terminal_gets_a_table(
    mixed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tl.simulate(tl.loads(mixed))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(console, "_MOST_ROWS", 5)
    print_summary(run)
    out = capsys.readouterr().out
    assert "lot.hop[0].reverse" in out
    assert "the first 5 of 16 rows (--wide shows all, and so do a pipe and a file)" in out


def test_a_closed_pipe_is_no_error(file: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "tightlink", "run", str(file)]
    process = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (process.returncode, process.stderr) == (console.FAILED, "")


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_command_without_a_standard_output_does_its_work(closed: str, file: Path, tmp_path: Path) -> None:
    number = 1 if closed == "stdout" else 2
    words = [sys.executable, "-m", "tightlink", "run", str(file), "-o", str(tmp_path / "run")]
    script = f"import os, sys; os.close({number}); os.execv(sys.executable, {words!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert (done.stdout != "") == (closed == "stderr")
    assert "bug" not in done.stderr
    assert tl.open_run(tmp_path / "run").flows.height == 1


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == tl.__version__


def test_kinds_of_traffic_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", "traffic"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == ["bulk", "saturate", "cbr", "on-off", "video", "transfers", "users", "scatter"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("runn x.toml", '"runn": there is no such command; did you mean "tightlink run"?'),
        ("simulate x.toml", 'did you mean "tightlink run"?'),
        ("x.toml", 'did you mean "tightlink run x.toml"?'),
        ("x.pcapng", 'did you mean "tightlink capture x.pcapng"?'),
        ("why x.pcap.zst", '"why": there is no such command; did you mean "tightlink capture x.pcap.zst"?'),
        ("why x.toml", '"why": there is no such command; did you mean "tightlink run x.toml"?'),
        ("analyze effect x", 'did you mean "tightlink analyze effects"?'),
        ("measure ping 192.0.2.7", '"ping": there is no such command; did you mean "tightlink measure path"?'),
        ("nonsense", '"nonsense": there is no such command; tightlink --help lists them'),
        ("run x.toml --sed 3", "--sed: there is no such option; did you mean --seed?"),
        ("run x.toml --nonsense 3", "--nonsense: there is no such option; tightlink run --help lists them"),
        # What other tools call an option, and keys of the scenario, as iperf3 has them as options.
        ("plan path --rate 3", "--rate: there is no such option; did you mean --bandwidth?"),
        ("plan path --latency 3", "did you mean --rtt?"),
        ("run x.toml --duration 20", "--duration: there is no such option; did you mean --set duration=…?"),
        ("run x.toml -t 20", "-t: there is no such option; did you mean --set duration=…?"),
        ("run x.toml --rate=3", "did you mean --set link.NAME.rate=…?"),
        ("sweep x.toml --congestion-control bbr", "did you mean --set traffic.NAME.tcp.congestion=…?"),
        ("validate x.toml -P 4", "did you mean --set traffic.NAME.flows=…?"),
        # Keys that lack the option before them.
        ("run x.toml seed=3", '"seed=3": one word too many; did you mean --set seed=3?'),
        ("sweep x.toml --vary seed=1..3 link.a.queue=5,9", "one word too many; did you mean --vary link.a.queue=5,9?"),
        ("lab x.toml seed=1,2", "did you mean --slider seed=1,2?"),
        ("list controls", 'did you mean "congestion"?'),
        ("list cc", 'did you mean "congestion"?'),
        ("help", 'did you mean "tightlink --help"?'),
        ("help run", 'did you mean "tightlink run --help"?'),
        ("version", 'did you mean "tightlink --version"?'),
        ("analyze /", 'did you mean "tightlink analyze effects /"?'),
    ],
)
def test_unknown_words_are_told_with_what_to_type(
    words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words.split()) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
