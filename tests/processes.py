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


def processors() -> int:
    """How many processors this process may use: those of the machine, without what a container withholds of them."""
    affinity = getattr(os, "sched_getaffinity", None)
    found = os.cpu_count() or 1 if affinity is None else len(affinity(0))
    with contextlib.suppress(OSError, ValueError):
        root = Path("/sys/fs/cgroup")
        own = Path("/proc/self/cgroup").read_text().partition("0::/")[2].partition("\n")[0]
        for folder in (root / own, *(root / own).parents):
            with contextlib.suppress(OSError, ValueError):
                # "max" of those without a limit is no number.
                limit, period = map(int, (folder / "cpu.max").read_text().split())
                found = min(found, max(1, limit // period))
    return found
