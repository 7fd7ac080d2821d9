"""Text of others, in names of files, scenarios, tables, captures and servers, is shown: no terminal obeys it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Final

import pytest

import tightlink as tl
from captures import enhanced, ethernet, interface, ipv4, option, section, tcp
from tightlink import console
from tightlink.measure.probe import listen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Said = Callable[..., tuple[int, str, str]]

#: Colours, a title, a cleared screen, C1's escape, a carriage return, a bell, directions, lines of Unicode.
HOSTILE: Final = "a\x1b[31m\x1b]0;t\x07\x9b2J\r\b\x7f\u202e\u2066\u200f\u2028\x85z"
SHOWN: Final = r"a\x1b[31m\x1b]0;t\x07\x9b2J\x0d\x08\x7f\u202e\u2066\u200f\u2028\x85z"
#: What must not reach a terminal.
COMMANDS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
NAME: Final = HOSTILE
#: What ends lines of a table or a trace is left out.
CELL: Final = HOSTILE.replace("\r", "").replace("\u2028", "").replace("\x85", "")
SHOWN_CELL: Final = SHOWN.replace(r"\x0d", "").replace(r"\u2028", "").replace(r"\x85", "")


def _toml(text: str) -> str:
    """A basic string of TOML, in which controls are escapes."""
    return json.dumps(text)


def _capture() -> bytes:
    frame = ethernet(ipv4("10.0.0.1", "10.0.0.2", 6, tcp((1, 2), 0, 0, 2, 100)))
    return section() + interface(option(2, HOSTILE.encode())) + enhanced(0, 10**9, frame)


_FLOW: Final = (
    'link.a = { ends = ["x", "y"], rate = "1 Mbit/s" }\ntraffic.t = { kind = "bulk", from = "x", to = "y" }\n'
)
_TRACE: Final = "+ 0.1 0 1 {} 1000 ------- 1 0.0 1.0 0 0\n- 0.1 0 1 {} 1000 ------- 1 0.0 1.0 0 0\n"

#: Files of a table: their names and contents.
FILES: Final[dict[str, str | bytes]] = {
    "key.toml": f'duration = "1 s"\n{_FLOW}{_toml(HOSTILE)} = 1\n',
    "below.toml": f'duration = "1 s"\n{_FLOW}traffic.t.{_toml(HOSTILE)} = 1\n',
    "value.toml": f'duration = "1 s"\n{_FLOW}profile = {_toml(HOSTILE)}\n',
    "end.toml": f'duration = "1 s"\nlink.a = {{ ends = ["x", {_toml(HOSTILE)}], rate = "1 Mbit/s" }}\n',
    "raw.toml": f'duration = "1 s {HOSTILE}',
    NAME: _FLOW,
    "named.pcapng": _capture(),
    "trace.tr": _TRACE.format(CELL, CELL),
    "columns.csv": f"{CELL},goodput_bps,b\n" + "".join(f"{each},{each**2 % 7},{each**3 % 5}\n" for each in range(20)),
    "cells.csv": "algorithm,condition,y\n" + "".join(f"{CELL}{each % 3},{each // 3},{each**2}\n" for each in range(30)),
}
#: Commands about them; a name of `FILES` stands for its file.
COMMAND_LINES: Final = (
    "run key.toml", "run below.toml", "run value.toml", "run end.toml", "run raw.toml", f"run {NAME}",
    "run key.toml --show-config", f"run missing{NAME}", f"run key.toml --set {NAME}=1", f"run key.toml --{NAME}",
    f"{NAME}", f"list {NAME}", f"study {NAME}", f"report {NAME}", f"study evaluation --congestion {NAME}", f"compare {NAME} key.toml",
    "capture named.pcapng", "capture named.pcapng --json", f"capture {NAME}", "capture trace.tr", "capture trace.tr --json",
    f"capture missing{NAME}", "analyze correlation columns.csv", "analyze correlation columns.csv --json",
    f"analyze correlation columns.csv --responses {NAME}", "analyze cross-correlation columns.csv", "analyze traffic columns.csv",
    "analyze pca columns.csv", "analyze clusters cells.csv", "analyze ranks cells.csv", "analyze sizes columns.csv",
    "analyze fairness cells.csv", f"analyze effects columns.csv --factors {NAME}", "analyze markov columns.csv",
    "analyze oscillation columns.csv", "analyze saturation columns.csv", "analyze arrivals columns.csv", "analyze columns.csv",
    "analyze cells.csv", f"sql {NAME} select", "pinger columns.csv", "pinger cells.csv", f"measure path {NAME}",
    f"measure serve {NAME}", "measure key.toml", f"measure tcp --host {NAME} --windows 8K --flows 1 -o x",
    "predict --bandwidth 1Mbit/s --rtt 1ms --flows 1 --observed columns.csv", f"predict --path {NAME}", "emulate key.toml",
    f"maxflow {NAME}", f"sweep key.toml --vary {NAME}=1 -o x", f"run key.toml --pcap-at {NAME}", f"packetize {NAME}",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path


@pytest.mark.parametrize("line", COMMAND_LINES, ids=range(len(COMMAND_LINES)))
def test_what_others_wrote_is_shown_and_not_obeyed(line: str, folder: Path, said: Said) -> None:
    assert folder.is_dir()
    code, out, err = said(*line.split(" "))
    assert not COMMANDS.search(out), out
    assert not COMMANDS.search(err), err
    assert out or err
    assert code in {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("run key.toml", rf"key.toml: {SHOWN}: unknown key"),
        (f"run missing{NAME}", rf"missing{SHOWN}: cannot be read: no such file or directory"),
        ("capture trace.tr", SHOWN_CELL),
        ("analyze correlation columns.csv", SHOWN_CELL),
    ],
)
def test_it_can_be_read(line: str, shown: str, folder: Path, said: Said) -> None:
    assert folder.is_dir()
    _, out, err = said(*line.split(" "))
    assert shown in out + err


def test_json_says_the_same(folder: Path, said: Said) -> None:
    assert folder.is_dir()
    _, out, _ = said("analyze", "correlation", "columns.csv", "--json")
    assert CELL in _texts(json.loads(out))


def _texts(found: object) -> list[str]:
    if isinstance(found, dict):
        return [text for pair in found.items() for each in pair for text in _texts(each)]
    if isinstance(found, list):
        return [text for each in found for text in _texts(each)]
    return [found] if isinstance(found, str) else []


def test_a_scenario_that_is_written_is_the_same() -> None:
    names = {"a\u202eb": 1, "c\x9b": "d\x85\x00"}
    from tightlink.scenario import toml

    text = toml.dump({"table": names})
    assert not COMMANDS.search(text)
    assert toml.parse(text) == {"table": names}


def test_names_that_are_not_utf_8(folder: Path) -> None:
    """A name of bytes, by its own process, which has them in its arguments."""
    name = b"\xff\x1b[31m\xc2\x9b.toml"
    (folder / os.fsdecode(name)).write_text('duration = "1 s"')
    for words in ([b"run"], [b"capture"], [b"report"]):
        command = [os.fsencode(sys.executable), b"-m", b"tightlink", *words, name]
        done = subprocess.run(command, capture_output=True, check=False, timeout=60)
        assert done.returncode in {1, 2}
        assert done.stderr.startswith(b"tightlink: \\xff\\x1b[31m\\x9b.toml: ")
        assert done.stderr.count(b"\n") == 1


def test_a_server_that_says_something_hostile(said: Said) -> None:
    end = listen("127.0.0.1")

    def answer() -> None:
        with end:
            visitor, _ = end.accept()
            with visitor:
                visitor.recv(1000)
                visitor.sendall(json.dumps({"error": HOSTILE + "\ntightlink: wrote all"}).encode() + b"\n")

    thread = threading.Thread(target=answer)
    thread.start()
    code, out, err = said("measure", "path", "127.0.0.1", "--port", str(end.getsockname()[1]))
    thread.join(20)
    assert code == 2
    assert not COMMANDS.search(out + err)
    assert "\ntightlink: wrote all" not in err


def test_a_terminal_is_shown_the_same(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    console.print_table(["a\x9b", "[bold]b"], [["c\x1b[31m", "[link=x]d[/link]"]])
    out, _ = capsys.readouterr()
    assert r"c\x1b[31m" in out
    assert "[link=x]d[/link]" in out
    assert "[bold]b" in out
    assert "\x9b" not in out


def test_an_error_is_one_line() -> None:
    error = tl.ScenarioError("a rate", key="a\nb", value="c\nd", file="e\nf", suggestion="g\nh")
    assert str(error) == r'e\nf: a\nb = "c\u000ad": expected a rate; did you mean g\nh?'
