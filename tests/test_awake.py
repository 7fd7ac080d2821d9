"""What keeps processors awake takes nothing from what has work."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tightlink.measure import awake
from waiting import soon

if TYPE_CHECKING:
    from collections.abc import Iterator


def _children() -> Iterator[Path]:
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdecimal() and f"\nPPid:\t{os.getpid()}\n" in (folder / "status").read_text(
                encoding="utf-8"
            ):
                yield folder


def _awake() -> Iterator[Path]:
    """The children that keep a processor awake."""
    for folder in _children():
        with contextlib.suppress(OSError):
            if b"sched_yield" in (folder / "cmdline").read_bytes():
                yield folder


def _nice() -> list[bool]:
    """Of each of them, whether its session is the nicest."""
    found = []
    for folder in _awake():
        with contextlib.suppress(OSError):
            found.append((folder / "autogroup").read_text(encoding="ascii").endswith("nice 19\n"))
    return found


def _policies() -> list[int]:
    return [os.sched_getscheduler(int(folder.name)) for folder in _awake()]


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="the kernel does not share time between sessions")
def test_sessions_that_keep_awake_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is shared between sessions first: one with nothing but SCHED_IDLE in it would have its share of it."""
    monkeypatch.setattr(awake, "is_virtual", lambda: True)
    with awake.kept_awake() as processors:
        assert soon(lambda: _nice() == [True] * len(processors))
    assert _nice() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may set the priority of what has the lowest")
def test_what_keeps_awake_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, what gives way to anything has its turn, and so its end, seconds later."""
    monkeypatch.setattr(awake, "is_virtual", lambda: True)
    found = []

    def kill(process: subprocess.Popen[bytes]) -> None:
        found.append((os.sched_getscheduler(process.pid), os.getpriority(os.PRIO_PROCESS, process.pid)))
        process.send_signal(signal.SIGKILL)

    monkeypatch.setattr(subprocess.Popen, "kill", kill)
    with awake.kept_awake() as processors:
        assert soon(lambda: _policies() == [os.SCHED_IDLE] * len(processors))
    assert found == [(os.SCHED_OTHER, 0)] * len(processors)
