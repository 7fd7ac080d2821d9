"""Old names of commands: understood, with a warning that has today's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from programs import commands
from tightlink.commands.renamed import RENAMED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_name_is_understood_and_gone_from_the_help(old: str, said: Callable[..., tuple[int, str, str]]) -> None:
    now = " ".join(RENAMED[old])
    assert now in commands()
    assert old not in commands()
    code, shown, warning = said(old, "--help")
    assert (code, shown) == said(*RENAMED[old], "--help")[:2]
    assert (
        warning
        == f"tightlink: warning: tightlink {old} is called tightlink {now} now; the next release has the new name alone\n"
    )


def test_a_study_was_begun_by_an_option(
    said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, written, warning = said("study", "--new", "mine")
    assert (code, written) == (0, "mine.py\n")
    assert "tightlink new study" in warning
