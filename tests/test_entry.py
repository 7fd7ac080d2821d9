"""The first second of the command: Ctrl-C while it loads is one line and exit code 130; then, a part of the run."""

from __future__ import annotations

import importlib
import json
import os
import platform
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from pydantic_core import SchemaError, SchemaValidator

import tightlink as tl
from terminal import typed
from tightlink import _core, cli

if TYPE_CHECKING:
    from pathlib import Path

#: What an installed script does, with a byte that says that Python itself and the first step are there.
SCRIPT = "import os, sys; from tightlink.entry import main; os.write(1, b'.'); sys.exit(main())"
SAID = "tightlink: interrupted; nothing was written\n"
#: Exit code where what was simulated so far is printed.
PART = 3
PART_SAID = b"interrupted: a part of the run only, until "
LONG = """
duration = "100000 s"
link.a = { ends = ["x", "y"], rate = "10 Gbit/s", delay = "1 ms", queue = "1000 packets" }
traffic.t = { kind = "bulk", from = "x", to = "y" }
"""


def test_ctrl_c_in_the_first_second_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(LONG)
    rng = random.Random(1)
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, "run", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.read(1) == b"."
        wait_s = rng.uniform(0.05, 1.0)
        time.sleep(wait_s)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        if process.returncode == PART:
            # It had begun to simulate.
            assert PART_SAID in err, wait_s
            assert out, wait_s
        else:
            assert (process.returncode, out, err.decode()) == (130, b"", SAID), wait_s


