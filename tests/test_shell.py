"""Commands that are printed can be typed, in the shells of each system."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from tightlink import shell
from tightlink.commands.help_pages import example
from tightlink.diagnosis import why

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = ["plain", r"examples\one-flow.toml", "my net.toml", 'link.b.queue="5 packets"', "{ kind = 'codel' }", "a&b"]


def test_words_of_windows_are_read_as_they_were_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "WINDOWS", True)
    # What programs of Windows make of a command line is what this function writes.
    assert shell.joined(WORDS[:5]) == subprocess.list2cmdline(WORDS[:5])
    # What cmd would take for itself stands in quotes, too.
    assert shell.quoted("a&b") == '"a&b"'


def test_windows_gets_suggestions_in_one_line(one_flow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "my net.toml"
    file.write_text(one_flow, encoding="utf-8")
    run = tl.simulate(tl.load(file).set("traffic.ftp.tcp.window", "200 packets"))
    assert " \\\n" in str(run.why())
    assert example("a-long-word another-long-word", width=20).count("\\") == 2
    monkeypatch.setattr(shell, "WINDOWS", True)
    text = str(why(run))
    assert "\\\n" not in text
    assert f'  tightlink run "{file}" --set traffic.ftp.tcp.window="200 packets"' in text
    assert "\\" not in example("a-long-word another-long-word", width=20)


@pytest.fixture
def folder(one_flow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This folder, with files that beginners have."""
    monkeypatch.chdir(tmp_path)
    Path("my net.toml").write_text(one_flow, encoding="utf-8")
    Path("latin.toml").write_bytes("# Réseau".encode("latin-1"))
    Path("bytes.toml").write_bytes(b"a\xff\x00")
    Path("of-a-run").mkdir()
    Path("of-a-run", "scenario.toml").write_text(one_flow, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "my", "net.toml"], "a name with spaces stands in quotes: 'my net.toml'"),
        (
            ["run", "my net.toml", "--set", "link.b.queue=5", "packets"],
            'a value with spaces stands in quotes: link.b.queue="5 packets"',
        ),
        (
            ["run", "my net.toml", "--set", "link.b.delay", "=", "5", "ms"],
            "there are no spaces around the = of a key: link.b.delay=…",
        ),
        (["my net.toml"], "did you mean \"tightlink run 'my net.toml'\"?"),
        (["run", "latin.toml"], "latin.toml: not UTF-8 text (byte 3): save it as UTF-8"),
        (["run", "bytes.toml"], "bytes.toml: not UTF-8 text (byte 1)\n"),
        (["run", "of-a-run"], f"the scenario of this run is {Path('of-a-run', 'scenario.toml')}"),
    ],
)
def test_what_a_beginner_types(
    words: list[str], sentence: str, said: Callable[..., tuple[int, str, str]], folder: Path
) -> None:
    assert folder == Path.cwd()
    code, _, error = said(*words)
    assert code == 2
    assert sentence in error


def test_one_packet_is_one(one_flow: str) -> None:
    run = tl.simulate(tl.loads(one_flow).set("link.bottleneck.delay", "20 us"))
    assert "a window of what the path holds (1 packet)." in " ".join(str(run.why()).split())


def test_bash_completes_names_with_spaces(folder: Path, said: Callable[..., tuple[int, str, str]]) -> None:
    _, script, _ = said("completion", "bash")
    asks = 'COMP_WORDS=(tightlink run m); COMP_CWORD=2; _tightlink tightlink m run; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{asks}"], capture_output=True, text=True, check=True, cwd=folder)
    assert (done.stdout, done.stderr) == ("my net.toml\n", "")
