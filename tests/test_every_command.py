"""Every command with input that is missing, damaged or of another kind: one sentence, exit code 2, nothing written."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Final

import pytest

import tightlink as tl
from programs import commands
from tightlink.cli import app
from tightlink.commands.help_examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: How each command is told what to read: ``{}`` is what is wrong, other names are files that are right.
READS: Final = {
    "run": ["run {}", "run 0/0 --replay {}", "run {scenario} --controls {}"],
    "report": ["report {}"],
    "plot": ["plot {}", "plot {} overview"],
    "compare": ["compare {} {run}", "compare {run} {}"],
    "sweep": [
        "sweep {} --vary seed=1,2",
        "sweep {scenario} --vary seed=1,2 --controls {}",
        "sweep {scenario} --design {}",
    ],
    "query": ["query {} 'select 1'"],
    "study": ["study {}", "study {} --claims", "study evaluation --controls {}", "study evaluation --congestion {}"],
    "list": ["list {}"],
    "validate": ["validate {}", "validate {} --set duration=1"],
    "plan maxflow": ["plan maxflow {}"],
    "capture": ["capture {}"],
    "lab": ["lab {}"],
    "plan path": ["plan path --path {}", "plan path --bandwidth '10 Mbit/s' --rtt '10 ms' --observed {}"],
    "emulate": ["emulate {}"],
    "measure": ["measure {}"],
    "analyze saturation": ["analyze saturation {}"],
    "analyze regimes": ["analyze regimes {}"],
    "analyze effects": ["analyze effects {}"],
    "analyze ten-steps": ["analyze ten-steps {}"],
    "analyze correlation": ["analyze correlation {}"],
    "analyze pca": ["analyze pca {}"],
    "analyze clusters": ["analyze clusters {} --algorithm a"],
    "analyze outliers": ["analyze outliers {} --algorithm a"],
    "analyze ranks": ["analyze ranks {} --algorithm a"],
    "analyze fairness": ["analyze fairness {} --algorithm a --own b --standard c"],
    "analyze explore": ["analyze explore {}"],
    "analyze oscillation": ["analyze oscillation {}"],
    "analyze synchronization": ["analyze synchronization {}"],
    "analyze markov": ["analyze markov {}"],
    "analyze traffic": ["analyze traffic {}"],
    "analyze arrivals": ["analyze arrivals {}"],
    "analyze sizes": ["analyze sizes {}"],
    "analyze cross-correlation": ["analyze cross-correlation {} a b"],
    "analyze pinger": ["analyze pinger {}"],
}
#: Commands that read nothing: what is wrong is written out.
WORDS: Final = {
    "plan packetize": [
        "plan packetize --bitrate 64 --limit-pps 4000",
        "plan packetize --bitrate '64 kbit/s' --limit-pps -1",
    ],
    "new four-tier": ["new four-tier --set sorces=high", "new four-tier --scale 0", "new four-tier --set sources"],
    "new examples": ["new examples {file}", "new examples one two"],
    "new network": ["new network {file}", "new network"],
    "new lessons": ["new lessons {file}", "new lessons one two"],
    "new study": ["new study my-study", "new study"],
    "schema": ["schema {file}"],
    "completion": ["completion tcsh"],
    "measure path": ["measure path {file}", "measure path 127.0.0.1 --port 0", "measure path 127.0.0.1 --trains many"],
    "measure serve": ["measure serve nowhere.invalid", "measure serve 127.0.0.1 --port 99999"],
    "measure tcp": ["measure tcp --host 127.0.0.1 --windows none --flows 1 -o grid"],
    "measure udp-sweep": ["measure udp-sweep --host 127.0.0.1 --payloads 0 --rates '1 packet/s' -o grid"],
}
#: Where commands write: ``{}`` is what they cannot write to.
WRITES: Final = [
    "run {scenario} -o {}", "run {scenario} --report {}", "run {scenario} --plot {}", "schema -o {}", "new network lte -o {}",
    "run {scenario} --tr {}", "run {scenario} --pcap {}", "compare {run} {run} -o {}",
    "sweep {scenario} --vary seed=1,2 -o {}", "study one-flow -o {}", "study evaluation --tests ramp-up -o {}",
    "capture {capture} -o {}", "lab {scenario} --slider seed=1,2 -o {}", "plan path --bandwidth '10 Mbit/s' --rtt '10 ms' -o {}",
    "analyze correlation {table} -o {}", "analyze explore {table} -o {}", "new examples {}", "new lessons {}",
    "plot {run} overview -o {}",
]  # fmt: skip


def wrong_inputs(folder: Path) -> dict[str, Path]:
    """What somebody may give by mistake, by what it is."""
    (folder / "empty").write_bytes(b"")
    (folder / "empty.toml").write_bytes(b"")
    (folder / "empty.csv").write_bytes(b"")
    (folder / "folder").mkdir()
    (folder / "picture.toml").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)))
    (folder / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)))
    (folder / "picture.parquet").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)))
    (folder / "prose.txt").write_text("Dear reader,\nthis is a letter.\n", encoding="utf-8")
    (folder / "pages").mkdir()
    (folder / "pages" / "manifest.json").write_text("[]", encoding="utf-8")
    found = {"missing": folder / "nothing", "in a file": folder / "empty" / "x"}
    found |= {file.name: file for file in folder.iterdir()}
    if os.geteuid() != 0:
        (folder / "locked").mkdir(mode=0)
        (folder / "locked.toml").touch(mode=0)
        found |= {
            "locked folder": folder / "locked",
            "in it": folder / "locked" / "x",
            "locked": folder / "locked.toml",
        }
    return found


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory, one_flow: str) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("right")
    (folder / "one.toml").write_text(one_flow.replace('duration = "10 s"', 'duration = "0.5 s"'), encoding="utf-8")
    run = tl.simulate(tl.load(folder / "one.toml"), pcap=folder / "one.pcap")
    run.save(folder / "run")
    (folder / "table.csv").write_text("a,b,c\n1,2,3\n2,3,5\n3,1,4\n", encoding="utf-8")
    return {"scenario": folder / "one.toml", "run": folder / "run", "capture": folder / "one.pcap",
            "table": folder / "table.csv", "file": folder / "one.toml"}  # fmt: skip


def test_every_command_is_here() -> None:
    assert sorted([*READS, *WORDS]) == sorted(commands())


@pytest.mark.parametrize("command", [command for commands in READS.values() for command in commands])
def test_what_cannot_be_read(
    command: str, right: dict[str, Path], said: Callable[..., tuple[int, str, str]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "wrong").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    failures = []
    for name, wrong in wrong_inputs(tmp_path / "wrong").items():
        before = sorted(tmp_path.rglob("*"))
        code, out, err = said(*words(command, wrong, right))
        if problem := _problem(code, out, err) or (sorted(tmp_path.rglob("*")) != before and "wrote something"):
            failures.append(f"{name}: {problem}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("command", [command for commands in WORDS.values() for command in commands])
def test_words_that_are_wrong(
    command: str, right: dict[str, Path], said: Callable[..., tuple[int, str, str]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert not _problem(*said(*words(command, tmp_path, right)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", WRITES)
def test_where_nothing_can_be_written(
    command: str, right: dict[str, Path], said: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    places = [tmp_path / "file", tmp_path / "file" / "out.png"]
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        places.append(tmp_path / "locked" / "out.svg")
    for place in places:
        problem = _problem(*said(*words(command, place, right)))
        assert not problem, f"{place.name}: {problem}"
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def words(command: str, wrong: Path, right: dict[str, Path]) -> list[str]:
    """The words of a command with the files that it names."""
    return [word.format(wrong, **right) for word in shlex.split(command)]


def _problem(code: int, out: str, err: str) -> str | None:
    """What is wrong with how a command ended, or nothing."""
    lines = err.splitlines()
    if code != 2:
        return f"exit code {code}: {err}"
    if out:
        return f"printed {out}"
    if not 1 <= len(lines) <= 2 or not all(line.startswith("tightlink: ") for line in lines):
        return f"not one sentence: {err}"
    if re.search(r"Errno|Error\b|Traceback|\bNone\b", err):
        return f"not in a user's words: {err}"
    return None


@pytest.mark.parametrize("command", commands())
def test_each_command_has_an_example_that_is_understood(
    command: str, said: Callable[..., tuple[int, str, str]]
) -> None:
    typed = f"tightlink {command} {EXAMPLES[command]}"
    page = said(*command.split(), "--help")[1]
    assert f"Example: {typed}" in " ".join(page.replace("\\\n", "").split())
    assert max(map(len, page.splitlines())) <= 80  # columns of a terminal that does not say how wide it is
    bare = shlex.split(typed.partition(" > ")[0])[1:]
    called, _, _ = app.parse_args(bare, exit_on_error=False, print_error=False)
    assert called is not app.default_command


def test_examples_are_of_commands() -> None:
    assert sorted(EXAMPLES) == sorted(commands())