def test_ctrl_c_while_a_model_is_compiled_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """It comes up as an error of that model, with neither cause nor context: here as pydantic asks for a value's name."""

    class Interrupted:
        def __repr__(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(SchemaError, match="KeyboardInterrupt") as caught:
        SchemaValidator({"type": "nullable", "schema": {"type": "literal", "expected": [Interrupted()]}})
    with mock.patch.object(cli, "app", side_effect=caught.value):
        assert cli.main(["list", "profiles"]) == 130
    assert capsys.readouterr().err == SAID


@pytest.mark.parametrize("command", ["run one.toml", "capture one.pcap", "analyze correlation one.csv"])
def test_ctrl_c_while_numpy_is_loaded_is_one_line(command: str, one_flow: str, tmp_path: Path) -> None:
    """Where the engine or Polars loads it, for its first array, there is nobody to whom it could raise."""
    (tmp_path / "one.toml").write_text(one_flow)
    (tmp_path / "one.csv").write_text("a,b\n1,2\n2,3\n4,1\n")
    tl.simulate(tl.loads(one_flow), pcap=tmp_path / "one.pcap")
    script = """
import sys
from importlib.machinery import ModuleSpec
from tightlink import cli
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name == "numpy" else None
    def create_module(self, spec):
        sys.meta_path.remove(self)
        raise KeyboardInterrupt
    def exec_module(self, module):
        pass
sys.meta_path.insert(0, Interrupted())
sys.exit(cli.main(sys.argv[1:]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, *command.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", SAID)


def test_ctrl_c_where_nothing_can_be_raised_comes_again() -> None:
    """As in what ends an object, Python prints an exception there and continues."""
    script = """
import sys, time
from tightlink import cli
from tightlink.entry import main
class Ended:
    def __del__(self):
        raise KeyboardInterrupt
def app(*_, **__):
    Ended()
    for _ in range(3000):
        time.sleep(0.01)
cli.app = app
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", script, "list"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, SAID)


def test_where_ctrl_c_is_ignored_it_stays_so() -> None:
    script = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {SCRIPT}"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "list", "profiles"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.read(1) == "."
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.startswith("ns2 ")


def test_the_version_is_said_without_loading_anything() -> None:
    script = "import sys; from tightlink.entry import main; main(); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{tl.__version__}\n"
    read, write = os.pipe()
    os.close(read)
    closed = subprocess.run(
        [sys.executable, "-m", "tightlink", "--version"], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (closed.returncode, closed.stderr) == (1, b"")
    assert not {"pydantic", "cyclopts", "tightlink.cli"} & set(done.stderr.split())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_on_a_terminal_the_version_has_what_a_report_of_a_bug_needs(tmp_path: Path) -> None:
    code, lines = typed(["--version"], tmp_path)
    system = f"{platform.system()} {platform.machine()}"
    made = f"engine behaviour {_core.engine_behaviour}, Python {platform.python_version()}, {system}"
    assert (code, [line for line in lines if line]) == (0, [tl.__version__, made])


def test_the_package_is_what_it_was() -> None:
    """Its names come when they are asked for, and functions keep the names that modules have, too."""
    for name in ("capture", "simulate"):
        importlib.import_module(f"tightlink.{name}")
    assert callable(tl.capture)
    assert callable(tl.simulate)
    assert set(tl.__all__) <= set(dir(tl))
    assert not [name for name in tl.__all__ if getattr(tl, name) is None]
    assert not hasattr(tl, "nothing_like_it")


def test_who_has_no_home_is_told_nothing_of_caches(one_flow: str, tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(one_flow)
    environment = {key: value for key, value in os.environ.items() if key not in ("MPLCONFIGDIR", "XDG_CONFIG_HOME")}
    process = subprocess.run(
        [sys.executable, "-m", "tightlink", "run", "one.toml", "--plot", "one.png"],
        env=environment | {"HOME": "/proc/none"}, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert process.stderr == "tightlink: wrote one.png\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_every_character_can_be_printed_in_every_encoding(encoding: str) -> None:
    """In a C locale, and in a pipe of Windows, whose code page lacks the minus sign."""
    script = "import sys; from tightlink.entry import main; sys.argv = ['tightlink', *sys.argv[1:]]; sys.exit(main())"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding}
    for command, printed in (("compare --help", ": -16 % means"), ("list congestion", r"Ba\u015far")):
        done = subprocess.run(
            [sys.executable, "-c", script, *command.split()], capture_output=True, check=False, env=environment
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert printed in " ".join(done.stdout.decode(encoding).split())


def test_words_are_taken_as_they_are_typed_in_every_locale(tmp_path: Path) -> None:
    """In a C locale Python has the bytes of an umlaut as surrogates, which no library takes."""
    (tmp_path / "größe.csv").write_text("größe,rate\n1,2\n2,3\n4,1\n", encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = ["analyze", "correlation", "größe.csv", "--responses", "größe,rate", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "tightlink", *command], env=environment, cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["responses"] == ["größe", "rate"]


def test_folders_are_found_in_every_locale(one_flow: str, tmp_path: Path) -> None:
    """Polars and DuckDB take names for UTF-8, whatever Python takes them for."""
    (tmp_path / "ä.toml").write_text(one_flow.replace("10 s", "1 s"))
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    script = (
        "import sys; from tightlink import cli; from tightlink.plain_text import print_anywhere; print_anywhere();"
        "assert cli.main(['sweep', sys.argv[1], '--vary', 'link.bottleneck.delay=1 ms,2 ms', '-o', sys.argv[2]]) == 0;"
        "sys.exit(cli.main(['query', sys.argv[2], 'select count(*) as n from flows', '--json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "ä.toml", "ö"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith('[\n  {\n    "n": 2\n  }\n]\n')
    assert {file.name for file in tmp_path.iterdir()} == {"ä.toml", "ö"}


def test_charts_without_docstrings_are_one_sentence(one_flow: str, tmp_path: Path) -> None:
    """Altair makes its methods of them."""
    (tmp_path / "one.toml").write_text(one_flow)
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "tightlink", "run", "one.toml", "--report", "one.html"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "tightlink: charts need docstrings, which -OO and PYTHONOPTIMIZE=2 have Python leave out: expected -O, "
        "PYTHONOPTIMIZE=1, or neither\n"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["one.toml"]


@pytest.mark.skipif(sys.platform == "win32", reason="no folder is removed there while somebody works in it")
def test_a_working_directory_that_was_removed_is_one_sentence(
    one_flow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.toml").write_text(one_flow)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for words in (["run", str(tmp_path / "one.toml"), "-o", "out"], ["lab", str(tmp_path / "one.toml")]):
        assert cli.main(words) == 2
        said = "tightlink: the folder in which this command works was removed; change to another one\n"
        assert capsys.readouterr().err == said
