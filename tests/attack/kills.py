"""SIGKILL at a random moment of a sweep, then the same again: no run is lost, doubled or different."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from attack import Violation, contents, differing
from attack._sweeps import DONE, worked, working

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

_LEVELS = (2, 3, 5, 7, 9)
_MOST_KILLS = 4
_known: list[tuple[float, dict[str, bytes]]] = []


def attempt(chance: Random, place: Path) -> str:
    """Kill a sweep, perhaps several times, and let one come to its end."""
    took, expected = _expected(place)
    folder = place / "killed"
    killed = 0
    for _ in range(chance.randint(1, _MOST_KILLS)):
        process = working("sweep", folder, _LEVELS, chance.choice([1, 2, 3]))
        process.start()
        time.sleep(chance.uniform(0, 1.2) * took)
        process.kill()
        process.join(60)
        killed += process.exitcode != DONE
        before = {file: file.stat().st_mtime_ns for file in (folder / "runs").glob("*.parquet")}
    last = working("sweep", folder, _LEVELS, chance.choice([1, 2, 3]))
    last.start()
    last.join(60)
    if last.exitcode != DONE:
        raise Violation(f"the last one ended with {last.exitcode}")
    if wrong := differing(contents(folder), expected):
        raise Violation(f"differs after {killed} kills: {wrong}")
    again = [file.name for file, written in before.items() if file.stat().st_mtime_ns != written]
    if again:
        raise Violation(f"simulated again: {', '.join(again)}")
    return f"killed {killed} times"


def _expected(place: Path) -> tuple[float, dict[str, bytes]]:
    """How long a sweep takes, and what it leaves."""
    if not _known:
        for name in ("first", "second"):
            begin = time.monotonic()
            worked("sweep", place / name, _LEVELS)
        _known.append((time.monotonic() - begin, contents(place / "second")))
    return _known[0]
