"""Commands that are printed can be typed, in the shells of each system."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import tightlink as tl
from tightlink import shell
from tightlink.commands.help_pages import example
from tightlink.diagnosis import why

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
