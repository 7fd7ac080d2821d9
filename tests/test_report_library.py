"""What draws the charts of a report is made once and kept."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest
import vl_convert

from tightlink.report.library import library

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = Mock(return_value="draw('</script>')")
    monkeypatch.setattr(vl_convert, "javascript_bundle", made)
    assert library() == library() == "draw('<\\/script>')"
    made.assert_called_once_with()
    (kept,) = (tmp_path / "tightlink").iterdir()
    assert version("vl-convert-python") in kept.name


@pytest.mark.parametrize("damaged", [b"", b"draw(\xff)"])
def test_a_damaged_cache_is_made_again(damaged: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: "draw()")
    library()
    (kept,) = (tmp_path / "tightlink").iterdir()
    kept.write_bytes(damaged)
    assert library() == "draw()"
    assert kept.read_bytes() == b"draw()"


def test_a_cache_that_cannot_be_written_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tightlink").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: "draw()")
    assert library() == "draw()"
