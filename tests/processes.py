"""Processes that tests look at from outside, by what Linux tells of them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def descendants(process: int) -> list[int]:
    """The children of a process, with theirs."""
    found = []
    # What ends meanwhile has none.
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            for child in map(int, children.read_text().split()):
                found += [child, *descendants(child)]
    return found


def lives(process: int) -> bool:
    """Whether a process has not ended, waited for or not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def tells_children() -> bool:
    """Whether this kernel tells the children of a process."""
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()
