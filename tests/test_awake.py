"""What keeps processors awake takes nothing from what has work."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tightlink.measure import awake

if TYPE_CHECKING:
    from collections.abc import Iterator


def _children() -> Iterator[Path]:
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdecimal() and f"\nPPid:\t{os.getpid()}\n" in (folder / "status").read_text(
                encoding="utf-8"
            ):
                yield folder


def _nice() -> list[bool]:
    """Of each child that keeps a processor awake, whether its session is the nicest."""
    found = []
    for folder in _children():
        with contextlib.suppress(OSError):
            if b"sched_yield" in (folder / "cmdline").read_bytes():
                found.append((folder / "autogroup").read_text(encoding="ascii").endswith("nice 19\n"))
    return found


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="the kernel does not share time between sessions")
def test_sessions_that_keep_awake_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is shared between sessions first: one with nothing but SCHED_IDLE in it would have its share of it."""
    monkeypatch.setattr(awake, "is_virtual", lambda: True)
    with awake.kept_awake() as processors:
        until = time.monotonic() + 20
        while time.monotonic() < until and _nice() != [True] * len(processors):
            time.sleep(0.05)
        assert _nice() == [True] * len(processors)
    assert _nice() == []
